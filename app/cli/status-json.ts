import { NEED_LEVELS, type NeedLevel, sortByNeed } from '../../core/format/index.ts';
import { Fault, parseIso } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';

export type StatusPersona = StatusWire['personas'][number];

export const SORTS = ['need', 'newest', 'name'] as const;

/** Which personas are shown, and in which order. */
export interface StatusSelection {
  /** `need`: as `sortByNeed`. `newest`: by the newest mail. `name`: by the name. */
  readonly sort: (typeof SORTS)[number];
  /** Only those with unread mail, or that need a person. */
  readonly unread: boolean;
}

/** Lists the personas that a person sees: hidden ones are left out. */
export function listPersonas(status: StatusWire, { sort, unread }: StatusSelection): readonly StatusPersona[] {
  const shown = status.personas.filter(({ hidden }) => !hidden);
  const listed = sortByNeed(shown, status).filter(([, { level }]) => !unread || isNeedy(level));
  const personas = listed.map(([persona]) => persona);
  if (sort === 'need') return personas;
  const byName = personas.toSorted((a, b) => compare(a.label, b.label) || compare(a.id, b.id));
  // The texts of two times are in the order of the times.
  return sort === 'name' ? byName : byName.toSorted((a, b) => compare(b.lastMailAt ?? '', a.lastMailAt ?? ''));
}

/** Returns whether a person has something to do at this level. */
export function isNeedy(level: NeedLevel): boolean {
  return NEED_LEVELS.indexOf(level) <= NEED_LEVELS.indexOf('unread');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Finds a persona by its id, else by the name that is shown. Null when nobody has it. */
export function findPersona(personas: readonly StatusPersona[], name: string): StatusPersona | null {
  return personas.find(({ id }) => id === name) ?? personas.find(({ label }) => label === name) ?? null;
}

/** @throws RangeError when the text is no UTC time */
export function parseTime(text: string): number {
  const at = parseIso(text);
  if (at === null) throw new RangeError(`no UTC time: ${text}`);
  return at;
}

/**
 * Parses the status JSON. This program's own tray process served it, so only the schema number needs a check.
 * @throws Fault `shape` when the number differs
 */
export function parseStatus(body: string): StatusWire {
  const value: unknown = JSON.parse(body);
  if (typeof value === 'object' && value !== null && 'schema' in value && value.schema === 1)
    return value as StatusWire;
  throw new Fault('shape', 'the running Hivebar is another version: stop it and start this one', {
    is: 'machine',
    key: 'tray',
  });
}
