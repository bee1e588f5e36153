import { type Count, exactly, type Instant } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import type { Database } from '../state/index.ts';

export interface Level {
  readonly unread: Count;
  readonly urgent: Count;
}

/** Who has unread mail, and how much. A persona that is absent has none. */
export interface Levels {
  readonly at: Instant;
  readonly of: ReadonlyMap<string, Level>;
  /** Opaque; names this state of all mail, also across processes and restarts. */
  readonly cursor: string;
}

/** Counts of unread mail, and the news that they, or an inbox, changed. */
export interface LevelBook extends Disposable {
  of(persona: string): Level;
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

interface Counted {
  readonly rev: number;
  readonly of: ReadonlyMap<string, Level>;
}

interface Changed {
  readonly name: string;
  readonly rev: number;
  readonly unread: number;
  readonly urgent: number;
}

/** `changed` is everything that changed since, in order of `rev`. */
function withChanges(counted: Counted, changed: readonly Changed[]): Counted {
  const last = changed.at(-1);
  if (last === undefined) return counted;
  const of = new Map(counted.of);
  for (const { name, unread, urgent } of changed) {
    if (unread > 0) of.set(name, { unread: exactly(unread), urgent: exactly(urgent) });
    else of.delete(name);
  }
  return { rev: last.rev, of };
}

/** Everything is told by `personas.rev`: what has a higher one than was seen last has changed. */
export function keepLevels(db: Database, clock: Clock, log: Log): LevelBook {
  const newestRev = db.prepare<{ rev: number }>('SELECT coalesce(max(rev), 0) AS rev FROM personas');
  const changedSince = db.prepare<Changed>('SELECT name, rev, unread, urgent FROM personas WHERE rev > ? ORDER BY rev');
  const countOf = db.prepare<{ unread: number; urgent: number }>('SELECT unread, urgent FROM personas WHERE name = ?');
  const countAll = db.prepare<{ name: string; unread: number; urgent: number }>(
    'SELECT name, unread, urgent FROM personas WHERE unread > 0',
  );

  const listeners = { first: new Set<Listener>(), others: new Set<Listener>() };
  const holds = new Set<{ readonly cursor: string; readonly wake: () => void }>();
  let told = revNow();
  /** Counts as of `rev`; read when first asked for, then only what changed is counted again. */
  let counted: Counted | null = null;

  function revNow(): number {
    return newestRev.get()?.rev ?? 0;
  }

  function levelOf(persona: string): Level {
    const { unread, urgent } = countOf.get(persona) ?? { unread: 0, urgent: 0 };
    return { unread: exactly(unread), urgent: exactly(urgent) };
  }

  // The number is read before the counts: mail of another process in between is then counted twice, never missed.
  function refresh(): Counted {
    if (counted === null) {
      const rev = revNow();
      const rows = countAll.all();
      const level = (row: { unread: number; urgent: number }): Level => ({
        unread: exactly(row.unread),
        urgent: exactly(row.urgent),
      });
      return { rev, of: new Map(rows.map((row) => [row.name, level(row)])) };
    }
    return withChanges(counted, changedSince.all(counted.rev));
  }

  return {
    of: levelOf,
    all() {
      counted = refresh();
      return { at: clock.now(), of: counted.of, cursor: String(counted.rev) };
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
