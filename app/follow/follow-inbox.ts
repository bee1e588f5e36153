import {
  type Event,
  type EventFollower,
  type FollowedLine,
  type FollowResult,
  follow,
  formatEventJson,
  isAboutAgent,
  toWakeClass,
  type WakeClass,
} from '../../core/events/index.ts';
import { formatIso, type Instant, type PersonaId } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';

interface FollowNeeds {
  readonly persona: PersonaId;
  readonly follower: EventFollower;
  /** Path of the event file, which is watched for changes. */
  readonly path: string;
  readonly output: FollowOutput;
  readonly rules: WakeRules;
  /** Hand over one turn of at most this many events, then end. Null: go on until stopped. */
  readonly once: number | null;
  /**
   * The event after which the file no longer holds what came; following starts with the oldest event that exists. Null: nothing
   * is missing.
   */
  readonly lostAfter: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Saves how far the agent has come. Null: it has nothing yet, so following starts with the oldest stored event. */
  save(upTo: FollowedLine | null): void;
}

export type FollowEnd =
  /** One turn was handed over. */
  | 'handed'
  /** It was stopped, or the wait was over. The saved position is complete. */
  | 'ended'
  | 'nobody'
  /** One turn could not be handed over. */
  | 'failed';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
/** How many lines that wake nobody are skipped before the position is saved. */
const AHEAD = 5000;

/**
 * Hands the waking events of a persona to its agent, in order and each at least once. It saves the position after each batch
 * that was handed over. A failed batch is retried after 1, 2, 4 ... 30 s; the failure is logged once, and its end once (Kijito
 * contract b, traps 1-4, 9).
 * @param stop ends it, also in the middle of a batch
 * @param wait ends only the waiting for events
 * @throws what the follower throws
 */
export async function followInbox(needs: FollowNeeds, stop: AbortSignal, wait: AbortSignal): Promise<FollowEnd> {
  const { persona, follower, path, output, rules, once, clock, log } = needs;
  const most = Math.min(output.atOnce, once ?? output.atOnce);
  const ahead = Math.max(most, output.readsAhead ?? 0);
  const reporter = createReporter(log, once === null ? TRIED_AGAIN : LEFT_FOR_NEXT);
  let waiting: FollowItem[] = [];
  /** The last line that was read and wakes nobody, while no item waits before it. */
  let passed: FollowedLine | null = null;
  let handed = 0;

  const reportMissing = (after: string | null): void => {
    log.warn(`events${after === null ? '' : ` after ${after}`} may be missing: their file was rotated away unread`);
    if (rules.diagnostics) waiting.push(createGapItem(persona, after, clock.now()));
  };
  const note = (followed: Exclude<FollowResult, { is: 'end' }>): void => {
    if (followed.is === 'gap') reportMissing(followed.after);
    else for (const line of followed.lines) noteLine(line);
  };
  const noteLine = (line: FollowedLine): void => {
    const last = waiting.at(-1);
    if (isWaking(line.event, rules)) waiting.push({ event: line.event, raw: line.text, upTo: line });
    else if (last === undefined) passed = line;
    else waiting[waiting.length - 1] = { ...last, upTo: line };
  };
  const save = (upTo: FollowedLine | null): void => {
    try {
      needs.save(upTo);
      reporter.saved();
    } catch (error) {
      // If the position is not saved, a restart repeats events; if following ended, they would not come at all (trap 37).
      reporter.unsaved(error instanceof Error ? error.message : String(error));
    }
  };

  const saveProgress = (handedItems: readonly FollowItem[]): void => {
    const upTo = handedItems.findLast((item) => item.upTo !== null)?.upTo ?? null;
    // A position that the file no longer holds is given up only after the gap was reported.
    if (upTo !== null || handedItems.some(({ event }) => event.event_id === lostId)) save(upTo);
  };

  /** Offers a batch until all of it was handed over or no more can be. */
  async function handOver(batch: readonly FollowItem[]): Promise<FollowEnd> {
    const behind = waiting.length - batch.length;
    let rest = batch;
    for (let failures = 0; ; failures += 1) {
      const answer = await output.take(rest, stop, behind);
      const count = answer.is === 'all' ? rest.length : 'count' in answer ? answer.count : 0;
      if (count > 0) {
        saveProgress(rest.slice(0, count));
        waiting = waiting.slice(count);
        handed += count;
        rest = rest.slice(count);
        failures = 0;
      }
      if (answer.is === 'all' || answer.is === 'some') {
        reporter.over();
        return 'handed';
      }
      if (answer.is !== 'failed') return answer.is === 'nobody' ? 'nobody' : 'ended';
      reporter.failed(answer.why);
      if (once !== null) return 'failed';
      await clock.sleep(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures), stop);
      if (stop.aborted) return 'ended';
    }
  }

  /** Reads until a batch is full. Returns true when it reached the end of the file. */
  function readAhead(): boolean {
    for (let read = 0; waiting.length < ahead && read < AHEAD; ) {
      const followed = follower.next();
      if (followed.is === 'end') return true;
      note(followed);
      read += followed.is === 'lines' ? followed.lines.length : 1;
    }
    return false;
  }

  let lostId: string | null = null;
  if (needs.lostAfter !== null) {
    reportMissing(needs.lostAfter);
    lostId = waiting[0]?.event.event_id ?? null;
    if (lostId === null) save(null);
  }
  const coming = follow(follower, path, AbortSignal.any([stop, wait]));
  try {
    for (;;) {
      const atEnd = readAhead();
      if (passed !== null) save(passed);
      passed = null;
      if (waiting.length > 0) {
        const end = await handOver(waiting.slice(0, most));
        if (end !== 'handed') return end;
        if (once !== null && (output.atOnce > 1 || handed >= once || waiting.length === 0)) return 'handed';
        await clock.sleep(output.pauseMs, stop);
        if (stop.aborted) return 'ended';
        continue;
      }
      if (!atEnd) continue;
      const next = await coming.next();
      if (next.done === true) return 'ended';
      note(next.value);
    }
  } finally {
    await coming.return();
  }
}

