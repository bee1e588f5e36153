import type { Harness } from './harness.ts';
import { carriesBy, ROWS, replyBy } from './rows.ts';
import { turnOf } from './turn.ts';

/** Codex: at Stop no `hookSpecificOutput`, and text that is no JSON is a failure of the hook. */
export function codex(): Harness {
  return {
    name: 'codex',
    turn: (stdin, event) => turnOf('codex', stdin, event),
    carries: ({ event }) => carriesBy(ROWS[event]),
    reply: ({ event }, answer) => replyBy(ROWS[event], event, answer),
  };
}
