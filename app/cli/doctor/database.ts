import { type Finding, fail, formatSize, ok, skipped, warn } from './finding.ts';

export type DatabaseProbe =
  | { readonly is: 'absent'; readonly path: string }
  | { readonly is: 'unreadable'; readonly path: string; readonly why: string }
  | {
      readonly is: 'read';
      readonly path: string;
      readonly bytes: number;
      /** What a start found and did about a damaged or missing file. Absent: nothing, or a person has moved the report away. */
      readonly report?: string;
      /** Null: the file does not exist. */
      readonly journalBytes: number | null;
      readonly hive: { readonly personas: number; readonly messages: number; readonly unread: number } | null;
      readonly watches: readonly WatcherProbe[];
      /** Resolves with the findings of SQLite's quick check, `[]` for none; null when the check takes too long. */
      readonly flaws: Promise<readonly string[] | null>;
    };

/** A watcher's persona and its newest event. */
export interface WatcherProbe {
  readonly persona: string;
  readonly newest: string | null;
}

export type DatabaseCheckResult =
  | Exclude<DatabaseProbe, { is: 'read' }>
  | (Extract<DatabaseProbe, { is: 'read' }> & { readonly found: readonly string[] | null });

export function judgeDatabase(result: DatabaseCheckResult): Finding {
  switch (result.is) {
    case 'absent':
      return skipped(`${result.path} is not there yet`);
    case 'unreadable':
      return fail(
        `${result.path}: ${result.why}`,
        'start Hivebar again: it sets the file aside and recovers what can be read; keep a copy of it and of outbox.journal',
      );
    case 'read': {
      if (result.found !== null && result.found.length > 0)
        return fail(
          `${result.path} is damaged: ${result.found[0]}`,
          'start Hivebar again: it sets the file aside and recovers what can be read of it and of the last good copy',
        );
      if (result.report !== undefined)
        return warn(
          result.report,
          `read ${result.path}.report.json, then move it and the file that was set aside away to clear this result`,
        );
      const journal =
        result.journalBytes === null ? 'no outbox.journal' : `outbox.journal ${formatSize(result.journalBytes)}`;
      const checked = result.found === null ? 'too large to be checked now' : 'no damage';
      return ok(`${result.path}: ${formatSize(result.bytes)}, ${checked}, ${journal}`);
    }
  }
}

export function judgeLocalHive(result: DatabaseProbe): Finding {
  if (result.is !== 'read' || result.hive === null) return skipped('there is none yet');
  const { personas, messages, unread } = result.hive;
  return ok(`${personas} personas, ${messages} messages, ${unread} unread`);
}
