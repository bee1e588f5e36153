import { LEASE_MS, lend } from '../../core/inbox/drain/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { takeOverAll } from '../../core/inbox/queue/index.ts';
import type { Database, Dirs } from '../../core/state/index.ts';
import { findPersonaOfSession, refuseMisspelled, toNamedSessions } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { openSessionStore } from '../open/index.ts';
import type { ItemsApi } from '../status/index.ts';

interface ItemsApiOptions {
  readonly db: Database;
  readonly local: Pick<LocalHive, 'items' | 'hints' | 'personas' | 'elsewhere'>;
  readonly dirs: Pick<Dirs, 'state' | 'config'>;
}

/** About how long an answer with items may be, in characters, unless it is a single item. */
const ANSWER_CHARS = 1024 * 1024;

/** Creates what the routes of items do with the local hive, as `hivebar inbox push` and `hivebar inbox drain` do it. */
export function createItemsApi(
  { db, local, dirs }: ItemsApiOptions,
  { disk, clock, random, log }: Pick<Machine, 'disk' | 'clock' | 'random' | 'log'>,
): ItemsApi {
  const { items } = local;
  const sessions = openSessionStore(db);

  function takeOver(persona: string): void {
    const named = toNamedSessions(sessions.listAll(), dirs.config);
    const { faults } = takeOverAll({
      machine: { disk, clock, random },
      state: dirs.state,
      sessions: named,
      persona,
      insert: items.push,
      waitMs: 0,
    });
    if (faults[0] !== undefined) throw faults[0];
  }

  return {
    refuseMisspelled: (name) =>
      refuseMisspelled(name, { hive: local, sessions, config: dirs.config }, 'Send with "create": true'),
    push(item) {
      const [pushed] = items.push([item]);
      if (pushed === undefined) throw new Error('a push returned nothing');
      return pushed;
    },
    findPersona: (session) => findPersonaOfSession(sessions, session, dirs.config),
    acknowledge(persona, ids) {
      const known = ids.flatMap((id) => items.find(persona, id) ?? []);
      items.markDelivered({ id: '', persona, items: known, left: 0 }, ids);
    },
    lend: (persona, session, most) =>
      lend({ items, takeOver, clock, log }, { persona, session, upTo: 4, most, mostChars: ANSWER_CHARS }),
    count: (persona, session) => items.pending(persona, session).reduce((sum, n) => sum + n, 0),
    async untilPending(persona, ms, signal) {
      const arrived = new AbortController();
      // A persona that does not exist yet is told of no broadcast.
      const isKnown = local.personas().some(({ name }) => name === persona);
      using _hints = local.hints((name) => {
        if (name === persona || !isKnown) arrived.abort();
      });
      // Items of a reader that is gone are pending again when its lease is over, and nobody says so.
      await clock.sleep(Math.min(ms, LEASE_MS), AbortSignal.any([signal, arrived.signal]));
    },
  };
}
