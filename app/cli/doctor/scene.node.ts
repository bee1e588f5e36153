import { Fault } from '../../../core/model/index.ts';
import { realClock, silentLog } from '../../../core/ports/index.ts';
import { type Dirs, ownDirs } from '../../../core/state/index.ts';
import { readSettingsFile, SETTINGS, type Settings, settingsPath } from '../../config/tray/index.ts';
import { openSessionBus } from '../../desktop/index.ts';
import type { StatusWire } from '../../status/index.ts';
import { version } from '../../version.node.ts';
import { askTray } from '../ask-tray.node.ts';
import type { Io } from '../command.ts';
import { readDatabase } from './database.node.ts';
import type { BusSeen, Scene, SettingsSeen, TraySeen } from './scene.ts';

/** This machine, as this user sees it from here. */
export function realScene(io: Pick<Io, 'env'>): Scene {
  const { env } = io;
  const dirs = ownDirs({ ...env });
  const stop = new AbortController();
  const { seen, settings } = settingsOf(dirs);
  const bus = once(() => busOf(env, stop.signal));
  return {
    os: process.platform,
    arch: process.arch,
    env,
    dirs,
    clock: realClock,
    version: version(),
    uid: process.geteuid?.() ?? null,
    settingsFile: seen,
    settings,
    hasDisplay: Boolean(env.DISPLAY || env.WAYLAND_DISPLAY),
    bus,
    tray: once(() => trayOf(env, stop.signal)),
    database: once(() => readDatabase(dirs.state, stop.signal)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      const opened = bus.begun === null ? null : await Promise.race([bus.begun, null]);
      if (opened?.is === 'connected') await opened.bus[Symbol.asyncDispose]();
    },
  };
}

/** Looked at when first asked for, and once for all who ask. */
function once<T>(look: () => Promise<T>): (() => Promise<T>) & { begun: Promise<T> | null } {
  const asked = (): Promise<T> => {
    asked.begun ??= look();
    return asked.begun;
  };
  asked.begun = null as Promise<T> | null;
  return asked;
}

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS.properties).flatMap(([name, schema]: [string, object]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
) as unknown as Settings;

/** Read here and not by who opens them, since to open them makes their directory. */
function settingsOf(dirs: Dirs): { readonly seen: SettingsSeen; readonly settings: Settings } {
  const path = settingsPath(dirs.config);
  try {
    const checked = readSettingsFile(dirs.config);
    if (checked === null) return { seen: { is: 'absent', path }, settings: DEFAULTS };
    if (checked.is === 'bad') return { seen: { is: 'bad', path, problems: checked.problems }, settings: DEFAULTS };
    return {
      seen: { is: 'good', path, names: Object.keys(checked.given) },
      settings: { ...DEFAULTS, ...checked.given },
    };
  } catch (error) {
    return { seen: { is: 'unreadable', path, why: wordsOf(error) }, settings: DEFAULTS };
  }
}

async function busOf(env: Scene['env'], stop: AbortSignal): Promise<BusSeen> {
  const bus = await openSessionBus({ env, log: silentLog, clock: realClock, stop });
  if (bus.is === 'none') return bus;
  if (bus.state.is === 'connected')
    return { is: 'connected', bus, address: env.DBUS_SESSION_BUS_ADDRESS || `unix:path=${env.XDG_RUNTIME_DIR}/bus` };
  const why = bus.state.is === 'gone' ? bus.state.why : 'stopped while connecting';
  await bus[Symbol.asyncDispose]();
  return { is: 'gone', why };
}

/** Leaves those who wait for it time for a look of their own. */
const ANSWER_MS = 1500;

async function trayOf(env: Scene['env'], stop: AbortSignal): Promise<TraySeen> {
  const late = async (): Promise<TraySeen> => {
    await realClock.sleep(ANSWER_MS, stop);
    return { is: 'failed', why: `no answer within ${ANSWER_MS / 1000} s` };
  };
  return await Promise.race([answerOf(env), late()]);
}

async function answerOf(env: Scene['env']): Promise<TraySeen> {
  try {
    const [health, status] = await Promise.all([json('/healthz', env), json('/status.json', env)]);
    if (health === null || status === null) return { is: 'not-running' };
    const { id, pid, version: running } = health as Record<string, unknown>;
    if (typeof id !== 'string' || typeof pid !== 'number' || typeof running !== 'string')
      return { is: 'failed', why: 'something answers that is no Hivebar' };
    if ((status as Record<string, unknown>).schema !== 1)
      return { is: 'failed', why: `Hivebar ${running} answers with another status` };
    return { is: 'answered', id, pid, version: running, status: status as StatusWire };
  } catch (error) {
    return { is: 'failed', why: wordsOf(error) };
  }
}

/** Null: nobody listens. */
async function json(path: string, env: Scene['env']): Promise<object | null> {
  const asked = await askTray({ method: 'GET', path, body: null }, env);
  if (asked.is === 'not-running') return null;
  if (asked.status !== 200) throw new Error(`${path} answers ${asked.status}`);
  const value: unknown = JSON.parse(asked.body);
  if (value === null || typeof value !== 'object') throw new Error(`${path} answers no object`);
  return value;
}

function wordsOf(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.message : String(error);
}
