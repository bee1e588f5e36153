import { execFile } from 'node:child_process';
import type { Clock, Log, Spawn } from '../../core/ports/index.ts';
import type { NoBus, SessionBus } from '../desktop/index.ts';
import type { Opens } from '../open/index.ts';
import { type Env, isProgram, programOnPath } from '../programs.node.ts';
import { dbusDriver } from './dbus.ts';
import type { Identity, OpenDriver } from './driver.ts';
import { macHelperDriver, toasterDriver, type VendoredOptions } from './node-notifier.node.ts';
import { notifySendDriver } from './notify-send.node.ts';
import { osascriptDriver } from './osascript.ts';
import { terminalNotifierDriver } from './terminal-notifier.ts';

export interface Desk {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly env: Env;
  readonly bus: SessionBus | NoBus;
  readonly identity: Identity;
  /** Whether banners may be heard. */
  readonly sound: boolean;
  readonly clock: Clock;
  readonly spawn: Spawn;
  readonly log: Log;
  /** The page that a click opens where the desktop opens it by itself (macOS). */
  readonly pageOf: (opens: Opens) => string;
  /** Where macOS keeps its own programs, and our helper: for tests. */
  readonly mac?: { readonly arch: string; readonly osascript: string; readonly beside: readonly string[] };
  readonly vendored?: VendoredOptions;
}

const PROBE_MS = 3000;
const MAC = {
  arch: '/usr/bin/arch',
  osascript: '/usr/bin/osascript',
  // A login session's PATH lacks the folders of the package managers.
  beside: ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'],
};

/** How notifications are shown on this desktop, decided once at start. Logs one line when there is a way. */
export async function chooseDriver(desk: Desk): Promise<OpenDriver> {
  const { how, driver } = await chosen(desk);
  if (how !== 'off') desk.log.info(`notifications: ${how}`); // else whoever uses the driver is told why
  return driver;
}

async function chosen(desk: Desk): Promise<{ how: string; driver: OpenDriver }> {
  switch (desk.platform) {
    case 'darwin':
      return forMac(desk);
    case 'win32':
      return {
        how: 'by node-notifier (SnoreToast)',
        driver: await toasterDriver(desk.sound, desk.clock, desk.vendored),
      };
    default:
      return forLinux(desk);
  }
}

async function forLinux({
  identity,
  sound,
  bus,
  env,
  platform,
  clock,
}: Desk): Promise<{ how: string; driver: OpenDriver }> {
  if (bus.is === 'none') return off(bus.why);
  if (bus.state.is === 'connected') return { how: 'by D-Bus', driver: dbusDriver(bus, identity, sound) };
  // A bus that exists and that we cannot join may still be one that libnotify can.
  const file = programOnPath('notify-send', env, platform);
  if (file !== null) {
    const driver = await notifySendDriver(file, identity, sound, env, clock).catch(() => null); // no libnotify then
    if (driver !== null) return { how: `by ${file}, since the session bus is out of reach`, driver };
  }
  return { how: 'by D-Bus, as soon as the session bus answers', driver: dbusDriver(bus, identity, sound) };
}

async function forMac(desk: Desk): Promise<{ how: string; driver: OpenDriver }> {
  const { env, platform, arch, spawn, clock, pageOf, sound } = desk;
  const mac = desk.mac ?? MAC;
  const own = programOnPath('terminal-notifier', env, platform, mac.beside);
  if (own !== null && (await majorOf(own, env)) >= 3) {
    return { how: `by ${own}`, driver: terminalNotifierDriver(own, definedOnly(env), spawn, pageOf, sound) };
  }
  if (arch === 'x64' || (await says(mac.arch, ['-x86_64', '/usr/bin/true'], env)) !== null) {
    return {
      how: 'by node-notifier (terminal-notifier)',
      driver: await macHelperDriver(pageOf, sound, clock, desk.vendored),
    };
  }
  if (isProgram(mac.osascript)) {
    const hint = 'for clicks: brew install terminal-notifier';
    return {
      how: `by osascript, without clicks (${hint})`,
      driver: osascriptDriver(mac.osascript, definedOnly(env), spawn, sound),
    };
  }
  return off('no terminal-notifier and no osascript');
}

function off(why: string): { how: string; driver: OpenDriver } {
  return { how: 'off', driver: noDriver(why) };
}

/** Shows nothing, and says why. */
export function noDriver(why: string): OpenDriver {
  return (listener) => {
    listener.state({ is: 'off', why });
    return {
      show: () => Promise.reject(new Error(why)),
      withdraw: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  };
}

/** `terminal-notifier 3.0.0.` -> 3; 0 when it does not say. */
async function majorOf(file: string, env: Env): Promise<number> {
  const said = await says(file, ['-version'], env);
  return Number(/\b(\d+)\.\d+/u.exec(said ?? '')?.[1] ?? 0);
}

/** What a program prints, or null when it fails: it is of another architecture, or not what its name says. */
function says(file: string, args: readonly string[], env: Env): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env: { ...env }, timeout: PROBE_MS }, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}

function definedOnly(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
