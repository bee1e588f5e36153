import type { Fact } from '../board/index.ts';
import { exactly, type Fault, faultOf } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Levels, Persona, Source } from '../sources/index.ts';
import { dueFor, type Hint } from './due.ts';
import { createSlots } from './slots.ts';
import type { LookOutcome, Watcher } from './watcher.ts';

export interface RoundsOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  readonly intervalMs: number;
  /** A full look at least after this many skipped ticks. */
  readonly resyncEvery: number;
  /** Ask the pending list once a tick and look only where unread rose. */
  readonly fastPath: boolean;
  /** Hold the pending list open for this long instead of sleeping, where source and server can; null: never. */
  readonly holdMs: number | null;
  /** Looks in flight at once. */
  readonly looksAtOnce: number;
  /** Adopts personas that appear while running; null: the set given at the start is fixed. */
  readonly adopt: {
    readonly everyMs: number;
    /** Opens the watch of a persona that appeared. Null: it can't be opened now; it is tried again on the next rescan. */
    open(persona: Persona): Promise<Watcher | null>;
    /** A name the pending list or a hint spoke of, as a persona. */
    named(address: string): Persona;
    rescanFailed(fault: Fault): void;
  } | null;
  /** Told of every look; throwing a Fault from here ends the rounds with it (a fatal start-up fault). */
  readonly looked: (watcher: Watcher, outcome: LookOutcome) => void;
}

/** The scheduler of one source: one pending call a tick, bounded concurrent looks, no persona waits for another. */
export interface Rounds {
  /** Runs until the signal aborts. @throws Fault what `looked` threw. */
  run(watchers: readonly Watcher[], abort: AbortSignal): Promise<void>;
  /** Begins a tick now. Pokes that arrive before it begins are one. `force`: look at every inbox, whatever pending says. */
  poke(force: boolean): void;
  /** Looks at one inbox now. */
  wake(address: string): void;
}

interface Entry {
  readonly watcher: Watcher;
  unread: number | null;
  skipped: number;
  healthy: boolean;
  /** The look in flight. */
  busy: boolean;
  /** Something happened during the look in flight: look once more. */
  again: boolean;
  /** Offers held events again. */
  retry: Disposable | null;
}

/** What a poke asked of the next tick: nothing, an ordinary tick, or a look at every inbox. */
type Asked = 'no' | 'tick' | 'all';

/** How long the first looks wait for the pending list, so that arming never hangs on it. */
const ARM_WAIT_MS = 250;
/** Bursts of pokes within this time are one tick. */
const COALESCE_MS = 5;
/** After a failed hold: the wait before the next, doubled to the interval. */
const HOLD_RETRY_MS = 2000;

