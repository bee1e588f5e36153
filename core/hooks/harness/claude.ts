import { type Harness, type HookEvent, type HookTurn, isAtLeast, parseHookTurn, type Version } from './harness.ts';
import { formatRowReply, type HarnessRow, ROWS, toCarries } from './rows.ts';

/** Replies that only later versions of Claude Code accept. An older version refuses them as invalid output. */
const LATER: readonly { readonly from: Version; readonly event: HookEvent; readonly row: HarnessRow }[] = [
  { from: [2, 1, 105], event: 'PreCompact', row: { text: 'nothing', block: 'decision' } },
  // Added context lets the turn go on, as a block does. After a block, though, the person reads that the hook reported a problem.
  { from: [2, 1, 163], event: 'Stop', row: { text: 'context', block: 'context' } },
];

/** @param version null: unknown, so only replies that every version accepts are used */
export function createClaude(version: Version | null): Harness {
  const findRow = ({ event }: HookTurn): HarnessRow =>
    LATER.find((entry) => entry.event === event && isAtLeast(version, entry.from))?.row ?? ROWS[event];
  return {
    name: 'claude',
    readTurn: (stdin, event) => parseHookTurn('claude', stdin, event),
    carries: (turn) => toCarries(findRow(turn)),
    formatReply: (turn, answer) => formatRowReply(findRow(turn), turn.event, answer),
  };
}
