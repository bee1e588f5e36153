import { createGardenFault } from '../fault.ts';
import {
  BACKENDS,
  type Backend,
  CAPABILITIES,
  NATIVE_BACKENDS,
  type NativeBackend,
  type WakeMode,
} from './backends.ts';
import {
  describeValue,
  type GardenFields,
  parseFields,
  requireBoolean,
  requireObject,
  requireOnlyKeys,
  requireText,
  requireTextOrNull,
  requireWord,
} from './fields.ts';
import { isGardenId, parseGardenId } from './id.ts';

export type RecordSchema = 1 | 2 | 3;
export const SCHEMAS: readonly RecordSchema[] = [1, 2, 3];

/** When a message was last put in, announced and read; UTC texts that are never parsed. */
export interface Times {
  readonly lastEnqueuedAt: string | null;
  readonly lastDeliveredAt: string | null;
  readonly lastReadAt: string | null;
}

/** A record of the first generation, which holds its receipts (garden contract 2). */
export interface RecordV1 {
  readonly schemaVersion: 1;
  readonly gardenId: string;
  readonly backend: NativeBackend;
  readonly nativeSessionId: string;
  readonly transcriptPath: string;
  readonly cwd: string;
  readonly createdAt: string;
  readonly lastSeen: string;
  readonly delivery: Times & { readonly wakeMode: WakeMode; readonly deliveryLevel: string };
}

interface CitizenFields {
  readonly gardenId: string;
  readonly backend: Backend;
  readonly nativeSessionId: string;
  readonly cwd: string;
  readonly model: string | null;
  readonly transcriptPath: string | null;
  readonly createdAt: string;
  readonly recordUpdatedAt: string;
}

export interface IdentityV2 extends CitizenFields {
  readonly schemaVersion: 2;
  readonly parentGardenId: string | null;
  readonly isEntwurf: boolean;
}

export interface IdentityV3 extends CitizenFields {
  readonly schemaVersion: 3;
}

/** Who a citizen is, without anything about its mail. */
export type CitizenIdentity = IdentityV2 | IdentityV3;
export type MetaRecord = RecordV1 | CitizenIdentity;

/** The keys of each schema, in the order in which they are written. A v1 record may have more. */
export const KEYS_V2 = [
  ...['schemaVersion', 'gardenId', 'backend', 'nativeSessionId', 'cwd', 'model', 'transcriptPath'],
  ...['parentGardenId', 'isEntwurf', 'createdAt', 'recordUpdatedAt'],
] as const;
export const KEYS_V3 = KEYS_V2.filter((key) => key !== 'parentGardenId' && key !== 'isEntwurf');

const SUBJECT = 'meta-record';

/**
 * Parses a record from the text of its file.
 * @param reads the schemas that are accepted
 * @throws Fault `garden` that says what is wrong; the caller names the file
 */
export function parseRecord(json: string, reads: readonly RecordSchema[] = SCHEMAS): MetaRecord {
  const fields = parseFields(json, SUBJECT);
  const schema = reads.find((candidate) => candidate === fields.schemaVersion);
  switch (schema) {
    case 1:
      return parseV1(fields);
    case 2:
      return parseV2(fields);
    case 3:
      return parseV3(fields);
    case undefined: {
      const got = describeValue(fields.schemaVersion);
      throw createGardenFault(
        `meta-record "schemaVersion" must be ${formatAlternatives(reads)} (got ${got}).`,
        SUBJECT,
      );
    }
  }
}

/** The identity in a record. From a v1 record everything but the receipts is kept (garden contract 2). */
export function toCitizenIdentity(record: MetaRecord): CitizenIdentity {
  if (record.schemaVersion !== 1) return record;
  const { gardenId, backend, nativeSessionId, cwd, transcriptPath, createdAt, lastSeen } = record;
  return {
    schemaVersion: 2,
    ...{ gardenId, backend, nativeSessionId, cwd, model: null, transcriptPath },
    ...{ parentGardenId: null, isEntwurf: false, createdAt, recordUpdatedAt: lastSeen },
  };
}

