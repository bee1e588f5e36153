import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Io } from './command.ts';

/**
 * Runs one command line in this process and leaves its exit code there. What a command does not need is not loaded:
 * the start of the small ones is measured against a Node that does nothing.
 */
export async function main(args: readonly string[]): Promise<void> {
  // Before any other import, or there is nothing left to cache. Never in the shared temporary directory, which is the
  // default: code that others can write would be run.
  enableCompileCache(join(cacheHome(), 'hivebar', 'compile'));
  const { dispatch } = await import('./dispatch.ts');
  process.exitCode = await dispatch(args, io());
}

/** Losing it costs a slower start. `HIVEBAR_HOME` does not move it: it holds no state and no secret. */
function cacheHome(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  if (process.platform === 'win32') return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  const given = process.env.XDG_CACHE_HOME;
  return given?.startsWith('/') ? given : join(homedir(), '.cache');
}

function io(): Io {
  return {
    env: process.env,
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
  // A reader that has seen enough (`hivebar status | head -1`) is no failure of the command.
  if (stream.listenerCount('error') === 0) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  stream.write(text);
}
