import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import { foldName, isSameName, type SourceId } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import { createTroubleLog } from '../services/index.ts';
import type { PendingCounts, PersonaDirectory, Source, UnreadCounts } from '../sources/index.ts';
import {
  type Blindness,
  classifyReader,
  findBlind,
  formatBlind,
  type HiveActivity,
  type PersonaActivity,
  type WatchedInbox,
} from './activity.ts';
import { createCoverage } from './coverage.ts';
import {
  type AlarmRules,
  type AlarmState,
  getActivity,
  type Judgement,
  judge,
  NOTHING_OBSERVED,
  observe,
  type PolledCounts,
  type SentMessage,
  URGENT_POLLS,
} from './judge.ts';

/** A watcher that can deliver an alarm; a `Watcher` is one. */
interface AlarmTarget extends WatchedInbox {
  /** Returns false when the alarm was refused or cannot be delivered now. */
  deliverAlarm(alarm: HiveAlarmEvent, abort: AbortSignal): Promise<boolean>;
}

export interface HiveAlarmsOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: AlarmRules;
  /** A report older than this many milliseconds is stale. */
  readonly staleAfterMs: number;
}

/** The alarms of a whole hive: mail that nobody reads, urgent mail that nobody answers, and what its personas were seen to do. */
export interface HiveAlarms {
  addWatcher(watcher: AlarmTarget): void;
  /** Takes the facts of every watcher of the hive. */
  put(fact: Fact): void;
  /** Records an interruption, which ends every observed silence. */
  noteInterruption(): void;
  /** Takes the counts of each tick's pending list, or null for no answer, and delivers the alarms that are due. Never rejects. */
  hearPendingList(levels: PendingCounts | null, abort: AbortSignal): Promise<void>;
  activity(): HiveActivity;
}

/** The directory is not asked again for an alarm more often than once per this many milliseconds. */
const DIRECTORY_LEAST_MS = 5000;

