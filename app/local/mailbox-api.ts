import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { StoredMessage } from '../status/index.ts';

/** What actions and routes do with stored mail of the local hive, by the id of a persona on the board. */
export interface LocalMailbox {
  /** Marks messages as unread. Returns how many changed. @throws Fault `usage` for an inbox that is not in the local hive */
  markUnread(persona: PersonaId, ids: readonly number[]): number;
  /** Deletes one message from this inbox. Returns how many there were. @throws Fault `usage` as `markUnread` does */
  remove(persona: PersonaId, id: number): number;
  /** The messages older than `before` (null: from the newest), newest first. Null for an inbox that is not in the local hive. */
  listStored(persona: PersonaId, before: number | null): Iterable<StoredMessage> | null;
}

interface LocalMailboxOptions {
  readonly local: Pick<LocalHive, 'personas' | 'markUnread' | 'remove' | 'older'>;
  /** The name in the local hive that an id on the board stands for; null when no name fits. */
  readonly toName: (persona: PersonaId) => string | null;
}

export function createLocalMailbox({ local, toName }: LocalMailboxOptions): LocalMailbox {
  const listNames = (): ReadonlySet<string> => new Set(local.personas().map(({ name }) => name));
  const findName = (persona: PersonaId, names = listNames()): string | null => {
    const name = toName(persona);
    return name !== null && names.has(name) ? name : null;
  };
  const requireName = (persona: PersonaId, verb: string): string => {
    const name = findName(persona);
    if (name !== null) return name;
    const message = `mail of ${JSON.stringify(persona)} cannot be ${verb} here: its inbox is not in the local hive`;
    throw new Fault('usage', message, { is: 'machine', key: 'action' });
  };
  return {
    markUnread: (persona, ids) => local.markUnread(requireName(persona, 'marked as unread'), ids),
    remove: (persona, id) => local.remove(requireName(persona, 'deleted'), [id]),
    listStored(persona, before) {
      const names = listNames();
      const name = findName(persona, names);
      return name === null ? null : listMail(local.older(name, before), names);
    },
  };
}

function* listMail(messages: ReturnType<LocalHive['older']>, names: ReadonlySet<string>): Iterable<StoredMessage> {
  for (const message of messages)
    yield { ...message, canReply: message.origin === undefined && names.has(message.from) };
}
