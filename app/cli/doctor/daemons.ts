import { type Finding, ok, skipped, warn } from './finding.ts';

export interface DaemonsSeen {
  readonly installed: number;
  /** They answer on their control socket. */
  readonly running: number;
  /** Nobody is to start them. */
  readonly paused: number;
  /** Of those that should run and do not, or are stalled, a line each. */
  readonly flaws: readonly string[];
}

export function judgeDaemons({ installed, running, paused, flaws }: DaemonsSeen): Finding {
  if (installed === 0) return skipped('none is installed');
  const who = `${installed} installed, ${running} ${running === 1 ? 'runs' : 'run'}`;
  const all = paused === 0 ? who : `${who}, ${paused} paused`;
  const [first] = flaws;
  if (first === undefined) return ok(all);
  const more = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(
    `${all}; ${first}${more}`,
    'hivebar daemon list names all of them, hivebar daemon status says how one does',
  );
}
