import { basename, join } from 'node:path';
import { exactly, Fault, faultOf, UNKNOWN } from '../../model/index.ts';
import { defectLog } from '../defect-log.ts';
import { onlyReading } from '../only-reading.ts';
import type { Level, Levels, Look, Mark, Persona } from '../source.ts';
import { cut } from '../text.ts';
import { keepTimers } from '../timers.ts';
import { type Cursor, type Seed, type Sheet, sheetOf } from './read/index.ts';
import { type Changes, watchStore } from './source-changes.ts';
import { agentSaid, agentShare, boardSaid, boardShare, type Said, type Share, sameShare } from './source-looks.ts';
import { BOARD, BRAINCLAW, type BrainclawOptions, type BrainclawSource, sourceIdOf } from './source-options.ts';
import { type JournalName, keepStore, type Seen } from './source-store.ts';

const WAKE_AFTER_MS = 2;
/** What is there and was not listed is looked for again. */
const MISSED_AFTER_MS = 50;
/** What no notice came for is looked at so often (brainclaw contract 9). */
const LOOK_EVERY_MS = 10_000;
/** One reading serves all looks within this time, unless a notice came. */
const FRESH_MS = 1000;
/** The cursor is derived: it may be old. */
const SAVE_AFTER_MS = 60_000;
const LABEL_CHARS = 80;
const NOT_KNOWN: Level = { unread: UNKNOWN, urgent: UNKNOWN };
const FILE_NAME = /^[\w-]+$/;

/** What a persona was when it was looked at last. */
interface Looked {
  readonly share: Share;
  readonly unread: Look['unread'];
  /** Its watch knew that it is of this journal; null: it did not. */
  readonly settled: JournalName | null;
  readonly isKept: boolean;
}

/**
 * A project's board and its agents as personas. Nothing below the store is ever written, locked or run: only `read/` is
 * imported, and of the disk only what reads is used (brainclaw contract 9).
 */
