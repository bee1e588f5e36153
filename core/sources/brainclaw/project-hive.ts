import type { SourceHost } from '../module.ts';
import type { WatchedHive } from '../watched-hive.ts';
import type { Project } from './read/index.ts';
import { BRAINCLAW, type BrainclawSettings } from './settings.ts';
import { createBrainclawSource } from './source.ts';
import type { BrainclawOptions, BrainclawSource } from './source-options.ts';

export interface ProjectHive {
  readonly source: BrainclawSource;
  readonly hive: WatchedHive;
}

/** Opens a project of brainclaw, watched as a hive of its own. */
export function openProjectHive(
  project: Project,
  { brainclaw }: BrainclawSettings,
  { disk, clock, log, contentChars }: Pick<SourceHost, 'disk' | 'clock' | 'log' | 'contentChars'>,
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
