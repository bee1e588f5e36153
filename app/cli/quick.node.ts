import { writeSync } from 'node:fs';
import type { CommandEntry } from '../../core/command/index.ts';
import * as complete from './complete.ts';
import { main, STREAMS } from './main.node.ts';
import { COMPLETE, QUICK_COMMANDS } from './quick-commands.ts';

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  ...QUICK_COMMANDS,
  [COMPLETE]: {
    summary: 'the words that a shell completes',
    group: 'setup',
    needs: 'bare',
    load: async () => complete,
  },
};

const STDOUT = 1;
/** An empty pipe takes so many bytes, so that nothing waits for its reader. */
const PIPE_BYTES = 65_536;

/**
 * Runs one quick command. A command that writes one short text needs no stream of `process`, and then nothing is left to wait for: the
 * process exits at once. Both together take a tenth of its start.
 */
export async function run(args: readonly string[]): Promise<void> {
  let isFirst = true;
  let hasStreams = false;
  const out = (text: string): void => {
    const rest = isFirst ? writeAtOnce(text) : text;
    isFirst = false;
    if (rest.length === 0) return;
    hasStreams = true;
    STREAMS.out(rest);
  };
  const err = (text: string): void => {
    hasStreams = true;
    STREAMS.err(text);
  };
  await main(args, COMMANDS, { out, err });
  if (!hasStreams) process.exit();
}

/** Writes to stdout without a stream. Returns what a stream has to write: on any error all that is left, so that the stream reports it. */
function writeAtOnce(text: string): string | Uint8Array {
  if (process.platform === 'win32') return text; // a console there wants UTF-16
  const bytes = Buffer.from(text);
  if (bytes.length > PIPE_BYTES) return text;
  let written = 0;
  try {
    for (let wrote = -1; written < bytes.length && wrote !== 0; written += wrote)
      wrote = writeSync(STDOUT, bytes, written);
  } catch {
    // The reader is gone, the disk is full, or the pipe is full and does not block.
  }
  return bytes.subarray(written);
}
