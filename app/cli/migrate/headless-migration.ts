import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../../core/model/index.ts';
import { realRandom } from '../../../core/ports/index.ts';
import { parseHiveUrl, toInboxIdentity } from '../../../core/sources/index.ts';
import {
  computeEventsPaths,
  computeStatePaths,
  type Disk,
  isLocked,
  lockFile,
  writeAtomically,
} from '../../../core/state/index.ts';
import type { WatchPlan } from '../../config/watch/index.ts';
import { createPathFinder } from '../../headless/watch-sinks.ts';
import { ABSENT, findPersona, type OldFile, type OldIdentity, readOldFile } from '../deployed/index.ts';
import {
  type CurrentPosition,
  decide,
  type MigrationDecision,
  type MigrationTarget,
  type PositionLookup,
} from './decide.ts';

/**
 * Migrates positions into the state files that a headless watch of this plan reads.
 * @throws Fault `lock-held` while the watch runs; `unwritable`, `no-space`
 */
export function migrateToHeadless(
  files: readonly OldFile[],
  plan: WatchPlan & { readonly stateFile: string },
  disk: Disk,
  dryRun: boolean,
): readonly MigrationDecision[] {
  const names = files.flatMap(({ state }) => (state.is === 'position' ? (findPersona(state.identity) ?? []) : []));
  const { stateFile } = plan;
  const getPath = createPathFinder(plan, disk, names, (...how) => computeStatePaths(stateFile, ...how));
  const decisions = decide(files, createLookup(plan, names, getPath, disk));
  using held = new DisposableStack();
  for (const decision of decisions) {
    if (decision.is !== 'adopted') continue;
    const path = getPath(decision.target.persona);
    if (dryRun && isLocked(disk, `${path}.lock`))
      throw new Fault('lock-held', `${path}.lock is held`, { is: 'machine', key: path });
    if (!dryRun) held.use(lockFile(disk, path));
  }
  if (dryRun) return decisions;
  for (const decision of decisions)
    if (decision.is === 'adopted')
      writeAtomically(disk, realRandom, getPath(decision.target.persona), `${JSON.stringify(decision.keys)}\n`);
  return decisions;
}

function createLookup(
  plan: WatchPlan,
  names: readonly string[],
  getPath: (persona: string) => string,
  disk: Disk,
): PositionLookup {
  const hive = parseHiveUrl(plan.hive, { is: 'source', key: 'kijito' });
  const { emit } = plan;
  const getEventsPath =
    emit.is === 'template'
      ? createPathFinder(plan, disk, names, (...how) => computeEventsPaths(emit.template, ...how))
      : (): null => null;
  return {
    findTarget(identity): MigrationTarget | { why: string } {
      const persona = findPersona(identity);
      if (
        persona === null ||
        !isDeepStrictEqual(identity, JSON.parse(JSON.stringify(toInboxIdentity(hive.inbox(persona)))))
      )
        return { why: `belongs to no inbox of ${plan.hive}, which this watch looks at` };
      if (plan.targets.is === 'some' && !plan.targets.personas.includes(persona))
        return { why: `is of ${persona}, whom this watch leaves out` };
      return { persona, events: getEventsPath(persona) };
    },
    findCurrent: ({ persona }, identity) => readCurrent(getPath(persona), identity),
  };
}

function readCurrent(path: string, identity: OldIdentity): CurrentPosition {
  const { state } = readOldFile(path);
  if (state.is === 'position') {
    if (isDeepStrictEqual(state.identity, identity)) return { is: 'at', cursor: state.saved.cursor };
    return {
      is: 'unclear',
      why: `is left out: identity mismatch: ${path} belongs to another inbox; move it away first`,
    };
  }
  if (state.why === ABSENT) return { is: 'none' };
  return { is: 'unclear', why: `is left out: ${path} ${state.why}; move it away first` };
}
