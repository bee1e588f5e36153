import { basename, join } from 'node:path';
import { exactly, Fault, toFault, UNKNOWN } from '../../model/index.ts';
import { every } from '../../services/index.ts';
import type { Checkpoint, PendingCounts, Persona, PollResult, UnreadCounts } from '../source.ts';
import { createDefectLog, createTimers, cut, toReadOnlyFiles } from '../source-tools.ts';
import { type Cursor, type ProjectSheet, type Seed, toProjectSheet } from './read/index.ts';
import { BRAINCLAW } from './settings.ts';
import { type ProjectChanges, watchStore } from './source-changes.ts';
import {
  BOARD,
  type BrainclawOptions,
  type BrainclawSource,
  isSameShare,
  type Share,
  type ShareResult,
  toAgentResult,
  toAgentShare,
  toBoardResult,
  toBoardShare,
  toSourceId,
} from './source-poll.ts';
import { createStoreReader, type JournalName, type StoreSnapshot } from './source-store.ts';

const WAKE_AFTER_MS = 2;
/** When a message file exists that was not listed, its inbox is read again after this time. */
const MISSED_AFTER_MS = 50;
/** How often a store without change notices is checked (brainclaw contract 9). */
const RECHECK_EVERY_MS = 10_000;
/** One read serves all polls within this time, unless a change notice came. */
const FRESH_MS = 1000;
/** The cursor is derived, so the saved one may be old. */
const SAVE_AFTER_MS = 60_000;
const LABEL_CHARS = 80;
const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };
const FILE_NAME = /^[\w-]+$/;

/** A persona's state at its last poll. */
interface PersonaPoll {
  readonly share: Share;
  readonly unread: PollResult['unread'];
  /** The journal, when the persona's watcher knew it; null when it did not. */
  readonly knownJournal: JournalName | null;
  readonly isRetained: boolean;
}

/**
 * A project's board and its agents as personas. Nothing below the store is ever written, locked or run: only `read/` is imported,
 * and only read operations of the disk are used (brainclaw contract 9).
 */
