import { createInboxPoller, type InboxPoller, type InboxPollerOptions, type PollRequest } from './inbox-poller.ts';
import { createPendingList, type PendingListAnswer } from './pending-list.ts';
import type { Watcher } from './watcher.ts';

export interface SchedulerOptions extends InboxPollerOptions {
  /** Ask the pending list once per tick and poll only inboxes whose count changed. */
  readonly fastPath: boolean;
  /** How long to hold the pending list open instead of sleeping, where source and server support it; null: never. */
  readonly holdMs: number | null;
}

/**
 * The scheduler of one source. It makes one pending request per tick and bounded concurrent polls. No persona waits for
 * another.
 */
export interface Scheduler {
  /**
   * Runs until the signal aborts.
   * @throws Fault what `onPolled` threw.
   */
  run(watchers: readonly Watcher[], abort: AbortSignal): Promise<void>;
  /**
   * Begins a tick now. Pokes that arrive before the tick begins are merged. `force`: poll every inbox, whatever the
   * list says.
   */
  poke(force: boolean): void;
  /** Polls one inbox now. */
  wake(address: string): void;
  /**
   * Restarts all requests after an interruption. Requests under way may wait on a dead connection, so they are
   * cancelled and not counted as failures. The source drops its connections, waits after failures end, and every inbox
   * is polled now.
   */
  renew(): void;
}

/** How long the first polls wait for the pending list, so that arming never hangs on it. */
const ARM_WAIT_MS = 250;
/** Pokes within this many milliseconds make one tick. */
const COALESCE_MS = 5;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { source, clock } = options;
  const pending = createPendingList(options);
  let inboxes: InboxPoller | null = null;
  let abort: AbortSignal = AbortSignal.abort();
  /** Cancels requests to the source at the next interruption and at the end. */
  let cutting = new AbortController();
  let poked: PollRequest = 'no';
  let ring: () => void = () => {};
  /** Ends the current wait in time for an inbox that fails, however long the list is held. */
  let hurry: () => void = () => {};

  /** Merges an earlier request with the pokes that arrived since. */
  function takeRequest(before: PollRequest = 'no'): PollRequest {
    const request = before === 'all' || poked === 'no' ? before : poked;
    poked = 'no';
    return request;
  }

  /** Waits until the next tick is due: the interval is over, the held list answered, or a poke arrived. */
  async function rest(started: number, failing: boolean): Promise<PendingListAnswer | null> {
    const cut = new AbortController();
    ring = () => cut.abort();
    if (poked !== 'no') cut.abort();
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
    return null; // a poke speaks of something later than an answer that was already on its way
  }

  async function runLoop(inboxes: InboxPoller): Promise<void> {
    // The order matters: the poke is taken before the list is asked, so that no answer is older than the poke.
    let started = clock.monotonic();
    const first = pending.ask(cutting.signal);
    let answer = await Promise.race([first, clock.sleep(ARM_WAIT_MS, abort).then(() => null)]);
    let request = takeRequest();
    while (!abort.aborted) {
      await inboxes.tick(answer, request);
      const held = await rest(started, inboxes.isFailing);
      if (abort.aborted) break;
      started = clock.monotonic();
      request = 'no';
      let cut: AbortSignal;
      do {
        cut = cutting.signal;
        request = takeRequest(request);
        answer = held ?? (await pending.ask(cut));
      } while (cut.aborted && !abort.aborted);
    }
    await first;
  }

  return {
    async run(watchers, signal) {
      // A plain signal that follows the given one, because checking a composite signal is slow and every poll checks
      // it.
      const over = new AbortController();
      abort = over.signal;
      cutting = new AbortController();
      const finish = (): void => {
        over.abort();
        cutting.abort();
      };
      if (signal.aborted) finish();
      signal.addEventListener('abort', finish, { once: true });
      const ended = Promise.withResolvers<never>();
      const end = (error: unknown): void => {
        finish();
        ended.reject(error);
      };
      await using poller = createInboxPoller(options, watchers, {
        ...{ abort, end },
        cut: () => cutting.signal,
        failing: () => hurry(),
      });
      inboxes = poller;
      const hints = source.hints?.((address) => this.wake(address));
      const work = [runLoop(poller)];
      if (poller.rescan !== undefined) work.push(poller.rescan());
      try {
        await Promise.race([ended.promise, Promise.all(work)]);
      } finally {
        finish();
        signal.removeEventListener('abort', finish);
        hints?.[Symbol.dispose]();
        await Promise.allSettled(work);
      }
    },
    poke(force) {
      poked = force || poked === 'all' ? 'all' : 'tick';
      ring();
    },
    wake(address) {
      if (!abort.aborted) inboxes?.wake(address);
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
