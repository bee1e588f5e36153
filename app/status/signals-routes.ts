import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Item, type LocalHive, mailOf } from '../../core/inbox/index.ts';
import type { Agent, LentSignals, Registration, Registrations, Signals } from '../../core/inbox/signals/index.ts';
import { type Instant, isoOf } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson, tokenNeeded, unauthorized } from './answer.ts';
import type { Caller, Callers } from './callers.ts';
import { Refusal } from './problem.ts';
import { drainBody, pendingQuery, signalBody } from './queries.ts';

/** What the calls of the upstream contract act on. */
export interface SignalsApi {
  readonly signals: Signals;
  readonly registrations: Registrations;
}

const OWN = { config: { ownTokens: true } } as const;
const MOST = 20;

/**
 * The upstream contract over HTTP (persona daemon, contract 2); the stream is beside it. Each call asks for a token, that of a
 * daemon (`observe`), of its surfaces (`act`), or the owner's, which acts for any address and says which.
 */
export function signalsRoutes(
  app: FastifyInstance,
  { signals, registrations }: SignalsApi,
  hive: Pick<LocalHive, 'send'>,
  callers: Callers,
  clock: Clock,
): void {
  const handover = handovers(clock);

  app.get('/v1/signals/pending', OWN, async (request, reply) => {
    const address = addressFor(callerOf(request, callers), pendingQuery(request.url).address);
    handover.settle();
    return answerJson(reply, signals.pending(address));
  });

  app.post('/v1/signals/pending/drain', OWN, async (request, reply) => {
    const caller = callerOf(request, callers);
    if (isObserver(caller))
      throw forbidden('a doorbell is no acknowledgement: this token may not drain', 'the act token');
    const { max = MOST, session = null, address: asked } = drainBody(request.body ?? {});
    const address = addressFor(caller, asked);
    handover.settle();
    // Who hung up meanwhile is heard of in the next turn, and is lent nothing.
    await new Promise<void>((resolve) => void clock.after(0, resolve));
    if (isGone(reply)) return reply.hijack();
    const lent = signals.lend(address, { most: max, session });
    handover.of(reply, lent);
    return answerJson(reply, { rev: lent.rev, items: lent.items.map(itemWire), remaining: lent.remaining });
  });

  app.post('/v1/signals', OWN, async (request, reply) => {
    const caller = callerOf(request, callers);
    if (isObserver(caller)) throw forbidden('a daemon does not speak for its persona', 'the act token');
    const { to, from, body, urgent = false } = signalBody(request.body);
    if (caller.is === 'keyed' && caller.key.address !== from)
      throw forbidden(`the token is not that of ${JSON.stringify(from.slice(0, 200))}`, 'the act token of the sender');
    const mail = mailOf({ to, from, content: body, urgent });
    const stale = registrations.stale(mail.to);
    if (stale !== null) {
      const binding = { ...stale, since: isoOf(stale.since) };
      return answerJson(reply.code(409), { error: 'stale_target', binding });
    }
    const { id } = await hive.send(mail);
    return answerJson(reply.code(202), { id });
  });

  app.get('/v1/registrations', OWN, async (request, reply) => {
    callerOf(request, callers);
    const rows = [...registrations.connected().map(connectedWire), ...registrations.sessions().map(sessionWire)];
    const count = (kind: string): number => rows.filter((row) => row.kind === kind).length;
    return answerJson(reply, { registrations: rows, counts: { daemon: count('daemon'), agent: count('agent') } });
  });
}

/** @throws Refusal 401 */
function callerOf(request: FastifyRequest, callers: Callers): Caller {
  if (request.right === 'owner') return { is: 'owner' };
  const caller = callers.of(request.headers.authorization);
  if (caller === 'nobody') throw tokenNeeded();
  if (caller === 'wrong') throw unauthorized('the token is none of this Hivebar');
  return caller;
}

function isObserver(caller: Caller): boolean {
  return caller.is === 'keyed' && caller.key.scope === 'observe';
}

/** Whose signals are asked for. @throws Refusal */
function addressFor(caller: Caller, asked: string | undefined): string {
  if (caller.is === 'owner') {
    if (asked !== undefined) return asked;
    throw new Refusal(400, 'usage', 'address is missing', 'say whose signals, as address=NAME');
  }
  if (asked === undefined || asked === caller.key.address) return caller.key.address;
  throw forbidden(`the token is not that of ${JSON.stringify(asked.slice(0, 200))}`, 'the token of that persona');
}

function forbidden(message: string, what: string): Refusal {
  return new Refusal(403, 'wrong-scope', message, `use ${what}`);
}

function isGone({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket === null || raw.socket.destroyed || raw.socket.readableEnded;
}

/**
 * Sees lent items through to their reader. They are delivered once the whole answer was written to a connection that did not
 * end in the next moment, and pending again when it was not: who hangs up as fast as that may have died without reading, and
 * is given them again rather than never. Who asked for the connection to be closed is not there to be looked at.
 */
function handovers(clock: Clock) {
  const open = new Set<() => void>();
  return {
    /** Whoever asks next sees what was handed over as delivered. */
    settle: () => {
      for (const end of open) end();
    },
    of({ raw }: FastifyReply, lent: LentSignals): void {
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

function itemWire({ id, source, content, priority, created, type, session, isBroadcast, origin, expires }: Item) {
  return {
    id,
    from: source,
    body: content,
    urgent: priority <= 1,
    created: isoOf(created),
    type,
    priority,
    session,
    broadcast: isBroadcast,
    origin,
    expires: isoOrNull(expires),
  };
}

function connectedWire(one: Registration) {
  const { heartbeat } = one;
  return {
    registration_id: one.id,
    kind: one.kind,
    master_eligible: one.kind === 'agent',
    tenant_id: one.tenant,
    identity: one.identity,
    address: one.address,
    surface: one.surface,
    project: one.project,
    machine_id: one.machine,
    version: one.version,
    since: isoOf(one.since),
    heartbeat:
      heartbeat === null
        ? null
        : {
            at: isoOf(heartbeat.at),
            seq: heartbeat.seq,
            fsm: heartbeat.fsm,
            taxonomy: heartbeat.taxonomy,
            pending_depth: heartbeat.pendingDepth,
            drain_age_s: heartbeat.drainAge,
          },
  };
}

/** A session was announced, and not by a connection of its own: what it did not say is null. */
function sessionWire({ id, address, surface, project, since }: Agent) {
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
    since: isoOf(since),
    heartbeat: null,
  };
}

const isoOrNull = (at: Instant | null): string | null => (at === null ? null : isoOf(at));
