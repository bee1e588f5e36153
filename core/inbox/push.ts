import { Fault, formatIso, type Instant } from '../model/index.ts';
import {
  type Addressee,
  ITEM_TYPES,
  type Item,
  type NewItem,
  type PushResult,
  parsePriority,
  parseTtl,
  parseType,
} from './item.ts';
import { MAX_CONTENT, MAX_KEY, MAX_NAME } from './new-item.ts';

/**
 * The fields of an item as a program pushes it, each a JSON Schema. The flags of `hivebar inbox push`, the body of
 * `POST /api/v1/items` and its description in OpenAPI derive from this.
 */
export const PUSH_FIELDS = {
  content: { type: 'string', minLength: 1, description: `the text, at most ${MAX_CONTENT} bytes` },
  to: { type: 'string', minLength: 1, maxLength: MAX_NAME, description: 'who gets it' },
  session: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_KEY,
    description: 'only for that session; without a persona, the one that announced the session gets it',
  },
  broadcast: { type: 'boolean', description: 'for every persona; each is shown it once' },
  create: { type: 'boolean', description: 'also for a new name that is close to a known one' },
  type: { enum: ITEM_TYPES, description: 'decision, alert, event, agent (the default), mail, gate or system' },
  source: { type: 'string', minLength: 1, maxLength: MAX_NAME, description: 'the sender of the item' },
  priority: { enum: [0, 1, 2, 3, 4], description: '0 is never deferred, 2 is the default' },
  ttl: {
    anyOf: [{ type: 'string' }, { type: 'number', description: 'seconds' }],
    description: 'how long it may be shown: 30s, 10m, 2h, 1d',
  },
  dedup_key: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_KEY,
    description: 'store only one item per persona and key, unless the earlier one expired unseen',
  },
} as const;

/** What a caller said, as `parsePush` checks it. */
export interface PushFields {
  readonly to?: string | undefined;
  readonly session?: string | undefined;
  readonly broadcast?: boolean | undefined;
  readonly type?: unknown;
  readonly source: string;
  readonly priority?: unknown;
  readonly ttl?: unknown;
  readonly dedup_key?: string | undefined;
}

/** The recipient that a caller named. Of a session alone the persona must be looked up. */
export type PushTarget = Addressee | { readonly is: 'session'; readonly id: string };

/**
 * Checks what a caller said of an item, except its text. The store checks the rest, see `checkItem`.
 * @param label returns the caller's own name for a field
 * @throws Fault `usage`, naming the field and its value
 */
export function parsePush(
  fields: PushFields,
  label: (field: keyof typeof PUSH_FIELDS) => string,
  now: Instant,
): { readonly target: PushTarget; readonly item: Omit<NewItem, 'to' | 'content'> } {
  const { type = 'agent', source, priority = 2, ttl } = fields;
  return {
    target: parseTarget(fields, label),
    item: {
      type: parseType(label('type'), type),
      source,
      priority: parsePriority(label('priority'), priority),
      session: fields.session ?? null,
      created: now,
      expires: ttl === undefined ? null : now + parseTtl(label('ttl'), ttl),
      dedupKey: fields.dedup_key ?? null,
    },
  };
}

function parseTarget(
  { to, session, broadcast }: PushFields,
  label: (field: 'to' | 'session' | 'broadcast') => string,
): PushTarget {
  if (broadcast) {
    if (to === undefined && session === undefined) return { is: 'everyone' };
    throw createRefusal(`${label('broadcast')} cannot be combined with ${label('to')} or ${label('session')}`);
  }
  if (to === '') throw createRefusal(`${label('to')} is empty: use the name of a persona`);
  if (session === '') throw createRefusal(`${label('session')} is empty: use the id of a session`);
  if (to !== undefined) return { is: 'persona', name: to };
  if (session !== undefined) return { is: 'session', id: session };
  throw createRefusal(`the recipient is missing: use ${label('to')}, ${label('session')} or ${label('broadcast')}`);
}

function createRefusal(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'usage' });
}

/** Returns who gets the item. Null: nobody announced that session. */
export function findAddressee(target: PushTarget, findPersona: (session: string) => string | null): Addressee | null {
  if (target.is !== 'session') return target;
  const name = findPersona(target.id);
  return name === null ? null : { is: 'persona', name };
}

/** What was pushed, as commands and routes print it. */
export function toPushedJson({ id, dedupKey, isNew }: PushResult, to: Addressee, session: string | null) {
  return { id, persona: to.is === 'persona' ? to.name : null, session, dedupKey, new: isNew };
}

/** An item as commands and routes print it. A missing value is null. */
export function toItemJson(item: Item) {
  const { id, persona, type, source, priority, content, session, isBroadcast, created, expires, dedupKey, origin } =
    item;
  return {
    id,
    persona,
    type,
    source,
    priority,
    content,
    session,
    broadcast: isBroadcast,
    created: formatIso(created),
    expires: toIsoOrNull(expires),
    dedupKey,
    origin,
    read: toIsoOrNull(item.read),
    delivered: toIsoOrNull(item.delivered),
  };
}

const toIsoOrNull = (at: Instant | null): string | null => (at === null ? null : formatIso(at));
