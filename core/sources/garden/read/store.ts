import { join } from 'node:path';
import { formatRest } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { createGardenFault } from '../settings.ts';
import {
  type CitizenIdentity,
  type MetaRecord,
  parseGardenId,
  parseRecord,
  type RecordSchema,
  requireText,
  SCHEMAS,
  toCitizenIdentity,
} from './record.ts';
import { listNames, MOST_JSON, type Owners, readOwners, readSmall } from './small-file.ts';

/** A file that is no citizen, and why. None of its content is trusted, so no id is shown. */
export interface Defect {
  readonly filename: string;
  readonly message: string;
}

export interface Listing {
  /** Sorted by garden id, each once. */
  readonly records: readonly MetaRecord[];
  /** Sorted by file name. */
  readonly errors: readonly Defect[];
}

export interface RecordReadRules {
  readonly schemas: readonly RecordSchema[];
  /** Whether two records of one native session are both left out, because nobody can say which one is right. */
  readonly quarantines: boolean;
}

export const EVERYTHING: RecordReadRules = { schemas: SCHEMAS, quarantines: true };
/** What the library of the previous generation lists: no third schema, and duplicates as two healthy citizens. */
export const SEED_COMPAT: RecordReadRules = { schemas: [1, 2], quarantines: false };

/** A file name with anything behind this suffix is somebody's temporary file. */
const SUFFIX = '.meta.json';

export const recordFile = (sessions: string, gardenId: string): string =>
  join(sessions, `${parseGardenId(gardenId)}${SUFFIX}`);

/**
 * Lists every citizen of a store, and every record file that is not valid. A bad file never hides another one, and each is
 * reported.
 * @throws Fault `unreadable` when the directory itself cannot be read; a missing directory is an empty store
 */
export function listRecords(disk: Disk, sessions: string, how: RecordReadRules = EVERYTHING): Listing {
  return toListing(readRecordFiles(disk, sessions, how.schemas), how);
}

/** Combines the files of a store, which were read one by one and are sorted by name. */
export function toListing(read: readonly (NamedRecord | Defect)[], how: RecordReadRules = EVERYTHING): Listing {
  const errors: Defect[] = [];
  const good: NamedRecord[] = [];
  for (const entry of read) {
    if ('message' in entry) errors.push(entry);
    else if (hasDrifted(entry)) errors.push({ filename: entry.filename, message: formatDrift(entry) });
    else good.push(entry);
  }
  const doubles = how.quarantines ? findDoubles(good) : [];
  errors.push(...doubles);
  const out = new Set(doubles.map(({ filename }) => filename));
  return {
    records: good.filter(({ filename }) => !out.has(filename)).map(({ record }) => record),
    errors: errors.sort((a, b) => compareText(a.filename, b.filename)),
  };
}

/**
 * Like `listRecords`, but returns identities, and only when every file is valid.
 * @throws Fault `garden` that names every file that is no citizen
 */
export function listStrictly(
  disk: Disk,
  sessions: string,
  how: RecordReadRules = EVERYTHING,
): readonly CitizenIdentity[] {
  const { records, errors } = listRecords(disk, sessions, how);
  if (errors.length === 0) return records.map(toCitizenIdentity);
  const each = errors.map(({ filename, message }) => `${filename} (${message})`).join('; ');
  throw createGardenFault(
    `listAllMetaIdentities(strict): ${errors.length} unreadable meta-record(s): ${each}`,
    sessions,
  );
}

/**
 * Detects records of v3 beside earlier ones, which neither generation of entwurf can read as a whole; null when there is no mix.
 */
export function findMixedGenerations(records: readonly MetaRecord[]): Defect | null {
  const later = records.filter(({ schemaVersion }) => schemaVersion === 3);
  const earlier = records.filter(({ schemaVersion }) => schemaVersion !== 3);
  if (later.length === 0 || earlier.length === 0) return null;
  const [fewer, named] = later.length < earlier.length ? [later, 'v3'] : [earlier, 'v1 and v2'];
  const names = fewer.slice(0, MOST_NAMED).map(({ gardenId }) => `${gardenId}${SUFFIX}`);
  const rest = formatRest(fewer.length - names.length);
  return {
    filename: '.',
    message:
      `holds records of both generations (${later.length} of v3, ${earlier.length} of v1 and v2): entwurf of the later one ` +
      `refuses every write, the earlier one does not see v3. Of ${named}: ${names.join(', ')}${rest}`,
  };
}

const MOST_NAMED = 5;

export interface Scan {
  readonly match: MetaRecord | null;
  /** Files that could not be read. */
  readonly skipped: readonly Defect[];
}

