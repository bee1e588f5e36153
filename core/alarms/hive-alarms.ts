import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import { foldedName } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Level, Levels, Roll, Source } from '../sources/index.ts';
import type { Activity, Observed } from './activity.ts';
import { createAlarmLog } from './alarm-log.ts';
import { blindOf, type Watched } from './blind.ts';
import { createCoverage } from './coverage.ts';
import { judge } from './judge.ts';
import { type Counts, observe, type Sent } from './observe.ts';
import { alarmsOf, isNews, type Kind, latched, type Raising, released } from './raise.ts';
import { recipients } from './route.ts';
import { type AlarmRules, NOTHING_OBSERVED, seenOf } from './state.ts';

/** A watch that can be told an alarm; a Watcher is one. */
export interface Told extends Watched {
  /** False: it was not taken, or can not be now. */
  tell(alarm: HiveAlarmEvent, abort: AbortSignal): Promise<boolean>;
}

export interface HiveAlarmsOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: AlarmRules;
  /** A report older than this is nobody's any more. */
  readonly staleAfterMs: number;
}

/** What concerns a whole hive: mail nobody looks for, urgent mail nobody answers, and what its personas were seen to do. */
export interface HiveAlarms {
  joined(watcher: Told): void;
  /** Hears what every watch of the hive has to say. */
  put(fact: Fact): void;
  /** Nobody watched for a while: no silence goes on over it. */
  gap(): void;
  /** What the pending list said on a tick, null for no answer. Tells what is to be told; rejects never. */
  heard(levels: Levels | null, abort: AbortSignal): Promise<void>;
  activity(): Activity;
}

/** The directory is asked again no more often than this for the sake of an alarm. */
const ROLL_LEAST_MS = 5000;

export function createHiveAlarms(options: HiveAlarmsOptions): HiveAlarms {
  const { source, clock, log, rules } = options;
  const watched = new Map<string, Told>();
  const coverage = createCoverage();
  const began = clock.now();
  let state = NOTHING_OBSERVED;
  /** The newest message of each sender that `state` does not know of yet. */
  const sent = new Map<string, Sent>();
  let newest = 0;
  /** At the last tick: what was read since was read after it. */
  let newestBefore = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** Who did not take the alarm that others were told of. */
  const owed: Record<Kind, Set<string>> = { stranded: new Set(), urgent: new Set() };
  const alarmLog = createAlarmLog(source.id, log, rules);

  function told(fact: Extract<Fact, { is: 'told' }>): void {
    const at = clock.monotonic();
    const wall = clock.now();
    for (const event of fact.events) {
      if (event.event === 'armed') coverage.armed(fact.persona, event.cursor);
      if (event.event !== 'new') continue;
      const { from, id } = event;
      newest = Math.max(newest, id);
      if (from !== null && (sent.get(from)?.id ?? 0) < id) sent.set(from, { from, id, at, wall });
    }
  }

  /** What was sent since the last time, all at once: a storm has a fact for each inbox. */
  function hearSenders(): void {
    if (sent.size === 0) return;
    state = observe(state, { at: clock.monotonic(), is: 'sent', messages: [...sent.values()] }, rules);
    sent.clear();
  }

  const rollNow = (): Roll | null => source.roll?.() ?? null;

  const blindNow = () => blindOf(watched, coverage.unread, rollNow()?.of.keys() ?? []);

  async function heard(levels: Levels | null, abort: AbortSignal): Promise<void> {
    hearSenders();
    const at = clock.monotonic();
    if (levels === null) state = observe(state, { at, is: 'unobserved' }, rules);
    else
      state = observe(
        state,
        { at, is: 'polled', wall: clock.now(), counts: countsOf(levels), newest: newestBefore },
        rules,
      );
    newestBefore = newest;
    coverage.rested(at, newest);
    if (levels === null) return;
    const known = rollNow();
    let blind = blindNow();
    let now = judge(state, known, blind.size > 0 ? null : coverage.since, rules);
    const roll = now.wantsRoll ? await rollAnew(abort) : known;
    if (roll === null || abort.aborted) return;
    if (roll !== known) {
      blind = blindNow();
      now = judge(state, roll, blind.size > 0 ? null : coverage.since, rules);
    }
    state = released(state, now);
    alarmLog.say(now, state, roll, blind, at);
    for (const alarm of alarmsOf(now)) {
      const to = isNews(state, alarm) ? recipients([...watched.keys()], state, roll) : [...owed[alarm.kind]];
      await tell(alarm, to, abort);
    }
    for (const kind of ['stranded', 'urgent'] as const) if (state.told[kind].size === 0) owed[kind].clear();
  }

  /** The directory, asked again for inboxes that can not be judged by an older one. */
  async function rollAnew(abort: AbortSignal): Promise<Roll | null> {
    const at = clock.monotonic();
    if (at - askedAt < Math.max(ROLL_LEAST_MS, rules.pollMs)) return rollNow();
    askedAt = at;
    try {
      await source.personas(abort);
    } catch {
      // Not known now: nothing is claimed of those inboxes, and the rescan of the directory says what is wrong with it.
    }
    return rollNow();
  }

  async function tell(alarm: Raising, to: readonly string[], abort: AbortSignal): Promise<void> {
    if (to.length === 0) return;
    const takes = await Promise.all(
      to.map(async (address) => ((await watched.get(address)?.tell(alarm.event, abort)) === true ? [] : [address])),
    );
    const left = takes.flat();
    if (left.length === to.length) return; // nobody: it is raised again on the next tick
    state = latched(state, alarm);
    owed[alarm.kind] = new Set(left);
  }

  return {
    joined(watcher) {
      watched.set(watcher.persona.address, watcher);
      coverage.joined(watcher.persona.id);
    },
    put(fact) {
      switch (fact.is) {
        case 'looked':
          newest = Math.max(newest, fact.cursor ?? 0);
          coverage.looked(fact.persona);
          break;
        case 'failed':
          coverage.failed(fact.persona);
          break;
        case 'told':
          told(fact);
          break;
        default:
      }
    },
    gap() {
      hearSenders();
      state = observe(state, { at: clock.monotonic(), is: 'unobserved' }, rules);
    },
    heard,
    activity() {
      hearSenders();
      const personas = new Map<string, Observed>();
      for (const address of new Set([...watched.keys(), ...state.seen.keys()])) {
        const isWatched = watched.has(address) && !rules.suppressed.has(foldedName(address));
        personas.set(address, { watched: isWatched, ...seenOf(state, address) });
      }
      const blind = blindNow();
      const isWhole = blind.size === 0 && rollNow() !== null; // else some inbox is not watched at all
      return {
        published: clock.now(),
        staleAfterMs: options.staleAfterMs,
        since: began,
        floor: coverage.floor,
        upTo: isWhole ? coverage.upTo : null,
        blind,
        personas,
      };
    },
  };
}

function countsOf({ of }: Levels): ReadonlyMap<string, Counts> {
  const n = (count: Level['unread']): number | null => (count.is === 'unknown' ? null : count.n);
  return new Map([...of].map(([address, { unread, urgent }]) => [address, { unread: n(unread), urgent: n(urgent) }]));
}
