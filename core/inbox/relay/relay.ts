import { Fault, type Instant, toFault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import type { Items } from '../item.ts';
import { createReceiver, type OutgoingItems, publishAll, type Receiver, type RelayCheckpoints } from './exchange.ts';
import {
  createResidence,
  type DurableState,
  RELAY,
  type RelayLink,
  type StreamDelivery,
  type StreamMessage,
} from './link.ts';
import { createDurables, type Durable } from './wire.ts';

export interface RelayOptions {
  readonly items: Pick<Items, 'push'>;
  readonly outgoing: OutgoingItems;
  readonly checkpoints: RelayCheckpoints;
  /** The personas whose mail is for this machine, now. */
  readonly personas: () => readonly string[];
  /** The personas known to live on this machine now; these are announced. */
  readonly residents: () => readonly string[];
  /** Sets the personas that live on other machines and not here. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  /** @throws Fault */
  readonly open: () => Promise<RelayLink>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long mail is kept, in milliseconds. */
  readonly retentionMs: number;
  /** Called when new items were stored. */
  readonly stored: () => void;
  /**
   * Called with a fault when the relay begins to fail or fails in another way, and with null when it works (also the first time).
   */
  readonly tell: (fault: Fault | null) => void;
}

/** The local hive's relay to a JetStream server, for many machines. Disposing ends it. */
export interface Relay extends AsyncDisposable {
  /** Call it when something was pushed here, or the list of personas may have changed. */
  pushed(): void;
  /** Connects again and reconciles. Call it when the connection may be dead. */
  wake(): void;
}

const RECONCILE_MS = 600_000;
const RETRY_MS = 250;
const RETRY_MOST_MS = 5000;
/** A restarting server is back before this time, so nothing is reported earlier. */
const SAY_AFTER_MS = 5000;
/** These faults often pass by themselves; all others are reported at once. */
const PASSING = new Set(['refused', 'timeout', 'broken', 'dns']);
/** How soon it is known that a persona came to live on another machine. */
const RESIDENCE_MS = 5000;
/** Publishing also runs at this interval, for pushes of other processes, which are not announced. */
const PUBLISH_INTERVAL_MS = 30_000;

/**
 * Publishes what is pushed here, and stores what others publish for the personas of this machine. It reconnects after each
 * failure, and ends only when it is disposed. Failures are reported.
 */
export function startRelay(options: RelayOptions): Relay {
  const { checkpoints, clock, log, tell } = options;
  const receiver = createReceiver(options);
  const stop = new AbortController();
  let reportedFault: Fault | null | undefined;
  let failingSince: number | null = null;
  let retryMs = RETRY_MS;
  /** Ends the current session, or the wait for the next one. */
  let restart: () => void = () => {};
  let publish: () => void = () => {};
  let publishing: Promise<void> = Promise.resolve();
  const ended = run();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const link = await openOrStop();
        if (link === null) return;
        try {
          await using _link = link;
          await runSession(link);
        } finally {
          await publishing; // the end of the connection ends it; it must not change the store later
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        reportFailure(toFault(error, RELAY));
        const wait = new AbortController();
        restart = () => wait.abort();
        await clock.sleep(retryMs, AbortSignal.any([wait.signal, stop.signal]));
        retryMs = Math.min(retryMs * 2, RETRY_MOST_MS);
      }
    }
  }

  /** Null: the relay was stopped meanwhile. Then nobody waits for the connection, and it is closed when it opens. */
  async function openOrStop(): Promise<RelayLink | null> {
    const opening = options.open();
    const stopped = Promise.withResolvers<null>();
    using _stops = onAbort(stop.signal, () => stopped.resolve(null));
    const first = await Promise.race([opening, stopped.promise]);
    if (first === null) opening.then((late) => late[Symbol.asyncDispose]()).catch(ignored);
    return first;
  }

  function reportFailure(fault: Fault): void {
    failingSince ??= clock.monotonic();
    const lasts = clock.monotonic() - failingSince >= SAY_AFTER_MS;
    if (reportedFault instanceof Fault ? reportedFault.code === fault.code : PASSING.has(fault.code) && !lasts) return;
    reportedFault = fault;
    log.warn(`NATS: ${fault.explain()}`);
    tell(fault);
  }

  function reportSuccess(link: RelayLink): void {
    failingSince = null;
    retryMs = RETRY_MS;
    if (reportedFault === null) return;
    log.info(`NATS: ${reportedFault === undefined ? 'connected' : 'it works again'} (server ${link.serverVersion})`);
    reportedFault = null;
    tell(null);
  }

  /** Runs one connection. Returns if the next one should begin at once, and throws what ended this one. */
  async function runSession(link: RelayLink): Promise<void> {
    const over = new AbortController();
    const ending = Promise.withResolvers<void>();
    ending.promise.catch(ignored);
    const fail = (error: unknown): void => ending.reject(error);
    restart = () => {
      over.abort();
      ending.resolve();
    };
    void link.closed.then(fail);
    using _stops = onAbort(stop.signal, () => restart());
    const { created: stream } = await link.stream();
    if (checkpoints.meet(stream)) log.info('NATS: the stream is new to this machine');
    const residence = createResidence(link, { ...options, machine: checkpoints.machine });
    const personas = options.personas();
    const durables = createDurables(link.serverVersion, checkpoints.machine, personas);
    const notBefore: Instant = clock.now() - options.retentionMs;
    const catchUp = async (): Promise<void> => {
      for (const durable of durables) {
        const bound = await link.bind(durable);
        await reconcile({ link, checkpoints, receiver, stream, notBefore }, durable, bound, over.signal);
      }
    };

    const queue = createTurnCollector(clock, over.signal, (messages: readonly StreamDelivery[]) => {
      if (over.signal.aborted) return; // not acknowledged, so they come again
      try {
        receiver.take(messages, stream);
      } catch (error) {
        fail(error);
      }
    });
    const publisher = createSerialRunner(async () => {
      await publishAll(link, options, over.signal);
    }, fail);
    const resident = createSerialRunner(async () => {
      if (over.signal.aborted) return;
      await residence();
      if (options.personas().join('\n') !== personas.join('\n')) restart();
    }, fail);
    await using leaving = new AsyncDisposableStack();
    leaving.defer(() => over.abort());
    await Promise.race([catchUp(), ending.promise]);
    if (over.signal.aborted) return;
    for (const { name } of durables) leaving.use(await link.consume(name, queue.add, fail));
    publish = () => {
      if (options.personas().join('\n') !== personas.join('\n')) restart();
      publishing = publisher.run();
    };
    leaving.defer(() => {
      publish = () => {};
    });
    publishing = publisher.run();
    await Promise.race([publishing, ending.promise]);
    if (over.signal.aborted) return;
    reportSuccess(link);
    void resident.run();
    const beats = new AbortController();
    leaving.defer(() => beats.abort());
    const repeat = (name: string, ms: number, round: () => void): void =>
      void every({ name, ms, firstMs: ms, round, clock }).run(beats.signal).catch(fail);
    repeat('relay: publish', PUBLISH_INTERVAL_MS, () => publish());
    repeat('relay: residence', RESIDENCE_MS, () => void resident.run());
    repeat('relay: reconcile', RECONCILE_MS, () => void catchUp().catch(fail));
    await ending.promise;
  }

  return {
    pushed: () => publish(),
    wake: () => restart(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** Collects what comes in one event-loop turn, so that it is stored in one transaction. */
function createTurnCollector<T>(
  clock: Clock,
  stop: AbortSignal,
  take: (items: readonly T[]) => void,
): { add(item: T): void } {
  let waiting: T[] = [];
  return {
    async add(item) {
      waiting.push(item);
      if (waiting.length > 1) return;
      await clock.sleep(0, stop);
      const items = waiting;
      waiting = [];
      take(items);
    },
  };
}

/** Runs `work` once more if it was requested meanwhile, and never twice at once. */
function createSerialRunner(work: () => Promise<void>, fail: (error: unknown) => void): { run(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const loop = async (): Promise<void> => {
    do {
      again = false;
      await work();
    } while (again);
  };
  return {
    run() {
      again = true;
      running ??= loop()
        .catch(fail)
        .finally(() => {
          running = null;
        });
      return running;
    },
  };
}

function onAbort(signal: AbortSignal, run: () => void): Disposable {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', run) };
}

/** For a promise whose failure is reported elsewhere. */
function ignored(): void {}

interface RelayReconcileOptions {
  readonly link: RelayLink;
  readonly checkpoints: RelayCheckpoints;
  readonly receiver: Receiver;
  /** When the stream was created. */
  readonly stream: string;
  /** Older messages of the stream are skipped, because mail is not kept that long. */
  readonly notBefore: number;
}

/** Messages stored per transaction. */
const AT_ONCE = 100;

/**
 * Stores messages of the stream that the durable does not deliver, or not at once. Messages published before the durable was
 * created are stored, since the durable delivers only new ones. So are messages that were delivered but never acknowledged, which
 * otherwise come after the ack wait. It inserts, and never drains (contract 8, defect 1).
 * @param bound the position of the durable, read before this call
 */
async function reconcile(
  options: RelayReconcileOptions,
  { subjects }: Durable,
  bound: DurableState,
  stop: AbortSignal,
): Promise<void> {
  const { link, checkpoints } = options;
  const { lastSeq } = await link.stream();
  for (const subject of subjects) {
    const checkpoint = checkpoints.findCheckpoint(subject);
    const isSame = checkpoint?.durable === bound.created;
    const from = Math.max(checkpoint?.seq ?? 0, isSame ? bound.ackFloor : 0);
    const upTo = isSame ? bound.delivered : lastSeq;
    if (!(await storeRange(options, subject, from, upTo, stop))) return;
    if (checkpoint === null || !isSame || upTo > checkpoint.seq)
      checkpoints.setCheckpoint(subject, bound.created, Math.max(from, upTo));
  }
}

/** False: it was stopped before the end. */
async function storeRange(
  options: RelayReconcileOptions,
  subject: string,
  after: number,
  upTo: number,
  stop: AbortSignal,
): Promise<boolean> {
  const { link, receiver, stream, notBefore } = options;
  let batch: StreamMessage[] = [];
  for (let at = after; at < upTo; ) {
    if (stop.aborted) return false;
    const next = await link.next(subject, at + 1);
    if (next === null || next.seq > upTo) break;
    if (next.time >= notBefore) batch.push(next);
    at = next.seq;
    if (batch.length < AT_ONCE) continue;
    receiver.store(batch, stream);
    batch = [];
  }
  if (batch.length > 0) receiver.store(batch, stream);
  return true;
}
