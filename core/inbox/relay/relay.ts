import { Fault, faultOf, type Instant } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Items } from '../item.ts';
import { RELAY } from './faults.ts';
import type { Incoming, Link } from './link.ts';
import type { Marks } from './marks.ts';
import { durablesOf } from './names.ts';
import type { Outgoing } from './outgoing.ts';
import { publishAll } from './publish.ts';
import { createReceiver } from './receive.ts';
import { reconcile } from './reconcile.ts';
import { openResidence } from './residence.ts';

export interface RelayOptions {
  readonly items: Pick<Items, 'push'>;
  readonly outgoing: Outgoing;
  readonly marks: Marks;
  /** Whose mail is for this machine, now. */
  readonly personas: () => readonly string[];
  /** Who is known to live on this machine, now: that is announced. */
  readonly residents: () => readonly string[];
  /** These live on other machines, and not here. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  /** @throws Fault */
  readonly open: () => Promise<Link>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long mail is kept. */
  readonly keepMs: number;
  /** Something came. */
  readonly stored: () => void;
  /** Each time it begins to fail, or fails otherwise, and null each time it does its work again; the first time too. */
  readonly tell: (fault: Fault | null) => void;
}

/** The local hive's relay to a JetStream server, for many machines. Disposing ends it. */
export interface Relay extends AsyncDisposable {
  /** Something was pushed here, or the list of personas may be another. */
  pushed(): void;
  /** Nobody knows whether the connection still lives: connect anew, and reconcile. */
  wake(): void;
}

const RECONCILE_MS = 600_000;
const RETRY_MS = 250;
const RETRY_MOST_MS = 5000;
/** A server that is restarted is back before anybody must hear of it. */
const SAY_AFTER_MS = 5000;
/** These pass by themselves; anything else is said at once. */
const PASSING = new Set(['refused', 'timeout', 'broken', 'dns']);
/** Who came to live on another machine is known within this time. */
const RESIDENCE_MS = 5000;
/** For pushes of processes that nobody announced. */
const LOOK_MS = 30_000;

/**
 * Publishes what is pushed here and stores what others publish for the personas of this machine, over one connection after
 * the other. Ends only when it is disposed: whatever fails is told, and tried again.
 */
export function startRelay(options: RelayOptions): Relay {
  const { marks, clock, log, tell } = options;
  const receiver = createReceiver(options);
  const stop = new AbortController();
  let said: Fault | null | undefined;
  let failingSince: number | null = null;
  let retryMs = RETRY_MS;
  /** Ends the session under way, or the wait for the next. */
  let restart: () => void = () => {};
  let publish: () => void = () => {};
  let publishing: Promise<void> = Promise.resolve();
  const ended = run();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const link = await opened();
        if (link === null) return;
        try {
          await using _link = link;
          await session(link);
        } finally {
          await publishing; // which the end of the connection ends: nothing of it may reach the store later
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        fails(faultOf(error, RELAY));
        const wait = new AbortController();
        restart = () => wait.abort();
        await clock.sleep(retryMs, AbortSignal.any([wait.signal, stop.signal]));
        retryMs = Math.min(retryMs * 2, RETRY_MOST_MS);
      }
    }
  }

  /** Null when the relay was stopped meanwhile; then nobody waits for the connection, and it is closed when it comes. */
  async function opened(): Promise<Link | null> {
    const opening = options.open();
    const stopped = Promise.withResolvers<null>();
    using _stops = onAbort(stop.signal, () => stopped.resolve(null));
    const first = await Promise.race([opening, stopped.promise]);
    if (first === null) opening.then((late) => late[Symbol.asyncDispose]()).catch(ignored);
    return first;
  }

  function fails(fault: Fault): void {
    failingSince ??= clock.monotonic();
    const lasts = clock.monotonic() - failingSince >= SAY_AFTER_MS;
    if (said instanceof Fault ? said.code === fault.code : PASSING.has(fault.code) && !lasts) return;
    said = fault;
    log.warn(`NATS: ${fault.explain()}`);
    tell(fault);
  }

  function works(link: Link): void {
    failingSince = null;
    retryMs = RETRY_MS;
    if (said === null) return;
    log.info(`NATS: ${said === undefined ? 'connected' : 'it works again'} (server ${link.serverVersion})`);
    said = null;
    tell(null);
  }

  /** One connection's life. Returns when the next one should begin at once, throws what ended it. */
  async function session(link: Link): Promise<void> {
    const over = new AbortController();
    const ending = Promise.withResolvers<void>();
    ending.promise.catch(ignored);
    const fail = (error: unknown): void => ending.reject(error);
    restart = () => {
      over.abort();
      ending.resolve();
    };
    void link.gone.then(fail);
    using _stops = onAbort(stop.signal, () => restart());
    const { created: stream } = await link.stream();
    if (marks.meet(stream)) log.info('NATS: the stream is new to this machine');
    const residence = openResidence(link, { ...options, machine: marks.machine });
    const personas = options.personas();
    const durables = durablesOf(link.serverVersion, marks.machine, personas);
    const notBefore: Instant = clock.now() - options.keepMs;
    const catchUp = async (): Promise<void> => {
      for (const durable of durables) {
        const bound = await link.bind(durable);
        await reconcile({ link, marks, receiver, stream, notBefore }, durable, bound, over.signal);
      }
    };

    const queue = inTurns(clock, over.signal, (messages: readonly Incoming[]) => {
      if (over.signal.aborted) return; // never acknowledged: they come again
      try {
        receiver.take(messages, stream);
      } catch (error) {
        fail(error);
      }
    });
    const publisher = oneAtATime(async () => {
      await publishAll(link, options, over.signal);
    }, fail);
    const resident = oneAtATime(async () => {
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
    works(link);
    void resident.run();
    leaving.use(every(clock, LOOK_MS, () => publish()));
    leaving.use(every(clock, RESIDENCE_MS, () => void resident.run()));
    leaving.use(every(clock, RECONCILE_MS, () => void catchUp().catch(fail)));
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

/** Collects what comes in one turn, so that it is stored in one transaction. */
function inTurns<T>(clock: Clock, stop: AbortSignal, take: (all: readonly T[]) => void): { add(one: T): void } {
  let waiting: T[] = [];
  return {
    async add(one) {
      waiting.push(one);
      if (waiting.length > 1) return;
      await clock.sleep(0, stop);
      const all = waiting;
      waiting = [];
      take(all);
    },
  };
}

/** Runs `work` again when it was asked for meanwhile, and never twice at once. */
function oneAtATime(work: () => Promise<void>, fail: (error: unknown) => void): { run(): Promise<void> } {
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

function every(clock: Clock, ms: number, run: () => void): Disposable {
  const beat = (): void => {
    timer = clock.after(ms, beat);
    run();
  };
  let timer = clock.after(ms, beat);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function onAbort(signal: AbortSignal, run: () => void): Disposable {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', run) };
}

/** For a promise whose failure somebody else was told of. */
function ignored(): void {}
