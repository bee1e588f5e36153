import { formatIso, type Instant, parseJson } from '../../../model/index.ts';
import { createGardenFault } from '../settings.ts';

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

/** The harnesses that write meta-records of their own sessions. Only they have markers and v1 records. */
export const NATIVE_BACKENDS = ['claude-code', 'antigravity', 'codex'] as const;
export type NativeBackend = (typeof NATIVE_BACKENDS)[number];

export const BACKENDS = [...NATIVE_BACKENDS, 'pi'] as const;
export type Backend = (typeof BACKENDS)[number];

/** How a message body reaches the model: it fetches the body when it is woken, or the body is injected into its turn. */
export type WakeMode = 'self-fetch' | 'direct-inject';

export interface Capability {
  readonly wakeMode: WakeMode;
  readonly deliveryLevel: string;
  /** The harness's own name for a `nativeSessionId`. */
  readonly nativeIdLabel: string;
}

/** The registry of capabilities, which is the same in both generations (garden contract 2). */
export const CAPABILITIES: Readonly<Record<Backend, Capability>> = {
  'claude-code': { wakeMode: 'self-fetch', deliveryLevel: 'D6', nativeIdLabel: 'sessionId' },
  antigravity: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'conversationId' },
  codex: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'threadId' },
  pi: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'sessionId' },
};

/** An object parsed from JSON, before its fields are checked. */
export type GardenFields = Readonly<Record<string, unknown>>;

/**
 * Parses a JSON object.
 * @param subject what the text should be, for messages: `meta-record`
 * @throws Fault `garden` when it is no JSON or no object
 */
export function parseFields(json: string, subject: string): GardenFields {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw createGardenFault(`${subject} is not valid JSON: ${why}`, subject, { cause: error });
  }
  return requireObject(value, `${subject} must be a JSON object`, subject);
}

export function requireObject(value: unknown, rule: string, subject: string): GardenFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as GardenFields;
  throw createGardenFault(`${rule} (got ${describeValue(value)}).`, subject);
}

/** Describes a value for messages: a text as it is, anything else by its type. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? `string ${JSON.stringify(value)}` : typeof value;
}

export function requireText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw createGardenFault(
    `meta-record field "${field}" must be a non-empty string (got ${describeValue(value)}).`,
    field,
  );
}

export function requireTextOrNull(value: unknown, field: string): string | null {
  if (value === null || (typeof value === 'string' && value !== '')) return value;
  throw createGardenFault(
    `meta-record field "${field}" must be a non-empty string or null (got ${describeValue(value)}).`,
    field,
  );
}

export function requireBoolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw createGardenFault(`meta-record field "${field}" must be a boolean (got ${describeValue(value)}).`, field);
}

/** Returns the value if it is one of these words. @throws Fault `garden` */
export function requireWord<W extends string>(value: unknown, words: readonly W[], field: string): W {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  throw createGardenFault(
    `meta-record "${field}" must be one of ${words.join(' | ')} (got ${describeValue(value)}).`,
    field,
  );
}

/** Refuses keys that are not allowed: such a file is half migrated or belongs to another program. */
export function requireOnlyKeys(fields: GardenFields, allowed: readonly string[], subject: string, hint = ''): void {
  const stray = Object.keys(fields).filter((key) => !allowed.includes(key));
  if (stray.length === 0) return;
  const named = stray.map((key) => `"${key}"`).join(', ');
  throw createGardenFault(
    `${subject} carries unexpected key(s) ${named} (allowed: ${allowed.join(', ')}).${hint}`,
    subject,
  );
}

/** The local time of birth, then six lower-case hex digits (garden contract 1). */
const GRAMMAR = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/** Whether the text may become part of a path. This is the guard against path traversal. */
export function isGardenId(text: string): boolean {
  return GRAMMAR.test(text);
}

/**
 * Returns the id unchanged.
 * @throws Fault `garden` for anything else, before it can reach a path
 */
export function parseGardenId(value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    const got = describeValue(value);
    throw createGardenFault(`meta-record field "gardenId" must be a non-empty string (got ${got}).`, 'id');
  }
  if (!isGardenId(value)) {
    throw createGardenFault(`meta-record "gardenId" must match YYYYMMDDTHHMMSS-[0-9a-f]{6} (got "${value}").`, 'id');
  }
  return value;
}

/** The UTC time format of records, receipts and signals: `2026-06-14T01:00:37.000Z`. */
export function formatUtc(at: Instant): string {
  return `${formatIso(Math.floor(at)).slice(0, 'YYYY-MM-DDTHH:MM:SS.mmm'.length)}Z`;
}
