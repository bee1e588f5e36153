import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PersonaWire, StatusWire } from '../../app/status/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type Cli, type EventLine, type ProcessExit, runCli, startCli } from './process.ts';
import { measurePause } from './until.ts';

/** A home of its own for one Hivebar: nothing in it until a program is run. Gone when the test leaves its scope. */
export interface TrayHome extends Disposable {
  /** `HOME`: nothing of Hivebar belongs here. */
  readonly home: string;
  /** `HIVEBAR_HOME`. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** A path in `HIVEBAR_HOME`. */
  at(...names: string[]): string;
  /** What `run/` says. Null: no such file. */
  ran(name: 'port' | 'token' | 'hivebar.json'): string | null;
  /** The events of a file stem that a follower could have read, archives first. */
  events(stem: string): readonly EventLine[];
  /** Ids of its `new` events. */
  mail(stem: string): readonly unknown[];
  /** `hivebar ARGS` to its end, with an empty stdin unless one is given. */
  run(
    args: readonly string[],
    options?: RunOptions,
  ): Promise<ProcessExit & { readonly stdout: string; readonly stderr: string }>;
  /** The tray process, at any port, as soon as it serves. @throws with what it said when it ends instead */
  start(
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
    wrap?: readonly string[],
  ): Promise<TrayProcess>;
  /** The tray process whatever becomes of it. */
  spawn(args?: readonly string[], env?: Readonly<Record<string, string>>, wrap?: readonly string[]): Cli;
}

export interface RunOptions {
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

export interface TrayProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly cli: Cli;
  /** Every line of its log so far. */
  readonly log: readonly string[];
  status(): Promise<StatusWire>;
  /** Waits until the status fits. @throws showing the last one */
  until(goal: string, fits: (status: StatusWire) => boolean, ms?: number): Promise<StatusWire>;
  /** Waits for a persona of which `fits` holds. */
  persona(id: string, fits?: (persona: PersonaWire) => boolean, ms?: number): Promise<PersonaWire>;
  /** POST of JSON with the token; the body of the answer. @throws unless it is 200 */
  post(path: string, body: object): Promise<unknown>;
  /** SIGTERM; milliseconds to its end. */
  stop(): Promise<ProcessExit & { readonly ms: number }>;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
}

/** No desktop, also where the tests are run on one. */
const NO_DESKTOP = { DBUS_SESSION_BUS_ADDRESS: '', DISPLAY: '', WAYLAND_DISPLAY: '' };

/** What a first run would decide where no Kijito daemon runs, and without its greeting. */
const LOCAL = { primary: { is: 'local' } };

