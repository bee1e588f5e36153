import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Board, Fact } from '../../core/board/index.ts';
import { formatList } from '../../core/format/index.ts';
import type { PersonaCounts, PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { answerJson, HttpRefusal } from './answer.ts';

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
    if (full !== null)
      throw new HttpRefusal(503, 'disk-full', full, 'free space on the disk; Hivebar then continues by itself');
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

/** Whether every inbox is polled as often as it should be. */
type Readiness =
  | { readonly is: 'ready'; readonly personas: number }
  /** Something was not polled yet, because the process has just started. */
  | { readonly is: 'starting'; readonly waits: readonly string[] }
  /** These inboxes were not even tried for so long that their loops must have ended. An inbox whose polls fail is still tried. */
  | { readonly is: 'stopped'; readonly personas: readonly PersonaId[] };

/** The work done so far, counted from the facts of the board. */
export interface PollTally {
  readonly polls: number;
  readonly failures: number;
  /** The counts by event name. */
  readonly events: ReadonlyMap<string, number>;
}

export interface Loops extends Disposable {
  readonly tally: PollTally;
  readiness(): Readiness;
}

/** The longest wait between two tries of an inbox that is down. A loop that tries less often has ended. */
const CEILING_MS = 90_000;

/**
 * Follows when each inbox was last tried. A number can be old because its hive is down; that is no fault of Hivebar and has its
 * own cause on the board. Or it is old because nobody polls any more, which only this can tell. Times are of the clock that
 * stands still while the machine sleeps.
 */
export function followLoops(board: Board, clock: Clock): Loops {
  const tries = new Map<PersonaId, { last: number; staleMs: number; tried: boolean }>();
  const tally = { polls: 0, failures: 0, events: new Map<string, number>() };
  let hasBegun = false;

  const markTried = (persona: PersonaId, at = clock.monotonic()): void => {
    const attempt = tries.get(persona);
    if (attempt === undefined) return;
    attempt.last = at;
    attempt.tried = true;
  };
  const markAllTried = (counts: readonly PersonaCounts[]): void => {
    const at = clock.monotonic();
    for (const { persona } of counts) markTried(persona, at);
  };
  const follow = (fact: Fact): void => {
    switch (fact.is) {
      case 'joined':
        if (!tries.has(fact.persona))
          tries.set(fact.persona, { last: clock.monotonic(), staleMs: fact.staleAfterMs, tried: false });
        break;
      case 'left':
        tries.delete(fact.persona);
        break;
      case 'polled':
        tally.polls += 1;
        markTried(fact.persona);
        break;
      case 'failed':
        tally.failures += 1;
        markTried(fact.persona);
        break;
      case 'counted':
        markAllTried(fact.counts);
        break;
      case 'held':
        markTried(fact.persona);
        break;
      case 'delivered':
        for (const { event } of fact.events) tally.events.set(event, (tally.events.get(event) ?? 0) + 1);
    }
  };
  // For personas that joined earlier, the time counts from now.
  for (const { id, health, asOf, staleAfter } of board.snapshot().personas) {
    const staleMs = asOf === null || staleAfter === null ? 0 : staleAfter - asOf;
    tries.set(id, { last: clock.monotonic(), staleMs, tried: health.is !== 'unseen' });
  }
  const following = board.facts(follow);

  return {
    tally,
    readiness() {
      const now = clock.monotonic();
      const stopped = [...tries].filter(([, { last, staleMs }]) => now - last > Math.max(staleMs, CEILING_MS));
      if (stopped.length > 0) return { is: 'stopped', personas: stopped.map(([id]) => id).sort() };
      const { hives } = board.snapshot();
      const waits = [
        ...hives.filter(({ state }) => state === 'PENDING').map(({ source }) => source),
        ...[...tries].filter(([, { tried }]) => !tried).map(([id]) => id),
      ];
      hasBegun ||= waits.length === 0 && hives.length + tries.size > 0;
      return hasBegun ? { is: 'ready', personas: tries.size } : { is: 'starting', waits };
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}