const TRIED_AGAIN = 'it is tried again, and nothing behind it is handed over before';
/** With `once` the process ends after one turn, so it promises no retry. */
const LEFT_FOR_NEXT = 'it was not handed over, nor what is behind it: run hivebar follow again';

/** Logs a problem once, and its end once (trap 9). */
function createReporter(log: Log, whatFollows: string) {
  let failing = false;
  let unsaved = false;
  return {
    failed(why: string): void {
      if (!failing) log.warn(`${why}; ${whatFollows}`);
      failing = true;
    },
    over(): void {
      if (failing) log.info('handed over again');
      failing = false;
    },
    unsaved(why: string): void {
      if (!unsaved) log.warn(`the position is not kept, a restart will repeat events: ${why}`);
      unsaved = true;
    },
    saved(): void {
      if (unsaved) log.info('the position is kept again');
      unsaved = false;
    },
  };
}

/** What became of a batch. The first `count` items were handed over; all others are offered again. */
export type FollowAck =
  | { readonly is: 'all' }
  /** At least one item was handed over, and no more fit this time. */
  | { readonly is: 'some'; readonly count: number }
  | { readonly is: 'failed'; readonly count: number; readonly why: string }
  /** The reader is gone for good. */
  | { readonly is: 'nobody' }
  /** `stop` was aborted first. */
  | { readonly is: 'stopped' };

/** One way to wake an agent. */
export interface FollowOutput {
  /** The most items that `take` gets at once. */
  readonly atOnce: number;
  /** Milliseconds between two batches, for a harness that takes no more. */
  readonly pauseMs: number;
  /** How many events are read ahead, for an output that says how many more wait. Default: `atOnce`. */
  readonly readsAhead?: number;
  /**
   * Hands over items in order and stops at the first failure. It never rejects because of the other side. `behind` is the
   * number of items that are read and wait behind these.
   */
  take(items: readonly FollowItem[], stop: AbortSignal, behind: number): Promise<FollowAck>;
}

/** One event on its way to its agent. */
export interface FollowItem {
  readonly event: Event;
  /** The line as it is in the event file. */
  readonly raw: string;
  /**
   * How far the agent has come once it has this event: to the event itself, or to later lines that wake nobody. Null: the event
   * has no place in the file.
   */
  readonly upTo: FollowedLine | null;
}

/**
 * Creates an event of our own which says that events may be missing. It has no place in the file, and the same id each time.
 */
function createGapItem(persona: PersonaId, after: string | null, now: Instant): FollowItem {
  const event = {
    event: 'gap',
    source: 'hivebar',
    ts: formatIso(now),
    persona,
    reason: 'events may be missing: their file was rotated away before it was read',
    after,
    event_id: `${persona}:gap:${after ?? 'begin'}`,
    wake_class: 'diagnostic',
  } as unknown as Event; // a kind that only followers see; they treat it like any unknown kind
  return { event, raw: formatEventJson(event), upTo: null };
}

interface WakeRules {
  /** Whether diagnostic events wake the agent too. */
  readonly diagnostics: boolean;
}

/**
 * Whether an event is worth a turn of its agent (docs/contract/events.md; Kijito contract b, trap 61). Mail that the agent did not
 * write itself is, and so are diagnostics, including every unknown kind. Liveness events never are, nor is what the agent does
 * itself.
 */
export function isWaking(event: Event, { diagnostics }: WakeRules): boolean {
  switch (getWakeClass(event)) {
    case 'mail':
      return !('self' in event && event.self === true);
    case 'diagnostic':
      return diagnostics && !isAboutAgent(event);
    case 'liveness':
      return false;
  }
}

/**
 * Returns the wake class of an event. An older or foreign writer may leave it out or use an unknown one; then the kind decides.
 */
export function getWakeClass({ event, wake_class: declaredClass }: Event): WakeClass {
  const byKind = toWakeClass(event);
  if (byKind !== 'diagnostic') return byKind;
  return declaredClass === 'mail' || declaredClass === 'liveness' ? declaredClass : 'diagnostic';
}
