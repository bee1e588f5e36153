import { type Event, toWakeClass, type WakeClass } from '../../core/events/index.ts';

export interface WakeRules {
  /** Whether what is neither mail nor a sign of life wakes too. */
  readonly diagnostics: boolean;
}

/**
 * Whether an event is worth a turn of its agent (docs/CONTRACT.md 1; Kijito contract b, trap 61): mail that the agent did
 * not write itself, and diagnostics, among them every kind that is not known here. Never a sign of life.
 */
export function isWaking(event: Event, { diagnostics }: WakeRules): boolean {
  switch (getWakeClass(event)) {
    case 'mail':
      return !('self' in event && event.self === true);
    case 'diagnostic':
      return diagnostics;
    case 'liveness':
      return false;
  }
}

/** A line of an older or foreign writer may have no class, or one that is not known here: then its kind decides. */
export function getWakeClass({ event, wake_class: declaredClass }: Event): WakeClass {
  const byKind = toWakeClass(event);
  if (byKind !== 'diagnostic') return byKind;
  return declaredClass === 'mail' || declaredClass === 'liveness' ? declaredClass : 'diagnostic';
}
