import type { Fact } from '../../core/board/index.ts';
import { type Event, isMail } from '../../core/events/index.ts';
import { type Count, type PersonaId, toFault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { createTroubleLog, type Sink } from '../../core/sinks/index.ts';
import type { StateFile } from '../../core/state/index.ts';
import type { Saver, WatcherRules } from '../../core/watch/index.ts';

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
    log.warn(`${persona}: starts after message ${cursor}, no event for ${many} before it; --seed-at starts earlier`);
  }

  return {
    put(fact) {
      if (fact.is === 'failed') reportFailure(fact.persona, fact.fault.explain());
      if (fact.is !== 'polled') return;
      if (fact.endsBelow === undefined) below.delete(fact.persona);
      else if (!below.has(fact.persona)) {
        below.add(fact.persona);
        log.warn(
          `${fact.persona}: its newest message is ${fact.endsBelow}, below the position ${fact.cursor}, and mail is unread: ` +
            'no event for it. If its ids began again, --seed-at 0 begins there, or --delivery at-least-once tells it',
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
    if (!held.has(label)) log.warn(`${persona}: ${label} cannot be told yet; it is held`);
    held.add(label);
  }
}

function logSkipped(log: Log, persona: PersonaId, events: readonly Event[]): void {
  const ids = events.flatMap((event) => (isMail(event) ? [event.id] : []));
  if (ids.length > 0) log.warn(`${persona}: no event for mail ${ids.join(', ')}`);
}
