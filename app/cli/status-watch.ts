import { printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import { statusOf } from './status-of.ts';
import { statusTable } from './status-table.ts';
import { stopSignal } from './stop-signal.node.ts';
import { isTerminal, terminalSize } from './terminal.node.ts';
import { trayStream } from './tray-stream.node.ts';

/**
 * Shows the status and every change of it until it is stopped: redrawn in place on a terminal; in a pipe a block, or with
 * `json` a line, for each change, where a number that is merely seen again is none.
 * @returns the exit code: 1 when the program does not run at the start
 */
export async function watchStatus(io: Io, json: boolean): Promise<number> {
  const inPlace = !json && isTerminal();
  let shown: number | null = null;
  for await (const said of trayStream(io.env, stopSignal())) {
    if (said.is === 'gone') {
      if (shown === null) {
        io.err('hivebar is not running: start it with `hivebar`\n');
        return 1;
      }
      io.err('hivebar is not running; waiting for it\n');
      shown = -1; // another run counts anew
      continue;
    }
    const status = statusOf(said.body);
    if (inPlace) io.out(redrawn(statusTable(status)));
    else if (status.rev !== shown) io.out(json ? `${printableJson(said.body)}\n` : `${statusTable(status)}\n`);
    shown = status.rev;
  }
  return 0;
}

const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Written over what is there, line by line, so that nothing flickers; what does not fit is left out. */
function redrawn(table: string): string {
  const size = terminalSize();
  const lines = table.trimEnd().split('\n');
  const fitting = size === null ? lines : lines.slice(0, size.rows - 1).map((line) => line.slice(0, size.columns - 1));
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}
