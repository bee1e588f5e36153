import type { Io } from '../../../core/command/index.ts';
import { openItems } from '../../../core/inbox/index.ts';
import { isSameName } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import type { Database } from '../../../core/state/index.ts';
import { listLocalAgents, readStatus } from './agents.ts';
import { formatLine, toHeadWire } from './mail-text.ts';
import { waitForStore } from './store-notices.node.ts';
import { isForSession, openInbox, openMcpStore, type ToolCall } from './tool-call.ts';

const MOST_HEADS = 50;

/**
 * Reads the resource of an inbox: counts, and the first line of each unread message when it is the agent's own. Other agents'
 * texts are not for it. Marks nothing.
 */
export function readInboxResource(call: Pick<ToolCall, 'io' | 'thread'>, persona: string): object {
  using inbox = openInbox(call);
  const { items, caller } = inbox;
  const isOwn = isSameName(caller.name, persona);
  const name = isOwn ? caller.name : persona;
  const counts = items.pending(name, isOwn ? caller.session : null);
  const unread = counts.reduce((sum, count) => sum + count, 0);
  const about = { persona: formatLine(name), unread, urgent: counts[0] + counts[1] };
  if (!isOwn) return about;
  const newest = items.list(name, 'pending', MOST_HEADS).toReversed();
  return { ...about, items: newest.filter((item) => isForSession(item, caller)).map(toHeadWire) };
}

/** Reads the status JSON of the tray process, else what the store knows. */
export async function readStatusResource(io: Io): Promise<object> {
  return (await readStatus(io)) ?? { running: false, personas: await listLocalAgents(io) };
}

interface InboxListener {
  /** Checks whether a ring is due; null: this server does not ring. */
  readonly bell: ((db: Database) => number | null) | null;
  /** An inbox that was added changed. */
  changed(persona: string): void;
}

/** Notices changes of inboxes by any process. It holds no position: what is unread stays unread. */
export interface InboxFollower {
  /** Reports changes of this inbox from now on. @throws Fault `database` */
  add(persona: string): void;
  remove(persona: string): void;
  /** Resolves when `signal` aborts. @throws Fault `database` */
  run(signal: AbortSignal): Promise<void>;
}

export function createInboxFollower(io: Io, listener: InboxListener): InboxFollower {
  const states = new Map<string, string>();
  return {
    add(persona) {
      using db = openMcpStore(io);
      states.set(persona, readState(db, persona));
    },
    remove: (persona) => void states.delete(persona),
    async run(signal) {
      await waitForStore<never>({ open: () => openMcpStore(io), clock: realClock, check }, signal);
    },
  };

  function check(db: Database) {
    for (const [persona, before] of states) {
      const state = readState(db, persona);
      states.set(persona, state);
      if (state !== before) listener.changed(persona);
    }
    return { is: 'nothing', againMs: listener.bell?.(db) ?? null } as const;
  }
}

/** A text that differs when something arrived, was read or expired. */
function readState(db: Database, persona: string): string {
  const items = openItems({ db, clock: realClock });
  return `${items.pending(persona, null).join()} ${items.list(persona, 'all', 1)[0]?.id ?? 0}`;
}
