import type { Instant } from '../../../model/index.ts';
import { createAtomically, writeAtomically } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import {
  BACKENDS,
  type Backend,
  type CitizenIdentity,
  type Defect,
  findBySession,
  findMixedGenerations,
  formatUtc,
  type GardenPlaces,
  listRecords,
  type MetaRecord,
  parseParent,
  recordFile,
  requireBoolean,
  requireText,
  requireTextOrNull,
  requireWord,
  SCHEMAS,
  toCitizenIdentity,
} from '../read/index.ts';
import { formatRecord } from './formats.ts';
import { migrateReceipts } from './receipts.ts';
import type { WriteContext } from './write-context.ts';

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
    ? 'move those of one generation away (hivebar garden doctor names them), or say --force'
    : 'leave --schema out to write what the store has, or say --force';
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
