import { basename, join } from 'node:path';
import { toUsageFault } from '../../../command/index.ts';
import { displayName } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import { findOwnDirs, findWorkFolder } from '../../../state/index.ts';
import {
  type BoxState,
  type CitizenIdentity,
  type Defect,
  EVERYTHING,
  findBySession,
  findStrays,
  formatRecord,
  listRecords,
  type MetaRecord,
  mergeReceipt,
  mintId,
  type Receipt,
  readBox,
  readReceipt,
  readRecord,
  readStat,
  readStoreLiveness,
  recordFile,
  runLocked,
  SEED_COMPAT,
  type StoreLiveness,
  toCitizenIdentity,
  type UpsertInput,
  upsert,
  type WritableSchema,
} from '../index.ts';
import type { GardenArgs, GardenFlags } from './args.ts';
import {
  complain,
  formatLabel,
  formatTable,
  type GardenContext,
  prefixDefects,
  printJson,
  reportDefects,
  reportMissingStore,
} from './garden-context.ts';

const LOCK_WAIT_MS = 10_000;

export function upsertRecord({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const input = toUpsertInput(flags);
  const schema = flags.schema === undefined ? null : parseSchema(flags.schema);
  const locks = join(findOwnDirs({ ...io.env }).state, 'garden');
  const done = runLocked(hand.disk, locks, places, LOCK_WAIT_MS, () =>
    upsert(hand, places, input, schema, flags.force === true),
  );
  if (done.is === 'held') {
    complain(
      context,
      `timed out after ${LOCK_WAIT_MS / 1000} s: another upsert holds the lock of this store; nothing was written`,
    );
    return 1;
  }
  const { action, record, path, skipped } = done.value;
  if (context.asJson) {
    printJson(context, {
      action,
      citizen: toCitizenWire(record),
      path,
      skipped: prefixDefects(places.sessions, skipped),
    });
    return 0;
  }
  io.out(`${action === 'create' ? 'created' : 'updated'} ${record.gardenId}  ${formatLabel(record)}\n`);
  reportDefects(context, prefixDefects(places.sessions, skipped));
  return 0;
}

export function getRecord({ flags }: GardenArgs, context: GardenContext): number {
  const { places, hand } = context;
  show(context, toCitizenWire(toCitizenIdentity(readRecord(hand.disk, places.sessions, flags.id ?? ''))));
  return 0;
}

export function scanRecords({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const session = flags.session ?? '';
  const { match: record, skipped } = findBySession(hand.disk, places.sessions, session);
  const citizen = record === null ? null : toCitizenWire(toCitizenIdentity(record));
  if (context.asJson) {
    printJson(context, { citizen, skipped: prefixDefects(places.sessions, skipped) });
    return 0;
  }
  if (citizen === null) io.out(`no citizen has the native session ${displayName(session)}\n`);
  else show(context, citizen);
  reportDefects(context, prefixDefects(places.sessions, skipped));
  return 0;
}

export function listCitizens({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const how = flags['seed-compat'] === true ? SEED_COMPAT : EVERYTHING;
  const { records, errors } = listRecords(hand.disk, places.sessions, how);
  if (context.asJson) {
    printJson(context, { citizens: records.map(toCitizenIdentity).map(toCitizenWire), defects: errors });
    return 0;
  }
  const rows = records.map((record) => {
    const { gardenId, recordUpdatedAt } = toCitizenIdentity(record);
    return [gardenId, `v${record.schemaVersion}`, displayName(recordUpdatedAt).slice(0, 19), formatLabel(record)];
  });
  if (rows.length > 0) io.out(formatTable([['ID', 'SCHEMA', 'UPDATED', 'CITIZEN'], ...rows]));
  else io.out('no citizens\n');
  reportMissingStore(context);
  reportDefects(context, prefixDefects(places.sessions, errors));
  return 0;
}

const MINTINGS = 5;

/** Prints an id that no record has yet. It reserves nothing. */
export function printNewId(context: GardenContext): number {
  const { io, places, hand } = context;
  for (let minting = 1; minting <= MINTINGS; minting += 1) {
    const gardenId = mintId(hand, hand.clock.now());
    if (readStat(hand.disk, recordFile(places.sessions, gardenId)) !== null) continue;
    if (context.asJson) printJson(context, { gardenId });
    else io.out(`${gardenId}\n`);
    return 0;
  }
  complain(context, `found no free garden id in ${MINTINGS} tries`);
  return 1;
}

/** Converts a citizen to JSON, with the keys in the order of its file. */
function toCitizenWire(identity: CitizenIdentity): Readonly<Record<string, unknown>> {
  return JSON.parse(formatRecord(identity)) as Readonly<Record<string, unknown>>;
}

function show(context: GardenContext, citizen: ReturnType<typeof toCitizenWire>): void {
  if (context.asJson) printJson(context, { citizen });
  else
    context.io.out(
      formatTable(Object.entries(citizen).map(([key, value]) => [key, displayName(String(value ?? '-'))])),
    );
}

/** Converts flags to an update. Without a flag the value stays; `--no-...` clears it. */
function toUpsertInput(flags: GardenFlags): UpsertInput {
  const toClearable = <T>(value: T | undefined, clears: boolean | undefined): T | null | undefined =>
    clears ? null : value;
  return {
    backend: flags.backend ?? '',
    nativeSessionId: flags.session ?? '',
    cwd: flags.cwd ?? findWorkFolder(),
    model: toClearable(flags.model, flags['no-model']),
    transcriptPath: toClearable(flags.transcript, flags['no-transcript']),
    parentGardenId: toClearable(flags.parent, flags['no-parent']),
    isEntwurf: flags['no-entwurf'] ? false : flags.entwurf || undefined,
  };
}

function parseSchema(text: string): WritableSchema {
  if (text === '2') return 2;
  if (text === '3') return 3;
  throw toUsageFault(new Error(`--schema ${text}: must be 2 or 3`));
}

interface CitizenView {
  readonly record: MetaRecord;
  readonly box: BoxState;
  /** Null when the file is no receipt. */
  readonly receipt: Receipt | null;
}

/** A whole store. File names are relative to it, with their directory. */
export interface GardenView {
  readonly citizens: readonly CitizenView[];
  readonly agents: StoreLiveness['agents'];
  /** Invalid records, boxes, receipts and markers. */
  readonly defects: readonly Defect[];
  /** Boxes without a citizen, and files with a wrong name. */
  readonly strays: readonly Defect[];
}

/** @throws Fault `unreadable` when a directory of the store cannot be read */
export async function loadView(context: GardenContext): Promise<GardenView> {
  const { places, hand, asks } = context;
  const { records, errors } = listRecords(hand.disk, places.sessions);
  const ofBoxes: Defect[] = [];
  const citizens = records.map((record) => loadCitizen(context, record, ofBoxes));
  const unread = new Map(citizens.map(({ record, box }) => [record.gardenId, countUnread(box) ?? 0]));
  const { agents, errors: ofMarkers } = await readStoreLiveness(hand.disk, places, asks, records, unread);
  const markers = ofMarkers.flatMap((defect) => prefixDefects(findMarkerFolder(context, defect), [defect]));
  return {
    citizens,
    agents,
    defects: [...prefixDefects(places.sessions, errors), ...prefixDefects(places.mailbox, ofBoxes), ...markers],
    strays: prefixDefects(places.mailbox, listStrays(context, records, errors)),
  };
}

/** Counts the waiting messages; null: unknown. */
export function countUnread(box: BoxState): number | null {
  if (box.is === 'box') return box.unread.length;
  return box.is === 'none' ? 0 : null;
}

function loadCitizen({ places, hand }: GardenContext, record: MetaRecord, defects: Defect[]): CitizenView {
  const { gardenId } = record;
  const box = readBox(hand.disk, places.mailbox, gardenId);
  if (box.is === 'refused') {
    defects.push({ filename: gardenId, message: box.why });
    return { record, box, receipt: null };
  }
  if (box.is === 'box') {
    defects.push(...box.errors.map(({ filename, message }) => ({ filename: `${gardenId}/${filename}`, message })));
  }
  try {
    return { record, box, receipt: mergeReceipt(readReceipt(hand.disk, places.mailbox, gardenId), record) };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    defects.push({ filename: `${gardenId}/state.json`, message: error.message });
    return { record, box, receipt: null };
  }
}

/** Chooses the folder of a marker: a sender's marker has its backend before the name, a receiver's has not. */
function findMarkerFolder({ places }: GardenContext, { filename }: Defect): string {
  return filename.endsWith('.json') && !filename.includes('/') ? places.receivers : places.senders;
}

function listStrays(
  { places, hand }: GardenContext,
  records: readonly MetaRecord[],
  errors: readonly Defect[],
): Defect[] {
  const citizens = new Set(records.map(({ gardenId }) => gardenId));
  const spoilt = new Set(errors.map(({ filename }) => basename(filename, '.meta.json')));
  const { boxes, others: misnamed } = findStrays(hand.disk, places.mailbox, citizens);
  const ofBoxes = boxes.map((gardenId) => {
    const box = readBox(hand.disk, places.mailbox, gardenId);
    const whose = spoilt.has(gardenId) ? 'its record is invalid' : 'a mailbox without a citizen';
    const waits = box.is === 'refused' ? box.why : formatWaiting(countUnread(box) ?? 0);
    return { filename: gardenId, message: `${whose}; ${waits}` };
  });
  return [...ofBoxes, ...misnamed.map((filename) => ({ filename, message: 'does not have the name of a mailbox' }))];
}

export function formatWaiting(unread: number): string {
  return unread === 1 ? '1 message waits in it' : `${unread === 0 ? 'no' : unread} messages wait in it`;
}
