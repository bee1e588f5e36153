import { type Finding, ok, skipped, warn } from './finding.ts';

/** The end of a persona's event file, compared with the newest event in the database. */
export interface EventFileProbe {
  readonly persona: string;
  readonly path: string;
  readonly newest: string | null;
  readonly file:
    | { readonly is: 'absent' }
    | { readonly is: 'failed'; readonly why: string }
    /** `last`: the event id of the last complete line; null without any. */
    | { readonly is: 'read'; readonly last: string | null; readonly isTorn: boolean };
}

export interface EventFilesProbe {
  readonly files: readonly EventFileProbe[];
  readonly isRunning: boolean;
}

export function judgeEventFiles({ files, isRunning }: EventFilesProbe): Finding {
  const known = files.filter(({ newest }) => newest !== null);
  if (known.length === 0) return skipped('no event has been written yet');
  const bad = known.flatMap((entry) => {
    const why = findFlaw(entry);
    return why === null ? [] : [{ path: entry.path, why }];
  });
  const [first] = bad;
  if (first === undefined) return ok(`${known.length} files have everything`);
  const remainder = bad.length === 1 ? '' : ` (and ${bad.length - 1} more)`;
  const next = isRunning
    ? 'run hivebar doctor again in a minute; if nothing changed, hivebar status says why'
    : 'start Hivebar: it repairs its files from the database; nothing is lost';
  return warn(`${first.path} ${first.why}${remainder}`, next);
}

function findFlaw({ file, newest }: EventFileProbe): string | null {
  switch (file.is) {
    case 'absent':
      return 'is gone; it is made again with the next event';
    case 'failed':
      return `cannot be read: ${file.why}`;
    case 'read':
      if (file.isTorn) return 'ends in the middle of a line';
      return file.last === newest ? null : 'is behind: its last event is not the newest';
  }
}
