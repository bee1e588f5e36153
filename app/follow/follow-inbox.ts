import { type EventFollower, type FollowedLine, type FollowResult, follow } from '../../core/events/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { createGapItem, type FollowItem } from './follow-item.ts';
import type { FollowOutput } from './follow-output.ts';
import { isWaking, type WakeRules } from './wake-rules.ts';

export interface FollowNeeds {
  readonly persona: PersonaId;
  readonly follower: EventFollower;
  /** Of the event file, to be looked at for changes. */
  readonly path: string;
  readonly output: FollowOutput;
  readonly rules: WakeRules;
  /** One turn: so many at the most, then it ends. Null: until it is stopped. */
  readonly once: number | null;
  /** The event that is no longer kept, behind which it begins with what there is. Null: nothing is missing. */
  readonly lostAfter: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps how far the agent has come; null: nothing yet, and what is kept comes from its oldest on. */
  save(upTo: FollowedLine | null): void;
}

export type FollowEnd =
  /** One turn was handed over. */
  | 'handed'
  /** It was stopped, or the wait was over; nothing is missing from what the position says. */
  | 'ended'
  | 'nobody'
  /** One turn could not be handed over. */
  | 'failed';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
/** So many lines that wake nobody are passed before the position is saved. */
const AHEAD = 5000;

/**
 * Hands a persona's waking events to its agent, each at least once and in order, and saves the position after each batch
 * that went over; what fails is tried again after 1, 2, 4 ... 30 s, told once and cleared (Kijito contract b, traps 1-4, 9).
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
  /** Read, waking nobody, with nothing waiting before it. */
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
      // Without it a restart repeats events; without us they would not come at all (trap 37).
      reporter.unsaved(error instanceof Error ? error.message : String(error));
    }
  };

  const saveProgress = (handedItems: readonly FollowItem[]): void => {
    const upTo = handedItems.findLast((item) => item.upTo !== null)?.upTo ?? null;
    // A position that is no longer kept is left behind only once that was told.
    if (upTo !== null || handedItems.some(({ event }) => event.event_id === lostId)) save(upTo);
  };

  /** Until all of a batch went over, or nothing more can. */
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

  /** Until a batch is full or there is no more, which it says. */
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
/** Whoever is called for one turn ends, so it promises nothing. */
const LEFT_FOR_NEXT = 'it was not handed over, nor what is behind it: run hivebar follow again';

/** Says a trouble once, and once that it is over (trap 9). */
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
