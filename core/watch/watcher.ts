import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import { Fault, faultOf } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Sink } from '../sinks/index.ts';
import type { Hole, Level, Look, Persona, Source } from '../sources/index.ts';
import { retryDelay } from './due.ts';
import { urgentAmong } from './level.ts';
import { beatIsDue } from './offer.ts';
import { type Rules, type Saved, sameSaved, savedOf, type WatchState } from './state.ts';
import { type Input, step } from './step.ts';

/** Keeps what a watch remembers when its sink does not: the state file of a headless watch. */
export interface Saver {
  /** @throws Fault; the watch goes on and saves again after the next poll. */
  save(saved: Saved): void;
}

export interface WatcherOptions {
  readonly persona: Persona;
  readonly source: Source;
  readonly sink: Sink<Saved>;
  /** Null: nothing is persisted (the sink keeps it, or no state file was given). */
  readonly saver: Saver | null;
  readonly rules: Rules;
  readonly state: WatchState;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  /** Whether the grace time after a gap goes on; asked with each answer. Of `Wakefulness`. */
  readonly settling: () => boolean;
}

/** How one look went, for who schedules: nothing is thrown. */
export type LookOutcome =
  | { readonly is: 'healthy' }
  | { readonly is: 'failed'; readonly fault: Fault }
  | { readonly is: 'stopped' };

/** One persona of one source: looks, steps, hands over, saves. Never two things at once. */
export interface Watcher extends AsyncDisposable {
  readonly persona: Persona;
  /**
   * One full poll. Resolves when its events are with the sink. `abort` ends it without a verdict; `cut` does so only
   * while the inbox has not answered, and aborts with it. `level`: what the pending list said last.
   */
  look(
    placed: <T>(run: () => T | Promise<T>) => T | Promise<T>,
    cut: AbortSignal,
    abort: AbortSignal,
    level?: () => Level | null,
  ): Promise<LookOutcome>;
  /** A tick without a look: only a heartbeat may be due. Null when none is. */
  beat(abort: AbortSignal): Promise<void> | null;
  /** Tells what concerns the whole hive here, in order with all else. False: it was not taken, or it can not be told now. */
  tell(alarm: HiveAlarmEvent, abort: AbortSignal): Promise<boolean>;
  readonly state: WatchState;
  /** Null, or the earliest instant to offer held events again. */
  readonly retryAt: number | null;
  /** Null, or when to look again although nothing may have changed: what is missing may be had then (D2). */
  readonly walkAt: number | null;
  /** Some of what was looked at is with the sink, or goes there next. */
  readonly isTelling: boolean;
}

