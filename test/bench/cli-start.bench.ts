import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../build/package.ts';
import { bench, goals, ms, quantile } from './harness.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const RUNS = 40;

export const benches = [
  goals([{ name: 'hivebar status --json, packed', unit: 'x', bar: 1.25 }], () =>
    withTray(async (home) => {
      await buildPackage(join(home, 'package', 'dist'));
      symlinkSync(join(ROOT, 'node_modules'), join(home, 'package', 'node_modules'));
      symlinkSync(join(ROOT, 'package.json'), join(home, 'package', 'package.json'));
      const entry = join(home, 'package', 'dist', 'hivebar.cjs');
      const [own, floor] = await sideBySide(home, [entry, 'status', '--json']);
      return [{ value: own / floor, note: ms(own), floor: { value: floor, unit: 'ms', what: 'node -e 0' } as const }];
    }),
  ),
  bench('hivebar status --json, checkout', '<= 400 ms', () =>
    withTray(async (home) => {
      const script = join(ROOT, 'scripts', 'hivebar');
      const [own, floor] = await sideBySide(home, ['status', '--json'], script);
      return { figure: times(own, floor), floor: `${ms(floor)} node -e 0`, met: own <= 400 };
    }),
  ),
];

function times(own: number, floor: number): string {
  return `${ms(own)} (${(own / floor).toFixed(2)} x)`;
}

/** Medians of both, run in turns so that the machine's moods meet both. */
async function sideBySide(
  home: string,
  args: readonly string[],
  file = process.execPath,
): Promise<readonly [number, number]> {
  const own: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < 3; i += 1) await timed(home, file, args); // fills the compile cache
  for (let i = 0; i < RUNS; i += 1) {
    own.push(await timed(home, file, args));
    floor.push(await timed(home, process.execPath, ['-e', '0']));
  }
  return [quantile(own, 0.5), quantile(floor, 0.5)];
}

/** A whole process in milliseconds. @throws when it does not end with 0 */
function timed(home: string, file: string, args: readonly string[]): Promise<number> {
  const env = { PATH: process.env.PATH, HOME: home, HIVEBAR_HOME: home };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(file, [...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`${file} ${args.join(' ')} ended with ${code}`));
    });
  });
}

/** A home with a socket that answers as a tray process with 100 personas does. */
async function withTray<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-bench-'));
  mkdirSync(join(home, 'run'));
  const personas = Array.from({ length: 100 }, (_, n) => ({ id: `persona-${n}`, state: 'UP', unread: n, asOf: null }));
  const body = JSON.stringify({ schema: 1, personas });
  const server = createServer((_, response) => {
    response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
  });
  await new Promise<void>((resolve) => server.listen(join(home, 'run', 'hivebar.sock'), resolve));
  try {
    return await work(home);
  } finally {
    await new Promise((resolve) => server.close(resolve));
    rmSync(home, { recursive: true, force: true });
  }
}
