import type { Io } from '../../core/command/index.ts';
import { createStopSignal, getTerminalSize } from './process.node.ts';
import { parseStatus } from './status-json.ts';
import { cutToWidth } from './terminal-text.ts';
import { streamTray } from './tray-stream.node.ts';

/**
 * Shows the status and every change until it is stopped. A terminal is redrawn in place. A pipe gets one block per change; a poll
 * that changes no number is not a change.
 * @param format formats a status JSON; null: there is nothing to show, and the person was told why
 * @returns the exit code: 1 when the program does not run at the start, or there is nothing to show
 */
export async function watchStatus(
  io: Io,
  isInPlace: boolean,
  format: (body: string) => Promise<string | null>,
): Promise<number> {
  let shownRev: number | null = null;
  for await (const update of streamTray(io.env, createStopSignal())) {
    if (update.is === 'gone') {
      if (shownRev === null) {
        io.err('hivebar is not running: start it with `hivebar`\n');
        return 1;
      }
      io.err('hivebar is not running; waiting for it\n');
      shownRev = -1; // another run counts from the beginning
      continue;
    }
    const { rev } = parseStatus(update.body);
    if (rev === shownRev && !isInPlace) continue;
    const text = await format(update.body);
    if (text === null) return 1;
    io.out(isInPlace ? formatRedraw(text) : text);
    shownRev = rev;
  }
  return 0;
}

const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Overwrites the screen line by line, so that nothing flickers. Lines and characters that do not fit are left out. */
function formatRedraw(table: string): string {
  const size = getTerminalSize();
  const lines = table.trimEnd().split('\n');
  const fitting =
    size === null ? lines : lines.slice(0, size.rows - 1).map((line) => cutToWidth(line, size.columns - 1));
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}
