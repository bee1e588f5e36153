import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';

/** What actions and routes do with stored mail of the local hive, by the id of a persona on the board. */
export interface LocalMailbox {
  /** Marks one message as unread. Returns how many changed. @throws Fault `usage` for an inbox that is not in the local hive */
  markUnread(persona: PersonaId, id: number): number;
  /** Deletes one message from this inbox. Returns how many there were. @throws Fault `usage` as `markUnread` does */
  remove(persona: PersonaId, id: number): number;
}

interface LocalMailboxOptions {
  readonly local: Pick<LocalHive, 'personas' | 'markUnread' | 'remove'>;
  /** The id on the board of a name of the local hive. */
  readonly toPersonaId: (name: string) => PersonaId;
}

export function createLocalMailbox({ local, toPersonaId }: LocalMailboxOptions): LocalMailbox {
  const findName = (persona: PersonaId): string | null =>
    local.personas().find(({ name }) => toPersonaId(name) === persona)?.name ?? null;
  const requireName = (persona: PersonaId, verb: string): string => {
    const name = findName(persona);
    if (name !== null) return name;
    const message = `mail of ${JSON.stringify(persona)} cannot be ${verb}: its inbox is not in the local hive`;
    throw new Fault('usage', message, { is: 'machine', key: 'action' });
  };
  return {
    markUnread: (persona, id) => local.markUnread(requireName(persona, 'marked as unread'), [id]),
    remove: (persona, id) => local.remove(requireName(persona, 'deleted here'), [id]),
  };
}
