import type { HiveAlarmEvent } from '../events/index.ts';
import { isSameName, type SourceId } from '../model/index.ts';
import type { Log } from '../ports/index.ts';
import { createTroubleLog } from '../services/index.ts';
import type { PersonaDirectory } from '../sources/index.ts';
import { type Blindness, formatBlind } from './activity.ts';
import { type AlarmRules, type AlarmState, type Judgement, URGENT_POLLS } from './judge.ts';

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

export function createAlarmLog(source: SourceId, log: Log, rules: AlarmRules): AlarmLog {
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
    if (blind.size === 0) muted.clear(`${source}: every inbox is read again, and silence is observed`);
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
export type HiveAlarmKind = keyof AlarmState['raised'];

/** An alarm that is to be delivered. `names`: everyone it is about. */
export interface HiveAlarm {
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
