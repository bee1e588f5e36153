import { type Finding, ok, skipped, warn } from './finding.ts';

export interface PersonaDaemonsProbe {
  readonly installed: number;
  /** Daemons that answer on their control socket. */
  readonly running: number;
  /** Daemons that nobody is to start. */
  readonly paused: number;
  /** Daemons that should run and do not, or are stalled, one line each. */
  readonly flaws: readonly string[];
}

export function judgePersonaDaemons({ installed, running, paused, flaws }: PersonaDaemonsProbe): Finding {
  if (installed === 0) return skipped('none is installed');
  const summary = `${installed} installed, ${running} ${running === 1 ? 'runs' : 'run'}`;
  const fullSummary = paused === 0 ? summary : `${summary}, ${paused} paused`;
  const [first] = flaws;
  if (first === undefined) return ok(fullSummary);
  const remainder = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(
    `${fullSummary}; ${first}${remainder}`,
    'hivebar daemon list names all of them, hivebar daemon status says how one does',
  );
}