/** @throws Fault `garden` unless it is null or a garden id */
export function parseParent(value: unknown): string | null {
  if (value === null) return null;
  const id = requireText(value, 'parentGardenId');
  if (isGardenId(id)) return id;
  throw createGardenFault(
    `meta-record "parentGardenId" must be null or match YYYYMMDDTHHMMSS-[0-9a-f]{6} (got "${id}").`,
    SUBJECT,
  );
}

function parseV1(fields: GardenFields): RecordV1 {
  const delivery = requireObject(fields.delivery, 'meta-record "delivery" must be an object', SUBJECT);
  const backend = requireWord(fields.backend, NATIVE_BACKENDS, 'backend');
  return {
    schemaVersion: 1,
    gardenId: parseGardenId(fields.gardenId),
    backend,
    nativeSessionId: requireText(fields.nativeSessionId, 'nativeSessionId'),
    transcriptPath: requireText(fields.transcriptPath, 'transcriptPath'),
    cwd: requireText(fields.cwd, 'cwd'),
    createdAt: requireText(fields.createdAt, 'createdAt'),
    lastSeen: requireText(fields.lastSeen, 'lastSeen'),
    delivery: {
      wakeMode: parseWakeMode(delivery.wakeMode, backend),
      deliveryLevel: requireText(delivery.deliveryLevel, 'delivery.deliveryLevel'),
      lastEnqueuedAt: requireTextOrNull(delivery.lastEnqueuedAt, 'delivery.lastEnqueuedAt'),
      lastDeliveredAt: requireTextOrNull(delivery.lastDeliveredAt, 'delivery.lastDeliveredAt'),
      lastReadAt: requireTextOrNull(delivery.lastReadAt, 'delivery.lastReadAt'),
    },
  };
}

/** A mode that differs from the backend's would send mail the wrong way. */
function parseWakeMode(value: unknown, backend: NativeBackend): WakeMode {
  const mode = requireText(value, 'delivery.wakeMode');
  if (mode !== 'self-fetch' && mode !== 'direct-inject') {
    throw createGardenFault(
      `meta-record "delivery.wakeMode" must be self-fetch | direct-inject (got "${mode}").`,
      SUBJECT,
    );
  }
  const { wakeMode } = CAPABILITIES[backend];
  if (mode === wakeMode) return mode;
  throw createGardenFault(
    `meta-record "delivery.wakeMode" (${mode}) contradicts backend "${backend}" (canonical ${wakeMode}). ` +
      'Delivery mode is backend-determined; this record is corrupt.',
    SUBJECT,
  );
}

function parseV2(fields: GardenFields): IdentityV2 {
  const hint = ' Stale v1 fields (delivery/lastSeen) or unknown keys are rejected.';
  requireOnlyKeys(fields, KEYS_V2, 'v2 meta-record', hint);
  const parentGardenId = parseParent(fields.parentGardenId);
  const isEntwurf = requireBoolean(fields.isEntwurf, 'isEntwurf');
  return { schemaVersion: 2, ...parseCommon(fields), parentGardenId, isEntwurf };
}

function parseV3(fields: GardenFields): IdentityV3 {
  requireOnlyKeys(fields, KEYS_V3, 'v3 meta-record');
  return { schemaVersion: 3, ...parseCommon(fields) };
}

function parseCommon(fields: GardenFields): CitizenFields {
  return {
    gardenId: parseGardenId(fields.gardenId),
    backend: requireWord(fields.backend, BACKENDS, 'backend'),
    nativeSessionId: requireText(fields.nativeSessionId, 'nativeSessionId'),
    cwd: requireText(fields.cwd, 'cwd'),
    model: requireTextOrNull(fields.model, 'model'),
    transcriptPath: requireTextOrNull(fields.transcriptPath, 'transcriptPath'),
    createdAt: requireText(fields.createdAt, 'createdAt'),
    recordUpdatedAt: requireText(fields.recordUpdatedAt, 'recordUpdatedAt'),
  };
}

function formatAlternatives(schemas: readonly RecordSchema[]): string {
  return schemas.length < 2 ? schemas.join() : `${schemas.slice(0, -1).join(', ')} or ${schemas.at(-1)}`;
}
