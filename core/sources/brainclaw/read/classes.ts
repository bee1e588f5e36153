import manifest from './classes.json' with { type: 'json' };

/** What a record does to the board, according to its action (brainclaw contract 1; observer protocol 2). */
export type EventClass = 'entity-state' | 'tombstone' | 'journal-meta' | 'observability' | 'registry-lifecycle';

/** The manifest that every reader of the journal can share (observer protocol, open question O1). */
export const CLASSES: Readonly<Record<EventClass, readonly string[]>> = manifest.classes;

const BY_ACTION: ReadonlyMap<string, EventClass> = new Map(
  Object.entries(CLASSES).flatMap(([name, actions]) => actions.map((action) => [action, name as EventClass] as const)),
);

/**
 * Recognises actions of a later version by their beginning. The table is asked first, because three of its actions begin like
 * that too.
 */
const LIFECYCLE = /^(assignment|run)_/;

/**
 * The class of an action; null for an unknown one, whose record counts as a new state if it carries one (brainclaw contract 4).
 */
export function findEventClass(action: string): EventClass | null {
  return BY_ACTION.get(action) ?? (LIFECYCLE.test(action) ? 'registry-lifecycle' : null);
}

/** Whether the table has this action, whatever class an unknown one gets. */
export const isKnownAction = (action: string): boolean => BY_ACTION.has(action);
