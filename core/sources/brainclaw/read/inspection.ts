import { createHash } from 'node:crypto';
import { formatJson } from '../../source-tools.ts';
import { type AppliedRecord, findViolations, type JournalListener, type Violation } from './ledger.ts';
import type { JournalRecord } from './record.ts';

/** The position of a record in the journal. */
export interface RecordPosition {
  readonly seq: number;
  readonly segment: string;
  readonly byte: number;
}

/** How many cases there are, and the last of them. */
export interface Cases<T> {
  readonly count: number;
  readonly last: readonly T[];
}

/** What is wrong between the records of a journal. Its size is bounded, except for one number per item. */
export interface InspectionReport {
  /** Records with the seq of an earlier one and the same content; those in `otherAgain` have other content. */
  readonly sameAgain: Cases<RecordPosition>;
  readonly otherAgain: Cases<RecordPosition>;
  /** Revisions of an item that no record here has. */
  readonly revisionGaps: Cases<RevisionBreak>;
  /** Items whose first record here is not their first revision. */
  readonly beginsLater: Cases<RevisionBreak>;
  /** Revisions that are not above the one before. */
  readonly revisionsBack: Cases<RevisionBreak>;
  /** How many records were not checked, because there were too many items to follow. */
  readonly unfollowed: number;
  readonly violations: ReadonlyMap<Violation, Cases<RecordPosition>>;
  /** Records whose payload is stored elsewhere, and the size in bytes that they state. */
  readonly payloadRefs: Cases<RecordPosition & { readonly bytes: number | null }>;
  readonly payloadRefBytes: number;
  /** The highest revision of each item, by item id. */
  readonly revisions: ReadonlyMap<string, number>;
}

export interface RevisionBreak extends RecordPosition {
  readonly item: string;
  readonly before: number;
  readonly revision: number;
}

const MOST_CASES = 32;
/** Records with the same seq occur close to each other. */
const MOST_REMEMBERED = 65_536;
const MOST_ITEMS = 1_000_000;

/** Compares the records of a journal with each other, for the doctor. It costs time that a replay for a board does not spend. */
export function startInspection(): JournalListener & { readonly inspected: InspectionReport } {
  let state = createState();
  return {
    begin: (projection) => {
      state = createState();
      for (const itemType of projection.types)
        for (const { item_id, entity_rev } of projection.getByType(itemType).values())
          if (entity_rev !== null) state.revisions.set(`${itemType}:${item_id}`, entity_rev);
    },
    applied: (appliedRecord) => inspectRecord(state, appliedRecord),
    skipped: () => {},
    get inspected() {
      const { revisions, remembered, violations, ...cases } = state;
      const byId = new Map<string, number>();
      for (const [key, revision] of revisions) {
        const id = key.slice(key.indexOf(':') + 1);
        byId.set(id, Math.max(revision, byId.get(id) ?? 0));
      }
      return { ...cases, violations: new Map(violations), revisions: byId };
    },
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
interface CaseBag<T> extends Cases<T> {
  count: number;
  readonly last: T[];
}
const createBag = <T>(): CaseBag<T> => ({ count: 0, last: [] });

function createState() {
  return {
    ...{
      sameAgain: createBag<RecordPosition>(),
      otherAgain: createBag<RecordPosition>(),
      revisionGaps: createBag<RevisionBreak>(),
    },
    ...{ beginsLater: createBag<RevisionBreak>(), revisionsBack: createBag<RevisionBreak>(), unfollowed: 0 },
    ...{
      violations: new Map<Violation, CaseBag<RecordPosition>>(),
      payloadRefs: createBag<RecordPosition & { readonly bytes: number | null }>(),
    },
    ...{ payloadRefBytes: 0, revisions: new Map<string, number>(), remembered: new Map<number, string>() },
  };
}

function inspectRecord(
  state: Writable<ReturnType<typeof createState>>,
  { record, segment, start }: AppliedRecord,
): void {
  const at: RecordPosition = { seq: record.seq, segment, byte: start };
  const { remembered } = state;
  const digest = computeDigest(record);
  const before = remembered.get(record.seq);
  if (before !== undefined) addCase(before === digest ? state.sameAgain : state.otherAgain, at);
  remembered.set(record.seq, digest);
  if (remembered.size > MOST_REMEMBERED) {
    const [oldest] = remembered.keys();
    if (oldest !== undefined) remembered.delete(oldest);
  }
  for (const violation of findViolations(record)) {
    const cases = state.violations.get(violation) ?? createBag<RecordPosition>();
    state.violations.set(violation, cases);
    addCase(cases, at);
  }
  if (record.payload_ref !== null) {
    const { bytes } = record.payload_ref;
    const size = typeof bytes === 'number' ? bytes : null;
    addCase(state.payloadRefs, { ...at, bytes: size });
    state.payloadRefBytes += size ?? 0;
  }
  followRevision(state, record, at);
}

function followRevision(
  state: Writable<ReturnType<typeof createState>>,
  record: JournalRecord,
  at: RecordPosition,
): void {
  const { item_type, item_id, entity_rev: revision } = record;
  if (item_id === null || revision === null) return;
  const item = `${item_type}:${item_id}`;
  const before = state.revisions.get(item);
  if (before === undefined && state.revisions.size >= MOST_ITEMS) {
    state.unfollowed += 1;
    return;
  }
  const broken: RevisionBreak = { ...at, item, before: before ?? 0, revision };
  if (before === undefined) {
    if (revision > 1) addCase(state.beginsLater, broken);
  } else if (revision > before + 1) addCase(state.revisionGaps, broken);
  else if (revision <= before) addCase(state.revisionsBack, broken);
  state.revisions.set(item, Math.max(revision, before ?? 0));
}

function addCase<T>(cases: CaseBag<T>, item: T): void {
  cases.count += 1;
  cases.last.push(item);
  if (cases.last.length > MOST_CASES) cases.last.shift();
}

function computeDigest(record: JournalRecord): string {
  return createHash('sha256').update(formatJson(record)).digest('base64');
}
