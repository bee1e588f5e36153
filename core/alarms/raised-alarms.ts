import type { HiveAlarmEvent } from '../events/index.ts';
import type { AlarmState } from './alarm-state.ts';
import type { Judgement } from './judge.ts';

/** The two alarms of a hive, each on its own (Kijito contract, trap 49). */
export type HiveAlarmKind = keyof AlarmState['raised'];

/** What is to be told. `names`: all that it is about. */
export interface HiveAlarm {
  readonly kind: HiveAlarmKind;
  readonly names: readonly string[];
  readonly event: HiveAlarmEvent;
}

/** Since when that is so which an alarm of this kind says of a name; null: it is not. */
export function findSince({ held }: AlarmState, kind: HiveAlarmKind, name: string): number | null {
  const own = held.get(name);
  return (kind === 'stranded' ? own?.since : own?.urgentSince) ?? null;
}

/**
 * Forgets what is over, so that it is told again when it comes again (Kijito contract, trap 47). A silence that cannot be
 * observed for a while is not over.
 */
export function releaseAlarms(state: AlarmState, now: Judgement): AlarmState {
  const { stranded, urgent } = state.raised;
  const raised = {
    stranded: new Map([...stranded].filter(([name]) => now.stranded.includes(name))),
    urgent: new Map([...urgent].filter(([name, since]) => findSince(state, 'urgent', name) === since)),
  };
  return { ...state, raised };
}

/** It says something that nobody was told of yet. */
export function isNews(state: AlarmState, { kind, names }: HiveAlarm): boolean {
  return names.some((name) => !state.raised[kind].has(name));
}

/** Whatever is so now, told or not. One alarm sums up all of its kind: several at once are no storm. */
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

/** Somebody was told: only now is it raised (Kijito contract, trap 10). */
export function latchAlarm(state: AlarmState, { kind, names }: HiveAlarm): AlarmState {
  const since = names.map((name) => [name, findSince(state, kind, name) ?? 0] as const);
  return { ...state, raised: { ...state.raised, [kind]: new Map([...state.raised[kind], ...since]) } };
}
