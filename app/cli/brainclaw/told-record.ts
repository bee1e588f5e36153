import {
  type Applied,
  attentionItems,
  classOf,
  type Effect,
  type JournalListener,
  type Projection,
  type Section,
  type SegmentView,
  type Skipped,
  sectionsOf,
  statusOf,
  type Why,
  whyOf,
} from '../../../core/sources/brainclaw/index.ts';

/** A record, and what the board made of it. */
export interface ToldRecord {
  readonly seq: number;
  readonly segment: string;
  /** Of its first byte, and the one after its newline. */
  readonly byte: number;
  readonly end: number;
  readonly ts: string | null;
  readonly writer: string | null;
  readonly agent: string;
  readonly action: string;
  readonly class: ReturnType<typeof classOf>;
  readonly item_type: string;
  readonly item_id: string | null;
  readonly entity_rev: number | null;
  readonly summary: string | null;
  readonly effect: 'put' | 'removed' | 'activity' | 'nothing';
  /** Of the item, now; null: it is not there, or this is about none. */
  readonly status: string | null;
  readonly sections: readonly Section[];
  readonly attention: { readonly before: number; readonly after: number; readonly why: Why | null };
  /** The highest seq so far. */
  readonly cursor: number;
}

/** How far each segment was read. */
type Places = readonly Pick<SegmentView, 'name' | 'offset'>[];
type Skip = Omit<Skipped, 'adjudicated'>;

/** What to print of the records that were there before. */
export type From = { readonly is: 'last'; readonly records: number } | { readonly is: 'since'; readonly seq: number };

export interface Told {
  readonly records: readonly ToldRecord[];
  /** Lines that are no records: how many, and the first of them. */
  readonly skips: number;
  readonly skipped: readonly Skip[];
}

/** Hears of records, and keeps them until they are taken. */
export interface Telling extends JournalListener {
  /**
   * What was heard since the last time: at first, and of another journal than before, what `from` says; else all that lies
   * behind the places of the last time, each once also when the journal was read from its start again.
   * @param places up to where it is taken; null: there is no journal
   */
  take(places: Places | null, isOther: boolean): Told;
}

const MOST_SKIPPED = 20;

export function startTelling(from: From): Telling {
  let projection: Projection | null = null;
  let asking = new Map<string, Why>();
  let highest = 0;
  let taken: ReadonlyMap<string, number> | null = null;
  let chosen: ToldRecord[] = [];
  let behind: ToldRecord[] = [];
  let skipped: Skip[] = [];
  let skips = 0;

  const forget = (): void => {
    [chosen, behind, skipped, skips] = [[], [], [], 0];
  };
  const keep = (one: ToldRecord): void => {
    if (taken !== null && one.byte >= (taken.get(one.segment) ?? 0)) behind.push(one);
    if (from.is === 'since' && one.seq <= from.seq) return;
    chosen.push(one);
    if (from.is === 'last' && chosen.length > from.records) chosen.shift();
  };

  return {
    begin: (next) => {
      forget();
      projection = next;
      asking = new Map(attentionItems(next).map(({ why, entity }) => [keyOf(entity), why]));
      highest = 0;
    },
    applied: (one, effect) => {
      const before = asking.size;
      highest = Math.max(highest, one.record.seq);
      const { why, status } = nowOf(one, projection);
      if (effect.is === 'changed') {
        if (why === null) asking.delete(keyOf(one.record));
        else asking.set(keyOf(one.record), why);
      }
      keep({ ...wireOf(one, effect), status, attention: { before, after: asking.size, why }, cursor: highest });
    },
    skipped: (one) => {
      skips += 1;
      if (skipped.length < MOST_SKIPPED) skipped.push(one);
    },
    take: (places, isOther) => {
      const told: Told = { records: taken === null || isOther ? chosen : behind, skips, skipped };
      forget();
      if (places !== null) taken = new Map(places.map(({ name, offset }) => [name, offset]));
      return told;
    },
  };
}

const keyOf = ({ item_type, item_id }: Pick<Applied['record'], 'item_type' | 'item_id'>): string =>
  `${item_type}:${item_id}`;

function nowOf({ record }: Applied, projection: Projection | null): Pick<ToldRecord, 'status'> & { why: Why | null } {
  const entity = record.item_id === null ? undefined : projection?.ofType(record.item_type).get(record.item_id);
  return entity === undefined ? { why: null, status: null } : { why: whyOf(entity), status: statusOf(entity) };
}

function wireOf(
  { record, segment, start, end }: Applied,
  effect: Effect,
): Omit<ToldRecord, 'status' | 'attention' | 'cursor'> {
  const { seq, ts, writer, agent, action, item_type, item_id, entity_rev, summary } = record;
  const eventClass = classOf(action);
  const isGone = eventClass === 'tombstone';
  return {
    ...{ seq, segment, byte: start, end, ts, writer, agent, action, class: eventClass, item_type, item_id, entity_rev },
    ...{ summary, effect: effect.is === 'changed' ? (isGone ? 'removed' : 'put') : effect.is },
    sections: effect.is === 'changed' ? sectionsOf(item_type) : effect.is === 'activity' ? ['activity'] : [],
  };
}
