import { type Finding, ok, skipped, warn } from './finding.ts';

/** The end of a persona's event file, beside the newest event that the database has for it. */
export interface EventFileSeen {
  readonly persona: string;
  readonly path: string;
  readonly newest: string | null;
  readonly file:
    | { readonly is: 'absent' }
    | { readonly is: 'failed'; readonly why: string }
    /** `last`: the event id of its last whole line; null without any. */
    | { readonly is: 'read'; readonly last: string | null; readonly isTorn: boolean };
}

export interface EventFilesSeen {
  readonly files: readonly EventFileSeen[];
  readonly isRunning: boolean;
}

export function judgeEventFiles({ files, isRunning }: EventFilesSeen): Finding {
  const known = files.filter(({ newest }) => newest !== null);
  if (known.length === 0) return skipped('no event has been written yet');
  const bad = known.flatMap((one) => {
    const why = flawOf(one);
    return why === null ? [] : [{ path: one.path, why }];
  });
  const [first] = bad;
  if (first === undefined) return ok(`${known.length} files have everything`);
  const more = bad.length === 1 ? '' : ` (and ${bad.length - 1} more)`;
  const next = isRunning
    ? 'ask again in a minute: it is mended by itself; else hivebar status says why it waits'
    : 'start Hivebar: it mends its files from the database, nothing is lost';
  return warn(`${first.path} ${first.why}${more}`, next);
}

function flawOf({ file, newest }: EventFileSeen): string | null {
  switch (file.is) {
    case 'absent':
      return 'is gone; it is made again with the next event';
    case 'failed':
      return `can not be read: ${file.why}`;
    case 'read':
      if (file.isTorn) return 'ends inside of a line';
      return file.last === newest ? null : 'is behind: its last event is not the newest';
  }
}
