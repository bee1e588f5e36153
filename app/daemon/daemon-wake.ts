import { type BannerProgram, openWakePath, type WakePath } from '../../core/daemon/index.ts';
import { type DaemonConfig, formatDoorbellLine, readWake, toWakeFile } from '../../core/link/index.ts';
import { SOURCE_PREFIXES } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';
import { programOnPath } from '../programs.node.ts';

/** The way to an agent while no hook of it runs: what `hivebar session set --wake` noted. One that cannot be read is none. */
export function createWakePath(config: DaemonConfig, { disk, env }: Machine): WakePath {
  const { run } = findOwnDirs(env);
  // Where another hive is the primary one, a persona of the local hive is announced with its prefix.
  const paths = [config.address, `${SOURCE_PREFIXES.local}${config.address}`].map((persona) =>
    toWakeFile(run, persona),
  );
  const address = (): string | null => {
    try {
      return paths.map((path) => readWake(disk, path)).find((url) => url !== null) ?? null;
    } catch {
      return null; // refused, as a link or a file of another user: a ring then fails, and says so
    }
  };
  return openWakePath(address, formatDoorbellLine(config));
}

/** Shows the texts, which it finds as arguments, on macOS. */
const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

/** What tells a person that work waits for a surface to which nothing can be handed; null: nothing on this machine does. */
export function findBanner({ tenant, identity }: DaemonConfig, { env, os }: Machine): BannerProgram | null {
  const texts = ['Hivebar', `Work waits for ${tenant}/${identity}`];
  const own = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  switch (os) {
    case 'win32':
      return null;
    case 'darwin': {
      const file = programOnPath('osascript', env, os, ['/usr/bin']);
      return file === null ? null : { file, args: [...SCRIPT.flatMap((line) => ['-e', line]), ...texts], env: own };
    }
    default: {
      const file = programOnPath('notify-send', env, os);
      return file === null ? null : { file, args: ['--app-name=Hivebar', '--', ...texts], env: own };
    }
  }
}