export function brainclawSource(options: BrainclawOptions): BrainclawSource {
  const { project, clock, log, mail } = options;
  const id = sourceIdOf(project);
  const files = onlyReading(options.disk.files, id);
  const store = keepStore({ ...options, store: project.store, files });
  const defects = defectLog(log, BRAINCLAW);
  const timers = keepTimers(clock);
  const folder = shown(basename(project.root));
  /** By address; of the last reading. */
  let shares: ReadonlyMap<string, Share> = new Map();
  const looked = new Map<string, Looked>();
  /** What a notice came for since the last reading. */
  let doubted: Set<string> | 'all' | null = 'all';
  let readAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let seed: Seed | null = null;
  let isSeedAsked = false;
  let sheet: { readonly of: Seen; readonly seed: Seed | null; readonly is: Sheet } | null = null;
  let saved: Cursor | null = null;
  let wakes: ((address: string) => void) | null = null;
  let changes: Changes | null = null;

  const named = (address: string): Persona =>
    address === BOARD
      ? { id, address, label: folder }
      : { id: `${id}-${address}`, address, label: `${shown(address)} · ${folder}` };

  /** @throws Fault `unreadable`: one cause for all of the project */
  function readable<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      isFailing = true;
      doubted = 'all';
      const scope = { is: 'source', key: id } as const;
      throw new Fault('unreadable', faultOf(error, scope).message, scope, { cause: error });
    }
  }

  /** @param of inboxes that are looked into; null: none @throws Fault `unreadable` */
  function read(of: Set<string> | 'all' | null): Seen {
    const before = store.last;
    const seen = readable(() => store.refresh(of === 'all' ? undefined : (of ?? new Set())));
    doubted = null;
    readAt = clock.monotonic();
    if (seen !== before || shares.size === 0) share(seen);
    return seen;
  }

  function share(seen: Seen): void {
    const next = new Map<string, Share>();
    const put = (address: string, now: Share): void => {
      const known = shares.get(address);
      next.set(address, known !== undefined && sameShare(known, now) ? known : now);
    };
    put(BOARD, boardShare(seen, seed));
    for (const agent of agentsIn(seen)) put(agent, agentShare(seen, agent));
    shares = next;
    const fresh = changes?.follow(agentsOf(shares)) ?? [];
    if (fresh.length > 0) doubt(fresh); // what came before it was followed was not heard
    askSeed(seen);
    saveLater();
    options.changed?.();
  }

  function doubt(agents: Iterable<string>): void {
    if (doubted !== 'all') doubted = new Set([...(doubted ?? []), ...agents]);
    timers.in(WAKE_AFTER_MS, 'read', census);
  }

  function current(): Seen {
    const { last } = store;
    const isFresh = changes !== null && doubted === null && clock.monotonic() - readAt < FRESH_MS;
    return isFresh && last !== null ? last : read(changes === null ? 'all' : (doubted ?? 'all'));
  }

  /** Wakes whom something is new for. */
  function census(): void {
    const wasFailing = isFailing;
    try {
      read(doubted);
      isFailing = false;
    } catch {
      for (const address of shares.keys()) wakes?.(address); // their looks say what is wrong
      return;
    }
    for (const [address, share] of shares) if (wasFailing || looked.get(address)?.share !== share) wakes?.(address);
    for (const address of looked.keys()) if (!shares.has(address)) wakes?.(address);
  }

  function sayDefects(): void {
    defects.now(
      'store',
      store.defects.map(({ filename, message }) => ({ filename: `${project.id}: ${filename}`, message })),
    );
  }

  /** Once, where the journal does not say all (brainclaw contract 9). */
  function askSeed({ view }: Seen): void {
    const ask = options.seed;
    if (ask === null || isSeedAsked || view?.replay.projection.registryAuthoritative === true) return;
    isSeedAsked = true;
    ask().then(
      (answer) => {
        seed = answer;
        if (store.last !== null) share(store.last);
        wakes?.(BOARD);
      },
      (error: unknown) => log.warn(`brainclaw: ${project.id}: ${faultOf(error, { is: 'source', key: id }).explain()}`),
    );
  }

  function saveLater(): void {
    if (changes !== null) timers.in(SAVE_AFTER_MS, 'cursor', save);
  }

  function isSettled(before: Looked | undefined): boolean {
    return before !== undefined && before.settled !== null && before.settled === store.last?.journal;
  }

  /** Not before every watch knows the journal that the cursor is of: else a restart would take one for the other. */
  function save(): void {
    const cursor = store.last?.view?.replay.cursor ?? null;
    if (cursor === null || isSame(cursor, saved)) return;
    const isTold = [...shares.keys()].every((address) => isSettled(looked.get(address)));
    if (!isTold) {
      saveLater();
      return;
    }
    try {
      options.cursor.save(cursor);
      saved = cursor;
    } catch (error) {
      log.warn(`brainclaw: ${project.id}: ${faultOf(error, { is: 'source', key: id }).explain()}`);
    }
  }

  function saidTo(address: string, from: Mark, seen: Seen, share: Share): Said {
    if (address === BOARD) return boardSaid(seen, share, from);
    const isThere = (message: string): boolean => {
      const path = join(project.store, 'coordination', 'inbox', address, `${message}.json`);
      return FILE_NAME.test(message) && readable(() => files.lstat(path)) !== null;
    };
    return agentSaid(seen, share, from, { mail, withContent: options.contentChars !== null, isThere });
  }

  function look({ address }: Persona, from: Mark): Look {
    const seen = current();
    const share = shares.get(address) ?? agentShare(seen, address);
    const said = saidTo(address, from, seen, share);
    const { epoch, items, unread, vital, isKept } = said;
    const settled = from.is === 'known' && !said.isOther ? seen.journal : null;
    looked.set(address, { share, unread, settled, isKept });
    if (said.isOther && wakes !== null) timers.in(WAKE_AFTER_MS, `look ${address}`, () => wakes?.(address));
    if (said.isMissed && wakes !== null) timers.in(MISSED_AFTER_MS, `missed ${address}`, () => doubt([address]));
    return { at: clock.now(), unread, urgent: exactly(0), vital, evidence: { is: 'set', epoch, items } };
  }

  /** Of whom nothing is new since the look, the counts of then. Of anybody else nothing: then there is a look. */
  function levels(): Levels {
    read('all');
    sayDefects();
    const of = new Map<string, Level>();
    for (const address of looked.keys()) {
      if (shares.has(address)) continue;
      of.set(address, NOT_KNOWN);
      if (looked.get(address)?.isKept === false) looked.delete(address);
    }
    for (const [address, share] of shares) {
      const before = looked.get(address);
      const isKnown = before !== undefined && before.share === share && isSettled(before);
      of.set(address, isKnown ? { unread: before.unread, urgent: exactly(0) } : NOT_KNOWN);
    }
    return { at: clock.now(), of, cursor: null };
  }

  return {
    id,
    kind: BRAINCLAW,
    project,
    async personas() {
      read('all');
      sayDefects();
      return [...shares.keys()].map(named);
    },
    look,
    pending: { once: async () => levels() },
    isGone: ({ address }) =>
      address !== BOARD && store.last !== null && !shares.has(address) && looked.get(address)?.isKept !== true,
    hints(wake) {
      wakes = wake;
      const heard = {
        journal: () => doubt([]),
        inbox: (agent: string | null) => (agent === null ? doubtAll() : doubt([agent])),
      };
      changes = watchStore({ store: project.store, mail, clock, heard, statOnly: options.statOnly === true });
      changes.follow(agentsOf(shares));
      doubtAll(); // what came since it was listed
      lookAgain();
      return {
        [Symbol.dispose]() {
          wakes = null;
          changes?.[Symbol.dispose]();
          changes = null;
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    get sheet() {
      const { last } = store;
      if (last === null) return null;
      if (sheet?.of !== last || sheet.seed !== seed)
        sheet = { of: last, seed, is: sheetOf({ view: last.view, mail: last.mail, seed }) };
      return sheet.is;
    },
    sheetAt(page) {
      const { last } = store;
      return last === null ? null : sheetOf({ view: last.view, mail: last.mail, seed, page });
    },
    get defects() {
      return defects.all;
    },
    [Symbol.asyncDispose]: async () => save(),
  };

  function doubtAll(): void {
    doubted = 'all';
    timers.in(WAKE_AFTER_MS, 'read', census);
  }

  function lookAgain(): void {
    timers.in(LOOK_EVERY_MS, 'again', () => {
      doubtAll();
      lookAgain();
    });
  }
}

/** Everybody who has an inbox or work. Who had and is not known to have is kept by its looks. */
function agentsIn({ work, mail }: Seen): readonly string[] {
  return [...new Set([...(mail?.keys() ?? []), ...(work?.agents.keys() ?? [])])].sort();
}

function agentsOf(shares: ReadonlyMap<string, Share>): readonly string[] {
  return [...shares.keys()].filter((address) => address !== BOARD);
}

function isSame(a: Cursor, b: Cursor | null): boolean {
  return b !== null && a.seq === b.seq && a.segment === b.segment && a.offset === b.offset;
}

/** A folder and an agent are called whatever somebody calls them. */
function shown(name: string): string {
  return cut(name.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''), LABEL_CHARS);
}
