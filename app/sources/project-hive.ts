import {
  BRAINCLAW,
  type BrainclawOptions,
  type BrainclawSource,
  createBrainclawSource,
  type Project,
} from '../../core/sources/brainclaw/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.ts';
import type { WatchedHive } from './hives.ts';

export interface ProjectHive {
  readonly source: BrainclawSource;
  readonly hive: WatchedHive;
}

/** Opens a project of brainclaw, watched as a hive of its own. */
export function openProjectHive(
  project: Project,
  { brainclaw, contentChars }: Settings,
  { disk, clock, log }: Machine,
  options: Required<Pick<BrainclawOptions, 'cursor' | 'seed' | 'changed'>>,
): ProjectHive {
  const source = createBrainclawSource({
    ...{ project, disk, clock, log, contentChars },
    mail: brainclaw.mail !== false,
    ...options,
  });
  return {
    source,
    hive: {
      source,
      address: project.root,
      identity: ({ address }) => [BRAINCLAW, address, project.store],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: brainclaw.backfill === true,
    },
  };
}
