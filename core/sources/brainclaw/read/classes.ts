import manifest from './classes.json' with { type: 'json' };

/** What a record does to the board, by its action (brainclaw contract 1; observer protocol 2). */
export type EventClass = 'entity-state' | 'tombstone' | 'journal-meta' | 'observability' | 'registry-lifecycle';

/** The manifest that every reader of the journal can share (observer protocol, open question O1). */
export const CLASSES: Readonly<Record<EventClass, readonly string[]>> = manifest.classes;

const BY_ACTION: ReadonlyMap<string, EventClass> = new Map(
  Object.entries(CLASSES).flatMap(([name, actions]) => actions.map((action) => [action, name as EventClass] as const)),
);

/** Actions of a later version that go by their beginning; the table is asked first, three of its words have it too. */
const LIFECYCLE = /^(assignment|run)_/;

/** Null for an action that is not known: it counts as a new state where it carries one (brainclaw contract 4). */
export function findEventClass(action: string): EventClass | null {
  return BY_ACTION.get(action) ?? (LIFECYCLE.test(action) ? 'registry-lifecycle' : null);
}

/** Whether the action is one of the table, whatever class another one is given. */
export const isKnownAction = (action: string): boolean => BY_ACTION.has(action);
