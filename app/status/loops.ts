import type { Board, Fact } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';

/** Whether every inbox is polled as often as it should be. */
export type Readiness =
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

  const markTried = (persona: PersonaId): void => {
    const attempt = tries.get(persona);
    if (attempt === undefined) return;
    attempt.last = clock.monotonic();
    attempt.tried = true;
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