/**
 * Finds the citizen of a native session by the content of the records and never by their names. Every file is read, so that a
 * second match is not missed (garden contract 4).
 * @throws Fault `garden` for two matches, or for one whose file has another citizen's name
 */
export function findBySession(disk: Disk, sessions: string, nativeSessionId: string, schemas = SCHEMAS): Scan {
  const target = requireText(nativeSessionId, 'nativeSessionId');
  const skipped: Defect[] = [];
  const matches: NamedRecord[] = [];
  for (const entry of readRecordFiles(disk, sessions, schemas)) {
    if ('message' in entry) skipped.push(entry);
    else if (entry.record.nativeSessionId === target) matches.push(entry);
  }
  if (matches.length > 1) {
    const names = matches.map(({ filename }) => filename).join(', ');
    throw createGardenFault(
      `ambiguous meta-record authority: nativeSessionId "${target}" matched ${matches.length} records (${names}). ` +
        'The native→garden mapping must be unique — fail-fast rather than silently picking one. Remove the duplicate(s).',
      sessions,
    );
  }
  const [match] = matches;
  if (match !== undefined && hasDrifted(match)) throw createDriftFault(match);
  return { match: match?.record ?? null, skipped };
}

/**
 * Reads the record of one citizen.
 * @throws Fault `garden` when there is none, when it cannot be read, or when its body names another citizen
 */
export function readRecord(disk: Disk, sessions: string, gardenId: string): MetaRecord {
  const id = parseGardenId(gardenId);
  const filename = `${id}${SUFFIX}`;
  const file = readSmall(disk, join(sessions, filename), MOST_JSON, readOwners(disk, sessions));
  switch (file.is) {
    case 'absent':
      throw createGardenFault(
        `no meta-record for garden id "${id}" under ${sessions} — not a garden citizen, cannot deliver.`,
        id,
      );
    case 'refused':
      throw createGardenFault(`meta-record ${filename} ${file.why}`, id);
    case 'text': {
      const named: NamedRecord = { filename, record: parseRecord(file.text) };
      if (hasDrifted(named)) throw createDriftFault(named);
      return named.record;
    }
  }
}

export interface NamedRecord {
  readonly filename: string;
  readonly record: MetaRecord;
}

/** Sorted by name; a file that was deleted meanwhile is left out. */
function readRecordFiles(
  disk: Disk,
  sessions: string,
  schemas: readonly RecordSchema[],
): readonly (NamedRecord | Defect)[] {
  const owners = readOwners(disk, sessions);
  return listNames(disk, sessions)
    .filter(isRecordName)
    .flatMap((filename) => readRecordFile(disk, sessions, filename, schemas, owners) ?? []);
}

export function isRecordName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** Null when the file was deleted meanwhile. */
export function readRecordFile(
  disk: Disk,
  sessions: string,
  filename: string,
  schemas: readonly RecordSchema[],
  owners: Owners,
): NamedRecord | Defect | null {
  const file = readSmall(disk, join(sessions, filename), MOST_JSON, owners);
  if (file.is === 'absent') return null;
  if (file.is === 'refused') return { filename, message: file.why };
  try {
    return { filename, record: parseRecord(file.text, schemas) };
  } catch (error) {
    if (error instanceof Fault) return { filename, message: error.message };
    throw error;
  }
}

function hasDrifted({ filename, record }: NamedRecord): boolean {
  return filename !== `${record.gardenId}${SUFFIX}`;
}

const CORRUPT = 'The body is the authority; this file is corrupt.';

function formatDrift({ record }: NamedRecord): string {
  return `body/filename drift: body gardenId "${record.gardenId}" ≠ filename. ${CORRUPT}`;
}

function createDriftFault({ filename, record }: NamedRecord): Fault {
  const message = `meta-record body/filename drift: ${filename} contains gardenId "${record.gardenId}".`;
  return createGardenFault(`${message} ${CORRUPT} Remove or fix it.`, filename);
}

function findDoubles(good: readonly NamedRecord[]): readonly Defect[] {
  const bySession = Map.groupBy(good, ({ record }) => record.nativeSessionId);
  return [...bySession].flatMap(([session, claims]) =>
    claims.length < 2 ? [] : claims.map((claim) => createDoubleDefect(claim, session, claims)),
  );
}

function createDoubleDefect({ filename }: NamedRecord, session: string, claims: readonly NamedRecord[]): Defect {
  const otherNames = claims.map((claim) => claim.filename).filter((name) => name !== filename);
  return {
    filename,
    message:
      `duplicate nativeSessionId ${JSON.stringify(session)} — also claimed by ${otherNames.join(', ')}. ` +
      'The native→garden mapping must be unique; this store cannot say which record owns that session, ' +
      'so NEITHER is listed as a citizen.',
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
