import type { Clock } from '../../ports/index.ts';
import type { Decision } from './decision.ts';
import { type Decisions, type DecisionWait, RENEW_WAIT_MS } from './decisions.ts';

/** Poll interval in milliseconds, which is the largest delay of an answer. A wait needs only the database. */
const POLL_MS = 250;

export type DecisionWaitResult =
  | { readonly is: 'closed'; readonly decision: Decision }
  /** The limit passed, or `signal` was aborted; the decision is still open. */
  | { readonly is: 'limit' | 'stopped'; readonly decision: Decision }
  | { readonly is: 'none' };

export interface DecisionWaitOptions {
  readonly decisions: Pick<Decisions, 'get' | 'closeDue' | 'waiting'>;
  readonly clock: Clock;
  /** In milliseconds; null: as long as the decision is open. */
  readonly limitMs: number | null;
  readonly signal: AbortSignal;
}

/** Waits until any process closes a decision. Meanwhile its persona is marked as waiting. */
export async function waitForDecision(id: number, options: DecisionWaitOptions): Promise<DecisionWaitResult> {
  const { decisions, clock, limitMs, signal } = options;
  const from = clock.monotonic();
  let marked: DecisionWait | null = null;
  let markedAt = from;
  try {
    for (;;) {
      decisions.closeDue(); // if Hivebar does not run, nobody else does this
      const decision = decisions.get(id);
      if (decision === null) return { is: 'none' };
      const { persona, outcome } = decision;
      if (outcome.is !== 'open') {
        marked ??= decision.blocking ? decisions.waiting(persona) : null; // the mark was set when the decision was asked
        return { is: 'closed', decision };
      }
      const now = clock.monotonic();
      if (marked === null || now - markedAt >= RENEW_WAIT_MS) {
        marked ??= decisions.waiting(persona);
        marked.renew();
        markedAt = now;
      }
      if (signal.aborted) return { is: 'stopped', decision };
      const left = limitMs === null ? POLL_MS : limitMs - (now - from);
      if (left <= 0) return { is: 'limit', decision };
      await clock.sleep(Math.min(POLL_MS, left), signal);
    }
  } finally {
    marked?.end();
  }
}
