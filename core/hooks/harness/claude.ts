import type { HookEvent } from './event.ts';
import type { Harness } from './harness.ts';
import { carriesBy, ROWS, type Row, replyBy } from './rows.ts';
import { type Turn, turnOf } from './turn.ts';
import { isFrom, type Version } from './version.ts';

/** What later versions of Claude Code accept; an older one refuses it as invalid output. */
const LATER: readonly { readonly from: Version; readonly event: HookEvent; readonly row: Row }[] = [
  { from: [2, 1, 105], event: 'PreCompact', row: { text: 'nothing', block: 'decision' } },
  // A context lets the turn go on as a block does; of a block the person reads that the hook reported a problem.
  { from: [2, 1, 163], event: 'Stop', row: { text: 'context', block: 'context' } },
];

/** @param version null: not known, so what every version accepts */
export function claude(version: Version | null): Harness {
  const rowOf = ({ event }: Turn): Row =>
    LATER.find((one) => one.event === event && isFrom(version, one.from))?.row ?? ROWS[event];
  return {
    name: 'claude',
    turn: (stdin, event) => turnOf('claude', stdin, event),
    carries: (turn) => carriesBy(rowOf(turn)),
    reply: (turn, answer) => replyBy(rowOf(turn), turn.event, answer),
  };
}
