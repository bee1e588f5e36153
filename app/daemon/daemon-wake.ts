import { type BannerProgram, openWakePath, type WakePath } from '../../core/daemon/index.ts';
import { type DaemonConfig, formatDoorbellLine, readWake, toWakeFile } from '../../core/link/index.ts';
import { LOCAL_PREFIX } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';
import { programOnPath } from '../programs.node.ts';

/**
 * Creates the way to wake an agent while none of its hooks run, from the address that `hivebar session set --wake` saved. An
 * address that cannot be read counts as none.
 */
export function createWakePath(config: DaemonConfig, { disk, env }: Machine): WakePath {
  const { run } = findOwnDirs(env);
  // Where another hive is the primary one, a persona of the local hive is announced with its prefix.
  const paths = [config.address, `${LOCAL_PREFIX}${config.address}`].map((persona) => toWakeFile(run, persona));
  const address = (): string | null => {
    try {
      return paths.map((path) => readWake(disk, path)).find((url) => url !== null) ?? null;
    } catch {
      return null; // refused, as a link or a file of another user: then a ring fails and says so
    }
  };
  return openWakePath(address, formatDoorbellLine(config));
}

/** Shows its arguments as a notification on macOS. */
const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

/**
 * Finds the program that tells a person that work waits for a surface which cannot be reached otherwise. Null when this machine
 * has none.
 */
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
