import type { FastifyInstance } from 'fastify';
import {
  type Alert,
  type HistoryReader,
  type HistoryState,
  SLOTS,
  type SlotHistory,
} from '../../core/history/index.ts';
import { formatIso, type Instant } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson } from './answer.ts';
import { HOURS, LIMIT, parseWholeParam } from './history-query.ts';
import { HttpRefusal } from './problem.ts';
import type { AlertWire, HistoryWire, PersonaHistoryWire } from './wire-history.ts';

/** Serves the history: counts, states and outages. All of it is open (Decision 4), since it has no text of mail and no sender. */
export function registerHistoryRoutes(app: FastifyInstance, history: HistoryReader, clock: Clock): void {
  app.get('/api/v1/history', async (request, reply) => {
    const { from, to, personas } = history.overview(parseWholeParam(request.url, 'hours', HOURS));
    return answerJson(reply, {
      from: formatIso(from),
      to: formatIso(to),
      slots: SLOTS,
      personas: Object.fromEntries(personas.entries().map(([id, slots]) => [id, toSlotsWire(slots)])),
    } satisfies HistoryWire);
  });

  app.get<{ Params: { id: string } }>('/api/v1/personas/:id/history', async (request, reply) => {
    const { id } = request.params;
    const personaHistory = history.findPersona(id, parseWholeParam(request.url, 'hours', HOURS));
    if (personaHistory === null) {
      const name = JSON.stringify(id.slice(0, 200));
      throw new HttpRefusal(404, 'no-persona', `there is no history of a persona ${name}`, 'see /api/v1/personas');
    }
    return answerJson(reply, {
      from: formatIso(personaHistory.from),
      to: formatIso(personaHistory.to),
      points: personaHistory.points.map(([at, unread]) => [formatIso(at), unread] as const),
      states: personaHistory.states.map(({ state, from, to }) => ({ state, from: formatIso(from), to: formatIso(to) })),
    } satisfies PersonaHistoryWire);
  });

  app.get('/api/v1/alerts', async (request, reply) => {
    const alerts = history.alerts(parseWholeParam(request.url, 'limit', LIMIT));
    const now = clock.now();
    return answerJson(reply, { alerts: alerts.map((alert) => toAlertWire(alert, now)) });
  });
}

const LETTER: Readonly<Record<HistoryState, string>> = { up: 'U', failing: 'F', down: 'D', unknown: '-' };

function toSlotsWire({ unread, states }: SlotHistory): HistoryWire['personas'][string] {
  return { unread, states: states.map((state) => LETTER[state]).join('') };
}

function toAlertWire({ key, scope, message, personas, since, until }: Alert, now: Instant): AlertWire {
  const end = until ?? Math.max(since, now); // the clock may have been set back
  return {
    key,
    scope,
    message,
    personas,
    since: formatIso(since),
    until: until === null ? null : formatIso(until),
    seconds: Math.round((end - since) / 1000),
  };
}
