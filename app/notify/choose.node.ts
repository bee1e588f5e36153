import { execFile } from 'node:child_process';
import type { Clock, Log, Spawn } from '../../core/ports/index.ts';
import type { NoBus, SessionBus } from '../desktop/index.ts';
import type { ClickTarget } from '../open/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../programs.node.ts';
import type { DesktopIdentity, OpenChannel } from './channel.ts';
import { createDbusChannel } from './dbus.ts';
import { createMacHelperChannel, createToasterChannel, type VendoredOptions } from './node-notifier.node.ts';
import { createNotifySendChannel } from './notify-send.node.ts';
import { createOsascriptChannel } from './osascript.ts';
import { createTerminalNotifierChannel } from './terminal-notifier.ts';

export interface ChannelOptions {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly env: ProgramEnv;
  readonly bus: SessionBus | NoBus;
  readonly identity: DesktopIdentity;
  /** Whether banners may be heard. */
  readonly sound: boolean;
  readonly clock: Clock;
  readonly spawn: Spawn;
  readonly log: Log;
  /** The page that a click opens where the desktop opens it by itself (macOS). */
  readonly toPageUrl: (opens: ClickTarget) => string;
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
export async function chooseChannel(options: ChannelOptions): Promise<OpenChannel> {
  const { description, channel } = await choosePlatformChannel(options);
  if (description !== 'off') options.log.info(`notifications: ${description}`); // else whoever uses the driver is told why
  return channel;
}

async function choosePlatformChannel(options: ChannelOptions): Promise<{ description: string; channel: OpenChannel }> {
  switch (options.platform) {
    case 'darwin':
      return chooseMacChannel(options);
    case 'win32':
      return {
        description: 'by node-notifier (SnoreToast)',
        channel: await createToasterChannel(options.sound, options.clock, options.vendored),
      };
    default:
      return chooseLinuxChannel(options);
  }
}

async function chooseLinuxChannel({
  identity,
  sound,
  bus,
  env,
  platform,
  clock,
}: ChannelOptions): Promise<{ description: string; channel: OpenChannel }> {
  if (bus.is === 'none') return createOffChoice(bus.why);
  if (bus.state.is === 'connected')
    return { description: 'by D-Bus', channel: createDbusChannel(bus, identity, sound) };
  // A bus that exists and that we cannot join may still be one that libnotify can.
  const file = programOnPath('notify-send', env, platform);
  if (file !== null) {
    const channel = await createNotifySendChannel(file, identity, sound, env, clock).catch(() => null); // no libnotify then
    if (channel !== null) return { description: `by ${file}, since the session bus is out of reach`, channel };
  }
  return {
    description: 'by D-Bus, as soon as the session bus answers',
    channel: createDbusChannel(bus, identity, sound),
  };
}

async function chooseMacChannel(options: ChannelOptions): Promise<{ description: string; channel: OpenChannel }> {
  const { env, platform, arch, spawn, clock, toPageUrl, sound } = options;
  const mac = options.mac ?? MAC;
  const own = programOnPath('terminal-notifier', env, platform, mac.beside);
  if (own !== null && (await readMajorVersion(own, env)) >= 3) {
    return {
      description: `by ${own}`,
      channel: createTerminalNotifierChannel(own, dropUndefined(env), spawn, toPageUrl, sound),
    };
  }
  if (arch === 'x64' || (await readOutput(mac.arch, ['-x86_64', '/usr/bin/true'], env)) !== null) {
    return {
      description: 'by node-notifier (terminal-notifier)',
      channel: await createMacHelperChannel(toPageUrl, sound, clock, options.vendored),
    };
  }
  if (isProgram(mac.osascript)) {
    const hint = 'for clicks: brew install terminal-notifier';
    return {
      description: `by osascript, without clicks (${hint})`,
      channel: createOsascriptChannel(mac.osascript, dropUndefined(env), spawn, sound),
    };
  }
  return createOffChoice('no terminal-notifier and no osascript');
}

function createOffChoice(why: string): { description: string; channel: OpenChannel } {
  return { description: 'off', channel: createOffChannel(why) };
}

/** Shows nothing, and says why. */
export function createOffChannel(why: string): OpenChannel {
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
async function readMajorVersion(file: string, env: ProgramEnv): Promise<number> {
  const output = await readOutput(file, ['-version'], env);
  return Number(/\b(\d+)\.\d+/u.exec(output ?? '')?.[1] ?? 0);
}

/** What a program prints, or null when it fails: it is of another architecture, or not what its name says. */
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