export function createWatcher(options: WatcherOptions): Watcher {
  const { persona, source, sink, saver, rules, clock, put, settling } = options;
  let state = options.state;
  let lastKept = savedOf(state);
  let refusals = 0;
  let retryAt: number | null = null;
  let walkAt: number | null = null;
  let walks = 0;
  let saveFault: Fault | null = null;
  let turn: Promise<void> = Promise.resolve();
  let waiting = 0;
  /** The last look holds more than its offer did. */
  let more = false;

  /** One transition at a time: what is with the sink is settled before the next input is heard. */
  function advance(input: Input, abort: AbortSignal, settled?: (count: number) => void): Promise<void> {
    const done = waiting === 0 ? transition(input, abort, settled) : turn.then(() => transition(input, abort, settled));
    waiting += 1;
    const leave = (): void => {
      waiting -= 1;
    };
    turn = done.then(leave, leave); // a failure is told to whoever asked; the next one goes on from the same state
    return done;
  }

  /** `settled` hears how many events the sink took; it is not called when there was none to take. */
  async function transition(input: Input, abort: AbortSignal, settled?: (count: number) => void): Promise<void> {
    const out = step(state, input, rules);
    state = out.state;
    if (input.is === 'looked') more = out.more;
    // What is ready to be handed over goes first, unless something is to be saved before it.
    const taking = out.offer.length > 0 && !out.save ? sink.take(out.offer, out.kept, abort) : null;
    for (const fact of out.facts) put(fact);
    if (out.save) keep();
    if (out.offer.length === 0) {
      // Nothing is held, or the inbox can't be read now and its next healthy look offers again.
      if (input.is === 'looked' && retryAt !== null) put({ is: 'told', at: input.at, persona: persona.id, events: [] }); // what was refused is not wanted any more
      if (input.is !== 'beat') retryAt = null;
      if (sink.keeps && out.save && !sameSaved(out.kept, lastKept)) await keepInSink(out.kept, abort);
      return;
    }
    const taken = await (taking ?? sink.take(out.offer, out.kept, abort));
    settled?.((taken.is === 'all' ? out.offer.length : taken.count) - (taken.lost?.indexes.size ?? 0));
    if (taken.is === 'all') lastKept = out.kept;
    refusals = taken.is === 'all' ? 0 : refusals + 1;
    retryAt = taken.is === 'all' || rules.delivery === 'at-most-once' ? null : clock.now() + retryDelay(refusals);
    // A stop of ours is no failed delivery: what was not taken stays above the cursor, in either delivery.
    const obeyed = abort.aborted ? { ...rules, delivery: 'at-least-once' as const } : rules;
    const answer = step(state, { at: clock.now(), is: 'taken', taken }, obeyed);
    state = answer.state;
    for (const fact of answer.facts) put(fact);
    if (answer.save) keep();
  }

  /** A mark that moved without an event, over suppressed mail for example. When refused it goes with the next full look. */
  async function keepInSink(kept: Saved, abort: AbortSignal): Promise<void> {
    const taken = await sink.take([], kept, abort);
    if (taken.is === 'all') lastKept = kept;
    else put({ is: 'held', at: clock.now(), persona: persona.id, fault: taken.fault });
  }

  async function failed(fault: Fault, abort: AbortSignal, isSettling: boolean = settling()): Promise<LookOutcome> {
    walkAt = null;
    await advance({ at: clock.now(), is: 'failed', fault, settling: isSettling }, abort);
    return { is: 'failed', fault };
  }

  /** Rev 6 knows no pin: an inbox that can not be read as a whole is one that can not be read. */
  function missing({ why }: Hole): Fault {
    const after = state.mark.is === 'at' ? state.mark.id : 0;
    return new Fault('shape', `${why}, so mail after ${after} may be missing`, { is: 'persona', key: persona.id });
  }

  function keep(): void {
    if (saver === null) return;
    try {
      saver.save(savedOf(state));
      if (saveFault !== null) put({ is: 'told', at: clock.now(), persona: persona.id, events: [] }); // nothing is held any more
      saveFault = null;
    } catch (error) {
      const fault = faultOf(error, { is: 'persona', key: `state:${persona.id}` });
      if (saveFault?.message !== fault.message) put({ is: 'held', at: clock.now(), persona: persona.id, fault });
      saveFault = fault;
    }
  }

  return {
    persona,
    async look(placed, cut, abort, level = () => null) {
      let look: Look;
      try {
        const looking = placed(() => source.look(persona, state.mark, cut));
        look = looking instanceof Promise ? await looking : looking;
      } catch (error) {
        if (cut.aborted) return { is: 'stopped' };
        const fault = faultOf(error, { is: 'persona', key: persona.id });
        const isSettling = settling();
        if (cut.aborted) return { is: 'stopped' }; // it failed in a gap that was not known yet, and is looked at again
        return await failed(fault, abort, isSettling);
      }
      if (abort.aborted) return { is: 'stopped' };
      settling(); // a gap is told before what came in it
      const hole = look.evidence.is === 'log' ? look.evidence.hole : undefined;
      if (hole !== undefined && rules.delivery === 'at-most-once') return await failed(missing(hole), abort);
      if (look.urgent.is === 'unknown') look = { ...look, urgent: urgentAmong(look.unread, level()) };
      walks = hole === undefined ? 0 : walks + 1;
      walkAt = hole === undefined ? null : clock.now() + retryDelay(walks);
      const { log } = state;
      await advance({ at: look.at, is: 'looked', look }, abort);
      if (state.log !== log) walkAt = clock.now(); // another log: it was looked at from the cursor of the one before
      while (more && retryAt === null && !abort.aborted) {
        await clock.sleep(0, abort); // others have their turn
        await advance({ at: look.at, is: 'looked', look }, abort);
      }
      return { is: 'healthy' };
    },
    beat(abort) {
      const at = clock.now();
      // What is going on, or held, brings its own heartbeat: in order, and not past a sink that refuses.
      if (waiting > 0 || retryAt !== null || !beatIsDue(state, at, rules)) return null;
      return advance({ at, is: 'beat' }, abort);
    },
    async tell(alarm, abort) {
      // Not before `armed`, and not past a sink that refuses: whoever raised it comes again.
      if (state.arming !== 'armed' || state.notices.length > 0 || retryAt !== null) return false;
      let isTold = false;
      await advance({ at: clock.now(), is: 'alarm', alarm }, abort, (count) => {
        isTold = count > 0;
      });
      return isTold;
    },
    get state() {
      return state;
    },
    get retryAt() {
      return retryAt;
    },
    get isTelling() {
      return waiting > 0 || (more && retryAt === null);
    },
    get walkAt() {
      return walkAt;
    },
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}
