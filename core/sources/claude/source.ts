import { isDeepStrictEqual } from 'node:util';
import type { Fact } from '../../board/index.ts';
import { AGENT_STATE_NOT_REPORTED, type AgentState, exactly, Fault, type PersonaId } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every, whileNeeded } from '../../services/index.ts';
import type { Disk } from '../../state/index.ts';
import type { PositionStore } from '../module.ts';
import type { Checkpoint, Persona, PollResult, Reply, Source } from '../source.ts';
import { createDefectLog, createTimers, toReadOnlyFiles } from '../source-tools.ts';
import { findAgentState, findStallTime } from './agent-state.ts';
import { watchConfigDirectory } from './changes.ts';
import { type ConfigDirectory, createConfigDirectory, WAIT } from './directory.ts';
import { type Fate, readLogs } from './mail-log.ts';
import type { ReadProcess } from './read/index.ts';
import type { ReplyToSession } from './reply.ts';
import { type Entry, listRoster, type Roster, toPersonaId } from './roster.ts';
import { type SavedPositions, savePositions, takePositions } from './saved-positions.ts';
import { CLAUDE } from './settings.ts';
import { findBoxTrouble, RETRIES_MS } from './team-inbox.ts';

export interface ClaudeOptions {
  /** The config directories, absolute. */
  readonly directories: readonly string[];
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly readProcess: ReadProcess;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** How far transcripts were read; absent: from now on in each run. */
  readonly positions?: PositionStore;
  /** The persona that announced a session; absent: none ever does. */
  readonly findSessionPersona?: (sessionId: string) => PersonaId | null;
  /** Called with what announced sessions do. */
  readonly put?: (fact: Fact) => void;
  /** Hands what a person typed to a session; absent: the settings do not allow it. */
  readonly replyToSession?: ReplyToSession;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** The sessions and teams of Claude Code as a source. */
export interface ClaudeSource extends Source {
  /** A session or member as a persona, also one that is not there, or not any more. */
  named(address: string): Persona;
  /** What a persona stands for; null when it is not there. */
  find(address: string): Entry | null;
  /** The persona that stands for this session; null when none does. */
  findBySession(sessionId: string): Entry | null;
  readonly stores: readonly ConfigDirectory[];
  /** The current problems of the directories that concern nobody's mail, one line each. */
  readonly defects: readonly string[];
}

/** How often everything is looked at, also where change notices come. */
const SWEEP_MS = 10_000;
/** An announcement comes shortly after the session. */
const ANNOUNCED_WITHIN_MS = 3000;
const ASK_EVERY_MS = 300;
const WAKE_AFTER_MS = 2;
/** How soon a transcript is read on that grew by more than is read at once. */
const MORE_AFTER_MS = 250;

export function createClaudeSource(options: ClaudeOptions): ClaudeSource {
  const { clock, log, readProcess, contentChars, put, replyToSession } = options;
  const files = toReadOnlyFiles(options.disk.files, CLAUDE);
  const saved = options.positions === undefined ? null : takePositions(options.positions, log);
  const stores = options.directories.map((root) =>
    createConfigDirectory({ root, files, clock, readProcess, texts: { contentChars }, saved }),
  );
  const defects = createDefectLog(log, CLAUDE);
  const timers = createTimers(clock);
  const addresses = new Map<string, string>();
  /** Which persona announced each session, as it was asked last. */
  const personas = new Map<string, PersonaId | null>();
  /** Sessions that were just found, and until when they are asked often. */
  const young = new Map<string, number>();
  const asking = whileNeeded({
    ...{ name: 'announcements', ms: ASK_EVERY_MS, clock, round: askYoung },
    isNeeded: () => young.size > 0,
  });
  /** Sessions whose transcripts grew by more than is read at once. */
  const behind = new Set<string>();
  const reading = whileNeeded({
    ...{ name: 'transcripts', ms: MORE_AFTER_MS, clock, round: readOn },
    isNeeded: () => behind.size > 0,
  });
  const sweeps = every({ name: 'sweep', ms: SWEEP_MS, firstMs: SWEEP_MS, clock, round: sweep });
  /** What was reported last of the session of each persona. */
  const reports = new Map<PersonaId, AgentState>();
  let roster: Roster = { byAddress: new Map(), announced: [] };
  let wasScanned = false;
  /** What `roster` was listed from. */
  let listedAt = '';
  let wakes: ((address: string) => void) | null = null;

  const find = (address: string): Entry | null => roster.byAddress.get(address) ?? null;

  const named = (address: string): Persona => ({
    ...{ id: toPersonaId(address), address },
    label: roster.byAddress.get(address)?.label ?? address,
  });

  /** Who announced a session; who it was before where the store cannot say it now. */
  function findAnnouncer(sessionId: string): PersonaId | null {
    try {
      return options.findSessionPersona?.(sessionId) ?? null;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return personas.get(sessionId) ?? null; // the store says by itself what is wrong with it
    }
  }

  /** Asks who announced a session. An announcement that ended counts until the session ends too. */
  function askPersona(sessionId: string): void {
    const persona = findAnnouncer(sessionId);
    const isGone = stores.some(({ sessions }) => sessions.get(sessionId)?.goneAt != null);
    if (persona !== null || !isGone) personas.set(sessionId, persona);
  }

  function findPersona(sessionId: string): PersonaId | null {
    if (!personas.has(sessionId)) {
      askPersona(sessionId);
      if (personas.get(sessionId) === null && options.findSessionPersona !== undefined) {
        young.set(sessionId, clock.monotonic() + ANNOUNCED_WITHIN_MS);
        asking.wake();
      }
    }
    return personas.get(sessionId) ?? null;
  }

  function askYoung(): void {
    for (const [sessionId, until] of young) {
      const before = personas.get(sessionId);
      askPersona(sessionId);
      if (personas.get(sessionId) !== before) listedAt = '';
      if (clock.monotonic() >= until || personas.get(sessionId) != null) young.delete(sessionId);
    }
    refresh();
  }

  /** Lists anew who is there if anything changed, and wakes those who came, left, or have something else. */
  function refresh(): void {
    const revision = stores.map((store) => store.revision).join();
    if (revision === listedAt) return;
    listedAt = revision;
    const before = roster.byAddress;
    roster = listRoster(stores, addresses, findPersona);
    for (const id of [...personas.keys()]) if (!stores.some(({ sessions }) => sessions.has(id))) personas.delete(id);
    reportAnnounced();
    reportDefects();
    if (wakes === null) return;
    const due = new Set<string>();
    for (const [address, entry] of roster.byAddress) {
      const known = before.get(address);
      if (known === undefined || !isSameEntry(known, entry)) due.add(address);
    }
    for (const address of before.keys()) if (!roster.byAddress.has(address)) due.add(address);
    for (const address of due) wakes(address);
  }

  function isSameEntry(a: Entry, b: Entry): boolean {
    return (
      a.label === b.label && a.session === b.session && a.revision === b.revision && a.boxes.length === b.boxes.length
    );
  }

  /** Says what announced sessions do at the personas that announced them. Of several the one that lives and changed last counts. */
  function reportAnnounced(): void {
    const states = new Map<PersonaId, AgentState>();
    for (const { session, persona } of roster.announced) {
      for (const log of [session.waits, session.mail]) {
        log.dropEnded();
        log.noteKnown(`announced by ${persona}`, new Set(log.entries.keys())); // it is shown there
      }
      const state = findAgentState({ session, isSession: true, member: null, boxes: [] }, clock);
      const other = states.get(persona);
      const isBetter =
        other === undefined || other.is === 'gone' || (state.is !== 'gone' && (state.since ?? 0) > (other.since ?? 0));
      if (isBetter) states.set(persona, state);
    }
    for (const [persona, state] of states) {
      if (isDeepStrictEqual(reports.get(persona), state)) continue;
      reports.set(persona, state);
      put?.({ is: 'agent', at: clock.now(), persona, reporter: 'session', state });
    }
    for (const persona of [...reports.keys()]) {
      if (states.has(persona)) continue;
      reports.delete(persona);
      put?.({ is: 'agent', at: clock.now(), persona, reporter: 'session', state: null });
    }
  }

  function reportDefects(): void {
    for (const { root, defects: found, teams } of stores) {
      defects.report(root, found);
      for (const { name, boxes } of teams.values())
        for (const box of boxes.values())
          defects.report(
            `${root} ${name} ${box.name}`,
            box.defects.map((message) => ({ filename: `${name}/inboxes/${box.name}.json`, message })),
          );
    }
  }

  function scan(): void {
    for (const store of stores) store.scan();
    wasScanned = true;
    refresh();
  }

  function throwUnlessReadable(): void {
    for (const { root, sessionsTrouble, teamsTrouble } of stores) {
      if (sessionsTrouble !== null) throw createFault(`${root}/sessions`, sessionsTrouble);
      if (teamsTrouble !== null) throw createFault(`${root}/teams`, teamsTrouble);
    }
  }

  function poll(persona: Persona, from: Checkpoint): PollResult {
    if (!wasScanned) scan();
    readAnew(persona.address);
    const entry = roster.byAddress.get(persona.address) ?? null;
    const now = clock.monotonic();
    const epoch = entry?.directory.root ?? (from.is === 'known' ? from.epoch : EPOCH);
    const reading = readLogs(persona.address, entry?.logs ?? [], from, now, (key, extra) => findFate(key, extra));
    const { items, unread, urgent, hasMore, againAt } = reading;
    const evidence = { is: 'set', epoch, items } as const;
    if (entry === null) {
      throwUnlessReadable(); // who cannot be seen is not known to be gone
      return {
        at: clock.now(),
        unread: exactly(0),
        urgent: exactly(0),
        agentState: AGENT_STATE_NOT_REPORTED,
        evidence,
      };
    }
    throwIfUnreadable(persona, entry);
    if (hasMore) wakeIn(WAKE_AFTER_MS, 'more', persona.address);
    if (againAt !== null) wakeIn(againAt - now, 'held', persona.address);
    const stallsAt = findStallTime(entry.boxes);
    if (stallsAt !== null && stallsAt > now) wakeIn(stallsAt - now + 1, 'stalled', persona.address);
    const agentState = findAgentState(entry, clock);
    return { at: clock.now(), unread: exactly(unread), urgent: exactly(urgent), agentState, evidence };
  }

  /** Reads the files of one persona again, so that a poll never says what was. */
  function readAnew(address: string): void {
    for (const store of stores) if (!isReadable(store)) store.scan();
    const entry = roster.byAddress.get(address);
    if (entry === undefined) return;
    const { directory, session, boxes } = entry;
    if (session !== null) {
      directory.readSession(session.filename);
      directory.checkProcess(session.file.sessionId);
    }
    for (const box of boxes) directory.readBox(box.team, box.name);
    if (session !== null) readTranscripts(directory, session.file.sessionId);
    refresh();
  }

  function throwIfUnreadable({ id, address }: Persona, { directory, isSession, boxes }: Entry): void {
    const { root, sessionsTrouble, teamsTrouble } = directory;
    if (isSession && sessionsTrouble !== null) throw createFault(`${root}/sessions`, sessionsTrouble);
    if (boxes.length > 0 && teamsTrouble !== null) throw createFault(`${root}/teams`, teamsTrouble);
    for (const box of boxes) {
      const why = findBoxTrouble(box, clock.monotonic());
      if (why !== null)
        throw new Fault('unreadable', `inbox-unreadable: ${box.path} ${why}`, { is: 'persona', key: id });
      const { trouble } = box;
      if (trouble === null) continue;
      const passed = clock.monotonic() - trouble.since;
      const next = RETRIES_MS.find((ms) => ms > passed);
      if (next !== undefined) wakeIn(next - passed, 'retry', address);
    }
  }

  /** What became of a thing that a persona knows and has no more. */
  function findFate(key: string, { team }: { readonly team?: unknown }): Fate {
    for (const { sessions, teams } of stores) {
      const logs = [
        ...[...sessions.values()].map(({ waits }) => waits),
        ...[...teams.values()].flatMap(({ boxes }) => [...boxes.values()].map((box) => box.log)),
      ];
      const entry = logs.map(({ entries }) => entries.get(key)).find((found) => found !== undefined);
      if (entry !== undefined) return entry.state === 'unread' ? 'moved' : entry.state;
    }
    if (key.startsWith(WAIT)) return 'cleared';
    if (team === undefined) return 'read';
    const isThere = stores.some(({ teams }) => typeof team === 'string' && teams.get(team)?.goneAt === null);
    return isThere ? 'read' : 'gone';
  }

  /** @param why names the timer, of which a persona has one each */
  function wakeIn(ms: number, why: string, address: string): void {
    if (wakes !== null) timers.schedule(ms, `${why} ${address}`, () => wakes?.(address));
  }

  function collectPositions(): SavedPositions {
    const all = stores.map((store) => store.collectPositions());
    return {
      offsets: Object.assign({}, ...all.map(({ offsets }) => offsets)),
      unmatched: Object.assign({}, ...all.map(({ unmatched }) => unmatched)),
    };
  }

  /** Reads on in transcripts that grew by more than is read at once. */
  function readOn(): void {
    for (const id of [...behind]) if (!stores.some((store) => store.readTranscripts(id))) behind.delete(id);
    refresh();
  }

  function readTranscripts(store: ConfigDirectory, sessionId: string): void {
    if (!store.readTranscripts(sessionId)) return;
    behind.add(sessionId);
    reading.wake();
  }

  function sweep(): void {
    for (const store of stores) {
      store.scan();
      for (const id of [...store.sessions.keys()]) {
        store.checkProcess(id);
        readTranscripts(store, id);
        const before = personas.get(id);
        askPersona(id);
        if (personas.get(id) !== before) listedAt = '';
      }
      store.forgetOld();
    }
    refresh();
  }

  return {
    id: CLAUDE,
    kind: CLAUDE,
    async personas() {
      scan();
      throwUnlessReadable();
      return [...roster.byAddress.keys()].map(named);
    },
    poll,
    ...(replyToSession === undefined
      ? {}
      : {
          reply: async (persona: Persona, reply: Reply, signal: AbortSignal) => {
            readAnew(persona.address); // it may have ended, or have another socket by now
            return await replyToSession(persona, reply, find, signal);
          },
        }),
    isGone: ({ address }) => wasScanned && !roster.byAddress.has(address) && stores.every(isReadable),
    hints(wake) {
      wakes = wake;
      const observers = stores.map((store) =>
        watchConfigDirectory({
          ...{ store, clock, statOnly: options.statOnly === true },
          soon: (key, read) =>
            timers.schedule(WAKE_AFTER_MS, key, () => {
              read();
              refresh();
            }),
        }),
      );
      if (wasScanned)
        timers.schedule(WAKE_AFTER_MS, 'begin', () => {
          scan();
          for (const address of roster.byAddress.keys()) wake(address);
        });
      const stop = new AbortController();
      void sweeps.run(stop.signal);
      void asking.run(stop.signal);
      void reading.run(stop.signal);
      return {
        [Symbol.dispose]() {
          wakes = null;
          stop.abort();
          for (const observer of observers) observer[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    find,
    findBySession: (id) =>
      roster.byAddress.values().find(({ isSession, session }) => isSession && session?.file.sessionId === id) ?? null,
    stores,
    get defects() {
      return defects.lines;
    },
    async [Symbol.asyncDispose]() {
      timers[Symbol.dispose]();
      if (wasScanned && options.positions !== undefined)
        await savePositions(options.positions, collectPositions(), log);
      wasScanned = false;
    },
  };
}

const EPOCH = 'none';

const isReadable = ({ sessionsTrouble, teamsTrouble }: ConfigDirectory): boolean =>
  sessionsTrouble === null && teamsTrouble === null;

/** A directory that cannot be read concerns everybody in it alike, so it is one cause. */
function createFault(directory: string, why: string): Fault {
  return new Fault('unreadable', `${directory}: ${why}`, { is: 'source', key: `${CLAUDE}:${directory}` });
}
