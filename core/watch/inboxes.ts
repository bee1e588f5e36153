import type { Fact } from '../board/index.ts';
import { exactly } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Level, Levels, Source } from '../sources/index.ts';
import { type AdoptOptions, createAdoption } from './adoption.ts';
import { dueFor } from './due.ts';
import { createSlots } from './slots.ts';
import type { LookOutcome, Watcher } from './watcher.ts';

export interface InboxesOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  readonly intervalMs: number;
  /** A full look at least after this many skipped ticks. */
  readonly resyncEvery: number;
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
  /** Told of a watch that is over, since its persona is not in the source any more. */
  readonly left?: (watcher: Watcher) => void;
}

/** What the looks of one run are subject to. */
export interface Course {
  /** The end. */
  readonly abort: AbortSignal;
  /** Cuts what asks the source: with the next gap, and at the end. */
  cut(): AbortSignal;
  /** An inbox begins to fail. */
  failing(): void;
  /** Ends the run with this error. */
  end(error: unknown): void;
}

/** What a poke asked of the next tick: nothing, an ordinary tick, or a look at every inbox. */
export type Asked = 'no' | 'tick' | 'all';

/** The inboxes of one source while the rounds run: which are looked at on a tick, and how each look goes on. */
export interface Inboxes extends AsyncDisposable {
  /** Looks where unread rose at once, and sees to everything else when those looks are back, or take long. */
  tick(levels: Levels | null, asked: Asked): Promise<void>;
  /** Looks at one inbox now. */
  wake(address: string): void;
  /** Watches what appears in the directory of the source, until the end. Absent where the set is fixed. */
  readonly rescan?: () => Promise<void>;
  /** Whether any inbox fails. */
  readonly isFailing: boolean;
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

const NONE: Level = { unread: exactly(0), urgent: exactly(0) };
/** How long everything else waits for the looks that were begun because unread rose. */
const LOOKS_FIRST_MS = 5;

export function createInboxes(options: InboxesOptions, watchers: readonly Watcher[], course: Course): Inboxes {
  const { source, clock, put, intervalMs, resyncEvery, heard } = options;
  const { abort } = course;
  const entries = new Map<string, Entry>();
  const slots = createSlots(options.looksAtOnce);
  const adoption = options.adopt === null ? null : createAdoption(source, clock, options.adopt);
  const background = new Set<Promise<void>>();
  let isHearing = false;
  let hearing: Promise<void> = Promise.resolve();
  for (const watcher of watchers) enter(watcher, null);

  function enter(watcher: Watcher, unread: number | null): Entry {
    const fresh = { skipped: 0, healthy: true, lookedAt: 0, busy: false, again: false, retry: null };
    const entry: Entry = { watcher, unread, ...fresh };
    entries.set(watcher.persona.address, entry);
    return entry;
  }

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
      course.end(error);
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
        const outcome = await entry.watcher.look((run) => slots.run(slow, run), course.cut(), abort);
        if (outcome.is === 'stopped') continue; // the end, or a gap, after which every inbox is looked at
        entry.healthy = outcome.is === 'healthy';
        if (!entry.healthy) course.failing();
        options.looked(entry.watcher, outcome);
        if (isOver(entry)) return leave(entry);
        retryLater(entry);
      } while (entry.again && !abort.aborted);
    } finally {
      entry.busy = false;
    }
  }

  /** Gone from the source, and nothing is left to be told of it. */
  function isOver({ watcher, healthy, again }: Entry): boolean {
    if (source.isGone?.(watcher.persona) !== true || again) return false;
    return !healthy || (watcher.retryAt === null && !watcher.isTelling);
  }

  function leave({ watcher, retry }: Entry): void {
    retry?.[Symbol.dispose]();
    entries.delete(watcher.persona.address);
    put({ is: 'left', at: clock.now(), persona: watcher.persona.id });
    options.left?.(watcher);
    track(Promise.resolve(watcher[Symbol.asyncDispose]()));
  }

  /** Held events are offered again, and what is missing is asked for again, on schedules of their own (D2). */
  function retryLater(entry: Entry): void {
    entry.retry?.[Symbol.dispose]();
    const at = entry.watcher.retryAt ?? entry.watcher.walkAt;
    entry.retry =
      at === null || abort.aborted ? null : clock.after(Math.max(0, at - clock.now()), () => track(look(entry)));
  }

  /** `hint`: what the pending list counts, null for no answer. True when a look begins now, which will say more than a count. */
  function consider(entry: Entry, hint: number | null, asked: Asked): boolean {
    const { watcher } = entry;
    // A look that still hangs is not doubled by the interval, only by a poke: what it asked for may be later news.
    if (entry.busy && asked === 'no') {
      // What rose meanwhile may have come after its answer, and a held list does not say it twice.
      if (hint !== null && hint > (entry.unread ?? 0)) {
        entry.again = true;
        entry.unread = hint;
      }
      return false;
    }
    const armed = watcher.state.arming === 'armed';
    const recent = asked === 'no' && clock.monotonic() - entry.lookedAt < intervalMs / 2;
    const { healthy, unread, skipped } = entry;
    const pace = { armed, healthy, recent, retryAt: watcher.retryAt, unread, skipped };
    const due = dueFor(pace, hint, clock.now(), resyncEvery, asked === 'all');
    entry.unread = hint;
    if (due !== null) {
      track(look(entry));
      return true;
    }
    entry.skipped += 1;
    const beat = entry.busy ? null : watcher.beat(abort);
    if (beat !== null) track(beat.then(() => retryLater(entry)));
    return false;
  }

  return {
    /** The answers of the looks where unread rose are what somebody waits for. Not for long, since a look may hang. */
    async tick(levels, asked) {
      const considered = new Set<Entry>();
      const counted: Fact[] = [];
      const see = (entry: Entry): void => {
        const level = levels === null ? null : (levels.of.get(entry.watcher.persona.address) ?? NONE);
        const isLooked = consider(entry, level === null ? null : countOf(level), asked);
        if (levels === null || level === null || isLooked) return;
        counted.push({ is: 'counted', at: levels.at, persona: entry.watcher.persona.id, ...level });
      };
      for (const [address, entry] of levels === null ? [] : entries) {
        if ((countOf(levels?.of.get(address)) ?? 0) <= (entry.unread ?? 0)) continue;
        considered.add(entry);
        see(entry);
      }
      if (considered.size > 0) await Promise.race([...background, clock.sleep(LOOKS_FIRST_MS, abort)]);
      if (abort.aborted) return;
      for (const entry of entries.values()) if (!considered.has(entry)) see(entry);
      for (const [address, level] of levels?.of ?? []) adopt(address, countOf(level));
      for (const fact of counted) put(fact);
      if (heard === undefined || isHearing) return; // what is slow to hear misses a tick: it is no queue
      isHearing = true;
      hearing = Promise.allSettled([...background])
        .then(() => (abort.aborted ? undefined : heard(levels, abort)))
        .finally(() => {
          isHearing = false;
        });
    },
    wake(address) {
      const entry = entries.get(address);
      if (entry === undefined) adopt(address);
      else track(look(entry));
    },
    ...(adoption === null ? {} : { rescan: () => adoption.rescan((address) => adopt(address), course.cut, abort) }),
    get isFailing() {
      for (const { healthy } of entries.values()) if (!healthy) return true;
      return false;
    },
    async [Symbol.asyncDispose]() {
      for (const entry of entries.values()) entry.retry?.[Symbol.dispose]();
      while (background.size > 0) await Promise.allSettled([...background]);
      await hearing;
      await Promise.all([...entries.values()].map((entry) => entry.watcher[Symbol.asyncDispose]()));
    },
  };
}

/** What a level counts as unread, null where it does not say. */
function countOf(level: Level | undefined): number | null {
  return level === undefined || level.unread.is === 'unknown' ? null : level.unread.n;
}
