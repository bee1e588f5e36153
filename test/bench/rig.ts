import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildPackage } from '../../build/package.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let built: Promise<string> | null = null;

/** The folder of the package as it is published, built once a run and removed at its end. */
export function packed(): Promise<string> {
  built ??= (async () => {
    const folder = temporary();
    await buildPackage(join(folder, 'dist'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    return join(folder, 'dist');
  })();
  return built;
}

export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly home: string;
  /** Milliseconds from SIGTERM to its end. */
  stop(): Promise<number>;
}

/** Starts the packed program in a home of its own. stderr is kept and shown when it ends by itself. */
export async function start(
  args: readonly string[],
  home: string,
  keepStdout = false,
  own = join(home, 'hivebar'),
): Promise<Running> {
  const entry = join(await packed(), 'hivebar.cjs');
  const env = {
    PATH: process.env.PATH,
    NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS ?? '',
    HOME: home,
    HIVEBAR_HOME: own,
  };
  const child = spawn(process.execPath, [entry, ...args], {
    env,
    stdio: ['ignore', keepStdout ? 'pipe' : 'ignore', 'pipe'],
  });
  let output = '';
  let stopping = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => {
    if (!stopping) process.stderr.write(`hivebar ${args.join(' ')} ended by itself:\n${output}\n`);
  });
  const stop = async (): Promise<number> => {
    stopping = true;
    const from = performance.now();
    child.kill('SIGTERM');
    await ended;
    return performance.now() - from;
  };
  return {
    child,
    pid: child.pid ?? 0,
    home: own,
    stop,
    [Symbol.asyncDispose]: async () => void (child.exitCode === null && child.signalCode === null && (await stop())),
  };
}

/** A tray process without a desktop, once its server listens. */
export async function startTray(
  home: string,
  args: readonly string[] = [],
  own?: string,
): Promise<Running & { readonly port: number; readonly token: string }> {
  const tray = await start(['run', '--port', '0', '--no-tray', '--no-notifications', ...args], home, false, own);
  const port = Number(await until('port file', () => fileText(join(tray.home, 'run', 'port'))));
  const token = (fileText(join(tray.home, 'run', 'token')) ?? '').trim();
  return { ...tray, port, token };
}

/** Settings for a home whose primary hive is a Kijito daemon at `base`. */
export function kijitoHome(base: string, more: object = {}): string {
  const home = temporary();
  const folder = join(home, 'hivebar', 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ primary: { is: 'kijito', base }, ...more }));
  return home;
}

export function fileText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not there yet
  }
}

/** Waits until `look` gives something. @throws after `ms` */
export async function until<T>(
  goal: string,
  check: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  ms = 20_000,
): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(2)) {
    const found = await check();
    if (found !== null && found !== undefined && found !== false) return found;
  }
  throw new Error(`${goal} did not come within ${ms} ms`);
}

/** Spins the event loop until `look` is true, for times below a timer's grain; milliseconds it took. */
export async function spin(check: () => boolean, ms = 5000): Promise<number> {
  const from = performance.now();
  while (!check()) {
    if (performance.now() - from > ms) throw new Error(`nothing came within ${ms} ms`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return performance.now() - from;
}

/** Resident and private memory in MiB. */
export function readMemory(pid: number): { readonly rss: number; readonly own: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const sum = (pattern: RegExp): number => [...rollup.matchAll(pattern)].reduce((n, m) => n + Number(m[1]), 0) / 1024;
  return { rss: sum(/^Rss:\s+(\d+)/gm), own: sum(/^Private_(?:Clean|Dirty):\s+(\d+)/gm) };
}

/** CPU time of all threads so far, in milliseconds. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10; // USER_HZ is 100
}

export function mib(value: number): string {
  return `${value.toFixed(0)} MiB`;
}

/** POST of JSON to a tray process; resolves with the moment its answer was whole. */
export function post(port: number, token: string, path: string, body: object, agent?: Agent): Promise<number> {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'content-length': Buffer.byteLength(text),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now());
        else reject(new Error(`${path} answered ${response.statusCode}`));
      });
    });
    sent.on('error', reject).end(text);
  });
}
