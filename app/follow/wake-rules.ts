import { type Event, toWakeClass, type WakeClass } from '../../core/events/index.ts';

export interface WakeRules {
  /** Whether diagnostic events wake the agent too. */
  readonly diagnostics: boolean;
}

/**
 * Whether an event is worth a turn of its agent (docs/contract/events.md; Kijito contract b, trap 61). Mail that the agent did not
 * write itself is, and so are diagnostics, including every unknown kind. Liveness events never are.
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

/**
 * Returns the wake class of an event. An older or foreign writer may leave it out or use an unknown one; then the kind decides.
 */
export function getWakeClass({ event, wake_class: declaredClass }: Event): WakeClass {
  const byKind = toWakeClass(event);
  if (byKind !== 'diagnostic') return byKind;
  return declaredClass === 'mail' || declaredClass === 'liveness' ? declaredClass : 'diagnostic';
}
