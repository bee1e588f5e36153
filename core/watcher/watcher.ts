import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import { type AgentState, Fault, type Instant, toFault } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Sink } from '../sinks/index.ts';
import type { Gap, Persona, PollResult, Source, UnreadCounts } from '../sources/index.ts';
import { isBeatDue } from './batch.ts';
import { countUrgent } from './pending-list.ts';
import { type StepInput, step } from './step.ts';
import {
  isSameSavedState,
  type SavedState,
  toSavedState,
  type WatcherRules,
  type WatcherState,
} from './watcher-state.ts';

/** Saves the state of a watcher whose sink does not save it, for example in the state file of a headless watch. */
export interface Saver {
  /** @throws Fault; the watcher continues and saves again after the next poll. */
  save(saved: SavedState): void;
}

interface WatcherOptions {
  readonly persona: Persona;
  readonly source: Source;
  readonly sink: Sink<SavedState>;
  /** Null: the watcher saves nothing, because the sink does or because no state file was given. */
  readonly saver: Saver | null;
  readonly rules: WatcherRules;
  readonly state: WatcherState;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  /**
   * Whether the grace time after an interruption is running (`InterruptionDetector.isSettling`). Asked with each
   * answer.
   */
  readonly settling: () => boolean;
}

/** How one poll went, for the scheduler. A poll does not throw. */
export type PollOutcome =
  | { readonly is: 'healthy' }
  | { readonly is: 'failed'; readonly fault: Fault }
  | { readonly is: 'stopped' };

/** Watches one persona of one source: it polls, steps, delivers and saves, one thing at a time. */
export interface Watcher extends AsyncDisposable {
  readonly persona: Persona;
  /**
   * Runs one full poll and resolves when its events are with the sink. `abort` ends the poll without a verdict. `cut`
   * does so only while the inbox has not answered, and aborts with `abort`. `counts`: what the pending list said last.
   */
  poll(
    placed: <T>(run: () => T | Promise<T>) => T | Promise<T>,
    cut: AbortSignal,
    abort: AbortSignal,
    counts?: LastCounts,
  ): Promise<PollOutcome>;
  /** Handles a tick without a poll, which can only make a heartbeat due. Null when none is due. */
  beat(abort: AbortSignal): Promise<void> | null;
  /**
   * Delivers an alarm about the whole hive, in order with all other events. False: it was refused or cannot be
   * delivered now.
   */
  deliverAlarm(alarm: HiveAlarmEvent, abort: AbortSignal): Promise<boolean>;
  /** Hears what the agent does, as the board chose it. Resolves when an event about it is with the sink; null: none is due. */
  hearAgent(state: AgentState, abort: AbortSignal): Promise<void> | null;
  readonly state: WatcherState;
  /** The earliest instant to offer held events again, or null. */
  readonly retryAt: number | null;
  /**
   * When to poll again although nothing may have changed, because missing messages may be available then (D2); or null.
   */
  readonly walkAt: number | null;
  /** Some events of the last poll are with the sink, or go there next. */
  readonly isDelivering: boolean;
  /** Resolves when nothing waits for the sink any more, at once when nothing does. Never rejects. */
  waitForAll(): Promise<void>;
}

interface LastCounts {
  readonly level: UnreadCounts | null;
}

const NO_COUNTS: LastCounts = { level: null };

export function createWatcher(options: WatcherOptions): Watcher {
  return new InboxWatcher(options);
}

/** A class, because its methods are made once for all of some thousand personas. */
class InboxWatcher implements Watcher {
  readonly #needs: Omit<WatcherOptions, 'state'>;
  #state: WatcherState;
  #lastSaved: SavedState;
  /** The sink stored the last state that it was given. */
  #hasSaved = true;
  #refusals = 0;
  #retryAt: number | null = null;
  #walkAt: number | null = null;
  #walks = 0;
  #saveFault: Fault | null = null;
  /** The last transition that had to wait; null: none runs. */
  #turn: Promise<void> | null = null;
  #waiting = 0;
  /** The last poll result holds more than its batch carried. */
  #hasMore = false;

