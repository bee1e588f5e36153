import type { FastifyInstance, FastifyReply } from 'fastify';
import { type DrainLease, MOST_ITEMS } from '../../core/inbox/drain/index.ts';
import {
  findAddressee,
  MAX_KEY,
  MAX_NAME,
  type NewItem,
  PUSH_FIELDS,
  type PushResult,
  parseName,
  parsePush,
  toItemJson,
  toPushedJson,
} from '../../core/inbox/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson, type ClientBudget, HttpRefusal, isGone, requireToken } from './answer.ts';
import { takeHold } from './event-pages.ts';
import { MAX_WAIT_SECONDS, parseBody } from './queries.ts';

/** The body of `POST /api/v1/items`. */
export const PUSH_BODY = {
  type: 'object',
  properties: { ...PUSH_FIELDS, source: { ...PUSH_FIELDS.source, default: 'http' } },
  required: ['content'],
  additionalProperties: false,
} as const;

/** The body of `POST /api/v1/items/drain`. */
export const DRAIN_ITEMS_BODY = {
  type: 'object',
  properties: {
    persona: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_NAME,
      description: 'whose items; its name in the local hive',
    },
    session: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_KEY,
      description: 'includes items for only that session; without a persona, drains the one that announced it',
    },
    ack: {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      maxItems: 5000,
      description: 'ids of items that you have; they are marked as delivered and read',
    },
    limit: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      default: MOST_ITEMS,
      description: 'the most items; those of priority 0 come beyond it. 0: none, to acknowledge only',
    },
    wait: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: `seconds to hold the answer until an item is there, at most ${MAX_WAIT_SECONDS}`,
    },
  },
  additionalProperties: false,
} as const;

/** What the routes of items need. Each method throws Fault `database` or `no-space` if that fails. */
export interface ItemsApi {
  /** @throws Fault `usage` for a new name that is close to a known one */
  refuseMisspelled(name: string): void;
  /** Stores one item, durably. @throws Fault `usage` */
  push(item: NewItem): PushResult;
  /** Returns the persona that announced this session last, by its name in the local hive. Null: nobody did. */
  findPersona(session: string): string | null;
  /** Marks these items as delivered to the persona and read. Ids that it does not have are ignored. */
  acknowledge(persona: string, ids: readonly number[]): void;
  /** Leases pending items, as many as fit into one answer. Null: there are none. */
  lend(persona: string, session: string | null, most: number): DrainLease | null;
  /** How many items are pending. */
  count(persona: string, session: string | null): number;
  /** Resolves when an item may be pending, after `ms` or earlier, or when the signal aborts. */
  untilPending(persona: string, ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * Lets programs push items and drain them, as `hivebar inbox` does. They are message text, so they need the token. A drained item
 * is leased, and marked as delivered only when the program says in a later request that it has it (`ack`).
 */
export function registerItemRoutes(
  app: FastifyInstance,
  items: ItemsApi,
  { holds, clock }: { readonly holds: ClientBudget; readonly clock: Clock },
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.post('/api/v1/items', async (request, reply) => {
    requireToken(request);
    const {
      content,
      source = PUSH_BODY.properties.source.default,
      create,
      ...fields
    } = parseBody(request.body, PUSH_BODY);
    const { target, item } = parsePush({ ...fields, source }, (field) => `"${field}"`, Math.floor(clock.now()));
    const to = findAddressee(target, items.findPersona);
    if (to === null) throw createUnknownSessionRefusal(item.session);
    if (target.is === 'persona' && !create) items.refuseMisspelled(target.name);
    return answerJson(reply, toPushedJson(items.push({ ...item, to, content }), to, item.session));
  });

  app.post('/api/v1/items/drain', async (request, reply) => {
    requireToken(request);
    const body = parseBody(request.body ?? {}, DRAIN_ITEMS_BODY);
    const { session = null, ack = [], limit = MOST_ITEMS, wait = 0 } = body;
    const persona = body.persona ?? (session === null ? null : items.findPersona(session));
    if (persona === null && session !== null) throw createUnknownSessionRefusal(session);
    const name = parseName('persona', persona ?? undefined);
    if (ack.length > 0) items.acknowledge(name, ack);
    if (limit === 0) return answerJson(reply, { items: [], left: items.count(name, session) });

    const signal = createHoldSignal(reply);
    const until = clock.monotonic() + Math.min(wait, MAX_WAIT_SECONDS) * 1000;
    const getMsLeft = (): number => (signal.aborted ? 0 : until - clock.monotonic());
    // A client that has hung up in the meantime is noticed in the next turn, and gets no items.
    await clock.sleep(0, signal);
    if (isGone(reply)) return reply.hijack();
    let lent = items.lend(name, session, limit);
    using _place = lent === null && wait > 0 ? takeHold(holds, request.client) : null;
    while (lent === null && getMsLeft() > 0) {
      await items.untilPending(name, getMsLeft(), signal);
      lent = signal.aborted ? null : items.lend(name, session, limit);
    }
    if (lent !== null) releaseUnlessWritten(reply, lent);
    return answerJson(reply, { items: lent?.items.map(toItemJson) ?? [], left: lent?.left ?? 0 });
  });
}

/** Makes items pending again at once when the connection ends before the whole answer was handed to the system. */
function releaseUnlessWritten({ raw }: FastifyReply, lent: DrainLease): void {
  raw.once('close', () => {
    if (!raw.writableFinished) lent.release();
  });
}

function createUnknownSessionRefusal(session: string | null): HttpRefusal {
  const id = JSON.stringify((session ?? '').slice(0, 200));
  const next = 'name the persona too, or announce the session: hivebar session set PERSONA --id ID';
  return new HttpRefusal(404, 'no-session', `nobody announced the session ${id}`, next);
}
