import type { Fact } from '../../core/board/index.ts';
import { type Event, isMail } from '../../core/events/index.ts';
import { type Count, type PersonaId, toFault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { createTroubleLog } from '../../core/services/index.ts';
import type { Sink } from '../../core/sinks/index.ts';
import type { InboxIdentity, Persona } from '../../core/sources/index.ts';
import {
  computeStatePaths,
  type JsonValue,
  type Lock,
  lockFile,
  openStateFile,
  type StateFile,
  type StateRead,
} from '../../core/state/index.ts';
import type { SavedState, Saver, WatcherRules, WatcherStart } from '../../core/watcher/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createPathFinder } from './watch-sinks.ts';

/** Where one watcher starts, and what saves its position. */
interface WatchPosition {
  /** Null when there is no state file, or no lock can be had. */
  readonly lock: Lock | null;
  readonly start: WatcherStart;
  readonly saved: SavedState | null;
  /** Null when nothing is saved. */
  readonly saver: Saver | null;
}

/**
 * Reads the positions of a headless watch, from state files under their locks (Kijito contract d). With at-most-once delivery it
 * follows rev 6: an invalid file counts as absent, and one that cannot be read or locked stops its persona. With at-least-once
 * delivery these three cases have three results, and only a lock that another process holds stops a persona (traps 30, 34, 36,
 * 37).
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

  /** Decides how to start from what was read. Logs a warning on stderr unless the position is simply used. */
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
          `${path}: not usable (${read.why}): ${id} starts at the newest message; mail since the last run gets no event`,
        );
        return { start: { is: born ? 'born' : 'baseline' }, saved: null };
      case 'respelled':
        if (isRev6 || isAnothers(read.found, id)) return startForeign(read, path, id, born);
        log.warn(
          `${path} was written for ${formatIdentity(read.found)}; only the case differs, so ${id} continues from there`,
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
    log.warn(`${why}: the position of ${id} is unknown; mail that its inbox shows is delivered again`);
    return { start: { is: 'corrupt', why }, saved: null };
  }

  /**
   * Returns whether that inbox belongs to another persona of this watch whose name differs in case only. Servers tell the two
   * apart (trap 43).
   */
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
      log.warn(`${fault.explain()}; ${id} is watched without a lock, and its position is not saved`);
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
      log.warn(`${fault.explain()}; the position of ${persona.id} is not saved`);
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
    // Saved at once: if the process is killed before the first poll, the next start would make a baseline over new mail.
    if (start.is === 'born' && opened.saver !== null) saveBirth(opened.saver);
    cleanUp.move();
    return { ...opened, lock, start };
  };
}

/** If the position was given up and the inbox has not been polled since, it is still given up. */
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
    // The saver has logged it; the position is saved again after the first poll.
  }
}

/**
 * What a headless watch logs on stderr beside its events: outages, unsaved positions, skipped mail. Each is logged once per
 * change. (Sinks log their own faults, because one sink may serve many personas.)
 */
export interface WatchReport {
  put(fact: Fact): void;
  /** The persona's first successful poll will be its baseline. Then the unread mail that it skips is logged. */
  baseline(persona: PersonaId): void;
  saver(state: StateFile): Saver;
  /**
   * Wraps a sink and logs what its refusals mean. With at-most-once delivery refused events are dropped, and their mail is named
   * (Kijito spec 7.0; contract b). With at-least-once delivery they are held; an alarm that cannot be delivered is logged
   * meanwhile (trap 10).
   */
  sink(persona: PersonaId, inner: Sink<unknown>): Sink<unknown>;
}

/**
 * @param readerGone aborted with the fault when nobody reads stdout any more, because such a watch wakes nobody (Kijito contract
 * D17)
 */
export function createWatchReport(
  log: Log,
  readerGone: AbortController,
  delivery: WatcherRules['delivery'],
): WatchReport {
  const failing = new Map<PersonaId, string>();
  const baselines = new Set<PersonaId>();
  const below = new Set<PersonaId>();

  function reportFailure(persona: PersonaId, text: string): void {
    if (failing.get(persona) === text) return;
    failing.set(persona, text);
    log.warn(`${persona}: ${text}`);
  }

  function reportPassedOver(persona: PersonaId, cursor: number | null, unread: Count): void {
    if (unread.is === 'unknown' || unread.n === 0) return;
    const many = `${unread.is === 'atLeast' ? 'at least ' : ''}${unread.n} unread`;
    log.warn(
      `${persona}: starts after message ${cursor}; ${many} before it get no event. Use --seed-at to start earlier`,
    );
  }

  return {
    put(fact) {
      if (fact.is === 'failed') reportFailure(fact.persona, fact.fault.explain());
      if (fact.is !== 'polled') return;
      if (fact.endsBelow === undefined) below.delete(fact.persona);
      else if (!below.has(fact.persona)) {
        below.add(fact.persona);
        log.warn(
          `${fact.persona}: its newest message is ${fact.endsBelow}, below the saved position ${fact.cursor}, so its unread mail gets no event. ` +
            'If its ids started over, use --seed-at 0 or --delivery at-least-once to deliver it',
        );
      }
      if (failing.delete(fact.persona)) log.info(`${fact.persona}: answers again`);
      if (baselines.delete(fact.persona)) reportPassedOver(fact.persona, fact.cursor, fact.unread);
    },

    baseline: (persona) => void baselines.add(persona),

    saver(state) {
      const trouble = createTroubleLog(log);
      return {
        save(saved) {
          try {
            state.save(saved);
          } catch (error) {
            trouble.raise(toFault(error, { is: 'machine', key: `file:${state.path}` }).explain());
            throw error;
          }
          trouble.clear(`${state.path}: saved again`);
        },
      };
    },

    sink(persona, inner) {
      const held = new Set<string>();
      return {
        savesState: inner.savesState,
        open: () => inner.open(),
        async take(events, saved, signal) {
          const ack = await inner.take(events, saved, signal);
          const { lost } = ack;
          if (lost !== undefined)
            logSkipped(
              log,
              persona,
              events.filter((_, index) => lost.indexes.has(index)),
            );
          if (ack.is === 'all') held.clear();
          if (ack.is === 'all' || signal.aborted) return ack;
          // This comes before the ack is handled, so that the cursor stays below what nobody read.
          if (ack.fault.code === 'reader-gone') readerGone.abort(ack.fault);
          else if (delivery === 'at-most-once') logSkipped(log, persona, events.slice(ack.count));
          else reportHeld(log, persona, events.slice(ack.count), held);
          return ack;
        },
        [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
      };
    },
  };
}

/** Logs the alarms and recoveries that the sink refused, each once until the sink takes everything again. */
function reportHeld(log: Log, persona: PersonaId, events: readonly Event[], held: Set<string>): void {
  for (const event of events) {
    if (event.event !== 'alert' && event.event !== 'recovered') continue;
    const label = event.event === 'alert' ? `alert (${event.reason})` : 'recovered';
    if (!held.has(label)) log.warn(`${persona}: ${label} cannot be delivered yet; it is offered again`);
    held.add(label);
  }
}

function logSkipped(log: Log, persona: PersonaId, events: readonly Event[]): void {
  const ids = events.flatMap((event) => (isMail(event) ? [event.id] : []));
  if (ids.length > 0) log.warn(`${persona}: no event was delivered for mail ${ids.join(', ')}`);
}
