import { execFile } from 'node:child_process';
import { Fault } from '../../../../core/model/index.ts';
import type { Clock, Log, Spawn } from '../../../../core/ports/index.ts';
import type { NoBus, SessionBus } from '../../../desktop/index.ts';
import { type HelperProgram, prepareHelperProgram } from '../../../helper-programs.node.ts';
import type { ClickTarget } from '../../../open/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../../../programs.node.ts';
import {
  createOffBackend,
  createOsascriptBackend,
  createTerminalNotifierBackend,
  type DesktopIdentity,
  type OpenBackend,
} from '../desktop.ts';
import { createDbusBackend } from './dbus.ts';
import { createMacHelperBackend, createToasterBackend } from './node-notifier.node.ts';
import { createNotifySendBackend } from './notify-send.node.ts';

export interface BackendOptions {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly env: ProgramEnv;
  readonly bus: SessionBus | NoBus;
  readonly identity: DesktopIdentity;
  /** Whether banners may make a sound. */
  readonly sound: boolean;
  readonly clock: Clock;
  readonly spawn: Spawn;
  readonly log: Log;
  /** Returns the page that a click opens, where the desktop opens it by itself (macOS). */
  readonly toPageUrl: (opens: ClickTarget) => string;
  /** Where the programs of macOS and our helper are. Tests replace it. */
  readonly mac?: { readonly arch: string; readonly osascript: string; readonly beside: readonly string[] };
  /** A program to use instead of our helper. */
  readonly helperProgram?: string;
}

const PROBE_MS = 3000;
const MAC = {
  arch: '/usr/bin/arch',
  osascript: '/usr/bin/osascript',
  // The PATH of a login session lacks the folders of the package managers.
  beside: ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'],
};

interface BackendChoice {
  readonly description: string;
  readonly backend: OpenBackend;
}

/** Chooses, once at start, how notifications are shown on this desktop. Logs one line when there is a way. */
export async function chooseBackend(options: BackendOptions): Promise<OpenBackend> {
  const { description, backend } = await choosePlatformBackend(options);
  if (description !== 'off') options.log.info(`notifications: ${description}`); // else the listener gets the reason
  return backend;
}

async function choosePlatformBackend(options: BackendOptions): Promise<BackendChoice> {
  switch (options.platform) {
    case 'darwin':
      return chooseMacBackend(options);
    case 'win32':
      return await chooseHelper(
        options,
        options.arch === 'x64' ? 'snoretoast-x64.exe' : 'snoretoast-x86.exe',
        (file) => ({
          description: 'by node-notifier (SnoreToast)',
          backend: createToasterBackend(options.sound, options.clock, file),
        }),
      );
    default:
      return chooseLinuxBackend(options);
  }
}

async function chooseLinuxBackend({
  identity,
  sound,
  bus,
  env,
  platform,
  clock,
}: BackendOptions): Promise<BackendChoice> {
  if (bus.is === 'none') return createOffChoice(bus.why);
  if (bus.state.is === 'connected')
    return { description: 'by D-Bus', backend: createDbusBackend(bus, identity, sound) };
  // A bus that exists but refuses us may still accept libnotify.
  const file = programOnPath('notify-send', env, platform);
  if (file !== null) {
    const backend = await createNotifySendBackend(file, identity, sound, env, clock).catch(() => null); // no libnotify then
    if (backend !== null) return { description: `by ${file}, since the session bus is unreachable`, backend };
  }
  return {
    description: 'by D-Bus, as soon as the session bus answers',
    backend: createDbusBackend(bus, identity, sound),
  };
}

/** Chooses our helper for this platform. Without a helper there are no notifications, and the listener gets the reason. */
async function chooseHelper(
  { helperProgram, log }: BackendOptions,
  name: HelperProgram,
  open: (file: string) => BackendChoice | Promise<BackendChoice>,
): Promise<BackendChoice> {
  let file: string;
  try {
    file = helperProgram ?? prepareHelperProgram(name, log);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return createOffChoice(error.explain());
  }
  return await open(file);
}

async function chooseMacBackend(options: BackendOptions): Promise<BackendChoice> {
  const { env, platform, arch, spawn, clock, toPageUrl, sound } = options;
  const mac = options.mac ?? MAC;
  const own = programOnPath('terminal-notifier', env, platform, mac.beside);
  if (own !== null && (await readMajorVersion(own, env)) >= 3) {
    return {
      description: `by ${own}`,
      backend: createTerminalNotifierBackend(own, dropUndefined(env), spawn, toPageUrl, sound),
    };
  }
  if (arch === 'x64' || (await readOutput(mac.arch, ['-x86_64', '/usr/bin/true'], env)) !== null) {
    return await chooseHelper(options, 'terminal-notifier', async (file) => ({
      description: 'by node-notifier (terminal-notifier)',
      backend: await createMacHelperBackend(toPageUrl, sound, clock, file),
    }));
  }
  if (isProgram(mac.osascript)) {
    const hint = 'for clicks: brew install terminal-notifier';
    return {
      description: `by osascript, without clicks (${hint})`,
      backend: createOsascriptBackend(mac.osascript, dropUndefined(env), spawn, sound),
    };
  }
  return createOffChoice('neither terminal-notifier nor osascript was found');
}

function createOffChoice(why: string): BackendChoice {
  return { description: 'off', backend: createOffBackend(why) };
}

/** Parses `terminal-notifier 3.0.0.` to 3. Returns 0 when there is no version. */
async function readMajorVersion(file: string, env: ProgramEnv): Promise<number> {
  const output = await readOutput(file, ['-version'], env);
  return Number(/\b(\d+)\.\d+/u.exec(output ?? '')?.[1] ?? 0);
}

/** Returns what a program prints, or null when it fails: it is for another architecture, or another program of that name. */
function readOutput(file: string, args: readonly string[], env: ProgramEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env: { ...env }, timeout: PROBE_MS }, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}

function dropUndefined(env: ProgramEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
