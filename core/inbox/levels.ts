import { type Count, exactly, type Instant } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Database } from '../state/index.ts';

export interface Level {
  readonly unread: Count;
  readonly urgent: Count;
}

/**
 * Who has unread mail, and how much: what asks for a person. Not among it: what Hivebar itself says to the agent, such as the
 * answer that a person just gave, and mail to a persona of another machine. A persona that is absent has none.
 */
export interface Levels {
  readonly at: Instant;
  readonly of: ReadonlyMap<string, Level>;
  /** What only the agents have to read, by persona; it comes on top. */
  readonly forAgents: ReadonlyMap<string, { readonly unread: number; readonly urgent: number }>;
  /** Opaque; names this state of all mail, also across processes and restarts. */
  readonly cursor: string;
}

/** Counts of unread mail, and the news that they, or an inbox, changed. */
export interface LevelBook extends Disposable {
  of(persona: string): Level;
  /** Everything that is unread, also what only the agent has to read. */
  unread(persona: string): number;
  all(): Levels;
  /** Resolves after `ms`, or as soon as the state is no longer the one `cursor` names, or on abort. Never rejects. */
  untilPast(cursor: string, ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Tells every listener which personas changed since the last call, in whatever process, and `first` before all of them;
   * returns their names.
   */
  notice(first: (persona: string) => void): readonly string[];
  /** `first`: before those without it, for who only passes it on: whoever stores something holds the others up. */
  listen(wake: (persona: string) => void, order?: 'first'): Disposable;
}

interface Listener {
  readonly wake: (persona: string) => void;
}

interface Counted extends Omit<Levels, 'at' | 'cursor'> {
  readonly rev: number;
}

interface Row {
  readonly unread: number;
  readonly urgent: number;
  readonly agent_unread: number;
  readonly agent_urgent: number;
  readonly elsewhere: number;
}

interface Changed extends Row {
  readonly name: string;
  readonly rev: number;
}

const COUNTS = 'unread, urgent, agent_unread, agent_urgent, elsewhere';
const NO_COUNTS: Row = { unread: 0, urgent: 0, agent_unread: 0, agent_urgent: 0, elsewhere: 0 };

function levelIn({ unread, urgent, agent_unread, agent_urgent, elsewhere }: Row): Level {
  if (elsewhere === 1) return { unread: exactly(0), urgent: exactly(0) };
  return { unread: exactly(unread - agent_unread), urgent: exactly(urgent - agent_urgent) };
}

/** Writes what a row says into the two maps. */
function enter(
  of: Map<string, Level>,
  forAgents: Map<string, { unread: number; urgent: number }>,
  row: Row & { readonly name: string },
): void {
  const level = levelIn(row);
  if (level.unread.is === 'exact' && level.unread.n > 0) of.set(row.name, level);
  else of.delete(row.name);
  if (row.agent_unread > 0 && row.elsewhere === 0)
    forAgents.set(row.name, { unread: row.agent_unread, urgent: row.agent_urgent });
  else forAgents.delete(row.name);
}

/** `changed` is everything that changed since, in order of `rev`. */
function withChanges(counted: Counted, changed: readonly Changed[]): Counted {
  const last = changed.at(-1);
  if (last === undefined) return counted;
  const of = new Map(counted.of);
  const forAgents = new Map(counted.forAgents);
  for (const row of changed) enter(of, forAgents, row);
  return { rev: last.rev, of, forAgents };
}

/** Everything is told by `personas.rev`: what has a higher one than was seen last has changed. */
export function keepLevels(db: Database, clock: Clock, log: Log): LevelBook {
  const newestRev = db.prepare<{ rev: number }>('SELECT coalesce(max(rev), 0) AS rev FROM personas');
  const changedSince = db.prepare<Changed>(`SELECT name, rev, ${COUNTS} FROM personas WHERE rev > ? ORDER BY rev`);
  const countOf = db.prepare<Row>(`SELECT ${COUNTS} FROM personas WHERE name = ?`);
  const countAll = db.prepare<Row & { name: string }>(`SELECT name, ${COUNTS} FROM personas WHERE unread > 0`);

  const listeners = { first: new Set<Listener>(), others: new Set<Listener>() };
  const holds = new Set<{ readonly cursor: string; readonly wake: () => void }>();
  let told = revNow();
  /** Counts as of `rev`; read when first asked for, then only what changed is counted again. */
  let counted: Counted | null = null;

  function revNow(): number {
    return newestRev.get()?.rev ?? 0;
  }

  const levelOf = (persona: string): Level => levelIn(countOf.get(persona) ?? NO_COUNTS);

  // The number is read before the counts: mail of another process in between is then counted twice, never missed.
  function refresh(): Counted {
    if (counted === null) {
      const rev = revNow();
      const of = new Map<string, Level>();
      const forAgents = new Map<string, { unread: number; urgent: number }>();
      for (const row of countAll.all()) enter(of, forAgents, row);
      return { rev, of, forAgents };
    }
    return withChanges(counted, changedSince.all(counted.rev));
  }

  return {
    of: levelOf,
    unread: (persona) => countOf.get(persona)?.unread ?? 0,
    all() {
      counted = refresh();
      return { at: clock.now(), of: counted.of, forAgents: counted.forAgents, cursor: String(counted.rev) };
    },
    async untilPast(cursor, ms, signal) {
      if (signal.aborted || ms <= 0 || String(revNow()) !== cursor) return;
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
      const changed = changedSince.all(told);
      const last = changed.at(-1);
      if (last === undefined) return [];
      if (counted?.rev === told) counted = withChanges(counted, changed);
      told = last.rev;
      for (const { name } of changed) first(name);
      for (const { name } of changed) {
        for (const listener of [...listeners.first, ...listeners.others]) {
          try {
            listener.wake(name);
          } catch (error) {
            // The mail is stored: a listener's mistake must not make its sender think otherwise.
            log.error('a listener of the local hive failed', { persona: name, error: String(error) });
          }
        }
      }
      for (const hold of holds) if (hold.cursor !== String(told)) hold.wake();
      return changed.map((row) => row.name);
    },
    listen(wake, order) {
      const listener = { wake };
      const among = listeners[order ?? 'others'];
      among.add(listener);
      return { [Symbol.dispose]: () => void among.delete(listener) };
    },
    [Symbol.dispose]() {
      for (const some of Object.values(listeners)) some.clear();
      for (const { wake } of holds) wake();
    },
  };
}
