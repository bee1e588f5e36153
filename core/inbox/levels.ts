import { type Count, exactly, type Instant } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Database } from '../state/index.ts';

export interface UnreadLevel {
  readonly unread: Count;
  readonly urgent: Count;
}

/**
 * How much unread mail each persona has that asks for a person. Not counted: what Hivebar itself says to the agent, such as the
 * answer that a person just gave, and mail to a persona of another machine. A persona that is absent has none.
 */
export interface UnreadLevels {
  readonly at: Instant;
  readonly byAddress: ReadonlyMap<string, UnreadLevel>;
  /** Unread mail that only the agents must read, by persona. It is not included in `byAddress`. */
  readonly forAgents: ReadonlyMap<string, { readonly unread: number; readonly urgent: number }>;
  /** The largest id that an inbox ever had, of those inboxes that changed since the counts were first read. */
  readonly lastIds: ReadonlyMap<string, number>;
  /** Opaque. Identifies this state of all mail, also across processes and restarts. */
  readonly cursor: string;
}

/** Counts unread mail, and reports when the counts or an inbox changed. */
export interface LevelTracker extends Disposable {
  readLevel(persona: string): UnreadLevel;
  /** All unread mail, including what only the agent must read. */
  unread(persona: string): number;
  all(): UnreadLevels;
  /** Resolves after `ms`, on abort, or when the state is no longer the one that `cursor` identifies. Never rejects. */
  untilPast(cursor: string, ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Reports to every listener which personas changed since the last call, in any process. `first` is called before the listeners.
   * Returns the names of the personas.
   */
  notice(first: (persona: string) => void): readonly string[];
  /**
   * `first`: the listener runs before the others. Use it only to pass the report on, because whoever stores mail waits for it.
   */
  listen(wake: (persona: string) => void, order?: 'first'): Disposable;
}

interface LevelListener {
  readonly wake: (persona: string) => void;
}

interface LevelState extends Omit<UnreadLevels, 'at' | 'cursor'> {
  readonly rev: number;
}

interface LevelRow {
  readonly unread: number;
  readonly urgent: number;
  readonly agent_unread: number;
  readonly agent_urgent: number;
  readonly elsewhere: number;
}

interface ChangedLevelRow extends LevelRow {
  readonly name: string;
  readonly last_id: number;
  readonly rev: number;
}

const COUNTS = 'unread, urgent, agent_unread, agent_urgent, elsewhere';
const NO_COUNTS: LevelRow = { unread: 0, urgent: 0, agent_unread: 0, agent_urgent: 0, elsewhere: 0 };

function toLevel({ unread, urgent, agent_unread, agent_urgent, elsewhere }: LevelRow): UnreadLevel {
  if (elsewhere === 1) return { unread: exactly(0), urgent: exactly(0) };
  return { unread: exactly(unread - agent_unread), urgent: exactly(urgent - agent_urgent) };
}

/** Updates the two maps from a row. */
function applyRow(
  byAddress: Map<string, UnreadLevel>,
  forAgents: Map<string, { unread: number; urgent: number }>,
  row: LevelRow & { readonly name: string },
): void {
  const level = toLevel(row);
  if (level.unread.is === 'exact' && level.unread.n > 0) byAddress.set(row.name, level);
  else byAddress.delete(row.name);
  if (row.agent_unread > 0 && row.elsewhere === 0)
    forAgents.set(row.name, { unread: row.agent_unread, urgent: row.agent_urgent });
  else forAgents.delete(row.name);
}

/** `changed` is everything that changed since, in order of `rev`. */
function applyChanges(counted: LevelState, changed: readonly ChangedLevelRow[]): LevelState {
  const last = changed.at(-1);
  if (last === undefined) return counted;
  const byAddress = new Map(counted.byAddress);
  const forAgents = new Map(counted.forAgents);
  const lastIds = new Map(counted.lastIds);
  for (const row of changed) {
    applyRow(byAddress, forAgents, row);
    lastIds.set(row.name, row.last_id);
  }
  return { rev: last.rev, byAddress, forAgents, lastIds };
}

/** Opens the tracker. It uses `personas.rev`: a persona with a higher `rev` than the last one seen has changed. */
export function openLevelTracker(db: Database, clock: Clock, log: Log): LevelTracker {
  const newestRev = db.prepare<{ rev: number }>('SELECT coalesce(max(rev), 0) AS rev FROM personas');
  const changedSince = db.prepare<ChangedLevelRow>(
    `SELECT name, rev, last_id, ${COUNTS} FROM personas WHERE rev > ? ORDER BY rev`,
  );
  const countOne = db.prepare<LevelRow>(`SELECT ${COUNTS} FROM personas WHERE name = ?`);
  const countAll = db.prepare<LevelRow & { name: string }>(`SELECT name, ${COUNTS} FROM personas WHERE unread > 0`);

  const listeners = { first: new Set<LevelListener>(), others: new Set<LevelListener>() };
  const holds = new Set<{ readonly cursor: string; readonly wake: () => void }>();
  let reportedRev = readRev();
  /** Counts as of `rev`. They are read at first use; after that, only changed personas are counted again. */
  let counted: LevelState | null = null;

  function readRev(): number {
    return newestRev.get()?.rev ?? 0;
  }

  const readLevel = (persona: string): UnreadLevel => toLevel(countOne.get(persona) ?? NO_COUNTS);

  // The revision is read before the counts, so mail of another process in between is counted twice rather than missed.
  function refresh(): LevelState {
    if (counted === null) {
      const rev = readRev();
      const byAddress = new Map<string, UnreadLevel>();
      const forAgents = new Map<string, { unread: number; urgent: number }>();
      for (const row of countAll.all()) applyRow(byAddress, forAgents, row);
      return { rev, byAddress, forAgents, lastIds: new Map() };
    }
    return applyChanges(counted, changedSince.all(counted.rev));
  }

  return {
    readLevel: readLevel,
    unread: (persona) => countOne.get(persona)?.unread ?? 0,
    all() {
      counted = refresh();
      return {
        at: clock.now(),
        byAddress: counted.byAddress,
        forAgents: counted.forAgents,
        lastIds: counted.lastIds,
        cursor: String(counted.rev),
      };
    },
    async untilPast(cursor, ms, signal) {
      if (signal.aborted || ms <= 0 || String(readRev()) !== cursor) return;
      const past = new AbortController();
      const wake = (): void => past.abort();
      const hold = { cursor, wake };
      holds.add(hold);
      signal.addEventListener('abort', wake, { once: true });
      try {
        await clock.sleep(ms, past.signal);
      } finally {
        holds.delete(hold);
        signal.removeEventListener('abort', wake);
      }
    },
    notice(first) {
      const changed = changedSince.all(reportedRev);
      const last = changed.at(-1);
      if (last === undefined) return [];
      if (counted?.rev === reportedRev) counted = applyChanges(counted, changed);
      reportedRev = last.rev;
      for (const { name } of changed) first(name);
      const all = [...listeners.first, ...listeners.others];
      for (const { name } of changed) {
        for (const listener of all) {
          try {
            listener.wake(name);
          } catch (error) {
            // The mail is stored, so a failing listener must not make the sender think otherwise.
            log.error('a listener of the local hive failed', { persona: name, error: String(error) });
          }
        }
      }
      for (const hold of holds) if (hold.cursor !== String(reportedRev)) hold.wake();
      return changed.map((row) => row.name);
    },
    listen(wake, order) {
      const listener = { wake };
      const among = listeners[order ?? 'others'];
      among.add(listener);
      return { [Symbol.dispose]: () => void among.delete(listener) };
    },
    [Symbol.dispose]() {
      for (const group of Object.values(listeners)) group.clear();
      for (const { wake } of holds) wake();
    },
  };
}
