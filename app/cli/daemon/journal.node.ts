import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ProgramEnv } from '../../programs.node.ts';

const READ_MS = 2000;

/** Returns the last lines that the user's journal has of a unit; none where there is no journal. */
export function readJournalLines(unit: string, most: number, env: ProgramEnv): readonly string[] {
  if (process.platform !== 'linux') return [];
  const result = spawnSync('journalctl', toArguments(unit, most), {
    env,
    encoding: 'utf8',
    timeout: READ_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return result.status === 0 ? result.stdout.split('\n').filter((line) => line !== '') : [];
}

/** Whether the user's journal has a line of a unit. */
export function hasJournal(unit: string, env: ProgramEnv): boolean {
  return readJournalLines(unit, 1, env).length > 0;
}

/** Yields the last `most` lines of a unit, then, with `follow`, every new one until `stop` aborts. */
export async function* readJournal(
  unit: string,
  { most, follow, stop }: { readonly most: number; readonly follow: boolean; readonly stop: AbortSignal },
  env: ProgramEnv,
): AsyncGenerator<readonly string[], void> {
  const child = spawn('journalctl', [...toArguments(unit, most), ...(follow ? ['--follow'] : [])], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = (): void => void child.kill();
  stop.addEventListener('abort', end, { once: true });
  try {
    for await (const line of createInterface({ input: child.stdout })) yield [line];
  } finally {
    end();
  }
}

function toArguments(unit: string, most: number): string[] {
  return ['--user', '--unit', `${unit}.service`, '--lines', `${most}`, '--output', 'cat', '--no-pager', '--quiet'];
}
