import type { PersonaWire, StatusChangeWire, StatusWire } from '../app/status/wire.ts';

/** A status, and the ids of the personas that look different in it. */
export interface AppliedChange {
  readonly status: StatusWire;
  readonly changed: ReadonlySet<string>;
}

/**
 * Applies a `change` of the stream to the status before. Who did not change stays the same object, unless its numbers were read
 * again. Numbers that are not stale are never overdue here, because the server says when they are.
 */
export function applyChange(before: StatusWire, change: StatusChangeWire): AppliedChange {
  const { rev, generatedAt, asOf, set, personas, removed } = change;
  const findStale = createStaleSearch(before, change);
  const next = new Map(before.personas.map((persona) => [persona.id, persona]));
  for (const id of removed) next.delete(id);
  const isNew = personas.some(({ id }) => !next.has(id));
  for (const persona of personas) next.set(persona.id, persona);
  const changed = new Set([...removed, ...personas.map(({ id }) => id)]);
  const list = [...next.values()].map((persona) => {
    const staleAs = findStale(persona);
    if ((staleAs !== null) !== isStaleAt(before.generatedAt, persona)) changed.add(persona.id);
    return refresh(persona, staleAs, asOf);
  });
  if (isNew) list.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { status: { ...before, ...set, rev, generatedAt, personas: list }, changed };
}

/** Returns when the stale numbers of a persona were read; null: they are not stale. */
function createStaleSearch(
  { generatedAt }: StatusWire,
  { stale }: StatusChangeWire,
): (persona: PersonaWire) => string | null {
  if (stale !== undefined) return ({ id }) => (Object.hasOwn(stale, id) ? (stale[id] ?? null) : null);
  return (persona) => (isStaleAt(generatedAt, persona) ? persona.asOf : null);
}

/** Times have one form and length, so their text compares as they do. */
function isStaleAt(time: string, { staleAfter }: PersonaWire): boolean {
  return staleAfter !== null && staleAfter <= time;
}

function refresh(persona: PersonaWire, staleAs: string | null, asOf: string | null): PersonaWire {
  if (persona.asOf === null) return persona;
  if (staleAs !== null)
    return persona.staleAfter === staleAs ? persona : { ...persona, asOf: staleAs, staleAfter: staleAs };
  const readAt = asOf !== null && asOf > persona.asOf ? asOf : persona.asOf;
  return persona.staleAfter === null && readAt === persona.asOf
    ? persona
    : { ...persona, asOf: readAt, staleAfter: null };
}
