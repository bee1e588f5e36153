import { faultOf, type PersonaId } from '../../core/model/index.ts';
import type { Identity, Persona } from '../../core/sources/index.ts';
import {
  type Json,
  kijitoStatePaths,
  type Lock,
  lockFile,
  openStateFile,
  type StateRead,
} from '../../core/state/index.ts';
import type { Saved, Saver, Start } from '../../core/watch/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from './machine.ts';
import { placesOf } from './watch-places.ts';
import type { WatchReport } from './watch-report.ts';

/** Where one watch stands when it opens, and what keeps it there. */
export interface Position {
  /** Null: no state file, or none that can be had. */
  readonly lock: Lock | null;
  readonly start: Start;
  readonly saved: Saved | null;
  /** Null: nothing is saved. */
  readonly saver: Saver | null;
}

/**
 * The positions of a headless watch, in state files under their locks (Kijito contract d). At most once follows rev 6:
 * a file that is no position is as absent, one that can not be read or locked stops its persona. At least once the three
 * are three answers, and only a lock that somebody else holds stops anybody (traps 30, 34, 36, 37).
 */
export function watchPositions(
  plan: WatchPlan,
  identity: (persona: Persona) => Identity,
  machine: Machine,
  report: WatchReport,
  personas: readonly Persona[],
): (persona: Persona, born: boolean) => Position {
  const { stateFile, delivery } = plan;
  const { log } = machine;
  const isRev6 = delivery === 'at-most-once';
  const anonymous = plan.targets.is === 'url';
  const places =
    stateFile === null || anonymous
      ? null
      : placesOf(
          plan,
          machine.disk,
          personas.map(({ id }) => id),
          (...how) => kijitoStatePaths(stateFile, ...how),
        );
  const watched = new Map(personas.map((persona) => [persona.id, identity(persona)]));

  /** What is to be believed of an answer, said on stderr where it is not simply the position. */
  function startOf(read: StateRead, path: string, { id }: Persona, born: boolean): Pick<Position, 'start' | 'saved'> {
    switch (read.is) {
      case 'valid':
        return { start: resumed(read.saved), saved: read.saved };
      case 'absent':
        return { start: { is: born ? 'born' : 'baseline' }, saved: null };
      case 'corrupt':
        if (!isRev6) return givenUp(`${path}: not usable (${read.why})`, id);
        log.warn(
          `${path}: not usable (${read.why}): ${id} starts at the newest message; mail since the last run makes no event`,
        );
        return { start: { is: born ? 'born' : 'baseline' }, saved: null };
      case 'respelled':
        if (isRev6 || isAnothers(read.found, id)) return foreign(read, path, id, born);
        log.warn(`${path}: was written for ${shown(read.found)}: only the case differs, so ${id} goes on from there`);
        return { start: resumed(read.saved), saved: read.saved };
      case 'mismatch':
        return foreign(read, path, id, born);
    }
  }

  function foreign(
    { found, expected }: { readonly found: Json; readonly expected: Json },
    path: string,
    id: PersonaId,
    born: boolean,
  ): Pick<Position, 'start' | 'saved'> {
    const why = `identity mismatch: it belongs to another inbox (${shown(found)}, wanted ${shown(expected)})`;
    log.warn(`${path}: ${why}: ${id} starts at the newest message`);
    return { start: born ? { is: 'born' } : { is: 'baseline', why: `${path}: ${why}` }, saved: null };
  }

  function givenUp(why: string, id: PersonaId): Pick<Position, 'start' | 'saved'> {
    log.warn(`${why}: where ${id} stood is not known; mail that its inbox shows is told again`);
    return { start: { is: 'corrupt', why }, saved: null };
  }

  /** Another persona of this watch, which differs in case only, has that inbox: servers tell the two apart (trap 43). */
  function isAnothers(found: Json, id: PersonaId): boolean {
    return [...watched].some(([other, its]) => other !== id && shown(its) === shown(found));
  }

  function lockedFile(path: string, id: PersonaId): Lock | null {
    try {
      return lockFile(machine.disk, path);
    } catch (error) {
      const fault = faultOf(error, { is: 'machine', key: `lock:${path}` });
      if (isRev6 || fault.code === 'lock-held') throw fault;
      log.warn(`${fault.explain()}; ${id} is watched without a lock, and where it stands is not saved`);
      return null;
    }
  }

  function openFile(path: string, persona: Persona, born: boolean, hasLock: boolean): Omit<Position, 'lock'> {
    const keys = isRev6 ? 'rev-6' : 'all';
    const state = openStateFile({ ...machine, path, identity: identity(persona), keys });
    let read: StateRead;
    try {
      read = state.read();
    } catch (error) {
      const fault = faultOf(error, { is: 'machine', key: `file:${path}` });
      if (isRev6) throw fault;
      log.warn(`${fault.explain()}; where ${persona.id} stands is not saved`);
      return { ...givenUp(fault.message, persona.id), saver: null };
    }
    return { ...startOf(read, path, persona, born), saver: hasLock ? report.saver(state) : null };
  }

  return (persona, born) => {
    if (!watched.has(persona.id)) watched.set(persona.id, identity(persona));
    const path = places === null ? stateFile : places(persona.id);
    const seeded: Start | null = plan.seedAt === null ? null : { is: 'seed', id: plan.seedAt };
    if (path === null)
      return { lock: null, start: seeded ?? { is: born ? 'born' : 'baseline' }, saved: null, saver: null };
    using cleanUp = new DisposableStack();
    const lock = lockedFile(path, persona.id);
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
function resumed({ cursor, state_corrupt: why }: Saved): Start {
  return cursor === null && why !== undefined ? { is: 'corrupt', why } : { is: 'resume' };
}

function shown(identity: unknown): string {
  return JSON.stringify(identity);
}

function saveBirth(saver: Saver): void {
  try {
    saver.save({ cursor: 0, state: 'UP', consecutive_failures: 0, persona_added: true });
  } catch {
    // Said by the saver; the position is saved again after the first look.
  }
}
