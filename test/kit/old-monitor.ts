import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** The identity of a persona's inbox as the monitor writes it (Kijito contract d). */
export function identityAt(base: string, persona: string): readonly unknown[] {
  const { protocol, hostname, port } = new URL(base);
  return [protocol.slice(0, -1), hostname, Number(port), '/api/inbox', [['persona', persona]]];
}

/** Writes what the deployed monitor leaves of a persona: its state file and its lock file. @returns the state file */
export function leaveState(
  folder: string,
  persona: string,
  base: string,
  cursor: number | null,
  more: object = {},
): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `hive.${persona}.json`);
  const state = { identity: identityAt(base, persona), cursor, state: 'UP', consecutive_failures: 0, ...more };
  writeFileSync(path, JSON.stringify(state), { mode: 0o644 });
  writeFileSync(`${path}.lock`, '', { mode: 0o644 });
  return path;
}

/** Names, modes, times and contents of all files of a folder: whether anything in it was touched. */
export function describeSnapshot(folder: string): string {
  return JSON.stringify(
    readdirSync(folder)
      .toSorted()
      .map((name) => [
        name,
        statSync(join(folder, name)).mode,
        statSync(join(folder, name)).mtimeMs,
        readFileSync(join(folder, name), 'utf8'),
      ]),
  );
}

export function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // then what needs it is left out
  }
}

const HOLD = `
import fcntl, sys, time
f = open(sys.argv[1], 'a')
fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
print('held', flush=True)
time.sleep(600)`;

/** Holds a lock file as the Python monitor does, until it is disposed. */
export async function holdByPython(lock: string): Promise<AsyncDisposable> {
  const child = spawn('python3', ['-c', HOLD, lock], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout as Readable, 'data');
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
