import { type Instant, toFault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import type { PositionStore } from '../module.ts';
import type { Checkpoint, Persona, PollResult } from '../source.ts';
import { SourceFault, toSourceFault } from './faults.ts';
import { createSourceModel, type ModelOptions, type SavedModel, type SourceModel, TooMany } from './model.ts';
import type { ActRequest, SourceTitle, Transport, TransportListener, TransportOutcome } from './transport.ts';
import { waitFor } from './wait.ts';

export interface EngineOptions extends Omit<ModelOptions, 'epoch'> {
  /** Says what the set of this source depends on beside its own name for it: argv and folder, as a text. */
  readonly setKey: string;
  readonly everyMs: number;
  readonly createTransport: (listener: TransportListener) => Transport;
  /** The memory of a program and of all that it started; null when nobody knows. */
  readonly readMemory: (pid: number) => number | null;
  /** A number from 0 to 1, drawn anew. */
  readonly draw: () => number;
  readonly positions: PositionStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with a fault that no persona can show, and with null when it is over. */
  readonly reportFault: (fault: SourceFault | null) => void;
  /** Called when it calls itself something else, so that its watchers have to begin anew. */
  readonly renamed: () => void;
}

/** Runs one source: when it is polled, what is remembered, and how it is tried again (specs/sources/external-source, section 2). */
export interface Engine extends AsyncDisposable {
  /** Runs until the signal aborts. @throws what is a mistake of Hivebar */
  run(signal: AbortSignal): Promise<void>;
  readonly title: SourceTitle;
  /** The personas, after the first answer. @throws Fault when it failed */
  list(signal: AbortSignal): Promise<readonly Persona[]>;
  poll(persona: Persona, from: Checkpoint, signal: AbortSignal): PollResult | Promise<PollResult>;
  named(address: string): Persona;
  isGone(address: string): boolean;
  hints(wake: (address: string) => void): Disposable;
  act(request: ActRequest, signal: AbortSignal): Promise<void>;
  /** The keys of a persona's things by their ids in events, as its watcher knows them. */
  listKeys(address: string): ReadonlyMap<number, string>;
  findTargets: SourceModel['findTargets'];
  report(): EngineReport;
}

/** How a source does, for a person. */
export interface EngineReport {
  readonly state: 'starting' | 'up' | 'failing' | 'stopped';
  readonly why: string | null;
  /** Null when nobody counts. */
  readonly personas: number | null;
  readonly failures: number;
  readonly lastAnswerAt: Instant | null;
  readonly pid: number | null;
  readonly diagnostics: readonly string[];
  /** The last lines of its stderr. */
  readonly stderr: readonly string[];
}

const FIRST_POLL_MS = 60_000;
const POLL_MS = 10_000;
const HINT_GAP_MS = 1000;
const LONGEST_BACKOFF_MS = 60_000;
const MOST_QUICK_FAILURES = 10;
const SLOW_RETRY_MS = 300_000;
/** How long events may wait for the sink until the source is polled again all the same. */
const BEHIND_MS = 60_000;
const MEMORY_CHECK_MS = 10_000;
const MEMORY_FOR_MS = 30_000;
const MEMORY_LIMIT = 256 * 1024 * 1024;
const REMEMBERED = 20;
const LOGGED_PER_MINUTE = 20;

/** What is saved of a source. */
interface SavedPosition {
  readonly setKey: string;
  readonly kind: string;
  readonly cursor: string | null;
  readonly model: SavedModel;
}

export function createEngine(options: EngineOptions): Engine {
  const { name, clock, log, positions } = options;
  /** No persona of this source has it as its id, and no other source has one that begins like this. */
  const positionKey = `${name}-`;
  const diagnostics = createNotes((text) => log.warn(`${name}: ${text}`));
  const stderr: string[] = [];
  let minuteBeganAt = Number.NEGATIVE_INFINITY;
  let loggedCount = 0;
  let wakes: ((address: string) => void) | null = null;
  let title: SourceTitle = { kind: name, label: name, can: [] };
  let isTitled = false;
  let saved: SavedPosition | null = null;
  let model: SourceModel | null = null;
  let cursor: string | null = null;
  let savedText: string | null = null;
  let hasAnswered = false;
  let lastAnswerAt: Instant | null = null;
  let fault: SourceFault | null = null;
  let failures = 0;
  /** Counts answers and failures. */
  let outcomes = 0;
  let nextOutcome = Promise.withResolvers<void>();
  /** Personas whose events are not with the sink yet, with the number of the answer that changed them. */
  const waiting = new Map<string, number>();
  let delivered = Promise.withResolvers<void>();
  const checkpoints = new Map<string, Checkpoint>();
  let isHinted = false;
  /** Somebody waits for an answer that is newer than the last one. */
  let isWanted = false;
  /** The persona that is woken at this moment: the last outcome answers it. */
  let woken: string | null = null;
  let bell = Promise.withResolvers<void>();
  let unasked: SourceFault | null = null;
  let tooLargeSince: number | null = null;
  let lastPollAt = Number.NEGATIVE_INFINITY;

  const transport = options.createTransport({
    hint() {
      isHinted = true;
      bell.resolve();
    },
    trouble(error) {
      unasked = error;
      bell.resolve();
    },
    diagnose: diagnostics.add,
    stderr: hearError,
  });

  /** One line of stderr is one line in the log. A prefix says how grave it is. */
  function hearError(text: string): void {
    stderr.push(text);
    if (stderr.length > REMEMBERED) stderr.shift();
    const now = clock.monotonic();
    if (now - minuteBeganAt > 60_000) {
      minuteBeganAt = now;
      loggedCount = 0;
    }
    loggedCount += 1;
    if (loggedCount > LOGGED_PER_MINUTE) return;
    const [, level, line = text] = /^([EWID])! ?(.*)$/.exec(text) ?? [];
    const write = level === 'E' ? log.error : level === 'W' ? log.warn : log.info;
    write(`${name} says: ${line}`);
  }

  function getModel(): SourceModel {
    model ??= createSourceModel({ ...options, epoch: toEpoch(title.kind) }, null);
    return model;
  }

  function toEpoch(kind: string): string {
    return `${kind} ${options.setKey}`;
  }

  /** The first answer to `start`, or another name than before, begins the set that it names. */
  function setTitle(now: SourceTitle): void {
    const isOther = isTitled && now.kind !== title.kind;
    if (isTitled && !isOther) return;
    title = now;
    isTitled = true;
    const isSameSet = saved !== null && saved.setKey === options.setKey && saved.kind === now.kind;
    if (!isSameSet) cursor = null;
    const before = isSameSet ? (saved?.model ?? null) : null;
    model = createSourceModel({ ...options, epoch: toEpoch(now.kind) }, before);
    hasAnswered = false;
    if (isOther) options.renamed();
  }

  function wake(addresses: Iterable<string>): void {
    for (const address of addresses) {
      woken = address;
      wakes?.(address);
    }
    woken = null;
  }

  function noteOutcome(): void {
    outcomes += 1;
    nextOutcome.resolve();
    nextOutcome = Promise.withResolvers();
  }

  function hearAnswer(outcome: TransportOutcome & { readonly is: 'answered' }): void {
    const current = getModel();
    const at = clock.now();
    const known = new Set(current.addresses);
    const { changed, diagnostics: found } = current.apply(outcome, at);
    for (const text of found) diagnostics.add(text);
    const isRecovery = fault !== null;
    if (isRecovery) {
      log.info(`${name}: it answers again`);
      options.reportFault(null);
    }
    fault = null;
    failures = 0;
    lastAnswerAt = at;
    cursor = outcome.cursor;
    const isFirst = !hasAnswered;
    hasAnswered = true;
    noteOutcome();
    for (const address of changed) waiting.set(address, outcomes);
    wake(isRecovery || isFirst ? new Set([...changed, ...known]) : changed);
  }

  function hearFailure(error: SourceFault): void {
    failures += 1;
    if (fault?.message !== error.message) log.warn(error.explain());
    fault = error;
    if (model === null || model.addresses.length === 0) options.reportFault(error);
    noteOutcome();
    wake(model?.addresses ?? []);
  }

  async function round(signal: AbortSignal): Promise<void> {
    lastPollAt = clock.monotonic();
    isHinted = false;
    isWanted = false;
    try {
      if (unasked !== null) throw unasked;
      const started = await transport.start(cursor, signal);
      if (started !== null) setTitle(started);
      const before = cursor;
      const outcome = await transport.poll(cursor, hasAnswered ? POLL_MS : FIRST_POLL_MS, signal);
      if (outcome.is === 'kept') {
        if (fault === null) noteOutcome();
        return;
      }
      if (outcome.title !== undefined) setTitle(outcome.title);
      if (before !== null && cursor === null) {
        isHinted = true; // it answered from the cursor of another set: it is asked for everything
        return;
      }
      hearAnswer(outcome);
      await follow(outcome.more, signal);
    } catch (error) {
      const cause = unasked ?? error; // what it did before it was asked explains why it cannot answer
      unasked = null;
      if (signal.aborted) return;
      hearFailure(toFailure(cause));
    }
  }

  function toFailure(error: unknown): SourceFault {
    if (error instanceof SourceFault) return error;
    if (error instanceof TooMany)
      return new SourceFault('source-limit', name, `too many: ${error.message}`, { isFinal: true });
    const { code, message } = toFault(error, { is: 'source', key: name });
    return new SourceFault(code, name, message, { cause: error });
  }

  /** More is asked for only when every event before it is with the sink. */
  async function follow(more: boolean, signal: AbortSignal): Promise<void> {
    if (waiting.size === 0) await savePosition();
    while (more && !isDelivered() && !signal.aborted) {
      await waitFor(delivered.promise, BEHIND_MS, clock, signal);
      if (!isDelivered()) wake([...waiting.keys()]);
    }
    if (!more) return;
    isHinted = true;
    lastPollAt = Number.NEGATIVE_INFINITY;
  }

  function noteDelivery(): void {
    if (!isDelivered()) return;
    delivered.resolve();
    delivered = Promise.withResolvers();
    bell.resolve();
    if (waiting.size === 0) void savePosition();
  }

  /** What a persona with a fault of its own has to deliver waits for the end of the fault, and holds up nobody. */
  function isDelivered(): boolean {
    return [...waiting.keys()].every((address) => model?.findFault(address) != null);
  }

  async function savePosition(): Promise<void> {
    const position: SavedPosition = { setKey: options.setKey, kind: title.kind, cursor, model: getModel().save() };
    const text = JSON.stringify(position);
    if (text === savedText) return;
    try {
      await positions.save(positionKey, position);
      saved = position;
      savedText = text;
    } catch (error) {
      diagnostics.add(`how far it was read is not saved: ${toFault(error, { is: 'source', key: name }).explain()}`);
    }
  }

  /** Milliseconds until the next round; null: not before a person or the settings ask for it. */
  function computeWait(): number | null {
    if (isWanted && (fault === null || (transport.isCheap && !fault.isFinal))) return 0;
    const sincePoll = clock.monotonic() - lastPollAt;
    const isHeldUp = !transport.isCheap && !isDelivered();
    if (fault === null && isHeldUp && sincePoll < BEHIND_MS) return BEHIND_MS - sincePoll;
    if (fault === null)
      return isHinted ? Math.max(0, HINT_GAP_MS - sincePoll) : Math.max(0, options.everyMs - sincePoll);
    if (fault.isFinal) return null;
    if (fault.retryMs !== null) return fault.retryMs;
    if (failures > MOST_QUICK_FAILURES) return SLOW_RETRY_MS;
    return Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** (failures - 1)) * (0.7 + 0.2 * options.draw());
  }

  async function rest(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (unasked !== null) return;
      const ms = computeWait();
      if (ms === 0) return;
      const isHeard = await waitFor(bell.promise, ms, clock, signal);
      bell = Promise.withResolvers();
      if (!isHeard) return;
    }
  }

  /** A program that holds too much for too long is ended. */
  const memory = every({
    ...{ name: `memory of ${name}`, ms: MEMORY_CHECK_MS, firstMs: MEMORY_CHECK_MS, clock },
    async round() {
      const { pid } = transport;
      const bytes = pid === null ? null : options.readMemory(pid);
      if (bytes === null || bytes <= MEMORY_LIMIT) {
        tooLargeSince = null;
        return;
      }
      tooLargeSince ??= clock.monotonic();
      if (clock.monotonic() - tooLargeSince < MEMORY_FOR_MS) return;
      tooLargeSince = null;
      const held = Math.round(bytes / 1024 / 1024);
      await transport[Symbol.asyncDispose]();
      const message = `memory: it held ${held} MiB for ${MEMORY_FOR_MS / 1000} s, over ${MEMORY_LIMIT / 1024 / 1024}`;
      unasked = new SourceFault('source-limit', name, message, { isFinal: true });
      bell.resolve();
    },
  });

  /** Waits for an answer or a failure that is newer than this call. What is final stays. */
  async function askAnew(signal: AbortSignal): Promise<void> {
    if (fault?.isFinal === true) return;
    if (!isWanted) {
      isWanted = true;
      bell.resolve();
    }
    do await waitForOutcome(signal);
    while (fault === null && !hasAnswered);
  }

  async function waitForOutcome(signal: AbortSignal): Promise<void> {
    await waitFor(nextOutcome.promise, null, clock, signal);
    signal.throwIfAborted();
  }

  function answer(persona: Persona, from: Checkpoint): PollResult {
    const { address } = persona;
    const current = getModel();
    const own = current.findFault(address);
    if (own !== null) {
      noteDelivery();
      throw toSourceFault(persona.id, own);
    }
    checkpoints.set(address, from);
    const at = clock.now();
    const answered = outcomes;
    const { items, ...counts } = current.read(address, from, at);
    return {
      at,
      ...counts,
      evidence: { is: 'set', epoch: toEpoch(title.kind), items },
      delivered() {
        if ((waiting.get(address) ?? 0) > answered) return;
        current.release(address);
        if (waiting.delete(address)) noteDelivery();
      },
    };
  }

  async function pollLater(persona: Persona, from: Checkpoint, signal: AbortSignal): Promise<PollResult> {
    if (woken !== persona.address) await askAnew(signal);
    if (fault !== null) throw fault;
    return answer(persona, from);
  }

  return {
    async run(signal) {
      saved = toSavedPosition(positions.read(positionKey));
      savedText = saved === null ? null : JSON.stringify(saved);
      cursor = saved?.setKey === options.setKey ? saved.cursor : null;
      const memoryChecks = memory.run(signal);
      while (!signal.aborted) {
        await round(signal);
        await rest(signal);
      }
      await memoryChecks;
    },
    get title() {
      return title;
    },
    async list(signal) {
      if (fault !== null || !hasAnswered || transport.isCheap) await askAnew(signal);
      if (fault !== null) throw fault;
      const current = getModel();
      return current.addresses.map(current.named);
    },
    poll(persona, from, signal) {
      if (fault !== null || !hasAnswered) return pollLater(persona, from, signal);
      const isKnown = woken === persona.address || (!transport.isCheap && waiting.has(persona.address));
      return isKnown ? answer(persona, from) : pollLater(persona, from, signal);
    },
    named: (address) => getModel().named(address),
    isGone: (address) => hasAnswered && getModel().hasBeenFull && !getModel().has(address),
    hints(listener) {
      wakes = listener;
      wake(waiting.keys());
      return {
        [Symbol.dispose]() {
          if (wakes === listener) wakes = null;
        },
      };
    },
    async act(request, signal) {
      if (transport.act === undefined || !title.can.includes(request.act))
        throw new SourceFault('source-config', name, `it cannot ${request.act}`);
      await transport.act(request, signal);
      isHinted = true;
      bell.resolve();
    },
    listKeys(address) {
      const from = checkpoints.get(address);
      const keys = from?.is === 'known' ? from.keys : [];
      return new Map(keys.flatMap(({ seq, key }) => (seq === null ? [] : [[seq, key] as const])));
    },
    findTargets: (address) => getModel().findTargets(address),
    report: () => ({
      state: fault === null ? (hasAnswered ? 'up' : 'starting') : fault.isFinal ? 'stopped' : 'failing',
      why: fault?.message ?? null,
      personas: model?.addresses.length ?? 0,
      ...{ failures, lastAnswerAt, pid: transport.pid, diagnostics: diagnostics.list(), stderr: [...stderr] },
    }),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** Remembers the last texts, and says each once. */
function createNotes(say: (text: string) => void): { add(text: string): void; list(): readonly string[] } {
  const texts = new Set<string>();
  return {
    add(text) {
      if (texts.has(text)) return;
      say(text);
      texts.add(text);
      const [oldest] = texts;
      if (texts.size > REMEMBERED && oldest !== undefined) texts.delete(oldest);
    },
    list: () => [...texts],
  };
}

/** What was saved by this version; null for anything else, from which nothing can be continued. */
function toSavedPosition(value: object | null): SavedPosition | null {
  const position = value as Partial<SavedPosition> | null;
  const isPosition =
    typeof position?.setKey === 'string' &&
    typeof position.kind === 'string' &&
    Array.isArray(position.model?.personas);
  return isPosition ? (position as SavedPosition) : null;
}
