import type { LocalHive } from '../../core/inbox/index.ts';
import { LOCAL_PREFIX, type PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { listReservedIds, type SourceSettings } from '../../core/sources/derived.ts';
import { createKijitoSource, type HiveClient, toKijitoPersona } from '../../core/sources/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';

const LOCAL = 'local';

/**
 * Opens the local hive with the source of any hive that speaks the Kijito inbox contract, through a client in the same process.
 * Its personas have bare names where it is the primary hive.
 */
export function openLocal(local: LocalHive, settings: SourceSettings, clock: Clock): WatchedHive {
  const prefix = settings.primary?.is === 'local' ? '' : LOCAL_PREFIX;
  const members = { is: 'directory', prefix, reserved: listReservedIds(settings) } as const;
  const client: HiveClient = {
    personas: async () => local.personas().map(({ name }) => name),
    window: local.window,
    pending: async (hold, signal) => {
      local.changedElsewhere();
      return await local.pending(hold, signal);
    },
    markRead: local.markRead,
    isGone: local.elsewhere.has,
    // Mail to a persona that lives elsewhere is sent mail, and no watcher waits for it here.
    hints(wake) {
      const hints = local.hints((address) => {
        if (!local.elsewhere.has(address)) wake(address);
      });
      const moves = local.moves(wake);
      return {
        [Symbol.dispose]() {
          hints[Symbol.dispose]();
          moves[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    source: createKijitoSource({ id: LOCAL, client, clock, members }),
    address: 'this machine',
    identity: (persona) => [LOCAL, persona.address],
    named: (address) => toKijitoPersona(address, members),
    holdMs: null,
    kind: 'embedded',
    deliversBacklog: true,
  };
}

/** Creates the function that returns the id on the board of a persona of the local hive. */
export function createLocalIdLookup(local: WatchedHive): (name: string) => PersonaId {
  return (name) => local.named(name).id;
}

/** Returns the name in the local hive that this persona id stands for, or null when no name fits. */
export function findLocalName(persona: PersonaId, hive: Pick<WatchedHive, 'named'>): string | null {
  const bare = persona.replace(/^local-/, '');
  return [persona, bare].find((name) => hive.named(name).id === persona) ?? null;
}