/** `settings` is its `config.json`; null: there is none, as before a first run. */
export function trayHome(settings: object | null = LOCAL): TrayHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hivebar-tray-')));
  const home = join(root, 'home');
  const dir = join(root, 'hb');
  const at = (...names: string[]): string => join(dir, ...names);
  mkdirSync(home);
  if (settings !== null) {
    mkdirSync(at('config'), { recursive: true, mode: 0o700 });
    writeFileSync(at('config', 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  }
  // What was compiled is kept for all of them: each would pay a second for it.
  const env = { HOME: home, HIVEBAR_HOME: dir, XDG_CACHE_HOME: join(homedir(), '.cache'), ...NO_DESKTOP };
  const input = join(root, 'stdin');
  const events = (stem: string): readonly EventLine[] =>
    readLogLines(at('events'), `events.${stem}.ndjson`).map((line) => JSON.parse(line) as EventLine);

  const spawn = (
    args: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
    wrap: readonly string[] = [],
  ): Cli => startCli(['run', '--port', '0', ...args], { env: { ...env, ...more }, wrap });
  return {
    home,
    dir,
    env,
    at,
    ran: (name) => (existsSync(at('run', name)) ? readFileSync(at('run', name), 'utf8') : null),
    events,
    mail: (stem) => events(stem).flatMap((event) => (event.event === 'new' ? [event.id] : [])),
    run: (args, { stdin, env: more = {} } = {}) => {
      const options = { env: { ...env, ...more } };
      if (stdin === undefined) return runCli(args, options);
      writeFileSync(input, stdin);
      return runCli(args, { ...options, wrap: ['/bin/sh', '-c', `exec "$@" <'${input}'`, 'sh'] });
    },
    spawn,
    start: async (args = [], more = {}, wrap = []) => await served(spawn(args, more, wrap), dir),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Waits until the process has said in `run/` where it serves. */
async function served(cli: Cli, dir: string): Promise<TrayProcess> {
  const file = join(dir, 'run', 'hivebar.json');
  let port = 0;
  try {
    await cli.until('its port', () => {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      port = text.includes(`"pid":${cli.pid},`) ? Number(/"port":(\d+)/.exec(text)?.[1] ?? 0) : 0;
      return port > 0;
    });
  } catch (error) {
    await cli[Symbol.asyncDispose]();
    throw error;
  }
  const token = readFileSync(join(dir, 'run', 'token'), 'utf8').trim();
  const url = `http://127.0.0.1:${port}`;
  const status = async (): Promise<StatusWire> => (await (await fetch(`${url}/status.json`)).json()) as StatusWire;

  async function until(goal: string, fits: (status: StatusWire) => boolean, ms: number = 60_000): Promise<StatusWire> {
    for (const start = performance.now(); ; await sleep(measurePause(performance.now() - start, 100))) {
      const now = await status();
      if (fits(now)) return now;
      if (performance.now() - start > ms)
        throw new Error(`not within ${ms} ms: ${goal}\n${JSON.stringify(now)}\n${cli.stderr}`);
    }
  }

  return {
    pid: cli.pid,
    port,
    token,
    url,
    cli,
    get log() {
      return cli.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [String(JSON.parse(line).msg)] : []));
    },
    status,
    until,
    async persona(id, fits = () => true, ms) {
      const found = ({ personas }: StatusWire): PersonaWire | undefined => personas.find((p) => p.id === id && fits(p));
      return found(await until(`the persona ${id}`, (now) => found(now) !== undefined, ms)) as PersonaWire;
    },
    async post(path, body) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      return await answer.json();
    },
    async stop() {
      const from = performance.now();
      cli.kill('SIGTERM');
      const ended = await cli.ended();
      return { ...ended, ms: performance.now() - from };
    },
    async kill() {
      cli.kill('SIGKILL');
      await cli.ended();
    },
    [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
  };
}

/** Whole lines of a file and its archives, oldest first. One that is rotated on meanwhile is left out: ask again. */
export function readLogLines(folder: string, name: string): string[] {
  if (!existsSync(folder)) return [];
  const number = (file: string): number => Number(file.slice(name.length + 1));
  const archives = readdirSync(folder).filter((file) => file.startsWith(`${name}.`));
  return [...archives.sort((a, b) => number(b) - number(a)), name]
    .map((file) => join(folder, file))
    .flatMap((path) => textOrNone(path).split('\n').slice(0, -1));
}

function textOrNone(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * For a stand-in of a browser: an address that came in a redirect file is read from there, as a browser does.
 */
export const REDIRECTED = `case "$1" in file://*) set -- "$(sed -n 's/.*content="0;url=\\(.*\\)">$/\\1/p' "\${1#file://}" | sed 's/&amp;/\\&/g')";; esac
`;

/** A program that writes its arguments down, one a line, and ends well; `PATH` finds it first. */
export interface StandIn {
  readonly env: Readonly<Record<string, string>>;
  readonly calls: readonly string[];
}

export function standIn(home: TrayHome, name: string, path: string = process.env.PATH ?? ''): StandIn {
  const folder = join(home.home, 'stand-ins');
  const record = join(folder, `${name}.said`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(record, '');
  writeFileSync(join(folder, name), `#!/bin/sh\n${REDIRECTED}printf '%s\\n' "$@" >>'${record}'\n`, { mode: 0o700 });
  return {
    env: { PATH: `${folder}${delimiter}${path}` },
    get calls() {
      return readFileSync(record, 'utf8').split('\n').slice(0, -1);
    },
  };
}

/** The keys of all items of a persona; read without any command of ours, which would mend first. */
export function pushedTo(home: TrayHome, persona: string): readonly string[] {
  using db = openDatabase(home.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  return items.list(persona, 'all', 1000).map(({ dedupKey }) => dedupKey);
}
