import { join } from 'node:path';
import type { Instant } from '../../../model/index.ts';
import { O, writeAll } from '../../../ports/index.ts';
import { createAtomically, toIoFault, writeAtomically } from '../../../state/index.ts';
import {
  BACKENDS,
  type Backend,
  type CitizenIdentity,
  type Defect,
  findBySession,
  findDirectoryDefect,
  findFileDefect,
  findMixedGenerations,
  formatUtc,
  type GardenPlaces,
  listRecords,
  type MetaRecord,
  parseParent,
  readOwners,
  readReceipt,
  readRecord,
  readStat,
  recordFile,
  requireBoolean,
  requireText,
  requireTextOrNull,
  requireWord,
  SCHEMAS,
  SIGNAL,
  toBoxPath,
  toCitizenIdentity,
} from '../read/index.ts';
import { createGardenFault } from '../settings.ts';
import { migrateReceipts, stampReceipt } from './markers.ts';
import { formatRecord, type WriteContext } from './write-context.ts';

export interface EnqueueResult {
  readonly gardenId: string;
  readonly stem: string;
  readonly messagePath: string;
  readonly signalPath: string;
}

const NAMINGS = 5;

/**
 * Puts a message into a citizen's box. It checks the citizen, writes the whole body under its name, then the receipt, and the
 * signal last, so that whoever the signal wakes finds the body (garden contract 4). It does not ask whether anybody drains the
 * box.
 * @throws Fault `garden` before anything is changed: no citizen, an empty body, an invalid box or receipt; `unwritable` or
 * `no-space`, after which the message may be in the box and nobody was woken
 */
export function enqueue(context: WriteContext, places: GardenPlaces, gardenId: string, body: string): EnqueueResult {
  const citizen = readRecord(context.disk, places.sessions, gardenId);
  if (body === '') throw createGardenFault('enqueueMetaMessage: body must be a non-empty string.', citizen.gardenId);
  const directory = toBoxPath(places.mailbox, citizen.gardenId);
  const signalPath = join(directory, SIGNAL);
  expectGood(context, places, directory, findDirectoryDefect);
  expectGood(context, places, signalPath, findFileDefect);
  readReceipt(context.disk, places.mailbox, citizen.gardenId);

  const time = formatUtc(context.clock.now());
  const { stem, messagePath } = putBody(context, directory, time, body);
  stampReceipt(context, places, citizen.gardenId, 'lastEnqueuedAt', time);
  ring(context, signalPath, `${time}\n`);
  return { gardenId: citizen.gardenId, stem, messagePath, signalPath };
}

function putBody(
  context: WriteContext,
  directory: string,
  time: string,
  body: string,
): { stem: string; messagePath: string } {
  for (let naming = 1; naming <= NAMINGS; naming += 1) {
    const stem = `${time.replaceAll(/[:.]/g, '-')}-${context.random.hex(3)}`;
    const messagePath = join(directory, `${stem}.msg`);
    if (createAtomically(context.disk, context.random, messagePath, body)) return { stem, messagePath };
  }
  throw createGardenFault(`no free name for a message in ${directory} in ${NAMINGS} tries`, directory);
}

