import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realClock, realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, findOwnDirs, findOwnHome } from '../../core/state/index.ts';
import { findRunning, isRunning, type RunningInstance } from '../host/instance.ts';
import { LOG_FILE } from '../host/log-file.ts';
import { isProcessGone, readStartKey } from '../open/index.ts';
import { createOwnLoginStart, getOwnStart, type LoginSupervisor } from '../service/index.ts';
import { openLogReader, parseLogMessage } from './log-lines.ts';
import { getHostOs } from './process.node.ts';
import { askTray } from './tray-request.node.ts';

type Env = Io['env'];

/** The tray process of this `HIVEBAR_HOME`, as other processes see it. */
export interface RunningTray {
  /** Null when it has not said yet who it is. */
  readonly instance: RunningInstance | null;
  /** Null: it was started by hand, or by something that does not supervise it. */
  readonly supervisor: LoginSupervisor | null;
  /** Its environment, where the system shows it. */
  readonly env: Env | null;
  isGone(): Promise<boolean>;
}

const STEP_MS = 20;
const STOPS_WITHIN_MS = 30_000;
const STARTS_WITHIN_MS = 60_000;
const disk = createRealDisk(silentLog);

/** Returns the running tray process; null when none runs. */
export async function findTray(env: Env): Promise<RunningTray | null> {
  if (!(await isTrayRunning(env))) return null;
  const instance = findRunning(disk, findOwnDirs({ ...env }).run);
  const supervisor = await findSupervisor(env);
  const runner =
    instance === null ? null : { pid: instance.pid, startKey: readStartKey(instance.pid, getHostOs()), lock: null };
  return {
    instance,
    supervisor: supervisor !== null && (await supervisor.isActive()) ? supervisor : null,
    env: instance === null ? null : readProcessEnv(instance.pid),
    isGone: async () => !(await isTrayRunning(env)) && (runner === null || isProcessGone(runner)),
  };
}

/** Returns what starts the program at login and supervises it; null when nothing is installed that does. */
export async function findSupervisor(env: Env): Promise<LoginSupervisor | null> {
  const machine = { os: getHostOs(), env, disk, random: realRandom, spawn: realSpawn };
  return await createOwnLoginStart(machine).supervisor();
}

/** The lock says it. Windows has none to look at, so there the socket has to answer. */
async function isTrayRunning(env: Env): Promise<boolean> {
  if (getHostOs() !== 'win32') return isRunning(disk, findOwnDirs({ ...env }).run);
  return (await askTray({ method: 'GET', path: '/healthz', body: null }, env)).is === 'answered';
}

/**
 * Asks the tray process to end, and waits until it is gone. A supervisor is asked instead, so that it does not start it again.
 * @throws Fault `timeout` when it still runs after 30 s; `exec-failed` for its supervisor
 */
export async function stopTray({ instance, supervisor, isGone }: RunningTray, env: Env): Promise<void> {
  if (supervisor?.stop) await supervisor.stop();
  else if (!(await isAskedToQuit(env)) && instance !== null) process.kill(instance.pid, 'SIGTERM');
  if (await waitUntil(isGone, STOPS_WITHIN_MS)) return;
  const pid = instance === null ? '' : `, or end it with \`kill ${instance.pid}\``;
  throw new Fault('timeout', `it was asked to stop and still runs after 30 s: see hivebar logs${pid}`, TRAY);
}

/** False: nobody answers at its socket, because it starts, ends or hangs. */
async function isAskedToQuit(env: Env): Promise<boolean> {
  try {
    const response = await askTray({ method: 'POST', path: '/api/v1/actions/quit', body: '{}' }, env);
    return response.is === 'answered' && response.status === 200;
  } catch {
    return false; // a signal asks it again
  }
}

/** What a start needs: flags of `hivebar run`, and the environment of the process. */
export interface TrayStart {
  readonly supervisor: LoginSupervisor | null;
  readonly args: readonly string[];
  readonly env: Env;
}

/**
 * Starts the tray process by its supervisor, else in the background, and waits until it serves.
 * @throws Fault `exec-failed` with the reason when it ends instead, `timeout` when it does not serve within a minute
 */
export async function startTray({ supervisor, args, env }: TrayStart, own: Env): Promise<RunningInstance> {
  const { run, state } = findOwnDirs({ ...own });
  let hasEnded = false;
  if (supervisor !== null) await supervisor.start();
  else
    startInBackground(args, { ...env, ...pickPlaces(own) }, () => {
      hasEnded = true;
    });
  const serves = (): boolean => (findRunning(disk, run)?.port ?? null) !== null;
  const isOver = await waitUntil(() => hasEnded || serves(), STARTS_WITHIN_MS);
  const instance = isOver && !hasEnded ? findRunning(disk, run) : null;
  if (instance !== null) return instance;
  if (hasEnded)
    throw new Fault('exec-failed', `hivebar did not start${readLastMessage(state)}: see hivebar logs`, TRAY);
  throw new Fault('timeout', 'hivebar was started and does not serve after a minute: see hivebar logs', TRAY);
}

/** A start that fails has written the reason as the last line of its log. */
function readLastMessage(state: string): string {
  using reader = openLogReader(disk, join(state, LOG_FILE));
  const last = reader.next().at(-1);
  return last === undefined ? '' : `: ${parseLogMessage(last)}`;
}

function startInBackground(args: readonly string[], env: Env, onEnd: () => void): void {
  const { node, entry } = getOwnStart();
  const options = { detached: true, stdio: 'ignore', cwd: findOwnHome(), env, windowsHide: true } as const;
  const child = spawn(node, [entry, 'run', ...args], options);
  child.on('error', onEnd);
  child.on('exit', onEnd);
  child.unref();
}

/** What decides where the files of Hivebar are. A start must find the same ones, from whichever folder. */
function pickPlaces(env: Env): Env {
  const names = ['HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'LOCALAPPDATA', 'APPDATA'];
  const home = env.HIVEBAR_HOME ? findOwnDirs({ ...env }).state : undefined;
  return { ...Object.fromEntries(names.map((name) => [name, env[name]])), HIVEBAR_HOME: home };
}

/** Reads the environment of a process of ours: null where the system does not show it. */
function readProcessEnv(pid: number): Env | null {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  } catch {
    return null; // another system, or it has ended
  }
}

async function waitUntil(happened: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const until = realClock.monotonic() + ms;
  while (!(await happened())) {
    if (realClock.monotonic() > until) return false;
    await realClock.sleep(STEP_MS, new AbortController().signal);
  }
  return true;
}

const TRAY = { is: 'machine', key: 'tray' } as const;
