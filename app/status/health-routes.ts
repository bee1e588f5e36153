import type { FastifyInstance, FastifyRequest } from 'fastify';
import { formatList } from '../../core/format/index.ts';
import { answerJson } from './answer.ts';
import type { Loops } from './loops.ts';
import { HttpRefusal } from './problem.ts';

/** If there are more names than this, they are counted and not listed. */
const MOST_NAMED = 10;

/**
 * `/healthz` answers while the process runs. `/readyz` answers 200 while the loops are fresh, so that what is shown is current.
 * It answers 503 during the start, when an inbox is not even tried any more, and while nothing can be written. A sender who may
 * not see the status gets the verdict without names.
 */
export function registerHealthRoutes(
  app: FastifyInstance,
  options: {
    readonly identity: object;
    readonly loops: Loops;
    /** Why nothing can be written; null when it can. */
    readonly full: () => string | null;
    maySee(request: FastifyRequest): boolean;
  },
): void {
  const bare = { config: { tellsNothing: true } } as const;
  app.get('/healthz', bare, async (request, reply) =>
    answerJson(reply, options.maySee(request) ? { ok: true, ...options.identity } : { ok: true }),
  );
  app.get('/readyz', bare, async (request, reply) => {
    const names = (personaIds: readonly string[]): string =>
      options.maySee(request) ? `: ${formatNames(personaIds)}` : '';
    const full = options.full();
    if (full !== null) throw new HttpRefusal(503, 'disk-full', full, 'free space on the disk; it goes on by itself');
    const readiness = options.loops.readiness();
    switch (readiness.is) {
      case 'ready':
        return answerJson(
          reply,
          options.maySee(request) ? { ready: true, personas: readiness.personas } : { ready: true },
        );
      case 'starting': {
        const message = `Hivebar has just started and waits for the first poll${names(readiness.waits)}`;
        throw new HttpRefusal(503, 'starting', message, 'ask again in a second');
      }
      case 'stopped': {
        const message = `these inboxes are no longer polled${names(readiness.personas)}`;
        throw new HttpRefusal(503, 'stopped', message, 'start Hivebar again, and report this with the log');
      }
    }
  });
}

function formatNames(names: readonly string[]): string {
  if (names.length === 0) return 'the sources have not listed their personas yet';
  return formatList(
    names.map((name) => JSON.stringify(name.slice(0, 100))),
    MOST_NAMED,
  );
}
