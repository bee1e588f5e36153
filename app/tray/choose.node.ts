import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Clock, type Log, realSpawn } from '../../core/ports/index.ts';
import type { NoBus, SessionBus } from '../desktop/index.ts';
import type { TrayDriver, TrayEvents } from './driver.ts';
import { chooseHelperBinary } from './helper-binary.ts';
import type { TrayIcons } from './icons.node.ts';
import { openSniTray } from './sni.node.ts';
import { openHelperTray } from './systray2.node.ts';

/** The loader that the helper binary for Linux needs. */
const GLIBC_LOADER = '/lib64/ld-linux-x86-64.so.2';
const ROSETTA_MS = 5000;

export interface TrayNeeds {
  /** `auto` is StatusNotifierItem on Linux, and the helper elsewhere. */
  readonly choice: 'auto' | 'sni' | 'systray2' | 'none';
  readonly bus: SessionBus | NoBus;
  readonly icons: TrayIcons;
  /** The absolute path of a folder for the helper only, below the state folder. */
  readonly helperFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly events: TrayEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Chooses and starts the tray driver for this machine. There is always one: where no icon can be shown, it shows nothing and has
 * reported why through `onState`. Every state is logged once, here.
 */
export async function openTray(needs: TrayNeeds): Promise<TrayDriver> {
  const { choice, bus, icons, helperFolder, env, clock, log } = needs;
  const events: TrayEvents = {
    onAction: (action) => needs.events.onAction(action),
    onState: (text) => {
      log.info(`tray: ${text}`);
      needs.events.onState(text);
    },
  };
  const createOffDriver = (why: string): TrayDriver => {
    events.onState(`off (${why})`);
    return { show: () => {}, [Symbol.asyncDispose]: async () => {} };
  };
  if (choice === 'none') return createOffDriver('switched off');
  const { platform, arch } = process;
  const hasBus = platform !== 'darwin' && platform !== 'win32';
  if (choice === 'sni' || (choice === 'auto' && hasBus)) {
    return bus.is === 'bus' ? openSniTray(bus, icons, events, log) : createOffDriver(`no session bus: ${bus.why}`);
  }
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return createOffDriver('no display');
  const hasRosetta = platform === 'darwin' && arch === 'arm64' && (await canRunIntelPrograms());
  const binary = chooseHelperBinary({ platform, arch, hasGlibcLoader: existsSync(GLIBC_LOADER), hasRosetta });
  if (binary.is === 'none') return createOffDriver(binary.why);
  const traybin = join(dirname(createRequire(import.meta.url).resolve('systray2/package.json')), 'traybin');
  const file = join(traybin, binary.name);
  return openHelperTray({ binary: file, folder: helperFolder, platform, env, icons, events, clock, log });
}

async function canRunIntelPrograms(): Promise<boolean> {
  const command = { file: '/usr/bin/arch', args: ['-x86_64', '/usr/bin/true'], env: {}, timeoutMs: ROSETTA_MS };
  const ended = await realSpawn.run(command, new AbortController().signal);
  return ended.is === 'exited' && ended.code === 0;
}
