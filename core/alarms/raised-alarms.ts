import type { HiveAlarmEvent } from '../events/index.ts';
import type { AlarmState } from './alarm-state.ts';
import type { Judgement } from './judge.ts';

/** The two alarms of a hive, which are independent (Kijito contract, trap 49). */
export type HiveAlarmKind = keyof AlarmState['raised'];

/** An alarm that is to be delivered. `names`: everyone it is about. */
export interface HiveAlarm {
  readonly kind: HiveAlarmKind;
  readonly names: readonly string[];
  readonly event: HiveAlarmEvent;
}

/** Returns since when the state that this kind of alarm reports holds for a name; null: it does not hold. */
export function findSince({ held }: AlarmState, kind: HiveAlarmKind, name: string): number | null {
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
