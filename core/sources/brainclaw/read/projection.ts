import manifest from './classes.json' with { type: 'json' };
import type { JournalRecord, JsonFields } from './record.ts';

/** An item as the journal last recorded it. */
export interface Entity {
  readonly item_type: string;
  readonly item_id: string;
  readonly entity_rev: number | null;
  readonly payload: JsonFields;
  /** The seq of the record that last changed it; null when it comes from a checkpoint. */
  readonly seq: number | null;
  readonly ts: string | null;
  readonly agent: string | null;
}

/** A record that changed no item. */
export interface ActivityRecord {
  readonly seq: number;
  readonly ts: string | null;
  readonly agent: string;
  readonly action: string;
  /** Null for an unknown action. */
  readonly class: EventClass | null;
  readonly item_type: string;
  readonly item_id: string | null;
  readonly summary: string | null;
}

/** How many activity records are kept. */
export const MOST_ACTIVITY = 200;
const MOST_SUMMARY = 300;

/** The effect of a record: the item type whose sections changed, an entry in the activity, or nothing. */
export type RecordEffect =
  | { readonly is: 'changed'; readonly itemType: string }
  | { readonly is: 'activity' | 'nothing' };

const ACTIVITY: RecordEffect = { is: 'activity' };
const NOTHING: RecordEffect = { is: 'nothing' };

/** The items of a project, as the records so far have made them (brainclaw contract 4). */
export interface Projection {
  /** Records must come in replay order: a later one wins, whatever its seq. */
  apply(record: JournalRecord): RecordEffect;
  /** Adds an item of a checkpoint, before the records that follow it. */
  seed(entity: Pick<Entity, 'item_type' | 'item_id' | 'entity_rev' | 'payload'>): void;
  /** Items by id, in the order of their arrival; empty for a type without items. */
  getByType(itemType: string): ReadonlyMap<string, Entity>;
  readonly types: readonly string[];
  readonly size: number;
  /** The last activity records, oldest first. */
  readonly activity: readonly ActivityRecord[];
  /** Whether the journal has stated that it holds every registry item. Before that, counts are too low. */
  readonly registryAuthoritative: boolean;
}

const NO_ENTITIES: ReadonlyMap<string, Entity> = new Map();

export function createProjection(): Projection {
  const entities = new Map<string, Map<string, Entity>>();
  const ring: ActivityRecord[] = [];
  let next = 0;
  let isAuthoritative = false;

  const put = (entity: Entity): void => {
    const { item_type, item_id } = entity;
    const typeEntities = entities.get(item_type);
    if (typeEntities === undefined) entities.set(item_type, new Map([[item_id, entity]]));
    else typeEntities.set(item_id, entity);
  };
  const remove = (itemType: string, itemId: string): boolean => {
    const typeEntities = entities.get(itemType);
    if (typeEntities?.delete(itemId) !== true) return false;
    if (typeEntities.size === 0) entities.delete(itemType);
    return true;
  };
  const note = (record: JournalRecord, eventClass: EventClass | null): RecordEffect => {
    const { seq, ts, agent, action, item_type, item_id, summary } = record;
    const short = summary === null ? null : shortenText(summary, MOST_SUMMARY);
    ring[next] = { seq, ts, agent, action, class: eventClass, item_type, item_id, summary: short };
    next = (next + 1) % MOST_ACTIVITY;
    return ACTIVITY;
  };

  return {
    apply: (record) => {
      const { action, item_type, item_id, payload } = record;
      const eventClass = findEventClass(action);
      if (eventClass === 'tombstone') {
        return item_id !== null && remove(item_type, item_id) ? { is: 'changed', itemType: item_type } : NOTHING;
      }
      if (eventClass === 'observability' || eventClass === 'journal-meta') {
        if (action === 'journal_note' && payload?.kind === 'registry_genesis') isAuthoritative = true;
        return note(record, eventClass);
      }
      if (payload === null || item_id === null) return note(record, eventClass);
      const { entity_rev, seq, ts, agent } = record;
      put({ item_type, item_id, entity_rev, payload: trimPayload(payload), seq, ts, agent });
      return { is: 'changed', itemType: item_type };
    },
    seed: ({ payload, ...entity }) =>
      put({ ...entity, payload: trimPayload(payload), seq: null, ts: null, agent: null }),
    getByType: (itemType) => entities.get(itemType) ?? NO_ENTITIES,
    get types() {
      return [...entities.keys()];
    },
    get size() {
      let size = 0;
      for (const typeEntities of entities.values()) size += typeEntities.size;
      return size;
    },
    get activity() {
      return [...ring.slice(next), ...ring.slice(0, next)];
    },
    get registryAuthoritative() {
      return isAuthoritative;
    },
  };
}

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

/** How many characters of a text are kept. */
const MOST_TEXT = 4096;
/** How many entries of a list are kept. */
const MOST_ENTRIES = 100;
/** How many characters of a text in a list are kept. */
const MOST_IN_LIST = 512;

/**
 * A payload as the board keeps it. Long texts and lists are cut, and objects are dropped, except those in lists, which are cut in
 * the same way (brainclaw contract 4). The result keeps nothing of the original line in memory.
 */
export function trimPayload(payload: JsonFields): JsonFields {
  return isSmall(payload)
    ? payload
    : trimFields(payload, MOST_TEXT, (list) => list.slice(0, MOST_ENTRIES).flatMap(trimEntry));
}

/** Whether nothing would be cut or dropped. Most payloads are like that, and copying each would take a third of a replay. */
function isSmall(payload: JsonFields): boolean {
  for (const key in payload) {
    const value = payload[key];
    if (typeof value === 'string') {
      if (value.length > MOST_TEXT) return false;
    } else if (typeof value === 'object' && value !== null) {
      if (key === '__proto__' || !Array.isArray(value) || value.length > MOST_ENTRIES || !value.every(isSmallEntry))
        return false;
    }
  }
  return true;
}

function isSmallEntry(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= MOST_IN_LIST : typeof value !== 'object' || value === null;
}

function trimEntry(value: unknown): unknown[] {
  if (typeof value === 'string') return [shortenText(value, MOST_IN_LIST)];
  if (typeof value !== 'object' || value === null) return [value];
  return Array.isArray(value) ? [] : [trimFields(value as JsonFields, MOST_IN_LIST, () => null)];
}

function trimFields(fields: JsonFields, most: number, list: (entries: unknown[]) => unknown[] | null): JsonFields {
  const trimmedFields: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (key === '__proto__') continue;
    const value = fields[key];
    if (typeof value === 'string') trimmedFields[key] = shortenText(value, most);
    else if (typeof value !== 'object' || value === null) trimmedFields[key] = value;
    else if (Array.isArray(value)) {
      const entries = list(value);
      if (entries !== null) trimmedFields[key] = entries;
    }
  }
  return trimmedFields;
}

/**
 * Cuts a text into a separate string: a slice would keep the whole long text in memory. A character that would be cut in two is
 * left out.
 */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return Buffer.from(text.slice(0, isHalf ? most - 1 : most), 'utf8').toString('utf8');
}
