import { join } from 'node:path';
import {
  alone,
  EVERYTHING,
  type Identity,
  identityOf,
  listRecords,
  mintId,
  readRecord,
  recordFile,
  recordText,
  SEED_COMPAT,
  scanFor,
  statOf,
  type UpsertInput,
  upsert,
  type Written,
} from '../../../core/sources/garden/index.ts';
import { ownDirs } from '../../../core/state/index.ts';
import { printable } from '../../printable.ts';
import { usage } from '../outcome.ts';
import { surroundings } from '../session-surroundings.node.ts';
import type { GardenArgs, GardenFlags } from './args.ts';
import { aligned, below, complain, complainOf, type Ground, labelOf, sayIfNowhere, sayJson } from './ground.ts';

const LOCK_WAIT_MS = 10_000;

export function upsertRecord({ flags }: GardenArgs, ground: Ground): number {
  const { io, places, hand } = ground;
  const input = inputOf(flags);
  const schema = flags.schema === undefined ? null : schemaOf(flags.schema);
  const locks = join(ownDirs({ ...io.env }).state, 'garden');
  const done = alone(hand.disk, locks, places, LOCK_WAIT_MS, () =>
    upsert(hand, places, input, schema, flags.force === true),
  );
  if (done.is === 'held') {
    complain(ground, `another upsert is at work on this store for over ${LOCK_WAIT_MS / 1000} s: nothing was written`);
    return 1;
  }
  const { action, record, path, skipped } = done.value;
  if (ground.asJson) {
    sayJson(ground, { action, citizen: wireOf(record), path, skipped: below(places.sessions, skipped) });
    return 0;
  }
  io.out(`${action === 'create' ? 'created' : 'updated'} ${record.gardenId}  ${labelOf(record)}\n`);
  complainOf(ground, below(places.sessions, skipped));
  return 0;
}

export function getRecord({ flags }: GardenArgs, ground: Ground): number {
  const { places, hand } = ground;
  show(ground, wireOf(identityOf(readRecord(hand.disk, places.sessions, flags.id ?? ''))));
  return 0;
}

export function scanRecords({ flags }: GardenArgs, ground: Ground): number {
  const { io, places, hand } = ground;
  const session = flags.session ?? '';
  const { found, skipped } = scanFor(hand.disk, places.sessions, session);
  const citizen = found === null ? null : wireOf(identityOf(found));
  if (ground.asJson) {
    sayJson(ground, { citizen, skipped: below(places.sessions, skipped) });
    return 0;
  }
  if (citizen === null) io.out(`no citizen has the native session ${printable(session)}\n`);
  else show(ground, citizen);
  complainOf(ground, below(places.sessions, skipped));
  return 0;
}

export function listCitizens({ flags }: GardenArgs, ground: Ground): number {
  const { io, places, hand } = ground;
  const how = flags['seed-compat'] === true ? SEED_COMPAT : EVERYTHING;
  const { records, errors } = listRecords(hand.disk, places.sessions, how);
  if (ground.asJson) {
    sayJson(ground, { citizens: records.map(identityOf).map(wireOf), defects: errors });
    return 0;
  }
  const rows = records.map((record) => {
    const { gardenId, recordUpdatedAt } = identityOf(record);
    return [gardenId, `v${record.schemaVersion}`, printable(recordUpdatedAt).slice(0, 19), labelOf(record)];
  });
  if (rows.length > 0) io.out(aligned([['ID', 'SCHEMA', 'UPDATED', 'CITIZEN'], ...rows]));
  else io.out('no citizens\n');
  sayIfNowhere(ground);
  complainOf(ground, below(places.sessions, errors));
  return 0;
}

const MINTINGS = 5;

/** One that no record has yet; nothing is reserved by it. */
export function newId(ground: Ground): number {
  const { io, places, hand } = ground;
  for (let minting = 1; minting <= MINTINGS; minting += 1) {
    const gardenId = mintId(hand, hand.clock.now());
    if (statOf(hand.disk, recordFile(places.sessions, gardenId)) !== null) continue;
    if (ground.asJson) sayJson(ground, { gardenId });
    else io.out(`${gardenId}\n`);
    return 0;
  }
  complain(ground, `no free garden id in ${MINTINGS} tries`);
  return 1;
}

/** In the order of its file. */
function wireOf(identity: Identity): Readonly<Record<string, unknown>> {
  return JSON.parse(recordText(identity)) as Readonly<Record<string, unknown>>;
}

function show(ground: Ground, citizen: ReturnType<typeof wireOf>): void {
  if (ground.asJson) sayJson(ground, { citizen });
  else ground.io.out(aligned(Object.entries(citizen).map(([key, value]) => [key, printable(String(value ?? '-'))])));
}

/** Three values each: without a flag it stays, `--no-...` clears it. */
function inputOf(flags: GardenFlags): UpsertInput {
  const kept = <T>(value: T | undefined, clears: boolean | undefined): T | null | undefined => (clears ? null : value);
  return {
    backend: flags.backend ?? '',
    nativeSessionId: flags.session ?? '',
    cwd: flags.cwd ?? surroundings().cwd,
    model: kept(flags.model, flags['no-model']),
    transcriptPath: kept(flags.transcript, flags['no-transcript']),
    parentGardenId: kept(flags.parent, flags['no-parent']),
    isEntwurf: flags['no-entwurf'] ? false : flags.entwurf,
  };
}

function schemaOf(text: string): Written {
  if (text === '2') return 2;
  if (text === '3') return 3;
  throw usage(new Error(`--schema ${text}: say 2 or 3`));
}
