import { join } from 'node:path';
import { parseJson } from '../../../model/index.ts';
import { formatJson } from '../../source-tools.ts';
import { type ReadFiles, readFile } from './read-files.ts';

/** An object parsed from JSON, before its fields are checked. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** One line of the journal (brainclaw contract 1). Fields that the writer left out are null. */
export interface JournalRecord {
  readonly seq: number;
  readonly action: string;
  readonly item_type: string;
  readonly item_id: string | null;
  /** UTC, as the writer states it. */
  readonly ts: string | null;
  /** `w_<pid>-<6 hex>`. */
  readonly writer: string | null;
  readonly agent: string;
  readonly entity_rev: number | null;
  readonly summary: string | null;
  /** The whole item as of this record. */
  readonly payload: JsonFields | null;
  /** Where the payload is stored when it is not in the line. */
  readonly payload_ref: JsonFields | null;
}

/** Why a line is no record. */
export type RecordRefusal =
  | 'not-utf8'
  | 'not-json'
  | 'not-an-object'
  | 'version'
  | 'seq'
  | 'seq-too-far'
  | 'action'
  | 'item-type'
  | 'field'
  | 'payload'
  | 'too-long';

export type RecordRead =
  | { readonly is: 'record'; readonly record: JournalRecord }
  | { readonly is: 'refused'; readonly why: RecordRefusal };

const createRefusal = (why: RecordRefusal): RecordRead => ({ is: 'refused', why });

/**
 * Parses a line without its newline. Version, seq, action, item type and payload must be valid. Other fields may be missing, and
 * otherwise must have their type: other readers accept such a record too (brainclaw contract 2).
 */
export function parseRecord(line: string): RecordRead {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return createRefusal('not-json'); // the caller says where
  }
  if (!isObject(value)) return createRefusal('not-an-object');
  const { v, seq, action, item_type, item_id, ts, writer, agent, entity_rev, summary, payload, payload_ref } = value;
  if (v !== 2) return createRefusal('version');
  if (!isCount(seq)) return createRefusal('seq');
  if (typeof action !== 'string' || action === '') return createRefusal('action');
  if (typeof item_type !== 'string' || item_type === '') return createRefusal('item-type');
  if (!(isText(item_id) && isText(ts) && isText(writer) && isText(agent) && isText(summary)))
    return createRefusal('field');
  if (entity_rev !== undefined && !isCount(entity_rev)) return createRefusal('field');
  if (payload !== undefined && !isObject(payload)) return createRefusal('payload');
  if (payload_ref !== undefined && !isObject(payload_ref)) return createRefusal('payload');
  return {
    is: 'record',
    record: {
      seq,
      action,
      item_type,
      item_id: item_id || null,
      ts: ts ?? null,
      writer: writer ?? null,
      agent: agent ?? 'unknown',
      entity_rev: entity_rev ?? null,
      summary: summary ?? null,
      payload: payload ?? null,
      payload_ref: payload_ref ?? null,
    },
  };
}

export function isObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A whole number above 0 that JSON represents exactly. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** A text, or an absent field. */
function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

/** The writer's own note of the journal's position. It is a cache, and nothing here depends on it (brainclaw contract 1, 7). */
export interface Meta {
  readonly nextSeq: number;
  readonly activeSegment: string | null;
  /** By item id. */
  readonly revisions: ReadonlyMap<string, number>;
}

export type MetaRead =
  | { readonly is: 'absent' }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'meta'; readonly meta: Meta };

const MOST_META = 64 * 1024 * 1024;

/**
 * @param directory the `events` of a store
 * @throws Fault `unreadable` for a failure that is not about this file
 */
export function readMeta(files: ReadFiles, directory: string): MetaRead {
  const file = readFile(files, join(directory, 'meta.json'), MOST_META);
  if (file.is !== 'bytes') return file;
  let value: unknown;
  try {
    value = parseJson(file.bytes.toString('utf8'));
  } catch (error) {
    return { is: 'refused', why: `is not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!isObject(value)) return { is: 'refused', why: 'is not an object' };
  const { next_seq, active_segment, entity_revs } = value;
  if (!isCount(next_seq)) return { is: 'refused', why: `has next_seq ${formatJson(next_seq)}` };
  const revisions = new Map<string, number>();
  if (isObject(entity_revs)) {
    for (const [id, revision] of Object.entries(entity_revs)) if (isCount(revision)) revisions.set(id, revision);
  }
  const activeSegment = typeof active_segment === 'string' ? active_segment : null;
  return { is: 'meta', meta: { nextSeq: next_seq, activeSegment, revisions } };
}
