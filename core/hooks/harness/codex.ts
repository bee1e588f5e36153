import type { Harness } from './harness.ts';
import { formatRowReply, ROWS, toCarries } from './rows.ts';
import { parseHookTurn } from './turn.ts';

/** Codex: a reply at Stop has no `hookSpecificOutput`. Text that is not JSON counts as a failure of the hook. */
export function createCodex(): Harness {
  return {
    name: 'codex',
    readTurn: (stdin, event) => parseHookTurn('codex', stdin, event),
    carries: ({ event }) => toCarries(ROWS[event]),
    formatReply: ({ event }, answer) => formatRowReply(ROWS[event], event, answer),
  };
}
