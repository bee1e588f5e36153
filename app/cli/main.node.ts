import type { CommandEntry, Io } from '../../core/command/index.ts';
import { isInCodexServer, toCommandEnv } from './codex.node.ts';
import { dispatch } from './dispatch.ts';

/** Runs one command line in this process and sets the exit code. */
export async function main(
  args: readonly string[],
  commands: Readonly<Record<string, CommandEntry>>,
  { out, err }: Pick<Io, 'out' | 'err'> = STREAMS,
): Promise<void> {
  dropSessionSocket(process.env);
  process.exitCode = await dispatch(args, createIo(out, err), commands);
}

/**
 * Forgets the inbox socket of the session of Claude Code in which this command runs. A program that we start would speak as that
 * session (harnesses, section 2.4).
 */
export function dropSessionSocket(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(env)) if (/^CLAUDE_CODE_MESSAGING_/i.test(name)) delete env[name];
}

/** Writes to the streams of this process. A slow reader blocks nothing. */
export const STREAMS = {
  out: (text: string | Uint8Array): void => write(process.stdout, text),
  err: (text: string): void => write(process.stderr, text),
};

function createIo(out: Io['out'], err: Io['err']): Io {
  return {
    env: toCommandEnv(process.env, isInCodexServer),
    out,
    err,
    input: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

function write(stream: NodeJS.WriteStream, text: string | Uint8Array): void {
  // A reader that stops early (`hivebar status | head -1`) is not a failure of the command.
  if (stream.listenerCount('error') === 0) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  stream.write(text);
}
