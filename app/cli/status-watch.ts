import { displayJson } from '../../core/format/index.ts';
import type { Io } from './command.ts';
import { parseStatus } from './status-response.ts';
import { formatStatusTable } from './status-table.ts';
import { createStopSignal } from './stop-signal.node.ts';
import { getTerminalSize, isTerminal } from './terminal.node.ts';
import { streamTray } from './tray-stream.node.ts';

/**
 * Shows the status and every change of it until it is stopped: redrawn in place on a terminal; in a pipe a block, or with
 * `json` a line, for each change, where a number that is merely seen again is none.
 * @returns the exit code: 1 when the program does not run at the start
 */
export async function watchStatus(io: Io, json: boolean): Promise<number> {
  const inPlace = !json && isTerminal();
  let shownRev: number | null = null;
  for await (const update of streamTray(io.env, createStopSignal())) {
    if (update.is === 'gone') {
      if (shownRev === null) {
        io.err('hivebar is not running: start it with `hivebar`\n');
        return 1;
      }
      io.err('hivebar is not running; waiting for it\n');
      shownRev = -1; // another run counts anew
      continue;
    }
    const status = parseStatus(update.body);
    if (inPlace) io.out(formatRedraw(formatStatusTable(status)));
    else if (status.rev !== shownRev) io.out(json ? `${displayJson(update.body)}\n` : `${formatStatusTable(status)}\n`);
    shownRev = status.rev;
  }
  return 0;
}

const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Written over what is there, line by line, so that nothing flickers; what does not fit is left out. */
function formatRedraw(table: string): string {
  const size = getTerminalSize();
  const lines = table.trimEnd().split('\n');
  const fitting = size === null ? lines : lines.slice(0, size.rows - 1).map((line) => line.slice(0, size.columns - 1));
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}
