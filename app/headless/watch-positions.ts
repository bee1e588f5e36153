import { type PersonaId, toFault } from '../../core/model/index.ts';
import type { InboxIdentity, Persona } from '../../core/sources/index.ts';
import {
  computeStatePaths,
  type JsonValue,
  type Lock,
  lockFile,
  openStateFile,
  type StateRead,
} from '../../core/state/index.ts';
import type { SavedState, Saver, WatcherStart } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.ts';
import { createPathFinder } from './watch-paths.ts';
import type { WatchReport } from './watch-report.ts';

/** Where one watch stands when it opens, and what keeps it there. */
export interface WatchPosition {
  /** Null: no state file, or none that can be had. */
  readonly lock: Lock | null;
  readonly start: WatcherStart;
  readonly saved: SavedState | null;
  /** Null: nothing is saved. */
  readonly saver: Saver | null;
}

/**
 * The positions of a headless watch, in state files under their locks (Kijito contract d). At most once follows rev 6:
 * a file that is no position is as absent, one that cannot be read or locked stops its persona. At least once the three
 * are three answers, and only a lock that somebody else holds stops anybody (traps 30, 34, 36, 37).
 */
export function createWatchPositions(
  plan: WatchPlan,
  identity: (persona: Persona) => InboxIdentity,
  machine: Machine,
  report: WatchReport,
  personas: readonly Persona[],
): (persona: Persona, born: boolean) => WatchPosition {
  const { stateFile, delivery } = plan;
  const { log } = machine;
  const isRev6 = delivery === 'at-most-once';
  const anonymous = plan.targets.is === 'url';
  const places =
    stateFile === null || anonymous
      ? null
      : createPathFinder(
          plan,
          machine.disk,
          personas.map(({ id }) => id),
          (...how) => computeStatePaths(stateFile, ...how),
        );
  const watched = new Map(personas.map((persona) => [persona.id, identity(persona)]));

  /** What is to be believed of an answer, said on stderr where it is not simply the position. */
  function decideStart(
    read: StateRead,
    path: string,
    { id }: Persona,
    born: boolean,
  ): Pick<WatchPosition, 'start' | 'saved'> {
    switch (read.is) {
      case 'valid':
        return { start: decideResume(read.saved), saved: read.saved };
      case 'absent':
        return { start: { is: born ? 'born' : 'baseline' }, saved: null };
      case 'corrupt':
        if (!isRev6) return giveUp(`${path}: not usable (${read.why})`, id);
        log.warn(
          `${path}: not usable (${read.why}): ${id} starts at the newest message; mail since the last run makes no event`,
        );
        return { start: { is: born ? 'born' : 'baseline' }, saved: null };
      case 'respelled':
        if (isRev6 || isAnothers(read.found, id)) return startForeign(read, path, id, born);
        log.warn(
          `${path}: was written for ${formatIdentity(read.found)}: only the case differs, so ${id} goes on from there`,
        );
        return { start: decideResume(read.saved), saved: read.saved };
      case 'mismatch':
        return startForeign(read, path, id, born);
    }
  }

  function startForeign(
    { found, expected }: { readonly found: JsonValue; readonly expected: JsonValue },
    path: string,
    id: PersonaId,
    born: boolean,
  ): Pick<WatchPosition, 'start' | 'saved'> {
    const why = `identity mismatch: it belongs to another inbox (${formatIdentity(found)}, wanted ${formatIdentity(expected)})`;
    log.warn(`${path}: ${why}: ${id} starts at the newest message`);
    return { start: born ? { is: 'born' } : { is: 'baseline', why: `${path}: ${why}` }, saved: null };
  }

  function giveUp(why: string, id: PersonaId): Pick<WatchPosition, 'start' | 'saved'> {
    log.warn(`${why}: where ${id} stood is not known; mail that its inbox shows is told again`);
    return { start: { is: 'corrupt', why }, saved: null };
  }

  /** Another persona of this watch, which differs in case only, has that inbox: servers tell the two apart (trap 43). */
  function isAnothers(found: JsonValue, id: PersonaId): boolean {
    return [...watched].some(
      ([other, otherIdentity]) => other !== id && formatIdentity(otherIdentity) === formatIdentity(found),
    );
  }

  function openLock(path: string, id: PersonaId): Lock | null {
    try {
      return lockFile(machine.disk, path);
    } catch (error) {
      const fault = toFault(error, { is: 'machine', key: `lock:${path}` });
      if (isRev6 || fault.code === 'lock-held') throw fault;
      log.warn(`${fault.explain()}; ${id} is watched without a lock, and where it stands is not saved`);
      return null;
    }
  }

  function openFile(path: string, persona: Persona, born: boolean, hasLock: boolean): Omit<WatchPosition, 'lock'> {
    const keys = isRev6 ? 'rev-6' : 'all';
    const state = openStateFile({ ...machine, path, identity: identity(persona), keys });
    let read: StateRead;
    try {
      read = state.read();
    } catch (error) {
      const fault = toFault(error, { is: 'machine', key: `file:${path}` });
      if (isRev6) throw fault;
      log.warn(`${fault.explain()}; where ${persona.id} stands is not saved`);
      return { ...giveUp(fault.message, persona.id), saver: null };
    }
    return { ...decideStart(read, path, persona, born), saver: hasLock ? report.saver(state) : null };
  }

  return (persona, born) => {
    if (!watched.has(persona.id)) watched.set(persona.id, identity(persona));
    const path = places === null ? stateFile : places(persona.id);
    const seeded: WatcherStart | null = plan.seedAt === null ? null : { is: 'seed', id: plan.seedAt };
    if (path === null)
      return { lock: null, start: seeded ?? { is: born ? 'born' : 'baseline' }, saved: null, saver: null };
    using cleanUp = new DisposableStack();
    const lock = openLock(path, persona.id);
    if (lock !== null) cleanUp.use(lock);
    const opened = openFile(path, persona, born, lock !== null);
    const start = seeded ?? opened.start;
    // At once: killed before its first look, it would be baselined by the next start, over mail that is new.
    if (start.is === 'born' && opened.saver !== null) saveBirth(opened.saver);
    cleanUp.move();
    return { ...opened, lock, start };
  };
}

/** A position that was given up before the inbox was seen once is given up still. */
function decideResume({ cursor, state_corrupt: why }: SavedState): WatcherStart {
  return cursor === null && why !== undefined ? { is: 'corrupt', why } : { is: 'resume' };
}

function formatIdentity(identity: unknown): string {
  return JSON.stringify(identity);
}

function saveBirth(saver: Saver): void {
  try {
    saver.save({ cursor: 0, state: 'UP', consecutive_failures: 0, persona_added: true });
  } catch {
    // Said by the saver; the position is saved again after the first look.
  }
}
