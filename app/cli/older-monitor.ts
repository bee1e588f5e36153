import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseHiveUrl, toInboxIdentity } from '../../core/sources/index.ts';
import { type Disk, isLocked } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { type Deployment, findPersona, listDeployedDirectories, readDeployment } from './deployed/index.ts';

/**
 * Returns why the headless service would deliver mail twice or skip some: the previously deployed monitor still runs, or its
 * positions were not migrated (Kijito spec 14.4). Null: neither is the case.
 */
export function findOlderMonitor(
  plan: WatchPlan,
  disk: Disk,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const deployments = listDeployedDirectories(env).flatMap((directory) => readDeployment(directory) ?? []);
  const held = deployments.flatMap(({ locks }) => locks).find((path) => isLocked(disk, path));
  if (held !== undefined)
    return `${held} is held: another monitor runs, and two would deliver everything twice; stop it, then run \`hivebar migrate --headless\` with the same flags, then install`;
  const isFresh = plan.stateFile !== null && (readDeployment(dirname(plan.stateFile))?.states ?? []).length === 0;
  const left = isFresh && plan.targets.is !== 'url' ? findPosition(deployments, plan.hive) : null;
  if (left === null) return null;
  return `${left} is where another monitor stood: mail since then would be passed over; run \`hivebar migrate --headless\` with the same flags first, or move its directory away`;
}

/** Finds the first saved position of an inbox of this hive. */
function findPosition(deployments: readonly Deployment[], base: string): string | null {
  const hive = parseHiveUrl(base, { is: 'source', key: base });
  const match = deployments
    .flatMap(({ states }) => states)
    .find(({ state }) => {
      if (state.is !== 'position' || state.saved.cursor === null) return false;
      const persona = findPersona(state.identity);
      if (persona === null) return false;
      return isDeepStrictEqual(state.identity, JSON.parse(JSON.stringify(toInboxIdentity(hive.inbox(persona)))));
    });
  return match?.path ?? null;
}
