import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildPackage } from '../../build/package.ts';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';

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

const folders: string[] = [];
const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL'); // a run that was stopped leaves nothing behind
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A folder that is removed at the end of all runs. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-bench-'));
  folders.push(folder);
  return folder;
}

let cache: string | null = null;

/** Where all programs find what an earlier start compiled, as a user's program does. */
export function cacheHome(): string {
  cache ??= temporary();
  return cache;
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly home: string;
  /** What it wrote to stderr so far. */
  stderr(): string;
  /** Milliseconds from SIGTERM to its end. */
  stop(): Promise<number>;
}

/** Starts the packed program in a home of its own. stderr is kept and shown when it ends by itself. */
export async function start(
  args: readonly string[],
  home: string,
  keepStdout = false,
  own = join(home, 'hivebar'),
  more: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const entry = join(await packed(), 'hivebar.cjs');
  const env = {
    PATH: process.env.PATH,
    NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS ?? '',
    HOME: home,
    HIVEBAR_HOME: own,
    XDG_CACHE_HOME: cacheHome(),
    ...more,
  };
  const child = spawn(process.execPath, [entry, ...args], {
    env,
    stdio: ['ignore', keepStdout ? 'pipe' : 'ignore', 'pipe'],
  });
  started.add(child);
  child.once('exit', () => started.delete(child));
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
    stderr: () => output,
    stop,
    [Symbol.asyncDispose]: async () => void (child.exitCode === null && child.signalCode === null && (await stop())),
  };
}

/** A tray process without a desktop, once its server listens. */
export async function startTray(
  home: string,
  args: readonly string[] = [],
  own?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Running & { readonly port: number; readonly token: string }> {
  const tray = await start(['run', '--port', '0', '--no-tray', '--no-notifications', ...args], home, false, own, env);
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

/** `persona-0000`, `persona-0001` and so on. */
export function listNames(n: number): readonly string[] {
  return Array.from({ length: n }, (_, i) => `persona-${String(i).padStart(4, '0')}`);
}

/** Mail straight into the database of a home, as a store command writes it. */
export function fillLocalHive(home: string, mails: readonly { to: string; content: string }[]): void {
  mkdirSync(join(home, 'hivebar'), { recursive: true, mode: 0o700 });
  using db = openDatabase(join(home, 'hivebar', 'hivebar.sqlite'));
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
  void Promise.all(mails.map((mail) => hive.send({ ...mail, from: 'bench', urgent: false })));
}

/** A home whose local hive has a message for each of these. */
export function localHome(personas: readonly string[]): string {
  const home = temporary();
  fillLocalHive(
    home,
    personas.map((to) => ({ to, content: 'first' })),
  );
  return home;
}

export function eventFile(home: string, persona: string): string {
  return join(home, 'hivebar', 'events', `events.${persona}.ndjson`);
}

/** Until the watch of each of these has begun. */
export async function untilArmed(home: string, personas: readonly string[], ms = 60_000): Promise<void> {
  for (const persona of personas)
    await until(`armed of ${persona}`, () => fileText(eventFile(home, persona))?.includes('"armed"'), ms);
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

/** Resident and private memory in MiB. Only private memory may be added up over processes. */
export function readMemory(pid: number): { readonly rss: number; readonly own: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const sum = (pattern: RegExp): number => [...rollup.matchAll(pattern)].reduce((n, m) => n + Number(m[1]), 0) / 1024;
  return { rss: sum(/^Rss:\s+(\d+)/gm), own: sum(/^Private_(?:Clean|Dirty):\s+(\d+)/gm) };
}

/**
 * CPU time of all threads so far, in milliseconds. From the scheduler, because the clock of `/proc/PID/stat` ticks each 10 ms,
 * which an idle program needs in 20 s.
 */
export function readCpuMs(pid: number): number {
  return readThreads(pid, 'schedstat').reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
}

function readThreads(pid: number, file: 'schedstat' | 'status'): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => fileText(`/proc/${pid}/task/${thread}/${file}`) ?? '0');
}

/** How often the threads of a process went to sleep so far: each time something woke one. */
export function readWakeUps(pid: number): number {
  return readThreads(pid, 'status').reduce(
    (sum, status) => sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0),
    0,
  );
}

export interface IdleCost {
  /** Share of one core. */
  readonly percent: number;
  readonly wakeUpsPerMinute: number;
}

/** What a process costs in the time to come. */
export async function measureCost(pid: number, ms: number): Promise<IdleCost> {
  const before = { at: performance.now(), cpu: readCpuMs(pid), wakeUps: readWakeUps(pid) };
  await sleep(ms);
  const took = performance.now() - before.at;
  return {
    percent: ((readCpuMs(pid) - before.cpu) / took) * 100,
    wakeUpsPerMinute: ((readWakeUps(pid) - before.wakeUps) * 60_000) / took,
  };
}

/** A Node that waits and does nothing, as a floor. `code` is run before. */
export async function startBareNode(code = ''): Promise<Disposable & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', `${code}; setInterval(() => {}, 1e6); process.stdout.write('up')`], {
    cwd: ROOT,
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { pid: child.pid ?? 0, [Symbol.dispose]: () => void child.kill() };
}

/** Milliseconds of a whole `node -e 0`. */
export async function measureBareStart(): Promise<number> {
  const from = performance.now();
  await new Promise((resolve) => spawn(process.execPath, ['-e', '0']).once('exit', resolve));
  return performance.now() - from;
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
