import { isDeepStrictEqual } from 'node:util';
import { createHiveAlarms, type HiveAlarms } from '../../core/alarms/index.ts';
import type { Board, Fact } from '../../core/board/index.ts';
import type { Event } from '../../core/events/index.ts';
import { type AgentState, type Instant, type PersonaId, toFault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { createTroubleLog, type Service, type TroubleLog } from '../../core/services/index.ts';
import type { Ack, Sink, Tail } from '../../core/sinks/index.ts';
import { type Outbox, toEventFilePath } from '../../core/sinks/outbox/index.ts';
import type { MarkReadSelection, Persona, Reply, ReplyResult } from '../../core/sources/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';
import { toStem } from '../../core/state/index.ts';
import {
  createInitialState,
  createScheduler,
  createWatcher,
  type InterruptionDetector,
  type SavedState,
  type Scheduler,
  type Watcher,
  type WatcherRules,
  type WatcherStart,
} from '../../core/watcher/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';

/** What a watcher of the tray process saves in the database, together with the events it belongs to. */
export interface SavedTrayState extends SavedState {
  /** Says which inbox this is. With the cursor of another inbox, the watcher would miss messages. */
  readonly identity: unknown;
}

/** Watches every persona of one hive. */
export interface HiveWatchers extends Service {
  readonly scheduler: Scheduler;
  /** Returns the address of a persona of this hive, or null when the persona belongs to another hive. */
  findAddress(persona: string): string | null;
  /** Hands what the agent of a persona does to its watcher. False: the persona is not watched here. */
  hearAgent(persona: PersonaId, state: AgentState): boolean;
  /** Returns how many messages were marked as read. Null when the persona is not here, or its source cannot mark. */
  markRead(persona: string, which: MarkReadSelection): number | null;
  /** Null when the persona is not here, or its source sends no replies. */
  reply(persona: string, reply: Reply, signal: AbortSignal): Promise<ReplyResult> | null;
  /** Polls everything now, and asks at once for a directory that has not answered yet. */
  poll(): void;
  /** Called after an interruption: drops connections and polls everything at once. */
  renew(): void;
  /**
   * Takes the personas of this hive off the board, once the service has stopped, but for those that stay. Their saved states stay.
   */
  leave(stays?: (persona: Persona) => boolean): void;
}

interface HiveWatchersOptions {
  readonly hive: WatchedHive;
  readonly settings: Settings;
  readonly outbox: Outbox<SavedTrayState>;
  /** The directory of the event files. */
  readonly directory: string;
  /** What every watcher had saved at the last stop. */
  readonly savedStates: ReadonlyMap<string, SavedTrayState>;
  readonly board: Board;
  readonly machine: Machine;
  readonly run: string;
  /** Whether the grace time after an interruption is still running. */
  readonly settling: () => boolean;
}

/** The kind of every hive in events. The message ids of a hive only rise. */
const KIJITO_INBOX = 'kijito-inbox';
const NO_AUTHORS: WatcherRules['suppressed'] = new Set();
const NO_ALARMS: WatcherRules['silenced'] = new Set();
const POLLS_AT_ONCE = 32;
/** How many messages of former runs are shown. */
const RECALLED = 5;
const RESCAN_MS = 600_000;
const DIRECTORY_RETRY_MS = 2000;
const DIRECTORY_RETRY_MOST_MS = 60_000;

/** Creates the watchers of one hive in the tray process. Their sink is the outbox, and no fault at start is fatal. */
export function createHiveWatchers(options: HiveWatchersOptions): HiveWatchers {
  const { hive, settings, outbox, board, machine, settling } = options;
  const { source } = hive;
  const watchers = new Map<PersonaId, Watcher>();
  /** Aborted while the watchers do not run. */
  let running: AbortSignal = AbortSignal.abort();
  /** Each persona as the board has it. */
  const joinedAs = new Map<string, Persona>();
  /** Personas that left, or that were watched before a restart of this service. Their saved state is read again. */
  const again = new Set<string>();
  /** Null: a source without a directory has no alarms. */
  const alarms = source.directory === undefined ? null : createAlarms();
  const put = (fact: Parameters<Board['put']>[0]): void => {
    board.put(fact);
    alarms?.put(fact);
  };
  // A hive that was watched before: a persona without a saved state appeared while Hivebar was not running, so its mail is news.
  let isKnown =
    hive.deliversBacklog ||
    [...options.savedStates.values()].some((savedState) => isSameHive(savedState.identity, hive));
  let listed = false;
  /** Personas that could not be watched. Each rescan tries them again. */
  const refusals = new Map<PersonaId, TroubleLog>();
  /** Ends the wait for the directory early: at the next interruption, and when a person asks for a poll. */
  let patience = new AbortController();

  function createAlarms(): HiveAlarms {
    return createHiveAlarms({
      source,
      clock: machine.clock,
      log: machine.log,
      rules: {
        stranded: settings.strandedAlerts,
        urgent: settings.urgentAlerts,
        pollMs: settings.pollSeconds * 1000,
        suppressed: new Set(),
      },
      staleAfterMs: computeStaleAfterMs(options),
    });
  }

  async function open(persona: Persona): Promise<Watcher> {
    const isBorn = listed; // the value of this moment: the first listing may finish before the file of a persona is read
    const stem = toStem(persona.id);
    const identity = hive.identity(persona);
    const savedState =
      (again.has(persona.id) ? outbox.readSaved(persona.id) : options.savedStates.get(persona.id)) ?? null;
    const ours = savedState !== null && isDeepStrictEqual(savedState.identity, JSON.parse(JSON.stringify(identity)));
    if (savedState !== null && !ours)
      machine.log.warn(
        `${persona.id}: identity mismatch: its saved position belongs to another inbox; it starts at the newest message`,
      );
    const deliveredCursor = savedState === null ? (outbox.getNewestIds().get(persona.id) ?? 0) : 0;
    // The store lost its checkpoint, but the event file still says what was delivered. A log continues after that.
    const isLog = source.kind === KIJITO_INBOX;
    const fromFile: SavedState | null =
      isLog && deliveredCursor > 0 ? { cursor: deliveredCursor, state: 'UP', consecutive_failures: 0 } : null;
    const saved = ours ? savedState : fromFile;
    const rules: WatcherRules = {
      persona: persona.id,
      address: persona.address,
      source: source.kind,
      run: options.run,
      pollSeconds: settings.pollSeconds,
      alertAfter: settings.alertAfter,
      maxReplay: hive.replaysAll === true ? Number.POSITIVE_INFINITY : settings.maxReplay,
      heartbeatMs: settings.heartbeatSeconds === 0 ? null : settings.heartbeatSeconds * 1000,
      suppressed: NO_AUTHORS,
      delivery: 'at-least-once',
      silenced: NO_ALARMS,
    };
    const sink = new IdentifiedSink(outbox.sinkFor(persona.id, stem), identity);
    const tail = await sink.open();
    const at = machine.clock.now();
    join(persona, at);
    const events = outbox.lastMail(persona.id, RECALLED);
    if (events.length > 0) put({ is: 'recalled', at, persona: persona.id, events });
    const state = createInitialState(at, decideStart(saved, savedState !== null, isBorn), saved, tail, rules);
    const { clock } = machine;
    const watcher = createWatcher({ persona, source, sink, saver: null, rules, state, clock, put, settling });
    watchers.set(persona.id, watcher);
    alarms?.addWatcher(watcher);
    return watcher;
  }

  function join(persona: Persona, at: Instant): void {
    const stem = toStem(persona.id);
    put({
      is: 'joined',
      at,
      persona: persona.id,
      source: source.id,
      address: persona.address,
      label: persona.label,
      stem,
      eventsFile: toEventFilePath(options.directory, stem),
      lastEventId: outbox.lastEventId(persona.id),
      canMarkRead: source.markRead !== undefined,
      canReply: source.reply !== undefined,
      isEcho: persona.isEcho ?? false,
      staleAfterMs: computeStaleAfterMs(options),
    });
    joinedAs.set(persona.id, persona);
  }

  /** Puts a changed label on the board. The persona stays the same. */
  function relabel(address: string): void {
    const persona = hive.named(address);
    const before = joinedAs.get(persona.id);
    if (before === undefined || (before.label === persona.label && before.isEcho === persona.isEcho)) return;
    join(persona, machine.clock.now());
  }

  function decideStart(saved: SavedState | null, isForeign: boolean, isBorn: boolean): WatcherStart {
    if (saved !== null) return { is: 'resume' };
    if (isForeign) return { is: 'baseline', why: 'identity mismatch: its saved position belongs to another inbox' };
    if (isBorn) return { is: 'born' };
    return isKnown ? { is: 'seed', id: 0 } : { is: 'baseline' };
  }

  async function tryOpen(persona: Persona): Promise<Watcher | null> {
    try {
      const watcher = await open(persona);
      refusals.get(persona.id)?.clear(`${persona.id} is watched now`);
      return watcher;
    } catch (error) {
      const trouble = refusals.get(persona.id) ?? createTroubleLog(machine.log);
      refusals.set(persona.id, trouble);
      trouble.raise(`${persona.id} is not watched: ${toFault(error, { is: 'persona', key: persona.id }).explain()}`);
      return null;
    }
  }

  const scheduler = createScheduler({
    source,
    clock: machine.clock,
    put,
    intervalMs: settings.pollSeconds * 1000,
    resyncEvery: settings.resyncEvery,
    fastPath: true,
    holdMs: hive.holdMs,
    pollsAtOnce: hive.kind === 'remote' ? POLLS_AT_ONCE : Number.POSITIVE_INFINITY,
    adopt: {
      everyMs: RESCAN_MS,
      toPersona: hive.named,
      open: tryOpen,
      onRescanFailed: (fault) => machine.log.warn(`${source.id}: rescan of the directory failed: ${fault.explain()}`),
    },
    ...(alarms === null ? {} : { onPendingList: alarms.hearPendingList }),
    onPolled: ({ persona }) => {
      if (source.isGone?.(persona) === false) relabel(persona.address);
    },
    onLeft({ persona }) {
      watchers.delete(persona.id);
      joinedAs.delete(persona.id);
      again.add(persona.id); // its saved state is newer than the one from the start
    },
  });

  /** Returns the listed personas, or null when the hive cannot list them now. The board has the fault then. */
  async function listDirectory(signal: AbortSignal): Promise<readonly Persona[] | null> {
    for (;;) {
      const gap = patience.signal;
      try {
        const personas = await source.personas(AbortSignal.any([signal, gap]));
        put({ is: 'source', at: machine.clock.now(), source: source.id, address: hive.address, fault: null });
        return personas;
      } catch (error) {
        if (signal.aborted) return null;
        if (gap.aborted) continue; // the request was interrupted, which is no failure
        const fault = toFault(error, { is: 'source', key: source.id });
        put({ is: 'source', at: machine.clock.now(), source: source.id, address: hive.address, fault });
        return null;
      }
    }
  }

  /**
   * Asks again until the directory answers once. From then on the rescan of the scheduler does this. After an interruption it
   * asks at once, and its waits are short again.
   */
  async function retryUntilListed(signal: AbortSignal): Promise<void> {
    let wait = DIRECTORY_RETRY_MS;
    while (!signal.aborted) {
      const gap = patience.signal;
      await machine.clock.sleep(wait, AbortSignal.any([signal, gap]));
      wait = gap.aborted ? DIRECTORY_RETRY_MS : Math.min(wait * 2, DIRECTORY_RETRY_MOST_MS);
      const personas = signal.aborted ? null : await listDirectory(signal);
      if (personas === null) continue;
      for (const persona of personas) scheduler.wake(persona.address);
      listed = true;
      return;
    }
  }

  function hurry(): void {
    const before = patience;
    patience = new AbortController();
    before.abort();
  }

  return {
    name: `watch of ${source.id}`,
    scheduler,
    findAddress: (persona) => watchers.get(persona)?.persona.address ?? null,
    hearAgent(persona, state) {
      const watcher = watchers.get(persona);
      if (watcher === undefined) return false;
      const failed = (error: unknown): void =>
        machine.log.error(`${persona}: cannot say what its agent does`, { error });
      if (!running.aborted) watcher.hearAgent(state, running)?.catch(failed);
      return true;
    },
    markRead(persona, which) {
      const address = watchers.get(persona)?.persona.address;
      return (address === undefined ? undefined : source.markRead?.(hive.named(address), which)) ?? null;
    },
    reply(persona, reply, signal) {
      const address = watchers.get(persona)?.persona.address;
      return (address === undefined ? undefined : source.reply?.(hive.named(address), reply, signal)) ?? null;
    },
    poll() {
      hurry();
      scheduler.poke(true);
    },
    renew() {
      hurry();
      alarms?.noteInterruption();
      scheduler.renew();
    },
    leave(stays = () => false) {
      for (const [id, { persona }] of watchers)
        if (!stays(persona)) put({ is: 'left', at: machine.clock.now(), persona: id });
      watchers.clear();
    },
    async run(signal) {
      running = signal;
      for (const persona of joinedAs.keys()) again.add(persona); // the service runs again after a failure
      if ((await hive.appears?.(signal)) === 'came') isKnown = true;
      if (signal.aborted) return;
      const now = await listDirectory(signal);
      // Personas with a saved position are watched although the hive is down, because otherwise nobody would see that it is.
      // Where personas come and go, those that left during an interruption still have one event to deliver.
      const known = [...options.savedStates].flatMap(([id, savedState]) => {
        if (now !== null && source.isGone !== undefined && !savedState.known?.keys.length) return [];
        const address = findHiveAddress(savedState.identity, hive);
        return address === null || hive.named(address).id !== id ? [] : [hive.named(address)];
      });
      const personasByAddress = new Map([...known, ...(now ?? [])].map((persona) => [persona.address, persona]));
      const opened = await Promise.all([...personasByAddress.values()].map(tryOpen));
      listed = now !== null;
      const rest = listed ? Promise.resolve() : retryUntilListed(signal);
      await Promise.all([
        scheduler.run(
          opened.filter((watcher) => watcher !== null),
          signal,
        ),
        rest,
      ]);
    },
  };
}

/** The time of three polls and a long-poll hold. */
function computeStaleAfterMs({ hive, settings }: HiveWatchersOptions): number {
  return 3 * settings.pollSeconds * 1000 + (hive.holdMs ?? 0);
}

/** Returns the address in a saved identity, or null when the identity is not of this hive. */
function findHiveAddress(identity: unknown, hive: WatchedHive): string | null {
  if (!Array.isArray(identity)) return null;
  const query: unknown = identity[4];
  const address = hive.kind !== 'remote' ? identity[1] : Array.isArray(query) ? new Map(query).get('persona') : null;
  if (typeof address !== 'string') return null;
  const again = JSON.parse(JSON.stringify(hive.identity(hive.named(address))));
  return isDeepStrictEqual(identity, again) ? address : null;
}

function isSameHive(identity: unknown, hive: WatchedHive): boolean {
  return findHiveAddress(identity, hive) !== null;
}

/** Saves with each state to which inbox it belongs. */
class IdentifiedSink implements Sink<SavedState> {
  readonly #sink: Sink<SavedTrayState>;
  readonly #identity: unknown;

  constructor(sink: Sink<SavedTrayState>, identity: unknown) {
    this.#sink = sink;
    this.#identity = identity;
  }

  get savesState(): boolean {
    return this.#sink.savesState;
  }

  open(): Promise<Tail> {
    return this.#sink.open();
  }

  take(events: readonly Event[], saved: SavedState, signal: AbortSignal): Promise<Ack> {
    return this.#sink.take(events, { ...saved, identity: this.#identity }, signal);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#sink[Symbol.asyncDispose]();
  }
}

interface CatchUpOptions {
  readonly interruptions: InterruptionDetector;
  readonly watchers: readonly Pick<Scheduler, 'renew'>[];
  readonly put: (fact: Fact) => void;
  readonly log: Log;
}

/**
 * Runs after the machine slept, the process was stopped or the clock was set. Puts the interruption on the board, then drops
 * every connection and polls everything (desktop contract, section 8). Works until it is disposed.
 */
export function catchUpAfterInterruptions({ interruptions, watchers, put, log }: CatchUpOptions): Disposable {
  return interruptions.onInterruption(({ at, ms, until }) => {
    const seconds = Math.round(ms / 1000);
    log.info(`Hivebar did not poll for ${seconds} s (sleep, suspension or a clock change), so it polls everything now`);
    put({ is: 'gap', at, ms, until }); // comes first: whatever is reported after this fact came during the interruption
    for (const watcher of watchers) watcher.renew();
  });
}
