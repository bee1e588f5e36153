import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  addUptimes,
  type HistoryReader,
  UPTIME_HOURS,
  type Uptime,
  type UptimeSpan,
} from '../../core/history/index.ts';
import { answerJson, HttpRefusal } from './answer.ts';
import { type PersonaRoute, REVALIDATE, requirePersona } from './api-routes.ts';
import { formatStateBadge, formatUptimeBadge } from './badge.ts';
import type { CurrentStatus } from './current-status.ts';
import { BADGE_QUERY, parseQuery } from './queries.ts';
import type { HivesWire, PersonaUptimeWire, UptimeWire } from './wire.ts';

/** The personas whose history is read before other work has its turn. */
const AT_ONCE = 20;

/**
 * Serves how much of the time personas and hives were up, and pictures of it. All of it is open (Decision 4): states, counts and
 * names.
 */
export function registerUptimeRoutes(app: FastifyInstance, history: HistoryReader, current: () => CurrentStatus): void {
  app.get<PersonaRoute>('/api/v1/personas/:id/uptime', async (request, reply) => {
    const { id } = request.params;
    const uptime = history.findUptime(id);
    if (uptime === null) {
      const name = JSON.stringify(id.slice(0, 200));
      throw new HttpRefusal(404, 'no-persona', `there is no history for a persona ${name}`, 'see /api/v1/personas');
    }
    return answerJson(reply, { persona: id, uptime: toUptimeWire(uptime) } satisfies PersonaUptimeWire);
  });

  app.get('/api/v1/hives', async (_request, reply) => {
    const { rev, generatedAt, hives, personas } = current().wire;
    const bySource = Map.groupBy(personas, ({ source }) => source);
    const answer: HivesWire['hives'][number][] = [];
    for (const hive of hives) {
      const uptimes: Uptime[] = [];
      for (const [i, { id }] of (bySource.get(hive.source) ?? []).entries()) {
        if (i % AT_ONCE === AT_ONCE - 1) await nextTurn();
        const uptime = history.findUptime(id);
        if (uptime !== null) uptimes.push(uptime);
      }
      answer.push({ ...hive, uptime: toUptimeWire(addUptimes(uptimes)) });
    }
    return answerJson(reply, { rev, generatedAt, hives: answer } satisfies HivesWire);
  });

  app.get<PersonaRoute>('/api/v1/personas/:id/badge.svg', async (request, reply) => {
    const { kind = 'state', span = '24h' } = parseQuery(request.url, BADGE_QUERY);
    const persona = requirePersona(current(), request.params.id);
    if (kind === 'state') return answerBadge(reply, formatStateBadge(persona));
    const uptime = toUptimeWire(history.findUptime(persona.id) ?? addUptimes([]));
    return answerBadge(reply, formatUptimeBadge(persona, uptime, span));
  });
}

function answerBadge(reply: FastifyReply, svg: string): FastifyReply {
  return reply.header('Cache-Control', REVALIDATE).type('image/svg+xml; charset=utf-8').send(svg);
}

/** Rounded down, so that 1 means never down. */
function toUptimeWire(uptime: Uptime): UptimeWire {
  const spans = Object.keys(UPTIME_HOURS) as UptimeSpan[];
  const shares = spans.map((span) => {
    const { upMs, knownMs } = uptime[span];
    const up = knownMs === 0 ? null : Math.floor((upMs / knownMs) * 1_000_000) / 1_000_000;
    return [span, { up, knownSeconds: Math.round(knownMs / 1000) }] as const;
  });
  return Object.fromEntries(shares) as UptimeWire;
}
