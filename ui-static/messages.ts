import type { PersonaWire } from '../app/status/wire.ts';
import type { EventWire } from './events.ts';
import { ask, hasToken, RefusalError } from './token.ts';

export interface PageMessage {
  /** Null: its source numbers nothing. */
  readonly id: number | null;
  /** Null: its source does not say. */
  readonly from: string | null;
  readonly created: string;
  /** Text as a rule; another agent may have sent any JSON. Undefined: it is not kept. */
  readonly content: unknown;
  /** Null: it cannot be told here. */
  readonly read: boolean | null;
}

/** The source whose inboxes this Hivebar serves itself. */
const LOCAL = 'local';
const LIMIT = 50;

/**
 * Messages, newest first. Of the local hive they come from the inbox: whole, and with what was read; nothing is marked by
 * looking. Of any other source they are what its agent was told. Empty without the token.
 * @throws TokenNeeded
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
      if (!(error instanceof RefusalError)) throw error; // a hive that does not answer so: what was told is there all the same
    }
  }
  return events.flatMap(({ wake_class, id, from, created, ts, content }) =>
    wake_class === 'mail' && from !== undefined
      ? [{ id: id ?? null, from, created: created ?? ts, content, read: null }]
      : [],
  );
}