/** Writes the signal in place: watchers watch this file, and would not see another one under its name. */
function ring(context: WriteContext, path: string, text: string): void {
  const { files } = context.disk;
  try {
    const fd = files.open(path, O.WRONLY | O.CREAT | O.NOFOLLOW | O.NONBLOCK, 0o600);
    try {
      if (files.fstat(fd).kind !== 'file') throw createGardenFault(`${path} is not a file`, path);
      files.ftruncate(fd, 0);
      writeAll(files, fd, Buffer.from(text, 'utf8'));
    } finally {
      files.close(fd);
    }
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Checks that what exists has the expected kind and a trusted owner. */
function expectGood(context: WriteContext, places: GardenPlaces, path: string, wrong: typeof findFileDefect): void {
  const stat = readStat(context.disk, path);
  const why = stat === null ? null : wrong(stat, readOwners(context.disk, places.mailbox));
  if (why !== null) throw createGardenFault(`${path} ${why}; nothing was sent`, path);
}

/** Optional fields have three cases: undefined keeps the value, null clears it, and a text sets it (garden contract 4). */
export interface UpsertInput {
  readonly backend: string;
  readonly nativeSessionId: string;
  readonly cwd: string;
  readonly model?: string | null | undefined;
  readonly transcriptPath?: string | null | undefined;
  readonly parentGardenId?: string | null | undefined;
  readonly isEntwurf?: boolean | undefined;
}

/** The schemas that can be written. */
export type WritableSchema = 2 | 3;

export interface UpsertResult {
  readonly action: 'create' | 'attach';
  readonly record: CitizenIdentity;
  readonly path: string;
  /** Record files that could not be read, so nobody knows whether they belong to the session. */
  readonly skipped: readonly Defect[];
}

const MINTINGS = 5;

/**
 * Makes a native session a citizen, or updates its record. The existing records decide which, so a second call changes only
 * times. The receipts inside a v1 record are in the mailbox before the record loses them.
 * @param schema null for the store's own; that is the second in a store without records
 * @param mixes allows records of both generations in the store; the later generation then refuses to write to it
 * @throws Fault `garden` for input that breaks the rules, two records of the session, another backend, a record whose file has
 * another name, or a rewrite that would lose something; `unwritable` and `no-space` from the disk
 */
export function upsert(
  context: WriteContext,
  places: GardenPlaces,
  input: UpsertInput,
  schema: WritableSchema | null = null,
  mixes = false,
): UpsertResult {
  const { records } = listRecords(context.disk, places.sessions, { schemas: SCHEMAS, quarantines: false });
  const { match, skipped } = findBySession(context.disk, places.sessions, input.nativeSessionId);
  const otherRecords = records.filter(({ gardenId }) => gardenId !== match?.gardenId);
  const targetSchema = schema ?? findStoreSchema(otherRecords, match);
  if (!mixes) refuseToMix(otherRecords, match, targetSchema, places);
  const now = context.clock.now();
  if (match === null) {
    const record = createRecord(context, places, prepareRecord(input, targetSchema, now), now);
    return { action: 'create', record, path: recordFile(places.sessions, record.gardenId), skipped };
  }
  const record = attachRecord(match, input, targetSchema, now);
  const path = recordFile(places.sessions, record.gardenId);
  if (match.schemaVersion === 1) migrateReceipts(context, places, match);
  writeAtomically(context.disk, context.random, path, formatRecord(record));
  return { action: 'attach', record, path, skipped };
}

/** A record keeps its generation, and a new record has the store's generation. */
function findStoreSchema(otherRecords: readonly MetaRecord[], match: MetaRecord | null): WritableSchema {
  const isLater =
    match === null ? otherRecords.some(({ schemaVersion }) => schemaVersion === 3) : match.schemaVersion === 3;
  return isLater ? 3 : 2;
}

/**
 * Refuses a write that would mix generations: entwurf of the later generation refuses every write to a store with earlier
 * records.
 */
function refuseToMix(
  otherRecords: readonly MetaRecord[],
  match: MetaRecord | null,
  targetSchema: WritableSchema,
  { sessions }: GardenPlaces,
): void {
  const before = match === null ? null : findMixedGenerations([...otherRecords, match]);
  const other = otherRecords.find(({ schemaVersion }) => (schemaVersion === 3) !== (targetSchema === 3));
  if (other === undefined || before !== null) return; // the store is not worse than before
  const isMixed = findMixedGenerations(otherRecords) !== null;
  const has = isMixed ? 'records of both generations' : `v${other.schemaVersion} records`;
  const way = isMixed
    ? 'move those of one generation away (hivebar garden doctor names them), or use --force'
    : 'leave --schema out to write what the store has, or use --force';
  throw createGardenFault(
    `${sessions} holds ${has}, and entwurf refuses every write to a store with v3 records beside earlier ones. ` +
      `Nothing was written: ${way}`,
    sessions,
  );
}

/** A new garden id: the local time and six random hex digits (garden contract 1). */
export function mintId(context: WriteContext, now: Instant): string {
  return `${context.formatLocalStamp(now)}-${context.random.hex(3)}`;
}

/** Creates a record and never replaces another citizen's: two that are born in the same second may draw the same id. */
function createRecord(
  context: WriteContext,
  places: GardenPlaces,
  buildRecord: (gardenId: string) => CitizenIdentity,
  now: Instant,
): CitizenIdentity {
  for (let minting = 1; minting <= MINTINGS; minting += 1) {
    const record = buildRecord(mintId(context, now));
    const path = recordFile(places.sessions, record.gardenId);
    if (createAtomically(context.disk, context.random, path, formatRecord(record))) return record;
  }
  throw createGardenFault(`no free garden id under ${places.sessions} in ${MINTINGS} tries`, places.sessions);
}

function prepareRecord(
  input: UpsertInput,
  schema: WritableSchema,
  now: Instant,
): (gardenId: string) => CitizenIdentity {
  const { backend, nativeSessionId, cwd } = parseSession(input);
  const model = requireTextOrNull(input.model ?? null, 'model');
  const transcriptPath = requireTextOrNull(input.transcriptPath ?? null, 'transcriptPath');
  const parentGardenId = parseParent(input.parentGardenId ?? null);
  const isEntwurf = requireBoolean(input.isEntwurf ?? false, 'isEntwurf');
  const createdAt = formatUtc(now);
  return (gardenId) =>
    toSchema(schema, {
      schemaVersion: 2,
      ...{ gardenId, backend, nativeSessionId, cwd, model, transcriptPath, parentGardenId, isEntwurf, createdAt },
      recordUpdatedAt: createdAt,
    });
}

function attachRecord(match: MetaRecord, input: UpsertInput, schema: WritableSchema, now: Instant): CitizenIdentity {
  const { backend, nativeSessionId, cwd } = parseSession(input);
  if (match.backend !== backend) {
    throw createGardenFault(
      `meta-record identity drift: nativeSessionId "${nativeSessionId}" is bound to backend "${match.backend}" but upsert ` +
        `input says "${backend}". A native session cannot change backend.`,
      match.gardenId,
    );
  }
  if (match.schemaVersion === 3 && schema === 2) {
    throw createGardenFault(
      `${match.gardenId} is a v3 meta-record, which is never rewritten as v2: ask for v3`,
      match.gardenId,
    );
  }
  const old = toCitizenIdentity(match);
  const parent = old.schemaVersion === 2 ? old.parentGardenId : null;
  const entwurf = old.schemaVersion === 2 && old.isEntwurf;
  return toSchema(schema, {
    ...old,
    schemaVersion: 2,
    cwd,
    model: input.model === undefined ? old.model : requireTextOrNull(input.model, 'model'),
    transcriptPath:
      input.transcriptPath === undefined
        ? old.transcriptPath
        : requireTextOrNull(input.transcriptPath, 'transcriptPath'),
    parentGardenId: input.parentGardenId === undefined ? parent : parseParent(input.parentGardenId),
    isEntwurf: input.isEntwurf === undefined ? entwurf : requireBoolean(input.isEntwurf, 'isEntwurf'),
    recordUpdatedAt: formatUtc(now),
  });
}

function parseSession(input: UpsertInput): { backend: Backend; nativeSessionId: string; cwd: string } {
  return {
    backend: requireWord(input.backend, BACKENDS, 'backend'),
    nativeSessionId: requireText(input.nativeSessionId, 'nativeSessionId'),
    cwd: requireText(input.cwd, 'cwd'),
  };
}

/** v3 has no field for a parent, so a record that has one cannot become v3: that would lose it. */
function toSchema(schema: WritableSchema, identity: Extract<CitizenIdentity, { schemaVersion: 2 }>): CitizenIdentity {
  if (schema === 2) return identity;
  const { parentGardenId, isEntwurf, ...rest } = identity;
  if (parentGardenId === null && !isEntwurf) return { ...rest, schemaVersion: 3 };
  throw createGardenFault(
    `${identity.gardenId}: a v3 meta-record has no parentGardenId and no isEntwurf; clear both first, or write v2`,
    identity.gardenId,
  );
}
