import { formatReplyKey, type LocalHive } from '../../core/inbox/index.ts';
import { Fault, LOCAL_PREFIX, type PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { listReservedIds, type SourceSettings } from '../../core/sources/derived.ts';
import { createKijitoSource, type HiveClient, type Source, toKijitoPersona } from '../../core/sources/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';

const LOCAL = 'local';

/**
 * Opens the local hive with the source of any hive that speaks the Kijito inbox contract, through a client in the same process.
 * Its personas have bare names where it is the primary hive.
 */
export function openLocal(local: LocalHive, settings: SourceSettings, clock: Clock): WatchedHive {
  const prefix = settings.primary?.is === 'local' ? '' : LOCAL_PREFIX;
  const members = {
    is: 'directory',
    prefix,
    get reserved() {
      return listReservedIds(settings); // a hive that is added reserves its prefix
    },
  } as const;
  const client: HiveClient = {
    personas: async () => local.personas().map(({ name }) => name),
    window: local.window,
    pending: async (hold, signal) => {
      local.changedElsewhere();
      return await local.pending(hold, signal);
    },
    markRead: (address, which) => local.markRead(address, which, 'person'),
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
    source: { ...createKijitoSource({ id: LOCAL, client, clock, members }), reply: createReply(local, clock) },
    address: 'this machine',
    identity: (persona) => [LOCAL, persona.address],
    named: (address) => toKijitoPersona(address, members),
    holdMs: null,
    kind: 'embedded',
    deliversBacklog: true,
  };
}

/** The name of the person who uses Hivebar, as the sender of a message. */
const OPERATOR = 'operator';

/**
 * Creates what stores a reply as a message of Hivebar itself, so that no agent can write one. An answer to a message goes to its
 * sender, as in a mail program; anything else to the persona.
 */
function createReply(local: LocalHive, clock: Clock): NonNullable<Source['reply']> {
  let count = 0;
  return async ({ address }, { text, message }) => {
    const answers = message === null ? null : Number(message);
    const persona = answers === null ? address : findSender(local, address, answers);
    count += 1;
    const key = formatReplyKey(answers, `${clock.now()}-${count}`);
    const item = { persona, key, type: 'mail', source: OPERATOR, content: text, priority: 2 } as const;
    local.items.pushOwn({ ...item, session: null, created: clock.now(), expires: null });
    return { is: 'stored', says: `stored, not delivered: ${persona} gets it when it next reads its inbox` };
  };
}

/** @throws Fault `usage` when there is no such message, or nobody reads what its sender is sent */
function findSender(local: LocalHive, address: string, id: number): string {
  const scope = { is: 'machine', key: 'action' } as const;
  const from = Number.isSafeInteger(id) ? local.show(address, id)?.from : undefined;
  if (from === undefined) throw new Fault('usage', `${address} has no message ${id}: reload the list`, scope);
  if (local.personas().some(({ name }) => name === from)) return from;
  throw new Fault('usage', `${JSON.stringify(from)} has no inbox here: write to ${address} instead`, scope);
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
