import { join } from 'node:path';
import { AGENT_STATE_NOT_REPORTED, type AgentState, Fault, type SourceId, UNKNOWN } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import type { Disk } from '../../state/index.ts';
import { watchDirectories } from '../directories.node.ts';
import type { Checkpoint, PendingCounts, Persona, PollResult, Source, UnreadCounts } from '../source.ts';
import { createDefectLog, createTimers, cut, toReadOnlyFiles } from '../source-tools.ts';
import type { CityClient, CityMail, CitySession } from './city-client.ts';
import { createEventLogReader } from './event-log.ts';
import {
  countUnread,
  type GasMessage,
  groupByRecipient,
  listKnownUnread,
  toInboxFingerprint,
  toSetItems,
  toStalled,
  toUnchangedItems,
} from './message.ts';
import { HUMAN } from './reply.ts';
import { GAS, GAS_PREFIX } from './settings.ts';
import { shareCalls } from './share-calls.ts';

export interface CitySourceOptions {
  readonly name: string;
  /** The folder of the city; empty when it is not on this machine. */
  readonly path: string;
  readonly client: CityClient;
  /** Whether the supervisor runs the city, as it said last. */
  readonly isRunning: () => boolean;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** How long a member stays on the board whose session and mail are gone. */
  readonly retentionMs?: number;
  /** Sends what a person typed. Absent: the settings do not allow it. @param findSubject of a message that is known */
  readonly createReply?: (findSubject: (message: string) => string | null) => NonNullable<Source['reply']>;
  /** Drops every connection. */
  readonly reset: () => void;
}

/** A city of Gas City as a source. */
export interface CitySource extends Source {
  named(address: string): Persona;
  /** Whether somebody with this name has a session. */
  hasSession(address: string): boolean;
  /** What is wrong with the city's mail, one line each. */
  readonly defects: readonly string[];
}

const RETENTION_MS = 600_000;
/** A poll takes the answer of the held request when it is no older than this, because the city tells each change at once. */
const FRESH_MS = 1000;
/** So long after an answer that changed nothing the next request begins: a busy city has events all the time. */
const PACE_MS = 1000;
/** How often a city without events is asked (Gas City contract 6). */
const WITHOUT_EVENTS_MS = 10_000;
/** After so many such answers events are tried again. */
const TRY_EVENTS_AFTER = 6;
const RETRY_MS = 2000;
const RETRY_MOST_MS = 10_000;
const SESSIONS_MS = 10_000;
const COUNT_MS = 60_000;
const LABEL_CHARS = 80;
const EVENT_LOG = 'events.jsonl';

/** One answer about the mail of the whole city. */
interface CityView {
  readonly at: number;
  readonly byAddress: ReadonlyMap<string, readonly GasMessage[]>;
  readonly index: number | null;
}

export const toCityId = (name: string): SourceId => `${GAS}:${name}`;

/**
 * The members of a city as personas, their unread mail as sets. Only GET requests are sent, and none marks anything. One request is
 * held open while somebody listens; it says when something happened in the city.
 */
