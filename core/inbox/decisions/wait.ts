import type { Clock } from '../../ports/index.ts';
import type { Decision } from './decision.ts';
import type { DecisionGates, Decisions } from './decisions.ts';

/** The answer is seen so much later at most, in milliseconds: all that a wait needs is the database. */
const POLL_MS = 250;
/** The mark `decision-waiting` is made anew so often, so that it stands as long as the wait does. */
const MARK_EVERY_MS = 60_000;

export type Waited =
  | { readonly is: 'closed'; readonly decision: Decision }
  /** The limit passed, or `signal` was aborted; the decision is open. */
  | { readonly is: 'limit' | 'stopped'; readonly decision: Decision }
  | { readonly is: 'none' };

export interface WaitOptions {
  readonly decisions: Pick<Decisions, 'get' | 'closeDue'>;
  readonly gates: Pick<DecisionGates, 'waiting'>;
  readonly clock: Clock;
  /** In milliseconds; null: as long as it is open. */
  readonly limitMs: number | null;
  readonly signal: AbortSignal;
}

/** Blocks until a decision is closed, by whichever process. Meanwhile its persona is marked as waiting. */
export async function waitForDecision(id: number, options: WaitOptions): Promise<Waited> {
  const { decisions, gates, clock, limitMs, signal } = options;
  const from = clock.monotonic();
  let marked: { readonly persona: string; readonly at: number } | null = null;
  try {
    for (;;) {
      decisions.closeDue(); // with Hivebar closed nobody else does
      const decision = decisions.get(id);
      if (decision === null) return { is: 'none' };
      const { persona, outcome } = decision;
      if (outcome.is !== 'open') {
        marked ??= decision.blocking ? { persona, at: from } : null;
        return { is: 'closed', decision };
      }
      const now = clock.monotonic();
      if (marked === null || now - marked.at >= MARK_EVERY_MS) {
        gates.waiting(persona, true);
        marked = { persona, at: now };
      }
      if (signal.aborted) return { is: 'stopped', decision };
      const left = limitMs === null ? POLL_MS : limitMs - (now - from);
      if (left <= 0) return { is: 'limit', decision };
      await clock.sleep(Math.min(POLL_MS, left), signal);
    }
  } finally {
    if (marked !== null) gates.waiting(marked.persona, false);
  }
}
