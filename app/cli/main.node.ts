import type { CommandEntry, Io } from '../../core/command/index.ts';
import { isInCodexServer, toCommandEnv } from './codex.node.ts';
import { dispatch } from './dispatch.ts';

/** Runs one command line in this process and sets the exit code. */
export async function main(args: readonly string[], commands: Readonly<Record<string, CommandEntry>>): Promise<void> {
  process.exitCode = await dispatch(args, createIo(), commands);
}

function createIo(): Io {
  return {
    env: toCommandEnv(process.env, isInCodexServer),
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    input: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

function write(stream: NodeJS.WriteStream, text: string): void {
  // A reader that stops early (`hivebar status | head -1`) is not a failure of the command.
  if (stream.listenerCount('error') === 0) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  stream.write(text);
}
