import type { SourceHost, WatchedHive } from '../module.ts';
import { runProgram } from '../run-program.node.ts';
import type { RunGt } from './reply.ts';
import { GAS } from './settings.ts';
import { createTownSource, type TownSource } from './town-source.ts';

const BD_TIMEOUT_MS = 10_000;

/**
 * A town, watched as a hive of its own.
 * @param bd the absolute path of the program
 * @param runGt sends replies of a person; null: the settings do not allow it
 */
export function openTownHive(
  town: string,
  bd: string,
  runGt: RunGt | null,
  { clock, log, contentChars, env }: Pick<SourceHost, 'clock' | 'log' | 'contentChars' | 'env'>,
): { readonly source: TownSource; readonly hive: WatchedHive } {
  const source = createTownSource({
    ...{ town, clock, log, contentChars },
    ...(runGt === null ? {} : { runGt }),
    runBd: (args, signal) => runProgram({ file: bd, args, cwd: town, env, timeoutMs: BD_TIMEOUT_MS }, signal),
  });
  return {
    source,
    hive: {
      source,
      address: town,
      identity: ({ address }) => [GAS, address, town],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: false,
    },
  };
}
