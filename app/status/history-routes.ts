import type { FastifyInstance } from 'fastify';
import { type Alert, type HistoryReader, SLOTS, type SlotHistory, type State } from '../../core/history/index.ts';
import { type Instant, isoOf } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson } from './answer.ts';
import { HOURS, LIMIT, wholeOf } from './history-query.ts';
import { Refusal } from './problem.ts';
import type { AlertWire, HistoryWire, PersonaHistoryWire } from './wire-history.ts';

/** What was: counts, states and outages. All open (Decision 4), since history holds no text of mail and no sender. */
export function historyRoutes(app: FastifyInstance, history: HistoryReader, clock: Clock): void {
  app.get('/api/v1/history', async (request, reply) => {
    const { from, to, personas } = history.overview(wholeOf(request.url, 'hours', HOURS));
    return answerJson(reply, {
      from: isoOf(from),
      to: isoOf(to),
      slots: SLOTS,
      personas: Object.fromEntries(personas.entries().map(([id, slots]) => [id, slotsWire(slots)])),
    } satisfies HistoryWire);
  });

  app.get<{ Params: { id: string } }>('/api/v1/personas/:id/history', async (request, reply) => {
    const { id } = request.params;
    const found = history.of(id, wholeOf(request.url, 'hours', HOURS));
    if (found === null) {
      const name = JSON.stringify(id.slice(0, 200));
      throw new Refusal(404, 'no-persona', `there is no history of a persona ${name}`, 'see /api/v1/personas');
    }
    return answerJson(reply, {
      from: isoOf(found.from),
      to: isoOf(found.to),
      points: found.points.map(([at, unread]) => [isoOf(at), unread] as const),
      states: found.states.map(({ state, from, to }) => ({ state, from: isoOf(from), to: isoOf(to) })),
    } satisfies PersonaHistoryWire);
  });

  app.get('/api/v1/alerts', async (request, reply) => {
    const alerts = history.alerts(wholeOf(request.url, 'limit', LIMIT));
    const now = clock.now();
    return answerJson(reply, { alerts: alerts.map((alert) => alertWire(alert, now)) });
  });
}

const LETTER: Readonly<Record<State, string>> = { up: 'U', failing: 'F', down: 'D', unknown: '-' };

function slotsWire({ unread, states }: SlotHistory): HistoryWire['personas'][string] {
  return { unread, states: states.map((state) => LETTER[state]).join('') };
}

function alertWire({ key, scope, message, personas, since, until }: Alert, now: Instant): AlertWire {
  const end = until ?? Math.max(since, now); // a clock may have been set back
  return {
    key,
    scope,
    message,
    personas,
    since: isoOf(since),
    until: until === null ? null : isoOf(until),
    seconds: Math.round((end - since) / 1000),
  };
}