  constructor({ state, ...needs }: WatcherOptions) {
    this.#needs = needs;
    this.#state = state;
    this.#lastSaved = toSavedState(state);
  }

  get persona(): Persona {
    return this.#needs.persona;
  }

  get state(): WatcherState {
    return this.#state;
  }

  get retryAt(): number | null {
    return this.#retryAt;
  }

  get walkAt(): number | null {
    return this.#walkAt;
  }

  get isDelivering(): boolean {
    return this.#waiting > 0 || (this.#hasMore && this.#retryAt === null);
  }

  async poll(
    placed: <T>(run: () => T | Promise<T>) => T | Promise<T>,
    cut: AbortSignal,
    abort: AbortSignal,
    counts: LastCounts = NO_COUNTS,
  ): Promise<PollOutcome> {
    const { persona, source, rules, clock, settling } = this.#needs;
    let pollResult: PollResult;
    try {
      const polling = placed(() => source.poll(persona, this.#state.checkpoint, cut));
      pollResult = polling instanceof Promise ? await polling : polling;
    } catch (error) {
      if (cut.aborted) return { is: 'stopped' };
      const fault = toFault(error, { is: 'persona', key: persona.id });
      const isSettling = settling();
      if (cut.aborted) return { is: 'stopped' }; // it failed in an interruption that was not known yet, and is polled again
      return await this.#stepFailed(fault, abort, isSettling);
    }
    if (abort.aborted) return { is: 'stopped' };
    settling(); // detects an interruption before the poll result is processed
    const gap = pollResult.evidence.is === 'log' ? pollResult.evidence.gap : undefined;
    if (gap !== undefined && rules.delivery === 'at-most-once')
      return await this.#stepFailed(this.#createMissingFault(gap), abort);
    if (pollResult.urgent.is === 'unknown')
      pollResult = { ...pollResult, urgent: countUrgent(pollResult.unread, counts.level) };
    this.#walks = gap === undefined ? 0 : this.#walks + 1;
    this.#walkAt = gap === undefined ? null : clock.now() + computeRetryDelay(this.#walks);
    const { log } = this.#state;
    await this.#advance({ at: pollResult.at, is: 'polled', pollResult }, abort);
    if (this.#state.log !== log) this.#walkAt = clock.now(); // the request used the cursor of the old log
    while (this.#hasMore && this.#retryAt === null && !abort.aborted) {
      await clock.sleep(0, abort); // let other watchers run
      await this.#advance({ at: pollResult.at, is: 'polled', pollResult }, abort);
    }
    if (pollResult.delivered !== undefined && this.#isSaved()) pollResult.delivered();
    return HEALTHY;
  }

  /** Whether a restart would go on from here. */
  #isSaved(): boolean {
    return !this.#hasMore && this.#retryAt === null && this.#hasSaved;
  }

  beat(abort: AbortSignal): Promise<void> | null {
    const { rules, clock } = this.#needs;
    if (rules.heartbeatMs === null) return null;
    const at = clock.now();
    // A running or held batch brings its own heartbeat, in order, and not past a sink that refuses.
    if (this.#waiting > 0 || this.#retryAt !== null || !isBeatDue(this.#state, at, rules)) return null;
    return this.#advance({ at, is: 'beat' }, abort);
  }

  async deliverAlarm(alarm: HiveAlarmEvent, abort: AbortSignal): Promise<boolean> {
    // Not before `armed`, and not past a sink that refuses. Whoever raised the alarm tries again.
    if (this.#state.arming !== 'armed' || this.#state.notices.length > 0 || this.#retryAt !== null) return false;
    let isDelivered = false;
    await this.#advance({ at: this.#needs.clock.now(), is: 'alarm', alarm }, abort, (count) => {
      isDelivered = count > 0;
    });
    return isDelivered;
  }

  hearAgent(state: AgentState, abort: AbortSignal): Promise<void> | null {
    const { agent, wait } = this.#state;
    const isAboutWaits = state.is === 'waiting' || wait !== null || agent?.state.is === 'waiting';
    if (!isAboutWaits && this.#waiting === 0) return null;
    return this.#advance({ at: this.#needs.clock.now(), is: 'agent', state, isHeld: false }, abort);
  }

  async waitForAll(): Promise<void> {
    while (this.#turn !== null) await this.#turn;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#needs.sink[Symbol.asyncDispose]();
  }

  /** Runs one transition at a time: the sink acknowledges a batch before the next input is processed. */
  #advance(input: StepInput, abort: AbortSignal, onAcknowledged?: (count: number) => void): Promise<void> {
    const done =
      this.#turn === null
        ? this.#transition(input, abort, onAcknowledged)
        : this.#turn.then(() => this.#transition(input, abort, onAcknowledged));
    this.#waiting += 1;
    const leave = (): void => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#turn = null;
    };
    this.#turn = done.then(leave, leave); // a failure reaches the caller, and the next transition continues from the same state
    return done;
  }

  /** `onAcknowledged` receives how many events the sink accepted. It is not called when there were no events. */
  async #transition(input: StepInput, abort: AbortSignal, onAcknowledged?: (count: number) => void): Promise<void> {
    const { persona, sink, rules, clock, put } = this.#needs;
    const isHeld = this.#retryAt !== null; // a transition before this one may have changed that
    const out = step(this.#state, input.is === 'agent' ? { ...input, isHeld } : input, rules);
    this.#state = out.state;
    if (input.is === 'polled') this.#hasMore = out.more;
    // A batch goes to the sink first, unless the state must be saved before it.
    const ackPromise = out.batch.length > 0 && !out.save ? sink.take(out.batch, out.saved, abort) : null;
    // The tray process writes the lines of this turn now. Surfaces come after them.
    if (ackPromise !== null) await undefined;
    for (const fact of out.facts) put(fact);
    if (out.save) this.#saveState();
    if (out.batch.length === 0) {
      // No events are held, or the inbox cannot be read now and its next healthy poll offers them again.
      // The refused events are not needed any more.
      if (input.is === 'polled' && this.#retryAt !== null)
        put({ is: 'delivered', at: input.at, persona: persona.id, events: [] });
      if (input.is !== 'beat' && input.is !== 'agent') this.#retryAt = null;
      if (sink.savesState && out.save && !isSameSavedState(out.saved, this.#lastSaved))
        await this.#saveInSink(out.saved, abort);
      return;
    }
    const ack = await (ackPromise ?? sink.take(out.batch, out.saved, abort));
    onAcknowledged?.((ack.is === 'all' ? out.batch.length : ack.count) - (ack.lost?.indexes.size ?? 0));
    this.#hasSaved = ack.is === 'all';
    if (ack.is === 'all') this.#lastSaved = out.saved;
    this.#refusals = ack.is === 'all' ? 0 : this.#refusals + 1;
    this.#retryAt =
      ack.is === 'all' || rules.delivery === 'at-most-once' ? null : clock.now() + computeRetryDelay(this.#refusals);
    // A stop of our own is no failed delivery, so unacknowledged events stay above the cursor in both modes.
    const obeyed = abort.aborted ? { ...rules, delivery: 'at-least-once' as const } : rules;
    const answer = step(this.#state, { at: clock.now(), is: 'taken', ack }, obeyed);
    this.#state = answer.state;
    for (const fact of answer.facts) put(fact);
    if (answer.save) this.#saveState();
  }

  /**
   * Saves a checkpoint that moved without an event, past suppressed mail for example. The next full poll retries a
   * refusal.
   */
  async #saveInSink(saved: SavedState, abort: AbortSignal): Promise<void> {
    const { persona, sink, clock, put } = this.#needs;
    const ack = await sink.take([], saved, abort);
    this.#hasSaved = ack.is === 'all';
    if (ack.is === 'all') this.#lastSaved = saved;
    else put({ is: 'held', at: clock.now(), persona: persona.id, fault: ack.fault });
  }

  async #stepFailed(
    fault: Fault,
    abort: AbortSignal,
    isSettling: boolean = this.#needs.settling(),
  ): Promise<PollOutcome> {
    this.#walkAt = null;
    await this.#advance({ at: this.#needs.clock.now(), is: 'failed', fault, settling: isSettling }, abort);
    return { is: 'failed', fault };
  }

  /** Rev 6 knows no pin, so an inbox that cannot be read completely counts as failed. */
  #createMissingFault({ why }: Gap): Fault {
    const { checkpoint } = this.#state;
    const after = checkpoint.is === 'at' ? checkpoint.id : 0;
    return new Fault('shape', `${why}, so mail after ${after} may be missing`, {
      is: 'persona',
      key: this.#needs.persona.id,
    });
  }

  #saveState(): void {
    const { persona, saver, clock, put } = this.#needs;
    if (saver === null) return;
    try {
      saver.save(toSavedState(this.#state));
      if (this.#saveFault !== null) put({ is: 'delivered', at: clock.now(), persona: persona.id, events: [] }); // nothing is held any more
      this.#saveFault = null;
    } catch (error) {
      const fault = toFault(error, { is: 'persona', key: `state:${persona.id}` });
      if (this.#saveFault?.message !== fault.message) put({ is: 'held', at: clock.now(), persona: persona.id, fault });
      this.#saveFault = fault;
    }
  }
}

const HEALTHY: PollOutcome = { is: 'healthy' };

/** What the scheduler remembers of one persona between ticks. */
export interface Pace {
  readonly armed: boolean;
  /** The last poll was healthy. */
  readonly healthy: boolean;
  /** The last poll began less than half an interval ago, and nobody asked for another. */
  readonly recent: boolean;
  /** The sink refused events. They are not offered again before this instant. */
  readonly retryAt: Instant | null;
  /** The inbox was skipped so often, or for so long, that it is polled whatever the list says. */
  readonly overdue: boolean;
}

/**
 * What an answer of the pending list says about one inbox. `unknown`: nothing. `doubtful`: its counts are unchanged,
 * although something happened that no count explains.
 */
export type CountsChange = 'unknown' | 'changed' | 'doubtful' | 'same';

type PollReason = 'arm' | 'failing' | 'retry' | 'fallback' | 'changed' | 'doubt' | 'floor' | 'asked';

/**
 * Returns why this tick polls the inbox of a persona, or null to skip the inbox (Kijito spec 9 and 14.2).
 *
 * The inbox is polled to arm, while it fails, to offer held events again, and without an answer of the pending list. It
 * is also polled when its counts changed or may hide a change. An overdue inbox is polled in any case, so that a wrong
 * count can only add latency. An answered hold makes early ticks. They do not poll a failing inbox again, because a
 * short outage would then be reported as a long one.
 */
export function findPollReason(pace: Pace, counts: CountsChange, at: Instant, isRequested: boolean): PollReason | null {
  const early = !pace.healthy && pace.recent;
  if (!pace.armed && !early) return 'arm';
  if (pace.retryAt !== null) return at >= pace.retryAt || isRequested ? 'retry' : null;
  if (isRequested) return 'asked';
  if (!pace.healthy && !early) return 'failing';
  if (counts === 'changed') return 'changed';
  if (early) return null;
  if (counts === 'unknown') return 'fallback';
  if (counts === 'doubtful') return 'doubt';
  return pace.overdue ? 'floor' : null;
}

/** Milliseconds to wait before held events are offered again: 1 s, doubled each time up to 30 s. */
export function computeRetryDelay(refusals: number): number {
  return Math.min(1000 * 2 ** Math.max(refusals - 1, 0), 30_000);
}
