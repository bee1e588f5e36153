import { size } from './directory.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';

export type DatabaseSeen =
  | { readonly is: 'absent'; readonly path: string }
  | { readonly is: 'unreadable'; readonly path: string; readonly why: string }
  | {
      readonly is: 'read';
      readonly path: string;
      readonly bytes: number;
      /** What a start found and did about a damaged or missing file; absent: nothing, or a person has moved the report away. */
      readonly report?: string;
      /** Null: no file of that name. */
      readonly journalBytes: number | null;
      readonly hive: { readonly personas: number; readonly messages: number; readonly unread: number } | null;
      readonly watches: readonly WatchSeen[];
      /** Resolves with what SQLite's quick check found, `[]` for nothing; null when it takes too long. */
      readonly flaws: Promise<readonly string[] | null>;
    };

/** A watch, and its newest event. */
export interface WatchSeen {
  readonly persona: string;
  readonly newest: string | null;
}

export type DatabaseChecked =
  | Exclude<DatabaseSeen, { is: 'read' }>
  | (Extract<DatabaseSeen, { is: 'read' }> & { readonly found: readonly string[] | null });

export function judgeDatabase(seen: DatabaseChecked): Finding {
  switch (seen.is) {
    case 'absent':
      return skipped(`${seen.path} is not there yet`);
    case 'unreadable':
      return fail(
        `${seen.path}: ${seen.why}`,
        'start Hivebar again: it sets the file aside and recovers what can be read; keep a copy of it and of outbox.journal',
      );
    case 'read': {
      if (seen.found !== null && seen.found.length > 0)
        return fail(
          `${seen.path} is damaged: ${seen.found[0]}`,
          'start Hivebar again: it sets the file aside and recovers what can be read of it and of the last good copy',
        );
      if (seen.report !== undefined)
        return warn(
          seen.report,
          `read ${seen.path}.report.json, then move it and what was set aside away: until then this stays`,
        );
      const journal = seen.journalBytes === null ? 'no outbox.journal' : `outbox.journal ${size(seen.journalBytes)}`;
      const checked = seen.found === null ? 'too large to be checked now' : 'no damage';
      return ok(`${seen.path}: ${size(seen.bytes)}, ${checked}, ${journal}`);
    }
  }
}

export function judgeLocalHive(seen: DatabaseSeen): Finding {
  if (seen.is !== 'read' || seen.hive === null) return skipped('there is none yet');
  const { personas, messages, unread } = seen.hive;
  return ok(`${personas} personas, ${messages} messages, ${unread} unread`);
}
