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
import { answerJson, HttpRefusal } from './answer.ts';
import { COMPRESSED } from './api-routes.ts';
import type { AlertWire, HistoryWire, PersonaHistoryWire } from './wire.ts';

/** Serves the history: counts, states and outages. All of it is open (Decision 4), since it has no text of mail and no sender. */
export function registerHistoryRoutes(app: FastifyInstance, history: HistoryReader, clock: Clock): void {
  app.get('/api/v1/history', COMPRESSED, async (request, reply) => {
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
      throw new HttpRefusal(404, 'no-persona', `there is no history for a persona ${name}`, 'see /api/v1/personas');
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

/** The limits of one whole number in a query, in the form that `openapi.json` shows. */
interface WholeSchema {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

/** For `GET /api/v1/history` and `GET /api/v1/personas/ID/history`. */
export const HOURS: WholeSchema = {
  type: 'integer',
  minimum: 1,
  maximum: 24 * 366,
  default: 24,
  description: 'Number of hours back from now, limited by how long history is kept.',
};

/** For `GET /api/v1/alerts`. */
export const LIMIT: WholeSchema = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  default: 100,
  description: 'Maximum number of alerts.',
};

/**
 * Parses the only parameter that these routes have.
 * @throws Refusal 400 when it does not fit the schema, is given twice, or comes with another parameter
 */
function parseWholeParam(url: string, name: string, schema: WholeSchema): number {
  const at = url.indexOf('?');
  const params = new URLSearchParams(at < 0 ? '' : url.slice(at));
  for (const key of params.keys()) {
    if (key !== name) throw refuse(`unknown parameter ${quote(key)}`, `use ${name}, or no parameter`);
  }
  const values = params.getAll(name);
  const [text] = values;
  if (text === undefined) return schema.default;
  const within = `give ${name} once, a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (values.length > 1) throw refuse(`${name} is given ${values.length} times`, within);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= schema.minimum && value <= schema.maximum) return value;
  throw refuse(`${name} is ${quote(text)}`, within);
}

function refuse(message: string, next: string): HttpRefusal {
  return new HttpRefusal(400, 'usage', message, next);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
