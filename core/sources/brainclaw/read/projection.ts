import { type EventClass, findEventClass } from './classes.ts';
import type { JournalRecord, JsonFields } from './record.ts';
import { shortenText, trimPayload } from './trim.ts';

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