export function createBrainclawSource(options: BrainclawOptions): BrainclawSource {
  const { project, clock, log, mail } = options;
  const id = toSourceId(project);
  const files = toReadOnlyFiles(options.disk.files, id);
  const store = createStoreReader({ ...options, store: project.store, files });
  const defects = createDefectLog(log, BRAINCLAW);
  const timers = createTimers(clock);
  const folder = cleanName(basename(project.root));
  /** Shares by address, as of the last read. */
  let shares: ReadonlyMap<string, Share> = new Map();
  const lastPolls = new Map<string, PersonaPoll>();
  /** The inboxes for which change notices came since the last read. */
  let doubted: Set<string> | 'all' | null = 'all';
  let readAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let seed: Seed | null = null;
  let isSeedRequested = false;
  let sheet: { readonly of: StoreSnapshot; readonly seed: Seed | null; readonly is: ProjectSheet } | null = null;
  let saved: Cursor | null = null;
  let wakes: ((address: string) => void) | null = null;
  let changes: ProjectChanges | null = null;

  const named = (address: string): Persona =>
    address === BOARD
      ? { id, address, label: folder }
      : { id: `${id}-${address}`, address, label: `${cleanName(address)} · ${folder}` };

  /** @throws Fault `unreadable`, which is one cause for the whole project */
  function wrapUnreadable<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      isFailing = true;
      doubted = 'all';
      const scope = { is: 'source', key: id } as const;
      throw new Fault('unreadable', toFault(error, scope).message, scope, { cause: error });
    }
  }

  /** @param agents inboxes to read; null for none @throws Fault `unreadable` */
  function read(agents: Set<string> | 'all' | null): StoreSnapshot {
    const before = store.last;
    const snapshot = wrapUnreadable(() => store.refresh(agents === 'all' ? undefined : (agents ?? new Set())));
    doubted = null;
    readAt = clock.monotonic();
    if (snapshot !== before || shares.size === 0) updateShares(snapshot);
    return snapshot;
  }

  function updateShares(snapshot: StoreSnapshot): void {
    const next = new Map<string, Share>();
    const put = (address: string, now: Share): void => {
      const known = shares.get(address);
      next.set(address, known !== undefined && isSameShare(known, now) ? known : now);
    };
    put(BOARD, toBoardShare(snapshot, seed));
    for (const agent of listAgents(snapshot)) put(agent, toAgentShare(snapshot, agent));
    shares = next;
    const fresh = changes?.follow(listAgentAddresses(shares)) ?? [];
    if (fresh.length > 0) doubt(fresh); // changes before the watching began were not reported
    askSeed(snapshot);
    saveLater();
    options.changed?.();
  }

  function doubt(agents: Iterable<string>): void {
    if (doubted !== 'all') doubted = new Set([...(doubted ?? []), ...agents]);
    timers.schedule(WAKE_AFTER_MS, 'read', wakeChanged);
  }

  function readCurrent(): StoreSnapshot {
    const { last } = store;
    const isFresh = changes !== null && doubted === null && clock.monotonic() - readAt < FRESH_MS;
    return isFresh && last !== null ? last : read(changes === null ? 'all' : (doubted ?? 'all'));
  }

  /** Wakes the personas for which something is new. */
  function wakeChanged(): void {
    const wasFailing = isFailing;
    try {
      read(doubted);
      isFailing = false;
    } catch {
      for (const address of shares.keys()) wakes?.(address); // their polls report what is wrong
      return;
    }
    for (const [address, share] of shares) if (wasFailing || lastPolls.get(address)?.share !== share) wakes?.(address);
    for (const address of lastPolls.keys()) if (!shares.has(address)) wakes?.(address);
  }

  function reportDefects(): void {
    defects.report(
      'store',
      store.defects.map(({ filename, message }) => ({ filename: `${project.id}: ${filename}`, message })),
    );
  }

  /** Asks brainclaw once, when the journal does not hold everything (brainclaw contract 9). */
  function askSeed({ view }: StoreSnapshot): void {
    const ask = options.seed;
    if (ask === null || isSeedRequested || view?.replay.projection.registryAuthoritative === true) return;
    isSeedRequested = true;
    ask().then(
      (answer) => {
        seed = answer;
        if (store.last !== null) updateShares(store.last);
        wakes?.(BOARD);
      },
      (error: unknown) => log.warn(`brainclaw: ${project.id}: ${toFault(error, { is: 'source', key: id }).explain()}`),
    );
  }

  function saveLater(): void {
    if (changes !== null) timers.schedule(SAVE_AFTER_MS, 'cursor', save);
  }

  function knowsJournal(before: PersonaPoll | undefined): boolean {
    return before !== undefined && before.knownJournal !== null && before.knownJournal === store.last?.journal;
  }

  /**
   * Saves the cursor only when every watcher knows the journal that it belongs to. Otherwise a restart would mistake one journal
   * for another.
   */
  function save(): void {
    const cursor = store.last?.view?.replay.cursor ?? null;
    if (cursor === null || isSameCursor(cursor, saved)) return;
    const isKnownToAll = [...shares.keys()].every((address) => knowsJournal(lastPolls.get(address)));
    if (!isKnownToAll) {
      saveLater();
      return;
    }
    try {
      options.cursor.save(cursor);
      saved = cursor;
    } catch (error) {
      log.warn(`brainclaw: ${project.id}: ${toFault(error, { is: 'source', key: id }).explain()}`);
    }
  }

  function toResult(address: string, from: Checkpoint, snapshot: StoreSnapshot, share: Share): ShareResult {
    if (address === BOARD) return toBoardResult(snapshot, share, from);
    const isThere = (message: string): boolean => {
      const path = join(project.store, 'coordination', 'inbox', address, `${message}.json`);
      return FILE_NAME.test(message) && wrapUnreadable(() => files.lstat(path)) !== null;
    };
    return toAgentResult(snapshot, share, from, { mail, withContent: options.contentChars !== null, isThere });
  }

  function poll({ address }: Persona, from: Checkpoint): PollResult {
    const snapshot = readCurrent();
    const share = shares.get(address) ?? toAgentShare(snapshot, address);
    const result = toResult(address, from, snapshot, share);
    const { epoch, items, unread, agentState, isRetained } = result;
    const knownJournal = from.is === 'known' && !result.isOther ? snapshot.journal : null;
    lastPolls.set(address, { share, unread, knownJournal, isRetained });
    if (result.isOther && wakes !== null) timers.schedule(WAKE_AFTER_MS, `look ${address}`, () => wakes?.(address));
    if (result.isMissed && wakes !== null)
      timers.schedule(MISSED_AFTER_MS, `missed ${address}`, () => doubt([address]));
    return { at: clock.now(), unread, urgent: exactly(0), agentState, evidence: { is: 'set', epoch, items } };
  }

  /**
   * Pending counts. A persona for which nothing is new since its poll has the counts of that poll; any other has unknown counts,
   * so it is polled.
   */
  function readPendingCounts(): PendingCounts {
    read('all');
    reportDefects();
    const byAddress = new Map<string, UnreadCounts>();
    for (const address of lastPolls.keys()) {
      if (shares.has(address)) continue;
      byAddress.set(address, UNKNOWN_COUNTS);
      if (lastPolls.get(address)?.isRetained === false) lastPolls.delete(address);
    }
    for (const [address, share] of shares) {
      const before = lastPolls.get(address);
      const isKnown = before !== undefined && before.share === share && knowsJournal(before);
      byAddress.set(address, isKnown ? { unread: before.unread, urgent: exactly(0) } : UNKNOWN_COUNTS);
    }
    return { at: clock.now(), byAddress, cursor: null };
  }

  return {
    id,
    kind: BRAINCLAW,
    project,
    async personas() {
      read('all');
      reportDefects();
      return [...shares.keys()].map(named);
    },
    poll,
    pending: { once: async () => readPendingCounts() },
    isGone: ({ address }) =>
      address !== BOARD && store.last !== null && !shares.has(address) && lastPolls.get(address)?.isRetained !== true,
    hints(wake) {
      wakes = wake;
      const listener = {
        journal: () => doubt([]),
        inbox: (agent: string | null) => (agent === null ? doubtAll() : doubt([agent])),
      };
      changes = watchStore({ store: project.store, mail, clock, listener, statOnly: options.statOnly === true });
      changes.follow(listAgentAddresses(shares));
      doubtAll(); // what changed since the listing
      const stop = new AbortController();
      const rechecks = every({
        name: `${id}: recheck`,
        ms: RECHECK_EVERY_MS,
        firstMs: RECHECK_EVERY_MS,
        round: doubtAll,
        clock,
      });
      void rechecks.run(stop.signal);
      return {
        [Symbol.dispose]() {
          wakes = null;
          changes?.[Symbol.dispose]();
          changes = null;
          stop.abort();
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    get sheet() {
      const { last } = store;
      if (last === null) return null;
      if (sheet?.of !== last || sheet.seed !== seed)
        sheet = { of: last, seed, is: toProjectSheet({ view: last.view, mail: last.mail, seed }) };
      return sheet.is;
    },
    sheetAt(page) {
      const { last } = store;
      return last === null ? null : toProjectSheet({ view: last.view, mail: last.mail, seed, page });
    },
    get defects() {
      return defects.lines;
    },
    [Symbol.asyncDispose]: async () => save(),
  };

  function doubtAll(): void {
    doubted = 'all';
    timers.schedule(WAKE_AFTER_MS, 'read', wakeChanged);
  }
}

/** All agents that have an inbox or work. Agents that had one and may still have it are kept by their polls. */
function listAgents({ work, mail }: StoreSnapshot): readonly string[] {
  return [...new Set([...(mail?.keys() ?? []), ...(work?.agents.keys() ?? [])])].sort();
}

function listAgentAddresses(shares: ReadonlyMap<string, Share>): readonly string[] {
  return [...shares.keys()].filter((address) => address !== BOARD);
}

function isSameCursor(a: Cursor, b: Cursor | null): boolean {
  return b !== null && a.seq === b.seq && a.segment === b.segment && a.offset === b.offset;
}

/** A name without control characters, cut: folders and agents can have any name. */
function cleanName(name: string): string {
  return cut(name.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''), LABEL_CHARS);
}
