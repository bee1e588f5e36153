import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { realClock, silentLog } from '../../../core/ports/index.ts';
import {
  type Dirs,
  findOwnDirs,
  formatStoreReport,
  readStoreReport,
  toPeekAddress,
} from '../../../core/state/index.ts';
import { getSettingsPath, readSettingsFile, SETTINGS, type Settings } from '../../config/tray/index.ts';
import { openSessionBus } from '../../desktop/index.ts';
import { readVersion } from '../../package.node.ts';
import type { StatusWire } from '../../status/index.ts';
import { askTray } from '../tray-request.node.ts';
import type {
  BusProbe,
  DatabaseProbe,
  DoctorContext,
  SettingsProbe,
  TrayProbe,
  WatcherProbe,
} from './doctor-context.ts';

/** Creates the context of the checks: this machine as this user sees it. */
export function createContext(io: Pick<Io, 'env'>): DoctorContext {
  const { env } = io;
  const dirs = findOwnDirs({ ...env });
  const stop = new AbortController();
  const { settingsFile, settings } = loadSettings(dirs);
  const bus = memoize(() => openBus(env, stop.signal));
  return {
    os: process.platform,
    arch: process.arch,
    env,
    dirs,
    clock: realClock,
    version: readVersion(),
    uid: process.geteuid?.() ?? null,
    settingsFile: settingsFile,
    settings,
    hasDisplay: Boolean(env.DISPLAY || env.WAYLAND_DISPLAY),
    bus,
    tray: memoize(() => probeTray(env, stop.signal)),
    database: memoize(() => readDatabase(dirs.state, stop.signal)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      const opened = bus.begun === null ? null : await Promise.race([bus.begun, null]);
      if (opened?.is === 'connected') await opened.bus[Symbol.asyncDispose]();
    },
  };
}

