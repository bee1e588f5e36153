import {
  BRAINCLAW,
  type BrainclawOptions,
  type BrainclawSource,
  brainclawSource,
  type Project,
} from '../../core/sources/brainclaw/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { WatchedHive } from './hives.ts';
import type { Machine } from './machine.ts';

export interface ProjectHive {
  readonly source: BrainclawSource;
  readonly hive: WatchedHive;
}

/** A project of brainclaw, watched as a hive of its own. */
export function projectHive(
  project: Project,
  { brainclaw, contentChars }: Settings,
  { disk, clock, log }: Machine,
  of: Required<Pick<BrainclawOptions, 'cursor' | 'seed' | 'changed'>>,
): ProjectHive {
  const source = brainclawSource({
    ...{ project, disk, clock, log, contentChars },
    mail: brainclaw.mail !== false,
    ...of,
  });
  return {
    source,
    hive: {
      source,
      address: project.root,
      identity: ({ address }) => [BRAINCLAW, address, project.store],
      named: source.named,
      holdMs: null,
      ...{ isLocal: false, isHere: true, tellsAll: brainclaw.backfill === true },
    },
  };
}
