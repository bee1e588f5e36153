import type { PersonaWire } from '../app/status/wire.ts';
import type { EventWire } from './events.ts';
import { ask, hasToken, RefusalError } from './token.ts';

export interface PageMessage {
  /** Null when its source has no numbers. */
  readonly id: number | null;
  /** Null when its source does not say. */
  readonly from: string | null;
  readonly created: string;
  /** Usually text, but another agent may have sent any JSON. Undefined when it is not stored. */
  readonly content: unknown;
  /** Null when that is not known here. */
  readonly read: boolean | null;
}

/** The source whose inboxes this Hivebar serves itself. */
const LOCAL = 'local';
const LIMIT = 50;

/**
 * Loads messages, newest first. Those of the local hive come from the inbox, complete and with their read state; loading marks
 * nothing. Those of any other source are the ones that were delivered to its agent. Empty without the token.
 * @throws TokenNeededError
 */
export async function loadMessages(
  persona: PersonaWire,
  events: readonly EventWire[],
  signal: AbortSignal,
): Promise<readonly PageMessage[]> {
  if (hasToken() && persona.source === LOCAL && persona.canMarkRead) {
    const query = new URLSearchParams({ persona: persona.label, mark_read: 'false', limit: String(LIMIT) });
    try {
      const answer = await ask(`/api/inbox?${query}`, signal);
      return ((await answer.json()) as { result: readonly PageMessage[] }).result;
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error; // a hive that refuses: the delivered messages are there all the same
    }
  }
  return events.flatMap(({ wake_class, id, from, created, ts, content }) =>
    wake_class === 'mail' && from !== undefined
      ? [{ id: id ?? null, from, created: created ?? ts, content, read: null }]
      : [],
  );
}