export function createCitySource(options: CitySourceOptions): CitySource {
  const { name, path, client, isRunning, clock, log, contentChars } = options;
  const { retentionMs = RETENTION_MS } = options;
  const id = toCityId(name);
  const disk = { ...options.disk, files: toReadOnlyFiles(options.disk.files, id) };
  const defects = createDefectLog(log, GAS);
  const timers = createTimers(clock);
  /** Aborts when the source is closed. */
  const over = new AbortController();
  let sessions: ReadonlyMap<string, CitySession> = new Map();
  /** By the id of a session, which mail may be addressed to as well. */
  let nameById: ReadonlyMap<string, string> = new Map();
  let sessionsAt = Number.NEGATIVE_INFINITY;
  let countAt = Number.NEGATIVE_INFINITY;
  let disagreement: string | null = null;
  /** When each member was last seen with a session or with mail. */
  const seen = new Map<string, number>();
  let wasRead = false;
  let view: CityView | null = null;
  /** The state of each inbox at its last poll. */
  const lastPolls = new Map<
    string,
    { readonly fingerprint: string; readonly state: AgentState; readonly counts: UnreadCounts }
  >();
  let isHeld = false;
  const readShared = shareCalls(clock, async (signal) => note(await client.list('unread', null, signal)));

  const named = (address: string): Persona => ({
    id: `${GAS_PREFIX}${name}-${address}`,
    address,
    label: address === HUMAN ? 'you' : cut(address, LABEL_CHARS),
  });

  function findSubject(message: string): string | null {
    const known = view?.byAddress.get(HUMAN) ?? [];
    return known.find(({ id: each }) => each === message)?.subject ?? null;
  }

  function note({ messages, defects: flaws, index }: CityMail): CityView {
    defects.report('messages', flaws);
    const named = messages.map((message) => ({
      ...message,
      to: [...new Set(message.to.map((to) => nameById.get(to) ?? to))],
    }));
    const now = clock.monotonic();
    view = { at: now, byAddress: groupByRecipient(named), index };
    for (const address of view.byAddress.keys()) seen.set(address, now);
    wasRead = true;
    return view;
  }

  /** @throws nothing: a city that does not tell its sessions has members all the same */
  async function readSessions(signal: AbortSignal): Promise<void> {
    sessionsAt = clock.monotonic();
    try {
      const list = await client.sessions(signal);
      sessions = new Map(list.map((session) => [session.address, session]));
      nameById = new Map(list.map((session) => [session.id, session.address]));
      defects.report('sessions', []);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      defects.report('sessions', [{ filename: name, message: `its sessions are not known: ${error.message}` }]);
      if (error.code !== 'not-found' && error.code !== 'status') throw error;
    }
    for (const address of sessions.keys()) seen.set(address, sessionsAt);
  }

  /** The list is what counts. When the city counts differently twice in a row, the log says so (Gas City contract 4). */
  async function compareCount(signal: AbortSignal): Promise<void> {
    if (clock.monotonic() - countAt < COUNT_MS) return;
    countAt = clock.monotonic();
    const listed = new Set([...(view?.byAddress.values() ?? [])].flat().filter(({ isRead }) => !isRead)).size;
    try {
      const counted = await client.countUnread(signal);
      const before = disagreement;
      disagreement = counted === listed ? null : `disagrees: it counts ${counted} unread and lists ${listed}`;
      const message = disagreement !== null && disagreement === before ? disagreement : null;
      defects.report('count', message === null ? [] : [{ filename: `city ${name}`, message }]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error; // the list itself says when the city cannot be read
    }
  }

  function toState(address: string, messages: readonly GasMessage[]): AgentState {
    if (!isRunning()) return { is: 'gone', why: 'city-stopped' };
    return toStalled(sessions.get(address)?.state ?? AGENT_STATE_NOT_REPORTED, messages, clock.now());
  }

  async function readView(signal: AbortSignal): Promise<CityView> {
    if (isHeld && view !== null && clock.monotonic() - view.at < FRESH_MS) return view;
    return await readShared(signal);
  }

  /** What left the unread list was read, or is gone: only the list of all mail says which (Gas City contract 3). */
  async function findRead(
    address: string,
    unread: readonly GasMessage[],
    from: Checkpoint,
    signal: AbortSignal,
  ): Promise<readonly GasMessage[]> {
    const listed = new Set(unread.map((message) => message.id));
    const missing = new Set(listKnownUnread(from).filter((key) => !listed.has(key)));
    if (missing.size === 0) return [];
    const { messages } = await client.list('all', address, signal);
    return messages.filter((message) => missing.has(message.id));
  }

  async function poll({ address }: Persona, from: Checkpoint, signal: AbortSignal): Promise<PollResult> {
    if (!isRunning()) {
      const items = toUnchangedItems(from);
      return {
        ...{ at: clock.now(), unread: UNKNOWN, urgent: UNKNOWN, agentState: toState(address, []) },
        evidence: { is: 'set', epoch: toEpoch(), items },
      };
    }
    const { byAddress } = await readView(signal);
    const unread = byAddress.get(address) ?? [];
    const left = await findRead(address, unread, from, signal);
    const counts = countUnread(unread);
    const agentState = toState(address, unread);
    lastPolls.set(address, { fingerprint: toInboxFingerprint(unread), state: agentState, counts });
    const items = toSetItems([...unread, ...left], contentChars);
    return { at: clock.now(), ...counts, agentState, evidence: { is: 'set', epoch: toEpoch(), items } };
  }

  const toEpoch = (): string => `${name} ${path}`;

  /** An inbox that is as its last poll found it has the counts of that poll. Any other has unknown counts, so it is polled. */
  async function readPendingCounts(signal: AbortSignal): Promise<PendingCounts> {
    const byAddress = new Map<string, UnreadCounts>();
    if (isRunning()) {
      if (clock.monotonic() - sessionsAt >= SESSIONS_MS) await readSessions(signal);
      const { byAddress: inboxes } = await readView(signal);
      await compareCount(signal);
      for (const address of new Set([...listMembers(), ...lastPolls.keys()])) {
        const before = lastPolls.get(address);
        const messages = inboxes.get(address) ?? [];
        const isSame =
          before !== undefined &&
          before.fingerprint === toInboxFingerprint(messages) &&
          before.state.is === toState(address, messages).is;
        byAddress.set(address, isSame ? before.counts : UNKNOWN_COUNTS);
      }
    } else for (const address of lastPolls.keys()) byAddress.set(address, UNKNOWN_COUNTS);
    return { at: clock.now(), byAddress, cursor: null };
  }

  const isPresent = (address: string): boolean =>
    address === HUMAN || sessions.has(address) || (view?.byAddress.has(address) ?? false);

  const hasLeft = (address: string): boolean =>
    !isPresent(address) && clock.monotonic() - (seen.get(address) ?? Number.NEGATIVE_INFINITY) >= retentionMs;

  function listMembers(): readonly string[] {
    for (const address of [...seen.keys()]) if (hasLeft(address)) seen.delete(address);
    return [...new Set([HUMAN, ...sessions.keys(), ...seen.keys()])];
  }

  async function listPersonas(signal: AbortSignal): Promise<readonly Persona[]> {
    await readSessions(signal);
    await readShared(signal);
    return listMembers().map(named);
  }

  return {
    id,
    kind: 'gas-city',
    personas: listPersonas,
    poll,
    pending: { once: readPendingCounts },
    ...(options.createReply === undefined ? {} : { reply: options.createReply(findSubject) }),
    isGone: ({ address }) => {
      if (!wasRead || !hasLeft(address)) return false;
      lastPolls.delete(address);
      return true;
    },
    reset: options.reset,
    hints(wake) {
      const stop = new AbortController();
      over.signal.addEventListener('abort', () => stop.abort(), { once: true });
      const listener = listenToCity({ wake, stop });
      return {
        [Symbol.dispose]() {
          isHeld = false;
          listener[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    hasSession: (address) => sessions.has(address),
    get defects() {
      return defects.lines;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await readShared[Symbol.asyncDispose]();
    },
  };

  /** Holds one request open, and wakes whose inbox or state it shows changed. */
  function listenToCity({ wake, stop }: { wake: (address: string) => void; stop: AbortController }): Disposable {
    /** What each inbox and session was when somebody was last woken for it. */
    let heard = view === null ? new Map<string, string>() : describe(view);
    /** The newest event of the city at the last answer that was heard. */
    let heardIndex: number | null = null;
    let heardAt = Number.NEGATIVE_INFINITY;
    let failures = 0;
    /** How many rounds go without events; 0: they are tried. */
    let withoutEvents = 0;
    let pauseMs = 0;
    const eventLog = followEventLog(() => loop.wake());

    function describe({ byAddress }: CityView): Map<string, string> {
      const addresses = new Set([...byAddress.keys(), ...sessions.keys()]);
      return new Map(
        [...addresses].map((address) => {
          const messages = byAddress.get(address) ?? [];
          return [address, `${sessions.get(address)?.state.is}\n${toInboxFingerprint(messages)}`];
        }),
      );
    }

    function hear(now: CityView): boolean {
      const before = heard;
      const after = describe(now);
      heard = after;
      heardIndex = now.index;
      heardAt = now.at;
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
        (address) => before.get(address) !== after.get(address),
      );
      for (const address of changed) wake(address);
      return changed.length > 0;
    }

    async function round(signal: AbortSignal): Promise<void> {
      if (!isRunning()) {
        isHeld = false;
        pauseMs = WITHOUT_EVENTS_MS;
        return;
      }
      try {
        await step(signal);
        if (failures > 0) for (const address of lastPolls.keys()) wake(address);
        failures = 0;
      } catch (error) {
        isHeld = false;
        if (signal.aborted) return;
        if (!(error instanceof Fault)) throw error;
        if (failures === 0) for (const address of lastPolls.keys()) wake(address); // their polls report what is wrong
        failures += 1;
        pauseMs = Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MOST_MS);
      }
    }

    async function step(signal: AbortSignal): Promise<void> {
      const before = heardAt;
      if (heardIndex === null || withoutEvents > 0 || !isHeld) {
        isHeld = false;
        const now = await readShared(signal);
        if (clock.monotonic() - sessionsAt >= SESSIONS_MS) await readSessions(signal);
        hear(now);
        const hasEvents = now.index !== null && withoutEvents === 0;
        withoutEvents = hasEvents ? 0 : now.index === null ? TRY_EVENTS_AFTER : withoutEvents - 1;
        isHeld = hasEvents;
        pauseMs = hasEvents ? 0 : WITHOUT_EVENTS_MS;
        eventLog.follow(!hasEvents);
        return;
      }
      let mail: CityMail;
      try {
        mail = await client.hold(heardIndex, signal);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'status') throw error;
        withoutEvents = TRY_EVENTS_AFTER; // the city has mail and no events, or the plain request says what is wrong
        isHeld = false;
        pauseMs = 0;
        return;
      }
      const now = note(mail);
      if (clock.monotonic() - sessionsAt >= SESSIONS_MS) await readSessions(signal);
      const hasChanged = hear(now);
      const isSoon = clock.monotonic() - before < PACE_MS;
      pauseMs = hasChanged || !isSoon ? 0 : PACE_MS;
    }

    const loop = every({ name: `events of the city ${name}`, ms: () => pauseMs, round, clock });
    void loop.run(stop.signal);
    return {
      [Symbol.dispose]() {
        stop.abort();
        eventLog[Symbol.dispose]();
      },
    };
  }

  /** A city without events has a log of them, which says when to ask. */
  function followEventLog(changed: () => void): Disposable & { follow(isOn: boolean): void } {
    let directories: Disposable | null = null;
    const close = (): void => {
      directories?.[Symbol.dispose]();
      directories = null;
    };
    return {
      follow(isOn) {
        if (!isOn) close();
        if (!isOn || directories !== null || path === '') return;
        const folder = join(path, '.gc');
        const reader = createEventLogReader(disk, join(folder, EVENT_LOG));
        reader.read(); // what is there is older than the list that was just read
        const watching = watchDirectories({ clock, statOnly: false });
        const hear = (file: string | null): void => {
          if (file !== null && file !== EVENT_LOG) return;
          timers.schedule(20, EVENT_LOG, () => {
            if (reader.read().length > 0) changed();
          });
        };
        watching.add(folder, hear, 'always');
        directories = watching;
      },
      [Symbol.dispose]: close,
    };
  }
}

const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };
