import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../../core/model/index.ts';
import { realRandom } from '../../../core/ports/index.ts';
import { hiveAt, identityOf } from '../../../core/sources/index.ts';
import {
  type Disk,
  isLocked,
  kijitoEventsPaths,
  kijitoStatePaths,
  lockFile,
  writeAtomically,
} from '../../../core/state/index.ts';
import { placesOf } from '../../compose/watch-places.ts';
import type { WatchPlan } from '../../config/watch/index.ts';
import { ABSENT, fileAt, type OldFile, type OldIdentity, personaIn } from '../deployed/index.ts';
import { type Decision, decide, type Here, type Places, type Target } from './decide.ts';

/**
 * Into the state files that a headless watch of this plan reads.
 * @throws Fault `lock-held` while it runs; `unwritable`, `no-space`
 */
export function intoHeadless(
  files: readonly OldFile[],
  plan: WatchPlan & { readonly stateFile: string },
  disk: Disk,
  dryRun: boolean,
): readonly Decision[] {
  const names = files.flatMap(({ state }) => (state.is === 'position' ? (personaIn(state.identity) ?? []) : []));
  const { stateFile } = plan;
  const pathOf = placesOf(plan, disk, names, (...how) => kijitoStatePaths(stateFile, ...how));
  const decisions = decide(files, placesIn(plan, names, pathOf, disk));
  using held = new DisposableStack();
  for (const decision of decisions) {
    if (decision.is !== 'adopted') continue;
    const path = pathOf(decision.target.persona);
    if (dryRun && isLocked(disk, `${path}.lock`))
      throw new Fault('lock-held', `${path}.lock is held`, { is: 'machine', key: path });
    if (!dryRun) held.use(lockFile(disk, path));
  }
  if (dryRun) return decisions;
  for (const decision of decisions)
    if (decision.is === 'adopted')
      writeAtomically(disk, realRandom, pathOf(decision.target.persona), `${JSON.stringify(decision.keys)}\n`);
  return decisions;
}

function placesIn(plan: WatchPlan, names: readonly string[], pathOf: (persona: string) => string, disk: Disk): Places {
  const hive = hiveAt(plan.hive, { is: 'source', key: 'kijito' });
  const { emit } = plan;
  const eventsOf =
    emit.is === 'template'
      ? placesOf(plan, disk, names, (...how) => kijitoEventsPaths(emit.template, ...how))
      : (): null => null;
  return {
    targetOf(identity): Target | { why: string } {
      const persona = personaIn(identity);
      if (persona === null || !isDeepStrictEqual(identity, JSON.parse(JSON.stringify(identityOf(hive.inbox(persona))))))
        return { why: `belongs to no inbox of ${plan.hive}, which this watch looks at` };
      if (plan.targets.is === 'some' && !plan.targets.personas.includes(persona))
        return { why: `is of ${persona}, whom this watch leaves out` };
      return { persona, events: eventsOf(persona) };
    },
    hereOf: ({ persona }, identity) => hereAt(pathOf(persona), identity),
  };
}

function hereAt(path: string, identity: OldIdentity): Here {
  const { state } = fileAt(path);
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
