import { openWakePath, type WakePath } from '../../core/daemon/index.ts';
import { type DaemonConfig, formatDoorbellLine, readWake, toWakeFile } from '../../core/link/index.ts';
import { LOCAL_PREFIX } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';

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
