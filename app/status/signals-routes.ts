import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Item, type LocalHive, parseNewMessage } from '../../core/inbox/index.ts';
import type {
  AnnouncedAgent,
  Registration,
  Registrations,
  SignalLease,
  Signals,
} from '../../core/inbox/signals/index.ts';
import { formatIso, type Instant } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson, createTokenRefusal, createUnauthorizedRefusal, HttpRefusal, isGone } from './answer.ts';
import { parseDrainBody, parseSignalBody, parseSignalsQuery } from './queries.ts';
import type { Caller, Callers } from './session.ts';

/** What the calls of the upstream contract act on. */
export interface SignalsApi {
  readonly signals: Signals;
  readonly registrations: Registrations;
}

const OWN = { config: { ownTokens: true } } as const;
const MOST = 20;

/**
 * Registers the upstream contract over HTTP (persona daemon, contract 2). The session stream is separate. Each call needs a
 * token: that of a daemon (`observe`), of its surfaces (`act`), or the owner's. The owner may act for any address and must name
 * it.
 */
export function registerSignalsRoutes(
  app: FastifyInstance,
  { signals, registrations }: SignalsApi,
  hive: Pick<LocalHive, 'send'>,
  callers: Callers,
  clock: Clock,
): void {
  const handovers = createHandovers(clock);

  app.get('/v1/signals/pending', OWN, async (request, reply) => {
    const address = resolveAddress(requireCaller(request, callers), parseSignalsQuery(request.url).address);
    handovers.commitOpen();
    return answerJson(reply, signals.pending(address));
  });

  app.post('/v1/signals/pending/drain', OWN, async (request, reply) => {
    const caller = requireCaller(request, callers);
    if (isObserver(caller))
      throw createForbiddenRefusal('a doorbell is not an acknowledgement: this token may not drain', 'the act token');
    const { max = MOST, session = null, address: requestedAddress } = parseDrainBody(request.body ?? {});
    const address = resolveAddress(caller, requestedAddress);
    handovers.commitOpen();
    // A client that has hung up in the meantime is noticed in the next turn, and gets no items.
    await new Promise<void>((resolve) => void clock.after(0, resolve));
    if (isGone(reply)) return reply.hijack();
    const lent = signals.lend(address, { most: max, session });
    handovers.track(reply, lent);
    return answerJson(reply, { rev: lent.rev, items: lent.items.map(toItemWire), remaining: lent.remaining });
  });

  app.post('/v1/signals', OWN, async (request, reply) => {
    const caller = requireCaller(request, callers);
    if (isObserver(caller)) throw createForbiddenRefusal('a daemon may not send for its persona', 'the act token');
    const { to, from, body, urgent = false } = parseSignalBody(request.body);
    if (caller.is === 'keyed' && caller.key.address !== from)
      throw createForbiddenRefusal(
        `the token does not belong to ${JSON.stringify(from.slice(0, 200))}`,
        'the act token of the sender',
      );
    const mail = parseNewMessage({ to, from, content: body, urgent });
    const stale = registrations.stale(mail.to);
    if (stale !== null) {
      const binding = { ...stale, since: formatIso(stale.since) };
      return answerJson(reply.code(409), { error: 'stale_target', binding });
    }
    const { id } = await hive.send(mail);
    return answerJson(reply.code(202), { id });
  });

  app.get('/v1/registrations', OWN, async (request, reply) => {
    requireCaller(request, callers);
    const rows = [...registrations.connected().map(toConnectedWire), ...registrations.sessions().map(toSessionWire)];
    const count = (kind: string): number => rows.filter((row) => row.kind === kind).length;
    return answerJson(reply, { registrations: rows, counts: { daemon: count('daemon'), agent: count('agent') } });
  });
}

/** @throws Refusal 401 */
function requireCaller(request: FastifyRequest, callers: Callers): Caller {
  if (request.right === 'owner') return { is: 'owner' };
  const caller = callers.identify(request.headers.authorization);
  if (caller === 'nobody') throw createTokenRefusal();
  if (caller === 'wrong') throw createUnauthorizedRefusal('the token is unknown');
  return caller;
}

function isObserver(caller: Caller): boolean {
  return caller.is === 'keyed' && caller.key.scope === 'observe';
}

/** Returns the address whose signals are requested. @throws Refusal */
function resolveAddress(caller: Caller, requestedAddress: string | undefined): string {
  if (caller.is === 'owner') {
    if (requestedAddress !== undefined) return requestedAddress;
    throw new HttpRefusal(400, 'usage', 'address is missing', 'add address=NAME');
  }
  if (requestedAddress === undefined || requestedAddress === caller.key.address) return caller.key.address;
  throw createForbiddenRefusal(
    `the token does not belong to ${JSON.stringify(requestedAddress.slice(0, 200))}`,
    'the token of that persona',
  );
}

function createForbiddenRefusal(message: string, neededToken: string): HttpRefusal {
  return new HttpRefusal(403, 'wrong-scope', message, `use ${neededToken}`);
}

/**
 * Follows lent items until their reader has them. They count as delivered when the whole answer was written to a connection that
 * stayed open for the next turn. Otherwise they are pending again: a client that hangs up so fast may have died before reading,
 * so it gets them a second time. A client that asked for the connection to be closed cannot be checked this way.
 */
function createHandovers(clock: Clock) {
  const open = new Set<() => void>();
  return {
    /** Counts what was handed over as delivered before the next request is answered. */
    commitOpen: () => {
      for (const end of open) end();
    },
    track({ raw }: FastifyReply, lent: SignalLease): void {
      const { socket } = raw;
      const end = (): void => {
        if (!open.delete(end)) return;
        const isGone = socket === null || socket.errored !== null || (raw.shouldKeepAlive && socket.readableEnded);
        if (isGone) lent.release();
        else lent.commit();
      };
      raw.once('close', () => {
        if (!raw.writableFinished) return lent.release();
        open.add(end);
        clock.after(0, end);
      });
    },
  };
}

function toItemWire({ id, source, content, priority, created, type, session, isBroadcast, origin, expires }: Item) {
  return {
    id,
    from: source,
    body: content,
    urgent: priority <= 1,
    created: formatIso(created),
    type,
    priority,
    session,
    broadcast: isBroadcast,
    origin,
    expires: toIsoOrNull(expires),
  };
}

function toConnectedWire(registration: Registration) {
  const { heartbeat } = registration;
  return {
    registration_id: registration.id,
    kind: registration.kind,
    master_eligible: registration.kind === 'agent',
    tenant_id: registration.tenant,
    identity: registration.identity,
    address: registration.address,
    surface: registration.surface,
    project: registration.project,
    machine_id: registration.machine,
    version: registration.version,
    since: formatIso(registration.since),
    heartbeat:
      heartbeat === null
        ? null
        : {
            at: formatIso(heartbeat.at),
            seq: heartbeat.seq,
            fsm: heartbeat.fsm,
            taxonomy: heartbeat.taxonomy,
            pending_depth: heartbeat.pendingDepth,
            drain_age_s: heartbeat.drainAge,
          },
  };
}

/** A session that was announced, but has no connection of its own. What it did not say is null. */
function toSessionWire({ id, address, surface, project, since }: AnnouncedAgent) {
  return {
    registration_id: id,
    kind: 'agent' as const,
    master_eligible: true,
    tenant_id: null,
    identity: address,
    address,
    surface,
    project,
    machine_id: null,
    version: null,
    since: formatIso(since),
    heartbeat: null,
  };
}

const toIsoOrNull = (at: Instant | null): string | null => (at === null ? null : formatIso(at));