/** Loads a value on the first call, and shares it with all callers. */
function memoize<T>(load: () => Promise<T>): (() => Promise<T>) & { begun: Promise<T> | null } {
  const cached = (): Promise<T> => {
    cached.begun ??= load();
    return cached.begun;
  };
  cached.begun = null as Promise<T> | null;
  return cached;
}

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS.properties).flatMap(([name, schema]: [string, object]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
) as unknown as Settings;

/** Reads the settings here, because opening them would create their directory. */
function loadSettings(dirs: Dirs): { readonly settingsFile: SettingsProbe; readonly settings: Settings } {
  const path = getSettingsPath(dirs.config);
  try {
    const checked = readSettingsFile(dirs.config);
    if (checked === null) return { settingsFile: { is: 'absent', path }, settings: DEFAULTS };
    if (checked.is === 'bad')
      return { settingsFile: { is: 'bad', path, problems: checked.problems }, settings: DEFAULTS };
    return {
      settingsFile: { is: 'good', path, names: Object.keys(checked.settings) },
      settings: { ...DEFAULTS, ...checked.settings },
    };
  } catch (error) {
    return { settingsFile: { is: 'unreadable', path, why: formatError(error) }, settings: DEFAULTS };
  }
}

async function openBus(env: DoctorContext['env'], stop: AbortSignal): Promise<BusProbe> {
  const bus = await openSessionBus({ env, log: silentLog, clock: realClock, stop });
  if (bus.is === 'none') return bus;
  if (bus.state.is === 'connected')
    return { is: 'connected', bus, address: env.DBUS_SESSION_BUS_ADDRESS || `unix:path=${env.XDG_RUNTIME_DIR}/bus` };
  const why = bus.state.is === 'gone' ? bus.state.why : 'stopped while connecting';
  await bus[Symbol.asyncDispose]();
  return { is: 'gone', why };
}

/** Short enough to leave waiting checks time for their own probe. */
const ANSWER_MS = 1500;

async function probeTray(env: DoctorContext['env'], stop: AbortSignal): Promise<TrayProbe> {
  const late = async (): Promise<TrayProbe> => {
    await realClock.sleep(ANSWER_MS, stop);
    return { is: 'failed', why: `timed out after ${ANSWER_MS / 1000} s` };
  };
  return await Promise.race([askTrayState(env), late()]);
}

async function askTrayState(env: DoctorContext['env']): Promise<TrayProbe> {
  try {
    const [health, status] = await Promise.all([fetchJson('/healthz', env), fetchJson('/status.json', env)]);
    if (health === null || status === null) return { is: 'not-running' };
    const { id, pid, version: running } = health as Record<string, unknown>;
    if (typeof id !== 'string' || typeof pid !== 'number' || typeof running !== 'string')
      return { is: 'failed', why: 'another program answers' };
    if ((status as Record<string, unknown>).schema !== 1)
      return { is: 'failed', why: `Hivebar ${running} answers with a status of another version` };
    return { is: 'answered', id, pid, version: running, status: status as StatusWire };
  } catch (error) {
    return { is: 'failed', why: formatError(error) };
  }
}

/** Null: nobody listens. */
async function fetchJson(path: string, env: DoctorContext['env']): Promise<object | null> {
  const response = await askTray({ method: 'GET', path, body: null }, env);
  if (response.is === 'not-running') return null;
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
  const value: unknown = JSON.parse(response.body);
  if (value === null || typeof value !== 'object') throw new Error(`${path} must answer with a JSON object`);
  return value;
}

function formatError(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.message : String(error);
}

/**
 * This program runs in its own process, because calls of SQLite cannot be interrupted and checking a large file takes long. It
 * prints the counts on one line first, then what the check finds. A table that does not exist yet is no fault.
 */
const PROGRAM = `
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(new URL(process.argv[1]), { readOnly: true, timeout: 1000 });
const rows = (sql) => {
  try {
    return db.prepare(sql).all();
  } catch (error) {
    if (/no such (table|column)/.test(error.message)) return [];
    throw error;
  }
};
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
const [hive = null] = rows('SELECT count(*) AS personas, coalesce(sum(unread), 0) AS unread, (SELECT count(*) FROM inbox) AS messages FROM personas');
const watches = rows('SELECT persona, (SELECT event_id FROM outbox WHERE seq = (SELECT max(seq) FROM outbox WHERE persona = watches.persona)) AS newest FROM watches');
say({ hive, watches });
say(db.prepare('PRAGMA integrity_check(3)').all().map((row) => row.integrity_check).filter((text) => text !== 'ok'));
`;

const CHECK_MS = 2500;
const MOST_OUTPUT = 64 * 1024 * 1024;

/** Reads the database of a state directory without leaving a trace: it creates no file and takes over nothing. */
function readDatabase(state: string, stop: AbortSignal): Promise<DatabaseProbe> {
  const path = join(state, 'hivebar.sqlite');
  const bytes = readSize(path);
  const url = toPeekAddress(path);
  if (bytes === null || url === null) return Promise.resolve({ is: 'absent', path });
  return new Promise((resolve) => {
    const flaws = Promise.withResolvers<readonly string[] | null>();
    const options = { timeout: CHECK_MS, killSignal: 'SIGKILL', signal: stop, maxBuffer: MOST_OUTPUT } as const;
    const args = ['--no-warnings', '--input-type=commonjs', '-e', PROGRAM, url.href];
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const [, flawsLine] = stdout.split('\n');
      flaws.resolve(flawsLine === undefined || flawsLine === '' ? null : (JSON.parse(flawsLine) as string[]));
      const why = /Error: (.*)/.exec(stderr)?.[1] ?? error?.message.split('\n')[0] ?? 'no error message';
      resolve({ is: 'unreadable', path, why }); // ignored when the counts came before
    });
    let head = '';
    child.stdout?.on('data', (text: string) => {
      if (head.includes('\n')) return;
      head += text;
      const end = head.indexOf('\n');
      if (end === -1) return;
      const { hive, watches } = JSON.parse(head.slice(0, end)) as { hive: DatabaseCounts; watches: WatcherProbe[] };
      const journalBytes = readSize(join(state, 'outbox.journal'));
      const storeReport = readStoreReport(path);
      const report = storeReport === null ? {} : { report: formatStoreReport(path, storeReport) };
      resolve({ is: 'read', path, bytes, journalBytes, hive, watches, flaws: flaws.promise, ...report });
    });
  });
}

type DatabaseCounts = { personas: number; messages: number; unread: number } | null;

/** Null: there is no such file. */
function readSize(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? null;
}
