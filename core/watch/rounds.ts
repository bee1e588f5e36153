import type { Fact } from '../board/index.ts';
import { exactly } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Level, Levels, Source } from '../sources/index.ts';
import { type AdoptOptions, createAdoption } from './adoption.ts';
import { dueFor, type Hint } from './due.ts';
import { createPendingList } from './pending.ts';
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
  readonly adopt: AdoptOptions | null;
  /**
   * Told what the pending list said on a tick, null for no answer, as soon as the looks that were under way are done; one
   * at a time, in order. It rejects never.
   */
  readonly heard?: (levels: Levels | null, abort: AbortSignal) => Promise<void>;
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
  /**
   * After a gap: whatever is under way may wait on a connection that is dead, so it is cut without a verdict; the source
   * drops its connections, no wait after a failure is kept, and every inbox is looked at now.
   */
  renew(): void;
}

interface Entry {
  readonly watcher: Watcher;
  unread: number | null;
  skipped: number;
  healthy: boolean;
  /** When the last look began, monotonic. */
  lookedAt: number;
  /** The look in flight. */
  busy: boolean;
  /** Something happened during the look in flight: look once more. */
  again: boolean;
  /** Offers held events again. */
  retry: Disposable | null;
}

/** What a poke asked of the next tick: nothing, an ordinary tick, or a look at every inbox. */
type Asked = 'no' | 'tick' | 'all';

const NONE: Level = { unread: exactly(0), urgent: exactly(0) };
/** How long the first looks wait for the pending list, so that arming never hangs on it. */
const ARM_WAIT_MS = 250;
/** How long everything else waits for the looks that were begun because unread rose. */
const LOOKS_FIRST_MS = 5;
/** Bursts of pokes within this time are one tick. */
const COALESCE_MS = 5;

