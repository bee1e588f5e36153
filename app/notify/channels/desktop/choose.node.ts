import { execFile } from 'node:child_process';
import type { Clock, Log, Spawn } from '../../../../core/ports/index.ts';
import type { NoBus, SessionBus } from '../../../desktop/index.ts';
import type { ClickTarget } from '../../../open/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../../../programs.node.ts';
import { createOffDriver, type DesktopIdentity, type OpenDriver } from '../desktop.ts';
import { createOsascriptDriver, createTerminalNotifierDriver } from '../desktop-commands.ts';
import { createDbusDriver } from './dbus.ts';
import { createMacHelperDriver, createToasterDriver, type VendoredOptions } from './node-notifier.node.ts';
import { createNotifySendDriver } from './notify-send.node.ts';

export interface DriverOptions {
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
  readonly vendored?: VendoredOptions;
}

const PROBE_MS = 3000;
const MAC = {
  arch: '/usr/bin/arch',
  osascript: '/usr/bin/osascript',
  // The PATH of a login session lacks the folders of the package managers.
  beside: ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'],
};

/** Chooses, once at start, how notifications are shown on this desktop. Logs one line when there is a way. */
export async function chooseDriver(options: DriverOptions): Promise<OpenDriver> {
  const { description, driver } = await choosePlatformDriver(options);
  if (description !== 'off') options.log.info(`notifications: ${description}`); // else the listener gets the reason
  return driver;
}

async function choosePlatformDriver(options: DriverOptions): Promise<{ description: string; driver: OpenDriver }> {
  switch (options.platform) {
    case 'darwin':
      return chooseMacDriver(options);
    case 'win32':
      return {
        description: 'by node-notifier (SnoreToast)',
        driver: await createToasterDriver(options.sound, options.clock, options.vendored),
      };
    default:
      return chooseLinuxDriver(options);
  }
}

async function chooseLinuxDriver({
  identity,
  sound,
  bus,
  env,
  platform,
  clock,
}: DriverOptions): Promise<{ description: string; driver: OpenDriver }> {
  if (bus.is === 'none') return createOffChoice(bus.why);
  if (bus.state.is === 'connected') return { description: 'by D-Bus', driver: createDbusDriver(bus, identity, sound) };
  // A bus that exists but refuses us may still accept libnotify.
  const file = programOnPath('notify-send', env, platform);
  if (file !== null) {
    const driver = await createNotifySendDriver(file, identity, sound, env, clock).catch(() => null); // no libnotify then
    if (driver !== null) return { description: `by ${file}, since the session bus is out of reach`, driver };
  }
  return {
    description: 'by D-Bus, as soon as the session bus answers',
    driver: createDbusDriver(bus, identity, sound),
  };
}

async function chooseMacDriver(options: DriverOptions): Promise<{ description: string; driver: OpenDriver }> {
  const { env, platform, arch, spawn, clock, toPageUrl, sound } = options;
  const mac = options.mac ?? MAC;
  const own = programOnPath('terminal-notifier', env, platform, mac.beside);
  if (own !== null && (await readMajorVersion(own, env)) >= 3) {
    return {
      description: `by ${own}`,
      driver: createTerminalNotifierDriver(own, dropUndefined(env), spawn, toPageUrl, sound),
    };
  }
  if (arch === 'x64' || (await readOutput(mac.arch, ['-x86_64', '/usr/bin/true'], env)) !== null) {
    return {
      description: 'by node-notifier (terminal-notifier)',
      driver: await createMacHelperDriver(toPageUrl, sound, clock, options.vendored),
    };
  }
  if (isProgram(mac.osascript)) {
    const hint = 'for clicks: brew install terminal-notifier';
    return {
      description: `by osascript, without clicks (${hint})`,
      driver: createOsascriptDriver(mac.osascript, dropUndefined(env), spawn, sound),
    };
  }
  return createOffChoice('neither terminal-notifier nor osascript was found');
}

function createOffChoice(why: string): { description: string; driver: OpenDriver } {
  return { description: 'off', driver: createOffDriver(why) };
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
