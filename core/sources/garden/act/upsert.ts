import type { Instant } from '../../../model/index.ts';
import { createAtomically, writeAtomically } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import {
  BACKENDS,
  type Backend,
  booleanIn,
  type Defect,
  findMixedGenerations,
  type Identity,
  identityOf,
  listRecords,
  type MetaRecord,
  type Places,
  parentIn,
  recordFile,
  SCHEMAS,
  scanFor,
  textIn,
  textOrNullIn,
  utcOf,
  wordIn,
} from '../read/index.ts';
import type { Hand } from './hand.ts';
import { migrateReceipts } from './receipts.ts';
import { recordText } from './texts.ts';

/** Three values: undefined keeps what is there, null clears it, a text sets it (garden contract 4). */
export interface UpsertInput {
  readonly backend: string;
  readonly nativeSessionId: string;
  readonly cwd: string;
  readonly model?: string | null | undefined;
  readonly transcriptPath?: string | null | undefined;
  readonly parentGardenId?: string | null | undefined;
  readonly isEntwurf?: boolean | undefined;
}

/** The schemas that are written. */
export type Written = 2 | 3;

export interface Upserted {
  readonly action: 'create' | 'attach';
  readonly record: Identity;
  readonly path: string;
  /** Records that could not be asked whether they are the session's. */
  readonly skipped: readonly Defect[];
}

const MINTINGS = 5;

/**
 * Makes a native session a citizen, or brings its record up to date. Which of both is decided by whether there is a record
 * of the session, so a second call changes nothing but times. Receipts inside a v1 record are in the mailbox before the
 * record loses them.
 * @param schema null: the one of the store; the second in a store without records
 * @param mixes records of both generations may be in the store afterwards, which the later one then refuses to write to
 * @throws Fault `garden` for input that breaks the rules, two records of the session, another backend, a record whose file
 *   has another name, or a rewrite that would lose something; `unwritable` and `no-space` from the disk
 */
export function upsert(
  hand: Hand,
  places: Places,
  input: UpsertInput,
  schema: Written | null = null,
  mixes = false,
): Upserted {
  const { records } = listRecords(hand.disk, places.sessions, { schemas: SCHEMAS, quarantines: false });
  const { found, skipped } = scanFor(hand.disk, places.sessions, input.nativeSessionId);
  const others = records.filter(({ gardenId }) => gardenId !== found?.gardenId);
  const written = schema ?? schemaOfStore(others, found);
  if (!mixes) refuseToMix(others, found, written, places);
  const now = hand.clock.now();
  if (found === null) {
    const record = create(hand, places, fresh(input, written, now), now);
    return { action: 'create', record, path: recordFile(places.sessions, record.gardenId), skipped };
  }
  const record = attached(found, input, written, now);
  const path = recordFile(places.sessions, record.gardenId);
  if (found.schemaVersion === 1) migrateReceipts(hand, places, found);
  writeAtomically(hand.disk, hand.random, path, recordText(record));
  return { action: 'attach', record, path, skipped };
}

/** A record keeps its generation; a new one has that of the store. */
function schemaOfStore(others: readonly MetaRecord[], found: MetaRecord | null): Written {
  const isLater = found === null ? others.some(({ schemaVersion }) => schemaVersion === 3) : found.schemaVersion === 3;
  return isLater ? 3 : 2;
}

/** entwurf of the later generation refuses every write to a store that has a record of an earlier one. */
function refuseToMix(
  others: readonly MetaRecord[],
  found: MetaRecord | null,
  written: Written,
  { sessions }: Places,
): void {
  const before = found === null ? null : findMixedGenerations([...others, found]);
  const other = others.find(({ schemaVersion }) => (schemaVersion === 3) !== (written === 3));
  if (other === undefined || before !== null) return; // it is no worse than it was
  const isMixed = findMixedGenerations(others) !== null;
  const has = isMixed ? 'records of both generations' : `v${other.schemaVersion} records`;
  const way = isMixed
    ? 'move those of one generation away (hivebar garden doctor names them), or say --force'
    : 'leave --schema out to write what the store has, or say --force';
  throw gardenFault(
    `${sessions} holds ${has}, and entwurf refuses every write to a store with v3 records beside earlier ones. ` +
      `Nothing was written: ${way}`,
    sessions,
  );
}

