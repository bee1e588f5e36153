import { isSameValue } from '../../core/board/index.ts';
import type { PersonaWire, StatusChangeWire, StatusWire } from './wire.ts';

/** Follows the status, and finds what changed of it. */
export interface ChangeFeed {
  /** Takes this status over, and returns what differs from the one of the last call. `isQuiet`: only times of reading do. */
  advance(status: StatusWire): { readonly change: StatusChangeWire; readonly isQuiet: boolean };
}

type OtherKey = keyof StatusChangeWire['set'];

/** Freshness moves on with each poll of each inbox, so a change says it once for all. */
const FRESHNESS: ReadonlySet<string> = new Set(['asOf', 'staleAfter'] satisfies (keyof PersonaWire)[]);
/** Keys that have a field of their own in a change. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['rev', 'generatedAt', 'personas'] satisfies (keyof StatusWire)[]);

/** Before the first status nothing is known, so the first change has all of it. */
export function createChangeFeed(): ChangeFeed {
  let before: StatusWire | null = null;
  let known = new Map<string, PersonaWire>();
  let stale: Readonly<Record<string, string>> = {};

  return {
    advance(status) {
      const { rev, generatedAt } = status;
      const next = new Map(status.personas.map((persona) => [persona.id, persona]));
      const nextStale = listStale(status);
      const isStaleSame = isSameValue(stale, nextStale);
      const change = {
        ...{ rev, generatedAt, asOf: findOldestReading(status, nextStale) },
        set: pickChanged(before, status),
        personas: status.personas.filter((persona) => !isSamePersona(known.get(persona.id), persona)),
        removed: [...known.keys()].filter((id) => !next.has(id)),
        ...(isStaleSame ? {} : { stale: nextStale }),
      };
      before = status;
      known = next;
      stale = nextStale;
      const { set, personas, removed } = change;
      const isQuiet = isStaleSame && Object.keys(set).length === 0 && personas.length === 0 && removed.length === 0;
      return { change, isQuiet };
    },
  };
}

function pickChanged(before: StatusWire | null, status: StatusWire): StatusChangeWire['set'] {
  const keys = Object.keys(status).filter((key): key is OtherKey => !OWN_FIELDS.has(key));
  const changed = keys.filter((key) => before === null || !isSameValue(before[key], status[key]));
  return Object.fromEntries(changed.map((key) => [key, status[key]]));
}

function isSamePersona(before: PersonaWire | undefined, persona: PersonaWire): boolean {
  if (before === persona || before === undefined) return before === persona;
  const keys = Object.keys(persona) as (keyof PersonaWire)[];
  return keys.every((key) => FRESHNESS.has(key) || isSameValue(before[key], persona[key]));
}

/** Times have one form and length, so their text compares as they do. */
function listStale({ personas, generatedAt }: StatusWire): Readonly<Record<string, string>> {
  const stale = personas.flatMap(({ id, asOf, staleAfter }) =>
    asOf !== null && staleAfter !== null && staleAfter <= generatedAt ? [[id, asOf] as const] : [],
  );
  return Object.fromEntries(stale);
}

function findOldestReading({ personas }: StatusWire, stale: Readonly<Record<string, string>>): string | null {
  let oldest: string | null = null;
  for (const { id, asOf } of personas) {
    if (asOf !== null && !Object.hasOwn(stale, id) && (oldest === null || asOf < oldest)) oldest = asOf;
  }
  return oldest;
}
