import type { Io } from '../../../core/command/index.ts';
import { openItems } from '../../../core/inbox/index.ts';
import { isSameName } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import type { Database } from '../../../core/state/index.ts';
import { listLocalAgents, readStatus } from './agents.ts';
import { findMcpCaller, type McpCaller } from './caller.ts';
import { formatDoorbell, formatLine, toHeadWire } from './mail-text.ts';
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

interface InboxRing {
  readonly persona: string;
  readonly count: number;
  readonly text: string;
}

interface InboxListener {
  /** More waits for the agent than before. */
  ring(ring: InboxRing): void;
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

const MOST_RUNG = 100;

export function createInboxFollower(io: Io, listener: InboxListener): InboxFollower {
  const states = new Map<string, string>();
  let rung: ReadonlySet<number> = new Set();
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
    ringForNew(db);
    for (const [persona, before] of states) {
      const state = readState(db, persona);
      states.set(persona, state);
      if (state !== before) listener.changed(persona);
    }
    return { is: 'nothing', againMs: null } as const;
  }

  function ringForNew(db: Database): void {
    const caller = tryFindCaller(io, db);
    if (caller === null) return;
    const items = openItems({ db, clock: realClock });
    const waiting = items.list(caller.name, 'pending', MOST_RUNG).filter((item) => isForSession(item, caller));
    const hasNew = waiting.some(({ id }) => !rung.has(id));
    rung = new Set(waiting.map(({ id }) => id));
    if (hasNew) listener.ring({ persona: caller.name, count: waiting.length, text: formatDoorbell(waiting) });
  }
}

/** Null when nobody has announced a session yet: a server often starts before the first hook. */
function tryFindCaller(io: Io, db: Database): McpCaller | null {
  try {
    return findMcpCaller(io, db, null);
  } catch {
    return null; // the next change asks again
  }
}

/** A text that differs when something arrived, was read or expired. */
function readState(db: Database, persona: string): string {
  const items = openItems({ db, clock: realClock });
  return `${items.pending(persona, null).join()} ${items.list(persona, 'all', 1)[0]?.id ?? 0}`;
}