export function createRounds(options: RoundsOptions): Rounds {
  const { source, clock, put } = options;
  const entries = new Map<string, Entry>();
  const slots = createSlots(options.looksAtOnce);
  const opening = new Set<string>();
  const background = new Set<Promise<void>>();
  let abort: AbortSignal = AbortSignal.abort();
  let end: (error: unknown) => void = () => {};
  let poked: Asked = 'no';
  let ring: () => void = () => {};
  let cursor: string | null = null;
  let holdFailures = 0;
  let pendingPause = 0;

  function track(work: Promise<void>): void {
    const guarded = work.catch((error: unknown) => end(error)).finally(() => background.delete(guarded));
    background.add(guarded);
  }

  async function look(entry: Entry): Promise<void> {
    if (entry.busy) {
      entry.again = true;
      return;
    }
    entry.busy = true;
    try {
      do {
        entry.again = false;
        entry.skipped = 0;
        const slow = !entry.healthy && entry.watcher.state.arming === 'armed';
        const outcome = await entry.watcher.look((run) => slots.run(slow, run), abort);
        if (outcome.is === 'stopped') return;
        entry.healthy = outcome.is === 'healthy';
        options.looked(entry.watcher, outcome);
        retryLater(entry);
      } while (entry.again && !abort.aborted);
    } finally {
      entry.busy = false;
    }
  }

  /** Held events are offered again on a schedule of their own, however long the interval is. */
  function retryLater(entry: Entry): void {
    entry.retry?.[Symbol.dispose]();
    const at = entry.watcher.retryAt;
    entry.retry = at === null || abort.aborted ? null : clock.after(Math.max(0, at - clock.now()), () => track(look(entry)));
  }

  function consider(entry: Entry, hint: Hint, asked: Asked): void {
    const { watcher } = entry;
    // A look that still hangs is not doubled by the interval, only by a poke: what it asked for may be later news.
    if (entry.busy && asked === 'no') return;
    const armed = watcher.state.arming === 'armed';
    const pace = { armed, healthy: entry.healthy, retryAt: watcher.retryAt, unread: entry.unread, skipped: entry.skipped };
    const due = dueFor(pace, hint, clock.now(), options.resyncEvery, asked === 'all');
    entry.unread = hint.is === 'unread' ? hint.n : null;
    if (due !== null) {
      track(look(entry));
      return;
    }
    entry.skipped += 1;
    if (!entry.busy) track(watcher.beat(abort));
  }

  /** One pending answer, or null: none to be had, so every inbox is looked at (the baseline of Kijito spec 9). */
  async function pendingOnce(): Promise<Levels | null> {
    if (!options.fastPath || source.pending === undefined) return null;
    if (pendingPause > 0) {
      pendingPause -= 1;
      return null;
    }
    try {
      return await source.pending.once(abort);
    } catch (error) {
      const fault = faultOf(error, { is: 'source', key: source.id });
      // A server without the endpoint is asked again only at the pace of the resync floor.
      if (fault.code === 'not-found') pendingPause = options.resyncEvery;
      return null;
    }
  }

  function tick(levels: Levels | null, asked: Asked): void {
    if (abort.aborted) return;
    cursor = levels?.cursor ?? cursor;
    for (const [address, entry] of entries) {
      if (levels === null) {
        consider(entry, { is: 'no-answer' }, asked);
        continue;
      }
      const level = levels.of.get(address) ?? { unread: exactly(0), urgent: exactly(0) };
      put({ is: 'counted', at: levels.at, persona: entry.watcher.persona.id, unread: level.unread, urgent: level.urgent });
      consider(entry, level.unread.is === 'unknown' ? { is: 'no-answer' } : { is: 'unread', n: level.unread.n }, asked);
    }
    for (const address of levels?.of.keys() ?? []) if (!entries.has(address)) adopt(address);
  }

  function adopt(address: string): void {
    if (options.adopt === null || entries.has(address) || opening.has(address)) return;
    opening.add(address);
    const { open, named } = options.adopt;
    track(
      open(named(address))
        .then((watcher) => {
          if (watcher !== null) track(look(enter(watcher)));
        })
        .finally(() => opening.delete(address)),
    );
  }

  function enter(watcher: Watcher): Entry {
    const entry: Entry = { watcher, unread: null, skipped: 0, healthy: true, busy: false, again: false, retry: null };
    entries.set(watcher.persona.address, entry);
    return entry;
  }

  async function rescan(from: NonNullable<RoundsOptions['adopt']>): Promise<void> {
    while (!abort.aborted) {
      await clock.sleep(from.everyMs, abort);
      if (abort.aborted) return;
      try {
        for (const persona of await source.personas(abort)) adopt(persona.address);
      } catch (error) {
        if (!abort.aborted) from.rescanFailed(faultOf(error, { is: 'source', key: source.id }));
      }
    }
  }

  /** Sleeps until the next tick is due: the interval, a poke, or the hold's answer. */
  async function rest(started: number): Promise<Levels | null> {
    const cut = new AbortController();
    const stop = AbortSignal.any([abort, cut.signal]);
    ring = () => cut.abort();
    if (poked !== 'no') cut.abort();
    let answer: Levels | null = null;
    const hold = source.pending?.hold;
    if (hold !== undefined && options.holdMs !== null && options.fastPath && cursor !== null) {
      if (holdFailures > 0) await clock.sleep(Math.min(HOLD_RETRY_MS * 2 ** (holdFailures - 1), options.intervalMs), stop);
      try {
        if (!stop.aborted) answer = await hold(cursor, options.holdMs, stop);
        holdFailures = 0;
      } catch {
        // Falls back to the interval: the next tick asks `once`, whose failure is the one that counts.
        if (!stop.aborted) holdFailures += 1;
      }
    } else {
      await clock.sleep(Math.max(0, started + options.intervalMs - clock.monotonic()), stop);
    }
    ring = () => {};
    if (poked !== 'no' && !abort.aborted) await clock.sleep(COALESCE_MS, abort);
    return answer;
  }

  async function loop(): Promise<void> {
    const first = pendingOnce();
    const early = await Promise.race([first, clock.sleep(ARM_WAIT_MS, abort).then(() => null)]);
    let held: Levels | null = early;
    let answered = true;
    while (!abort.aborted) {
      const started = clock.monotonic();
      const asked = poked;
      poked = 'no';
      tick(answered ? held : await pendingOnce(), asked);
      held = await rest(started);
      answered = held !== null;
    }
  }

  return {
    async run(watchers, signal) {
      const failure = new AbortController();
      abort = AbortSignal.any([signal, failure.signal]);
      const ended = new Promise<never>((_, reject) => {
        end = (error) => {
          failure.abort();
          reject(error);
        };
      });
      for (const watcher of watchers) enter(watcher);
      const hints = source.hints?.((address) => this.wake(address));
      const work = [loop()];
      if (options.adopt !== null) work.push(rescan(options.adopt));
      try {
        await Promise.race([ended, Promise.all(work)]);
      } finally {
        failure.abort();
        hints?.[Symbol.dispose]();
        for (const entry of entries.values()) entry.retry?.[Symbol.dispose]();
        await Promise.allSettled([...work, ...background]);
        await Promise.all([...entries.values()].map((entry) => entry.watcher[Symbol.asyncDispose]()));
      }
    },
    poke(force) {
      poked = force || poked === 'all' ? 'all' : 'tick';
      ring();
    },
    wake(address) {
      if (abort.aborted) return;
      const entry = entries.get(address);
      if (entry === undefined) adopt(address);
      else track(look(entry));
    },
  };
}