export function createHiveAlarms(options: HiveAlarmsOptions): HiveAlarms {
  const { source, clock, log, rules } = options;
  const watched = new Map<string, AlarmTarget>();
  const coverage = createCoverage();
  const began = clock.now();
  let state = NOTHING_OBSERVED;
  /** The newest message of each sender that is not in `state` yet. */
  const sent = new Map<string, SentMessage>();
  let newest = 0;
  /** The newest message at the last tick. Mail that was read since then was read after it. */
  let newestBefore = 0;
  let directoryRequestedAt = Number.NEGATIVE_INFINITY;
  /** The recipients that did not accept the alarm although others did. */
  const owed: Record<HiveAlarmKind, Set<string>> = { stranded: new Set(), urgent: new Set() };
  const alarmLog = createAlarmLog(source.id, log, rules);

  function hearDelivered(fact: Extract<Fact, { is: 'delivered' }>): void {
    const at = clock.monotonic();
    const wall = clock.now();
    for (const event of fact.events) {
      if (event.event === 'armed') coverage.setCursor(fact.persona, event.cursor);
      if (event.event !== 'new') continue;
      const { from, id } = event;
      newest = Math.max(newest, id);
      if (from !== null && (sent.get(from)?.id ?? 0) < id) sent.set(from, { from, id, at, wall });
    }
  }

  /** Adds all senders since the last time at once, because a storm has one fact per inbox. */
  function hearSenders(): void {
    if (sent.size === 0) return;
    state = observe(state, { at: clock.monotonic(), is: 'sent', messages: [...sent.values()] }, rules);
    sent.clear();
  }

  const getDirectory = (): PersonaDirectory | null => source.directory?.() ?? null;

  const findBlindNow = () => findBlind(watched, coverage.unread, getDirectory()?.byAddress.keys() ?? []);

  async function hearPendingList(levels: PendingCounts | null, abort: AbortSignal): Promise<void> {
    hearSenders();
    const at = clock.monotonic();
    if (levels === null) state = observe(state, { at, is: 'unobserved' }, rules);
    else
      state = observe(
        state,
        { at, is: 'polled', wall: clock.now(), counts: toCounts(levels), newest: newestBefore },
        rules,
      );
    newestBefore = newest;
    coverage.endRound(at, newest);
    if (levels === null) return;
    const known = getDirectory();
    let blind = findBlindNow();
    let now = judge(state, known, blind.size > 0 ? null : coverage.since, rules);
    const directory = now.wantsDirectory ? await refreshDirectory(abort) : known;
    if (directory === null || abort.aborted) return;
    if (directory !== known) {
      blind = findBlindNow();
      now = judge(state, directory, blind.size > 0 ? null : coverage.since, rules);
    }
    state = releaseAlarms(state, now);
    alarmLog.say(now, state, directory, blind, at);
    for (const alarm of toAlarms(now)) {
      const to = isNews(state, alarm) ? findRecipients([...watched.keys()], state, directory) : [...owed[alarm.kind]];
      await deliver(alarm, to, abort);
    }
    for (const kind of ['stranded', 'urgent'] as const) if (state.raised[kind].size === 0) owed[kind].clear();
  }

  /** Returns the directory, asked again for inboxes that an older directory cannot judge. */
  async function refreshDirectory(abort: AbortSignal): Promise<PersonaDirectory | null> {
    const at = clock.monotonic();
    if (at - directoryRequestedAt < Math.max(DIRECTORY_LEAST_MS, rules.pollMs)) return getDirectory();
    directoryRequestedAt = at;
    try {
      await source.personas(abort);
    } catch {
      // Unknown now: nothing is claimed about those inboxes, and the rescan of the directory reports its fault.
    }
    return getDirectory();
  }

  async function deliver(alarm: HiveAlarm, to: readonly string[], abort: AbortSignal): Promise<void> {
    if (to.length === 0) return;
    const takes = await Promise.all(
      to.map(async (address) =>
        (await watched.get(address)?.deliverAlarm(alarm.event, abort)) === true ? [] : [address],
      ),
    );
    const left = takes.flat();
    if (left.length === to.length) return; // nobody accepted it: it is raised again on the next tick
    state = latchAlarm(state, alarm);
    owed[alarm.kind] = new Set(left);
  }

  return {
    addWatcher(watcher) {
      watched.set(watcher.persona.address, watcher);
      coverage.addInbox(watcher.persona.id);
    },
    put(fact) {
      switch (fact.is) {
        case 'polled':
          newest = Math.max(newest, fact.cursor ?? 0);
          coverage.markPolled(fact.persona);
          break;
        case 'failed':
          coverage.markFailed(fact.persona);
          break;
        case 'delivered':
          hearDelivered(fact);
          break;
        default:
      }
    },
    noteInterruption() {
      hearSenders();
      state = observe(state, { at: clock.monotonic(), is: 'unobserved' }, rules);
    },
    hearPendingList,
    activity() {
      hearSenders();
      const personas = new Map<string, PersonaActivity>();
      for (const address of new Set([...watched.keys(), ...state.observed.keys()])) {
        const isWatched = watched.has(address) && !rules.suppressed.has(foldName(address));
        personas.set(address, { watched: isWatched, ...getActivity(state, address) });
      }
      const blind = findBlindNow();
      const isWhole = blind.size === 0 && getDirectory() !== null; // otherwise some inbox is not watched at all
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

function toCounts({ byAddress }: PendingCounts): ReadonlyMap<string, PolledCounts> {
  const toNumber = (count: UnreadCounts['unread']): number | null => (count.is === 'unknown' ? null : count.n);
  return new Map(
    [...byAddress].map(([address, { unread, urgent }]) => [
      address,
      { unread: toNumber(unread), urgent: toNumber(urgent) },
    ]),
  );
}

/**
 * Finds who should get an alarm of the hive: members that somebody seems to read. If there are none, every listed
 * member that is not stranded; if there are none either, everybody who is watched. An alarm always has a recipient
 * (Kijito contract, trap 46).
 */
export function findRecipients(
  watched: readonly string[],
  state: AlarmState,
  directory: PersonaDirectory,
): readonly string[] {
  const read = watched.filter(
    (address) => classifyReader(address, directory, getActivity(state, address)) === 'member',
  );
  const listedReaders = read.filter((address) => directory.byAddress.has(address));
  if (listedReaders.length > 0) return listedReaders;
  const listed = watched.filter(
    (address) => directory.byAddress.has(address) && !isStranded(address, state, directory),
  );
  if (listed.length > 0) return listed;
  return watched;
}

function isStranded(address: string, state: AlarmState, directory: PersonaDirectory): boolean {
  return state.held.has(address) && classifyReader(address, directory, getActivity(state, address)) === 'none';
}

/**
 * Logs the alarms of a hive as a second path: each is logged once, whether or not a sink accepts the event, and again
 * when it comes back (Kijito contract, traps 10 and 45).
 */
interface AlarmLog {
  /** Logs the judgement at `at`, monotonic. */
  say(
    now: Judgement,
    state: AlarmState,
    directory: PersonaDirectory,
    blind: ReadonlyMap<string, Blindness>,
    at: number,
  ): void;
}

function createAlarmLog(source: SourceId, log: Log, rules: AlarmRules): AlarmLog {
  const stranded = createOnceEach();
  const urgent = createOnceEach();
  const quiet = createOnceEach();
  const muted = createTroubleLog(log);
  let blindSince: ReadonlyMap<string, number> = new Map();

  /** A silence that cannot be observed raises no alarm. If this lasts long, it is logged instead. */
  function sayMuted({ unobserved }: Judgement, blind: ReadonlyMap<string, Blindness>, at: number): void {
    blindSince = new Map([...blind.keys()].map((name) => [name, blindSince.get(name) ?? at]));
    const long = new Map(
      [...blind].filter(([name]) => at - (blindSince.get(name) ?? at) >= URGENT_POLLS * rules.pollMs),
    );
    if (blind.size === 0)
      muted.clear(`${source}: every inbox can be polled again, so silent readers are noticed again`);
    else if (long.size > 0 && unobserved.length > 0)
      muted.raise(
        `${source}: urgent mail is unread (${unobserved.join(', ')}), and the activity of its readers is unknown: ${formatBlind(long)}`,
        JSON.stringify([...long.keys()].sort()),
      );
  }

  return {
    say(now, state, directory, blind, at) {
      const { held } = state;
      stranded(now.stranded, (names) => {
        const parts = names.map(
          (name) => `${name} (${held.get(name)?.unread} unread${formatSimilarName(name, directory)})`,
        );
        log.warn(`${source}: mail has no known reader: ${parts.join(', ')}`);
      });
      const write = (names: readonly string[]): void => {
        const parts = names.map((name) => `${name} (${held.get(name)?.urgent} urgent)`);
        log.warn(`${source}: urgent mail is unread, and its reader showed no activity: ${parts.join(', ')}`);
      };
      urgent(now.urgent, write, (name) => findSince(state, 'urgent', name));
      quiet([...now.dormant, ...now.urgentWriteOnly], (names) => {
        log.info(
          `${source}: unread mail of members that are not expected to read it: ${[...new Set(names)].join(', ')}`,
        );
      });
      sayMuted(now, blind, at);
    },
  };
}

/**
 * Writes each name once, until it is over: the name has another start time, or, without a known time, it is no longer
 * among the names.
 */
function createOnceEach() {
  let logged: ReadonlyMap<string, number | null> = new Map();
  return (
    names: readonly string[],
    write: (fresh: readonly string[]) => void,
    since: (name: string) => number | null = () => null,
  ): void => {
    const lasting = [...logged].filter(
      ([name, previous]) => since(name) === previous && (previous !== null || names.includes(name)),
    );
    logged = new Map(lasting);
    const fresh = names.filter((name) => !logged.has(name));
    logged = new Map([...lasting, ...fresh.map((name) => [name, since(name)] as const)]);
    if (fresh.length > 0) write(fresh);
  };
}

function formatSimilarName(name: string, directory: PersonaDirectory): string {
  for (const member of directory.byAddress.keys())
    if (member !== name && isSameName(member, name)) return `; there is a ${member}`;
  return '';
}

/** The two alarms of a hive, which are independent (Kijito contract, trap 49). */
type HiveAlarmKind = keyof AlarmState['raised'];

/** An alarm that is to be delivered. `names`: everyone it is about. */
interface HiveAlarm {
  readonly kind: HiveAlarmKind;
  readonly names: readonly string[];
  readonly event: HiveAlarmEvent;
}

/** Returns since when the state that this kind of alarm reports holds for a name; null: it does not hold. */
function findSince({ held }: AlarmState, kind: HiveAlarmKind, name: string): number | null {
  const own = held.get(name);
  return (kind === 'stranded' ? own?.since : own?.urgentSince) ?? null;
}

/**
 * Drops alarms that are over, so that they are delivered again when they come back (Kijito contract, trap 47). A
 * silence that cannot be observed for a while is not over.
 */
export function releaseAlarms(state: AlarmState, now: Judgement): AlarmState {
  const { stranded, urgent } = state.raised;
  const raised = {
    stranded: new Map([...stranded].filter(([name]) => now.stranded.includes(name))),
    urgent: new Map([...urgent].filter(([name, since]) => findSince(state, 'urgent', name) === since)),
  };
  return { ...state, raised };
}

/** Returns whether the alarm names somebody whose alarm was not delivered yet. */
export function isNews(state: AlarmState, { kind, names }: HiveAlarm): boolean {
  return names.some((name) => !state.raised[kind].has(name));
}

/** Builds the alarms of everything that is true now, delivered or not. One alarm sums up all names of its kind. */
export function toAlarms({ stranded, dormant, urgent, urgentWriteOnly }: Judgement): readonly HiveAlarm[] {
  const alarms: HiveAlarm[] = [];
  if (stranded.length > 0) {
    const optionalKeys = dormant.length === 0 ? {} : { dormant_inboxes: dormant };
    const event = { event: 'alert', reason: 'stranded', stranded_inboxes: stranded, ...optionalKeys } as const;
    alarms.push({ kind: 'stranded', names: stranded, event });
  }
  if (urgent.length > 0) {
    const optionalKeys = urgentWriteOnly.length === 0 ? {} : { urgent_unanswered_write_only: urgentWriteOnly };
    const event = { event: 'alert', reason: 'urgent-unanswered', urgent_unanswered: urgent, ...optionalKeys } as const;
    alarms.push({ kind: 'urgent', names: urgent, event });
  }
  return alarms;
}

/** Marks the alarm as raised, which happens only after it was delivered (Kijito contract, trap 10). */
export function latchAlarm(state: AlarmState, { kind, names }: HiveAlarm): AlarmState {
  const since = names.map((name) => [name, findSince(state, kind, name) ?? 0] as const);
  return { ...state, raised: { ...state.raised, [kind]: new Map([...state.raised[kind], ...since]) } };
}
