import type { FastifyInstance } from 'fastify';
import { createBudget, formatBudgetFull } from './budget.ts';
import { HttpRefusal } from './problem.ts';
import { parseStreamQuery } from './queries.ts';
import type { Stream } from './stream.ts';
import type { UnreadReaders } from './unread-readers.node.ts';

/** The most readers of one class. Further ones are refused, so that idle streams cannot use up the process. */
const MAX_READERS = 200;

/**
 * `GET /api/v1/stream`. It starts now, or after the event named by `Last-Event-ID` or `?since=` (empty: with the oldest stored
 * event).
 */
export function registerStreamRoute(app: FastifyInstance, stream: Stream, unread: UnreadReaders): void {
  const budget = createBudget(MAX_READERS);
  app.get('/api/v1/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const header = request.headers['last-event-id'];
    const querySince = parseStreamQuery(request.url).since ?? null;
    const since = header === undefined ? querySince : decodeHeader(String(header));
    const start = stream.start(since);
    const place = budget.take(request.client);
    if (place === null) {
      const next = `close one${request.client === 'anonymous' ? ', send the token' : ''}, or ask for /status.json`;
      throw new HttpRefusal(503, 'too-many-streams', formatBudgetFull('streams', budget, request.client), next);
    }
    reply.hijack();
    const { raw: response } = reply;
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
    const outlet = { write: (text: string) => response.write(text), drop: () => void response.destroy() };
    const reader = stream.join(outlet, start, request.right);
    const unreadWatch = unread.add(request.raw.socket, outlet.drop);
    response.on('drain', () => reader.drained());
    // 'close' is emitted for every end: the reader left, was dropped, or never read a byte
    response.once('close', () => {
      place[Symbol.dispose]();
      unreadWatch[Symbol.dispose]();
      reader[Symbol.dispose]();
    });
    response.on('error', () => {}); // a write after the reader left; the 'close' that follows handles it
  });
}

/** Header bytes arrive as one character each, but ids are UTF-8. */
function decodeHeader(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}
