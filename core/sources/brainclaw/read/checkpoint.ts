import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LARGE_JSON, parseJson } from '../../../model/index.ts';
import { formatJson } from '../../source-tools.ts';
import type { Entity } from './projection.ts';
import { listNames, type ReadFiles, readFile } from './read-files.ts';
import { isCount, isObject, type JournalRecord, type JsonFields } from './record.ts';

/** An item as a checkpoint stores it. */
export type SeedItem = Pick<Entity, 'item_type' | 'item_id' | 'entity_rev' | 'payload'>;

/** The items as of some record, from which a replay can begin. */
export interface Base {
  /** The name of the file that holds them. */
  readonly name: string;
  /** The seq of the last record that they include. */
  readonly seq: number;
  /** Whether the base ends with this record. When no record of the journal matches, the base belongs to another journal. */
  isAnchor(record: JournalRecord): boolean;
  readonly items: readonly SeedItem[];
}

/** A checkpoint that was refused. */
export interface RefusedBase {
  readonly name: string;
  readonly why: string;
}

export interface Bases {
  /** Newest first. */
  readonly bases: readonly Base[];
  readonly refused: readonly RefusedBase[];
}

const MOST_CHECKPOINT = 256 * 1024 * 1024;
const MANIFEST = /^(\d{12})\.manifest\.json$/;
const SPECIFIED = /^ckpt-(\d+)\.json$/;

/**
 * The checkpoints of a journal, in both forms. The writer makes a manifest that names the hash of a snapshot. The specification
 * has one file, whose hash a `checkpoint_ref` of the journal states (brainclaw contract 3). Everything that can be verified
 * without the journal is verified.
 * @param directory `checkpoints` of a journal
 * @param projectId from the store's own configuration; null when it has none, and then no manifest can match
 * @param first the lowest seq that a segment holds: a checkpoint that ends before it would leave a gap
 * @throws Fault `unreadable` for a failure that is not about one of these files
 */
export function readBases(files: ReadFiles, directory: string, projectId: string | null, first: number): Bases {
  const bases: Base[] = [];
  const refused: RefusedBase[] = [];
  for (const name of listNames(files, directory) ?? []) {
    const read = MANIFEST.test(name)
      ? readManifest(files, directory, name, projectId)
      : SPECIFIED.test(name)
        ? readSpecified(files, directory, name)
        : null;
    if (read === null) continue;
    if (typeof read === 'string') refused.push({ name, why: read });
    else if (read.seq < first) refused.push({ name, why: `ends at ${read.seq}, and the journal begins at ${first}` });
    else bases.push(read);
  }
  return { bases: bases.sort((a, b) => b.seq - a.seq), refused };
}

/** @returns why it is refused, or the base */
function readManifest(files: ReadFiles, directory: string, name: string, projectId: string | null): Base | string {
  const manifest = readJson(files, join(directory, name));
  if (typeof manifest === 'string') return manifest;
  if (!isObject(manifest.value)) return 'is not an object';
  const { schema_version, store_id, head_seq, head_identity, snapshot_sha256, entity_count } = manifest.value;
  if (schema_version !== 1) return `has schema_version ${formatJson(schema_version)}, not 1`;
  if (store_id !== projectId || projectId === null) return `belongs to store ${formatJson(store_id)}, not ${projectId}`;
  if (!isCount(head_seq) || head_seq !== Number(MANIFEST.exec(name)?.[1]))
    return 'has a head_seq that differs from its name';
  const snapshot = readJson(files, join(directory, name.replace('.manifest.', '.snapshot.')));
  if (typeof snapshot === 'string') return `its snapshot ${snapshot}`;
  if (snapshot.sha256 !== snapshot_sha256) return 'its snapshot does not match its hash';
  const items = parseItems(snapshot.value);
  if (items === null) return 'its snapshot has an entry that is not an item';
  if (items.length !== entity_count) return `its snapshot has ${items.length} items, not ${formatJson(entity_count)}`;
  const isAnchor = (record: JournalRecord): boolean =>
    record.seq === head_seq && toRecordIdentity(record) === head_identity;
  return { name, seq: head_seq, isAnchor, items };
}

/** The anchor is the note with the file's hash, which the writer appends right after the checkpoint's last record. */
function readSpecified(files: ReadFiles, directory: string, name: string): Base | string {
  const file = readJson(files, join(directory, name));
  if (typeof file === 'string') return file;
  const items = parseItems(isObject(file.value) ? (file.value.entities ?? file.value.items) : file.value);
  if (items === null) return 'has no list of items, or an entry that is not an item';
  const seq = Number(SPECIFIED.exec(name)?.[1]);
  if (!isCount(seq)) return 'has no seq in its name';
  const { sha256 } = file; // only the hash, so that keeping the anchor does not keep the items in memory
  const isAnchor = ({ action, payload, ...record }: JournalRecord): boolean =>
    action === 'checkpoint_ref' && record.seq > seq && payload?.sha256 === sha256;
  return { name, seq, isAnchor, items };
}

function parseItems(value: unknown): readonly SeedItem[] | null {
  if (!Array.isArray(value)) return null;
  const items = value.map(parseSeedItem);
  return items.every((item) => item !== null) ? items : null;
}

function parseSeedItem(value: unknown): SeedItem | null {
  if (!isObject(value)) return null;
  const { item_type, item_id, entity_rev, payload }: JsonFields = value;
  if (typeof item_type !== 'string' || item_type === '' || typeof item_id !== 'string' || item_id === '') return null;
  if (!isObject(payload) || (entity_rev !== undefined && entity_rev !== null && !isCount(entity_rev))) return null;
  return { item_type, item_id, entity_rev: entity_rev ?? null, payload };
}

/** @returns why the file cannot be read, or its value and the hash of its bytes */
function readJson(files: ReadFiles, path: string): { readonly value: unknown; readonly sha256: string } | string {
  const file = readFile(files, path, MOST_CHECKPOINT);
  if (file.is !== 'bytes') return file.is === 'absent' ? 'is missing' : file.why;
  try {
    const value: unknown = parseJson(file.bytes.toString('utf8'), LARGE_JSON);
    return { value, sha256: createHash('sha256').update(file.bytes).digest('hex') };
  } catch (error) {
    return `is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * How far a reader has come, stored outside the project's store (brainclaw contract 9). It is derived: it says whether this is
 * the journal that was read before, and decides nothing else. The journal is replayed all the same.
 */
export interface Cursor {
  /** The highest seq that was applied. */
  readonly seq: number;
  /** The segment of the last record that was applied in replay order; `offset` is the byte after its line. */
  readonly segment: string;
  readonly offset: number;
  readonly head_identity: string;
}

/** Identifies a record as the reference's checkpoints do: hex of a SHA-256 (brainclaw contract 3). */
export function toRecordIdentity({ seq, writer, ts, action, item_type, item_id }: JournalRecord): string {
  const text = `${seq}|${writer ?? ''}|${ts ?? ''}|${action}|${item_type}|${item_id ?? ''}`;
  return createHash('sha256').update(text).digest('hex');
}

/** Parses a saved cursor; null when the value is none. */
export function parseCursor(value: unknown): Cursor | null {
  if (!isObject(value)) return null;
  const { seq, segment, offset, head_identity }: JsonFields = value;
  if (!isCount(seq) || typeof segment !== 'string' || !isCount(offset) || typeof head_identity !== 'string')
    return null;
  return { seq, segment, offset, head_identity };
}