/** A new garden id: the time on the wall and six random hex digits (garden contract 1). */
export function mintId(hand: Hand, now: Instant): string {
  return `${hand.localStamp(now)}-${hand.random.hex(3)}`;
}

/** Never in the place of another citizen: two that are born in one second may draw one id. */
function create(hand: Hand, places: Places, born: (gardenId: string) => Identity, now: Instant): Identity {
  for (let minting = 1; minting <= MINTINGS; minting += 1) {
    const record = born(mintId(hand, now));
    const path = recordFile(places.sessions, record.gardenId);
    if (createAtomically(hand.disk, hand.random, path, recordText(record))) return record;
  }
  throw gardenFault(`no free garden id under ${places.sessions} in ${MINTINGS} tries`, places.sessions);
}

function fresh(input: UpsertInput, schema: Written, now: Instant): (gardenId: string) => Identity {
  const { backend, nativeSessionId, cwd } = sessionIn(input);
  const model = textOrNullIn(input.model ?? null, 'model');
  const transcriptPath = textOrNullIn(input.transcriptPath ?? null, 'transcriptPath');
  const parentGardenId = parentIn(input.parentGardenId ?? null);
  const isEntwurf = booleanIn(input.isEntwurf ?? false, 'isEntwurf');
  const createdAt = utcOf(now);
  return (gardenId) =>
    inSchema(schema, {
      schemaVersion: 2,
      ...{ gardenId, backend, nativeSessionId, cwd, model, transcriptPath, parentGardenId, isEntwurf, createdAt },
      recordUpdatedAt: createdAt,
    });
}

function attached(found: MetaRecord, input: UpsertInput, schema: Written, now: Instant): Identity {
  const { backend, nativeSessionId, cwd } = sessionIn(input);
  if (found.backend !== backend) {
    throw gardenFault(
      `meta-record identity drift: nativeSessionId "${nativeSessionId}" is bound to backend "${found.backend}" but upsert ` +
        `input says "${backend}". A native session cannot change backend.`,
      found.gardenId,
    );
  }
  if (found.schemaVersion === 3 && schema === 2) {
    throw gardenFault(
      `${found.gardenId} is a v3 meta-record, which is never rewritten as v2: ask for v3`,
      found.gardenId,
    );
  }
  const old = identityOf(found);
  const parent = old.schemaVersion === 2 ? old.parentGardenId : null;
  const entwurf = old.schemaVersion === 2 && old.isEntwurf;
  return inSchema(schema, {
    ...old,
    schemaVersion: 2,
    cwd,
    model: input.model === undefined ? old.model : textOrNullIn(input.model, 'model'),
    transcriptPath:
      input.transcriptPath === undefined ? old.transcriptPath : textOrNullIn(input.transcriptPath, 'transcriptPath'),
    parentGardenId: input.parentGardenId === undefined ? parent : parentIn(input.parentGardenId),
    isEntwurf: input.isEntwurf === undefined ? entwurf : booleanIn(input.isEntwurf, 'isEntwurf'),
    recordUpdatedAt: utcOf(now),
  });
}

function sessionIn(input: UpsertInput): { backend: Backend; nativeSessionId: string; cwd: string } {
  return {
    backend: wordIn(input.backend, BACKENDS, 'backend'),
    nativeSessionId: textIn(input.nativeSessionId, 'nativeSessionId'),
    cwd: textIn(input.cwd, 'cwd'),
  };
}

/** v3 has no place for a parent: a record that has one stays v2 rather than lose it. */
function inSchema(schema: Written, identity: Extract<Identity, { schemaVersion: 2 }>): Identity {
  if (schema === 2) return identity;
  const { parentGardenId, isEntwurf, ...rest } = identity;
  if (parentGardenId === null && !isEntwurf) return { ...rest, schemaVersion: 3 };
  throw gardenFault(
    `${identity.gardenId}: a v3 meta-record has no parentGardenId and no isEntwurf; clear both first, or write v2`,
    identity.gardenId,
  );
}