export function createRounds(options: RoundsOptions): Rounds {
  const { source, clock, put } = options;
  const entries = new Map<string, Entry>();
  const slots = createSlots(options.looksAtOnce);
  const pending = createPendingList(options);
  const background = new Set<Promise<void>>();
  let abort: AbortSignal = AbortSignal.abort();
  /** Cuts what asks the source: with the next gap, and at the end. */
  let cutting = new AbortController();
  let end: (error: unknown) => void = () => {};
  let poked: Asked = 'no';
  let isHearing = false;
  let hearing: Promise<void> = Promise.resolve();
  let ring: () => void = () => {};
  /** Has the rest under way end in time for an inbox that fails, however long the list is held. */
  let hurry: () => void = () => {};

  const adoption = options.adopt === null ? null : createAdoption(source, clock, options.adopt);

  /** `unread`: as the pending list has it, where that is what told of it. */
  function adopt(address: string, unread: number | null = null): void {
    if (adoption === null || entries.has(address)) return;
    track(
      adoption.open(address, (watcher) => {
        const entry = enter(watcher, unread);
        if (!abort.aborted) track(look(entry));
      }),
    );
  }

  function track(work: Promise<void>): void {
    const done = (): void => void background.delete(guarded);
    const guarded = work.then(done, (error: unknown) => {
      done();
      end(error);
    });
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
        entry.lookedAt = clock.monotonic();
        entry.retry?.[Symbol.dispose]();
        const slow = !entry.healthy;
        const outcome = await entry.watcher.look((run) => slots.run(slow, run), cutting.signal, abort);
        if (outcome.is === 'stopped') continue; // the end, or a gap, after which every inbox is looked at
        entry.healthy = outcome.is === 'healthy';
        if (!entry.healthy) hurry();
        options.looked(entry.watcher, outcome);
        retryLater(entry);
      } while (entry.again && !abort.aborted);
    } finally {
      entry.busy = false;
    }
  }

  /** Held events are offered again, and what is missing is asked for again, on schedules of their own (D2). */
  function retryLater(entry: Entry): void {
    entry.retry?.[Symbol.dispose]();
    const at = entry.watcher.retryAt ?? entry.watcher.walkAt;
    entry.retry =
      at === null || abort.aborted ? null : clock.after(Math.max(0, at - clock.now()), () => track(look(entry)));
  }

  /** True when a look begins now, which will say more than a count. */
  function consider(entry: Entry, hint: Hint, asked: Asked): boolean {
    const { watcher } = entry;
    // A look that still hangs is not doubled by the interval, only by a poke: what it asked for may be later news.
    if (entry.busy && asked === 'no') {
      // What rose meanwhile may have come after its answer, and a held list does not say it twice.
      if (hint.is === 'unread' && hint.n > (entry.unread ?? 0)) {
        entry.again = true;
        entry.unread = hint.n;
      }
      return false;
    }
    const armed = watcher.state.arming === 'armed';
    const recent = asked === 'no' && clock.monotonic() - entry.lookedAt < options.intervalMs / 2;
    const { healthy, unread, skipped } = entry;
    const pace = { armed, healthy, recent, retryAt: watcher.retryAt, unread, skipped };
    const due = dueFor(pace, hint, clock.now(), options.resyncEvery, asked === 'all');
    entry.unread = hint.is === 'unread' ? hint.n : null;
    if (due !== null) {
      track(look(entry));
      return true;
    }
    entry.skipped += 1;
    const beat = entry.busy ? null : watcher.beat(abort);
    if (beat !== null) track(beat.then(() => retryLater(entry)));
    return false;
  }

  /**
   * Looks where unread rose at once, and sees to everything else when those looks are back: their answers are what
   * somebody waits for. Not for long, since a look may hang.
   */
  async function tick(levels: Levels | null, asked: Asked): Promise<void> {
    const risen = levels === null ? [] : [...entries].filter(([address, entry]) => rose(entry, levels.of.get(address)));
    const considered = new Set(risen.map(([, entry]) => entry));
    const counted = risen.flatMap(([address, entry]) => considerBy(levels, address, entry, asked));
    if (risen.length > 0) await Promise.race([...background, clock.sleep(LOOKS_FIRST_MS, abort)]);
    if (abort.aborted) return;
    for (const [address, entry] of entries) {
      if (!considered.has(entry)) counted.push(...considerBy(levels, address, entry, asked));
    }
    for (const [address, { unread }] of levels?.of ?? []) adopt(address, unread.is === 'unknown' ? null : unread.n);
    for (const fact of counted) put(fact);
    const { heard } = options;
    if (heard === undefined || isHearing) return; // what is slow to hear misses a tick: it is no queue
    isHearing = true;
    hearing = Promise.allSettled([...background])
      .then(() => (abort.aborted ? undefined : heard(levels, abort)))
      .finally(() => {
        isHearing = false;
      });
  }

  function rose(entry: Entry, level: Level | undefined): boolean {
    return level !== undefined && level.unread.is !== 'unknown' && level.unread.n > (entry.unread ?? 0);
  }

  /** What the pending list says of an inbox that is not looked at. */
  function considerBy(levels: Levels | null, address: string, entry: Entry, asked: Asked): readonly Fact[] {
    if (levels === null) {
      consider(entry, { is: 'no-answer' }, asked);
      return [];
    }
    const { unread, urgent } = levels.of.get(address) ?? NONE;
    const hint: Hint = unread.is === 'unknown' ? { is: 'no-answer' } : { is: 'unread', n: unread.n };
    if (consider(entry, hint, asked)) return [];
    return [{ is: 'counted', at: levels.at, persona: entry.watcher.persona.id, unread, urgent }];
  }

  function enter(watcher: Watcher, unread: number | null): Entry {
    const entry: Entry = {
      watcher,
      unread,
      skipped: 0,
      healthy: true,
      lookedAt: 0,
      busy: false,
      again: false,
      retry: null,
    };
    entries.set(watcher.persona.address, entry);
    return entry;
  }

  /** What was asked before, and since. */
  function takeAsked(before: Asked = 'no'): Asked {
    const asked = before === 'all' || poked === 'no' ? before : poked;
    poked = 'no';
    return asked;
  }

  /** Until the next tick is due: the interval, the answer of the held list, or a poke. */
  async function rest(started: number): Promise<Levels | null> {
    const cut = new AbortController();
    ring = () => cut.abort();
    if (poked !== 'no') cut.abort();
    const failing = [...entries.values()].some((entry) => !entry.healthy);
    let late: Disposable | null = null;
    hurry = () => {
      if (failing || options.holdMs === null) return;
      late ??= clock.after(Math.max(0, started + options.intervalMs - clock.monotonic()), () => cut.abort());
    };
    const answer = await pending.rest(started + options.intervalMs, failing, AbortSignal.any([abort, cut.signal]));
    ring = () => {};
    hurry = () => {};
    (late as Disposable | null)?.[Symbol.dispose]();
    if (poked === 'no') return answer;
    await clock.sleep(COALESCE_MS, abort);
    return null; // a poke speaks of later news than an answer that was on its way
  }

  async function loop(): Promise<void> {
    // In order: what a poke asked is taken before the list is asked, so that no answer is older than the poke.
    let started = clock.monotonic();
    const first = pending.ask(cutting.signal);
    let levels = await Promise.race([first, clock.sleep(ARM_WAIT_MS, abort).then(() => null)]);
    let asked = takeAsked();
    while (!abort.aborted) {
      await tick(levels, asked);
      const held = await rest(started);
      if (abort.aborted) break;
      started = clock.monotonic();
      asked = 'no';
      let cut: AbortSignal;
      do {
        cut = cutting.signal;
        asked = takeAsked(asked);
        levels = held ?? (await pending.ask(cut));
      } while (cut.aborted && !abort.aborted);
    }
    await first;
  }

  return {
    async run(watchers, signal) {
      // A signal of our own that follows the given one: asking a composite signal is dear, and every look asks.
      const over = new AbortController();
      abort = over.signal;
      cutting = new AbortController();
      const finish = (): void => {
        over.abort();
        cutting.abort();
      };
      if (signal.aborted) finish();
      signal.addEventListener('abort', finish, { once: true });
      const ended = new Promise<never>((_, reject) => {
        end = (error) => {
          finish();
          reject(error);
        };
      });
      for (const watcher of watchers) enter(watcher, null);
      const hints = source.hints?.((address) => this.wake(address));
      const work = [loop()];
      const cut = (): AbortSignal => cutting.signal;
      if (adoption !== null) work.push(adoption.rescan((address) => adopt(address), cut, abort));
      try {
        await Promise.race([ended, Promise.all(work)]);
      } finally {
        finish();
        signal.removeEventListener('abort', finish);
        hints?.[Symbol.dispose]();
        for (const entry of entries.values()) entry.retry?.[Symbol.dispose]();
        await Promise.allSettled(work);
        while (background.size > 0) await Promise.allSettled([...background]);
        await hearing;
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
    renew() {
      const before = cutting;
      cutting = new AbortController();
      if (abort.aborted) cutting.abort();
      pending.renew();
      this.poke(true);
      before.abort();
      source.reset?.();
    },
  };
}
