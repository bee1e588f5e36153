import { gardenFault } from '../fault.ts';
import {
  BACKENDS,
  type Backend,
  CAPABILITIES,
  NATIVE_BACKENDS,
  type NativeBackend,
  type WakeMode,
} from './backends.ts';
import {
  booleanIn,
  described,
  type Fields,
  fieldsOf,
  objectIn,
  onlyKeys,
  textIn,
  textOrNullIn,
  wordIn,
} from './fields.ts';
import { gardenIdOf, isGardenId } from './id.ts';

export type Schema = 1 | 2 | 3;
export const SCHEMAS: readonly Schema[] = [1, 2, 3];

/** When a message was last put in, announced and read; UTC texts, never parsed. */
export interface Times {
  readonly lastEnqueuedAt: string | null;
  readonly lastDeliveredAt: string | null;
  readonly lastReadAt: string | null;
}

/** The first generation: its receipts are inside (garden contract 2). */
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

interface Common {
  readonly gardenId: string;
  readonly backend: Backend;
  readonly nativeSessionId: string;
  readonly cwd: string;
  readonly model: string | null;
  readonly transcriptPath: string | null;
  readonly createdAt: string;
  readonly recordUpdatedAt: string;
}

export interface IdentityV2 extends Common {
  readonly schemaVersion: 2;
  readonly parentGardenId: string | null;
  readonly isEntwurf: boolean;
}

export interface IdentityV3 extends Common {
  readonly schemaVersion: 3;
}

/** Who a citizen is, without anything of its mail. */
export type Identity = IdentityV2 | IdentityV3;
export type MetaRecord = RecordV1 | Identity;

/** The keys of each schema in the order in which they are written. A v1 record may carry more. */
export const KEYS_V2 = [
  ...['schemaVersion', 'gardenId', 'backend', 'nativeSessionId', 'cwd', 'model', 'transcriptPath'],
  ...['parentGardenId', 'isEntwurf', 'createdAt', 'recordUpdatedAt'],
] as const;
export const KEYS_V3 = KEYS_V2.filter((key) => key !== 'parentGardenId' && key !== 'isEntwurf');

const WHAT = 'meta-record';

/**
 * A record as it stands in its file.
 * @param reads the schemas that are understood
 * @throws Fault `garden` that says what is wrong; the caller names the file
 */
export function recordOf(json: string, reads: readonly Schema[] = SCHEMAS): MetaRecord {
  const fields = fieldsOf(json, WHAT);
  const schema = reads.find((one) => one === fields.schemaVersion);
  switch (schema) {
    case 1:
      return v1(fields);
    case 2:
      return v2(fields);
    case 3:
      return v3(fields);
    case undefined: {
      const got = described(fields.schemaVersion);
      throw gardenFault(`meta-record "schemaVersion" must be ${oneOf(reads)} (got ${got}).`, WHAT);
    }
  }
}

/** The identity in a record. Of a v1 record everything but its receipts is kept (garden contract 2). */
export function identityOf(record: MetaRecord): Identity {
  if (record.schemaVersion !== 1) return record;
  const { gardenId, backend, nativeSessionId, cwd, transcriptPath, createdAt, lastSeen } = record;
  return {
    schemaVersion: 2,
    ...{ gardenId, backend, nativeSessionId, cwd, model: null, transcriptPath },
    ...{ parentGardenId: null, isEntwurf: false, createdAt, recordUpdatedAt: lastSeen },
  };
}

/** @throws Fault `garden` unless it is null or a garden id */
export function parentIn(value: unknown): string | null {
  if (value === null) return null;
  const id = textIn(value, 'parentGardenId');
  if (isGardenId(id)) return id;
  throw gardenFault(
    `meta-record "parentGardenId" must be null or match YYYYMMDDTHHMMSS-[0-9a-f]{6} (got "${id}").`,
    WHAT,
  );
}

function v1(fields: Fields): RecordV1 {
  const delivery = objectIn(fields.delivery, 'meta-record "delivery" must be an object', WHAT);
  const backend = wordIn(fields.backend, NATIVE_BACKENDS, 'backend');
  return {
    schemaVersion: 1,
    gardenId: gardenIdOf(fields.gardenId),
    backend,
    nativeSessionId: textIn(fields.nativeSessionId, 'nativeSessionId'),
    transcriptPath: textIn(fields.transcriptPath, 'transcriptPath'),
    cwd: textIn(fields.cwd, 'cwd'),
    createdAt: textIn(fields.createdAt, 'createdAt'),
    lastSeen: textIn(fields.lastSeen, 'lastSeen'),
    delivery: {
      wakeMode: wakeModeIn(delivery.wakeMode, backend),
      deliveryLevel: textIn(delivery.deliveryLevel, 'delivery.deliveryLevel'),
      lastEnqueuedAt: textOrNullIn(delivery.lastEnqueuedAt, 'delivery.lastEnqueuedAt'),
      lastDeliveredAt: textOrNullIn(delivery.lastDeliveredAt, 'delivery.lastDeliveredAt'),
      lastReadAt: textOrNullIn(delivery.lastReadAt, 'delivery.lastReadAt'),
    },
  };
}

/** A mode that is not its backend's would send mail the wrong way. */
function wakeModeIn(value: unknown, backend: NativeBackend): WakeMode {
  const mode = textIn(value, 'delivery.wakeMode');
  if (mode !== 'self-fetch' && mode !== 'direct-inject') {
    throw gardenFault(`meta-record "delivery.wakeMode" must be self-fetch | direct-inject (got "${mode}").`, WHAT);
  }
  const { wakeMode } = CAPABILITIES[backend];
  if (mode === wakeMode) return mode;
  throw gardenFault(
    `meta-record "delivery.wakeMode" (${mode}) contradicts backend "${backend}" (canonical ${wakeMode}). ` +
      'Delivery mode is backend-determined; this record is corrupt.',
    WHAT,
  );
}

function v2(fields: Fields): IdentityV2 {
  const more = ' Stale v1 fields (delivery/lastSeen) or unknown keys are rejected.';
  onlyKeys(fields, KEYS_V2, 'v2 meta-record', more);
  const parentGardenId = parentIn(fields.parentGardenId);
  const isEntwurf = booleanIn(fields.isEntwurf, 'isEntwurf');
  return { schemaVersion: 2, ...common(fields), parentGardenId, isEntwurf };
}

function v3(fields: Fields): IdentityV3 {
  onlyKeys(fields, KEYS_V3, 'v3 meta-record');
  return { schemaVersion: 3, ...common(fields) };
}

function common(fields: Fields): Common {
  return {
    gardenId: gardenIdOf(fields.gardenId),
    backend: wordIn(fields.backend, BACKENDS, 'backend'),
    nativeSessionId: textIn(fields.nativeSessionId, 'nativeSessionId'),
    cwd: textIn(fields.cwd, 'cwd'),
    model: textOrNullIn(fields.model, 'model'),
    transcriptPath: textOrNullIn(fields.transcriptPath, 'transcriptPath'),
    createdAt: textIn(fields.createdAt, 'createdAt'),
    recordUpdatedAt: textIn(fields.recordUpdatedAt, 'recordUpdatedAt'),
  };
}

function oneOf(schemas: readonly Schema[]): string {
  return schemas.length < 2 ? schemas.join() : `${schemas.slice(0, -1).join(', ')} or ${schemas.at(-1)}`;
}
