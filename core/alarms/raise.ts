import type { HiveAlarmEvent } from '../events/index.ts';
import type { Judgement } from './judge.ts';
import type { AlarmState } from './state.ts';

/** The two alarms of a hive, each on its own (Kijito contract, trap 49). */
export type Kind = keyof AlarmState['told'];

/** What is to be told. `names`: all that it is about. */
export interface Raising {
  readonly kind: Kind;
  readonly names: readonly string[];
  readonly event: HiveAlarmEvent;
}

/** Since when that is so which an alarm of this kind says of a name; null: it is not. */
export function sinceOf({ held }: AlarmState, kind: Kind, name: string): number | null {
  const own = held.get(name);
  return (kind === 'stranded' ? own?.since : own?.urgentSince) ?? null;
}

/**
 * Forgets what is over, so that it is told again when it comes again (Kijito contract, trap 47). A silence that can not be
 * observed for a while is not over.
 */
export function released(state: AlarmState, now: Judgement): AlarmState {
  const { stranded, urgent } = state.told;
  const told = {
    stranded: new Map([...stranded].filter(([name]) => now.stranded.includes(name))),
    urgent: new Map([...urgent].filter(([name, since]) => sinceOf(state, 'urgent', name) === since)),
  };
  return { ...state, told };
}

/** It says something that nobody was told of yet. */
export function isNews(state: AlarmState, { kind, names }: Raising): boolean {
  return names.some((name) => !state.told[kind].has(name));
}

/** Whatever is so now, told or not. One alarm sums up all of its kind: several at once are no storm. */
export function alarmsOf({ stranded, dormant, urgent, urgentWriteOnly }: Judgement): readonly Raising[] {
  const alarms: Raising[] = [];
  if (stranded.length > 0) {
    const some = dormant.length === 0 ? {} : { dormant_inboxes: dormant };
    const event = { event: 'alert', reason: 'stranded', stranded_inboxes: stranded, ...some } as const;
    alarms.push({ kind: 'stranded', names: stranded, event });
  }
  if (urgent.length > 0) {
    const some = urgentWriteOnly.length === 0 ? {} : { urgent_unanswered_write_only: urgentWriteOnly };
    const event = { event: 'alert', reason: 'urgent-unanswered', urgent_unanswered: urgent, ...some } as const;
    alarms.push({ kind: 'urgent', names: urgent, event });
  }
  return alarms;
}

/** Somebody was told: only now is it raised (Kijito contract, trap 10). */
export function latched(state: AlarmState, { kind, names }: Raising): AlarmState {
  const since = names.map((name) => [name, sinceOf(state, kind, name) ?? 0] as const);
  return { ...state, told: { ...state.told, [kind]: new Map([...state.told[kind], ...since]) } };
}
