import { type Instant, isSameName } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { clearStamps, type Database, migrate, runTransaction, toPendingDir } from '../../state/index.ts';
import type { Items } from '../item.ts';
import {
  createRefusal,
  type Decision,
  type DecisionReply,
  evaluateReply,
  LIMITS,
  type NewDecision,
  type Outcome,
  parseDecisionName,
  parseDecisionText,
  toOutcomeItem,
} from './decision.ts';
import { DECISIONS_SCHEMA, openDecisionTable } from './rows.ts';

/** What decisions do to the gates of a persona. Each call may be repeated after a crash, and must allow that. */
export interface DecisionGates {
  /** Opens the strict gate `decision`: the persona has an unanswered question. */
  open(persona: string): void;
  /** Closes the gate until it is used up: no question is open, and somebody other than the persona settled the last one. */
  close(persona: string): void;
  /** Sets or clears `decision-waiting`: whether a command of this persona is blocked in a wait. */
  waiting(persona: string, isWaiting: boolean): void;
}

export interface DecisionsOptions {
  readonly db: Database;
  readonly items: Pick<Items, 'pushOwn'>;
  readonly gates: DecisionGates;
  /** Wakes the persona for the answer, which is in its inbox by then. */
  readonly wake: (persona: string) => void;
  /** Reports a new decision or its outcome, at least once. After a crash perhaps twice, or for `open` never. */
  readonly emit: (decision: Decision) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** `too-late`: somebody was faster, or the time was over; the decision holds the actual outcome. */
export type DecisionResult =
  | { readonly is: 'done'; readonly decision: Decision; readonly next: Decision | null }
  | { readonly is: 'too-late'; readonly decision: Decision }
  | { readonly is: 'none' };

/**
 * The decisions of this machine, in the database itself, for any number of processes at once.
 *
 * The order of an answer is the same in every process and after every crash (contract 6). First the answer is in the database
 * with its gate, then in the inbox of the persona that asked. Then the persona is woken, and last comes the event. Each method
 * throws Fault `database` or `no-space` if that fails.
 */
export interface Decisions {
  /** @throws Fault `usage` if it refines a decision that is not open, or belongs to another persona */
  create(newDecision: NewDecision): Decision;
  /** @throws Fault `usage` if the reply does not fit the decision */
  respond(id: number, reply: DecisionReply): DecisionResult;
  cancel(id: number, by: string, text: string | null): DecisionResult;
  get(id: number): Decision | null;
  /** Newest first. */
  list(filter: {
    readonly persona: string | null;
    readonly onlyOpen: boolean;
    readonly limit: number;
  }): readonly Decision[];
  /** Closes decisions whose time is over, with their default or as timed out, and tells the personas. Returns how many. */
  closeDue(): number;
  /**
   * Does what `closeDue` does, and completes what a crash interrupted: gates, and unreported answers. Cheap if there is nothing
   * to do.
   */
  reconcile(): void;
  /** Starts a wait of this process for an answer to this persona. The mark is set at the first `renew`. */
  waiting(persona: string): DecisionWait;
  /** When the next open decision expires; null: none will. */
  nextDue(): Instant | null;
  /** Deletes decisions that were closed and reported before then. Returns how many. */
  reap(before: Instant): number;
}

/** A wait, which the gate `decision` sees as the mark `decision-waiting`. Several waits may exist at once. */
interface DecisionWait {
  /** Extends the wait. Call it again before the wait lapses, at the latest every `RENEW_WAIT_MS`. @throws Fault */
  renew(): void;
  /** Ends this wait; the mark goes with the last one. Never throws. */
  end(): void;
}

export const RENEW_WAIT_MS = 60_000;
/** A killed process counts as waiting for this long. */
const WAIT_LAPSES_MS = 150_000;

/** Longer than any process waits for the database. */
const DOUBT_MS = 60_000;

export function openDecisions(options: DecisionsOptions): Decisions {
  const { db, items, gates, clock, log } = options;
  migrate(db, 'decisions', DECISIONS_SCHEMA);
  const rows = openDecisionTable(db);

  /**
   * Changes decisions of this persona in one transaction with its gate, which is a file. A doubt about the gate is stored first,
   * so that the gate is repaired later if the transaction does not complete. An error of the gate store undoes the change.
   */
  function change<T>(persona: string, work: () => { readonly result: T; readonly closesGate: boolean }): T {
    const doubt = rows.doubt(persona, clock.now());
    return runTransaction(db, () => {
      const { result, closesGate } = work();
      if (rows.listOpen(persona).length > 0) gates.open(persona);
      else if (closesGate) gates.close(persona);
      rows.trust(doubt);
      return result;
    });
  }

  /**
   * Opens gates again that were closed for an answer which was not committed. Gates are never closed here, since a gate that was
   * used up meanwhile is open for good reason. A process that still works removes its own doubt, so only old doubts are removed.
   */
  function mendGates(): void {
    for (const { id, persona, at } of rows.doubts()) {
      runTransaction(db, () => {
        if (rows.listOpen(persona).length > 0) gates.open(persona);
        if (Math.abs(clock.now() - at) > DOUBT_MS) rows.trust(id);
      });
    }
  }

  /** Steps 2 to 4 of an answer. If step 2 fails, the answer stays owed, for `reconcile`. */
  function tell(decision: Decision): void {
    const { id, persona, outcome } = decision;
    if (outcome.is === 'open') return;
    try {
      items.pushOwn(toOutcomeItem(decision, outcome));
    } catch (error) {
      log.warn(`decision ${id} is answered; ${persona} gets the answer later: ${formatError(error)}`);
      return;
    }
    wake(decision);
    emit(decision);
    rows.markReported(id);
  }

  function wake({ id, persona }: Decision): void {
    try {
      options.wake(persona);
    } catch (error) {
      log.warn(`${persona} was not woken for decision ${id}, which is in its inbox: ${formatError(error)}`);
    }
  }

  function emit(decision: Decision): void {
    try {
      options.emit(decision);
    } catch (error) {
      log.warn(`decision ${decision.id} has no event: ${formatError(error)}`);
    }
  }

  function getDecision(id: number): Decision {
    const decision = rows.find(id);
    if (decision === null) throw createRefusal(`there is no decision ${id}`);
    return decision;
  }

  function isOver({ outcome, expires }: Decision, now: Instant): boolean {
    return outcome.is === 'open' && expires !== null && expires <= now;
  }

  /** Call it in a transaction. */
  function closeByTime({ id, fallback, expires }: Decision): Decision {
    const at = expires ?? clock.now();
    const outcome: Outcome =
      fallback === null ? { is: 'timed-out', at } : { is: 'resolved', at, by: null, choice: fallback, text: null };
    rows.close(id, outcome, null, true);
    return getDecision(id);
  }

  /** Closes an open decision once, by `work`. If that is not possible, the result says why. */
  function closeDecision(id: number, work: (open: Decision, now: Instant) => void): DecisionResult {
    const before = rows.find(id);
    if (before === null) return { is: 'none' };
    const done = change<DecisionResult>(before.persona, () => {
      const open = getDecision(id);
      if (open.outcome.is !== 'open') return { result: { is: 'too-late', decision: open }, closesGate: false };
      const now = clock.now();
      if (isOver(open, now)) return { result: { is: 'too-late', decision: closeByTime(open) }, closesGate: true };
      work(open, now);
      const decision = getDecision(id);
      const next = decision.next === null ? null : getDecision(decision.next);
      return { result: { is: 'done', decision, next }, closesGate: isByOther(decision) };
    });
    if (done.is === 'done' || (done.is === 'too-late' && before.outcome.is === 'open')) tellIfOwed(id);
    if (done.is === 'done' && done.next !== null) emit(done.next);
    return done;
  }

  function tellIfOwed(id: number): void {
    const mine = rows.owed().find((decision) => decision.id === id);
    if (mine !== undefined) tell(mine);
    else emit(getDecision(id));
  }

  function closeDue(): number {
    const due = rows.due(clock.now());
    let closed = 0;
    for (const { id, persona } of due) {
      const decision = change(persona, () => {
        const open = getDecision(id);
        const result = isOver(open, clock.now()) ? closeByTime(open) : null;
        return { result, closesGate: result !== null };
      });
      if (decision === null) continue; // another process was faster, and reports it
      tell(decision);
      closed += 1;
    }
    return closed;
  }

  return {
    create(newDecision) {
      const { refines, forMs, ...fields } = newDecision;
      const decision = change(newDecision.persona, () => {
        const created = clock.now();
        const before = refines === null ? null : findRefinable(refines, newDecision.persona, created);
        const id = rows.add({
          ...fields,
          iteration: before?.iteration ?? 1,
          mostIterations: before?.mostIterations ?? fields.mostIterations,
          parent: refines,
          guidance: before?.guidance ?? null,
          created,
          expires: forMs === null ? null : created + forMs,
        });
        if (before !== null) {
          const text = `refined as decision ${id}`;
          rows.close(before.id, { is: 'cancelled', at: created, by: newDecision.persona, text }, id, false);
        }
        // The asking persona must not stop unseen; see `clearStamps`.
        clearStamps(toPendingDir(db.path), [newDecision.persona]);
        if (newDecision.blocking) gates.waiting(newDecision.persona, true);
        return { result: getDecision(id), closesGate: false };
      });
      if (refines !== null) emit(getDecision(refines));
      emit(decision);
      return decision;
    },
    respond: (id, reply) =>
      closeDecision(id, (open, at) => {
        const answer = evaluateReply(open, reply);
        const { by } = reply;
        if (answer.is === 'closes') {
          const { choice, text } = answer;
          rows.close(id, { is: 'resolved', at, by, choice, text }, null, true);
          return;
        }
        const { id: _, outcome: __, next: ___, ...same } = open;
        const next = rows.add({
          ...same,
          iteration: open.iteration + 1,
          parent: id,
          guidance: answer.guidance,
          created: at,
          expires: open.expires === null ? null : at + (open.expires - open.created),
        });
        rows.close(id, { is: 'resolved', at, by, choice: null, text: answer.guidance }, next, true);
      }),
    cancel(id, by, text) {
      const canceller = parseDecisionName('by', by);
      const why = text === null ? null : parseDecisionText('reason', text, LIMITS.text);
      return closeDecision(id, ({ persona }, at) => {
        rows.close(id, { is: 'cancelled', at, by: canceller, text: why }, null, !isSameName(canceller, persona));
      });
    },
    get: rows.find,
    list: ({ persona, onlyOpen, limit }) => rows.list(persona, onlyOpen, limit),
    closeDue,
    reconcile() {
      mendGates();
      closeDue();
      for (const decision of rows.owed()) tell(decision);
    },
    waiting(persona) {
      let id: number | null = null;
      return {
        renew: () =>
          runTransaction(db, () => {
            id = rows.wait(id, persona, clock.now() + WAIT_LAPSES_MS);
            gates.waiting(persona, true);
          }),
        end() {
          try {
            runTransaction(db, () => {
              if (!rows.endWait(id, persona, clock.now())) gates.waiting(persona, false);
            });
          } catch (error) {
            log.warn(`${persona} may be shown as waiting until the mark expires: ${formatError(error)}`);
          }
        },
      };
    },
    nextDue: rows.nextDue,
    reap: (before) => rows.reap(before),
  };

  /** @throws Fault `usage` */
  function findRefinable(id: number, persona: string, now: Instant): Decision {
    const decision = getDecision(id);
    if (decision.persona !== persona)
      throw createRefusal(`decision ${id} was asked by ${decision.persona}, not by ${persona}`);
    if (decision.outcome.is !== 'open')
      throw createRefusal(`decision ${id} is ${decision.outcome.is}, so it cannot be refined`);
    if (isOver(decision, now)) throw createRefusal(`decision ${id} has expired, so it cannot be refined`);
    return decision;
  }
}

/** Whether somebody else than the persona closed the decision. A persona that settles its own question has asked nobody. */
function isByOther({ persona, outcome }: Decision): boolean {
  if (outcome.is === 'open' || outcome.is === 'timed-out') return true;
  return outcome.by === null || !isSameName(outcome.by, persona);
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Poll interval in milliseconds, which is the largest delay of an answer. A wait needs only the database. */
const POLL_MS = 250;

export type DecisionWaitResult =
  | { readonly is: 'closed'; readonly decision: Decision }
  /** The limit passed, or `signal` was aborted; the decision is still open. */
  | { readonly is: 'limit' | 'stopped'; readonly decision: Decision }
  | { readonly is: 'none' };

interface DecisionWaitOptions {
  readonly decisions: Pick<Decisions, 'get' | 'closeDue' | 'waiting'>;
  readonly clock: Clock;
  /** In milliseconds; null: as long as the decision is open. */
  readonly limitMs: number | null;
  readonly signal: AbortSignal;
  /**
   * Resolves when a decision may have changed, after `ms`, or when the signal aborts. Without it the database is read every
   * `POLL_MS`.
   */
  readonly untilChanged?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Waits until any process closes a decision. Meanwhile its persona is marked as waiting. */
export async function waitForDecision(id: number, options: DecisionWaitOptions): Promise<DecisionWaitResult> {
  const { decisions, clock, limitMs, signal, untilChanged } = options;
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
      const left = limitMs === null ? Number.POSITIVE_INFINITY : limitMs - (now - from);
      if (left <= 0) return { is: 'limit', decision };
      if (untilChanged === undefined) await clock.sleep(Math.min(POLL_MS, left), signal);
      else await untilChanged(Math.min(RENEW_WAIT_MS, left), signal);
    }
  } finally {
    marked?.end();
  }
}
