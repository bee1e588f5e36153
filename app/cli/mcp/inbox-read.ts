import type { Io } from '../../../core/command/index.ts';
import { lend } from '../../../core/inbox/drain/index.ts';
import { openLocalHive } from '../../../core/inbox/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { handOverEnded } from '../../hook/index.ts';
import { openSessionStore } from '../../open/index.ts';
import { tellTray } from '../open-local-hive.ts';
import { createTakeOver } from '../queue-takeover.ts';
import { refuse, type ToolArguments } from './arguments.ts';
import type { McpCaller } from './caller.ts';
import { formatLine, formatMail } from './mail-text.ts';
import { type CallerInbox, openInbox, type ResultDelivery, type ToolCall, type ToolResult } from './tool-call.ts';
import { BOUNDS } from './tools.ts';

const READ_LIMIT = 20;

/** Says where else mail of this agent is. */
export function formatElsewhere({ name, isFollowed }: McpCaller): readonly string[] {
  if (!isFollowed) return [];
  return [`The mail of "${formatLine(name)}" is in another system. Its hook shows it; here are only the items for it.`];
}

/**
 * Reads messages. They count as read when the result was written, and not before: an agent that is killed in between is shown
 * them again. Without ids they are leased meanwhile, as a hook does it, so that nobody else shows them.
 */
export function readInbox(given: ToolArguments, call: ToolCall): ToolResult {
  const limit = given.findNumber('limit') ?? READ_LIMIT;
  const ids = given.findIds('ids', BOUNDS.read);
  const inbox = openInbox(call);
  try {
    return ids === undefined ? readUnread(inbox, limit, call.io) : readById(inbox, ids, call.io);
  } catch (error) {
    inbox[Symbol.dispose]();
    throw error;
  }
}

function readUnread(inbox: CallerInbox, limit: number, io: Io): ToolResult {
  const { db, items, caller, dirs, log } = inbox;
  const { config } = dirs;
  handOverEnded({ items, sessions: () => openSessionStore(db), config, now: realClock.now(), isGone: () => false });
  const needs = { items, takeOver: createTakeOver(db, dirs, items, log), clock: realClock, log };
  const { name: persona, session } = caller;
  const lent = lend(needs, { persona, session, upTo: 4, most: limit });
  const notes = formatElsewhere(caller);
  if (lent === null) {
    inbox[Symbol.dispose]();
    return {
      text: [`"${formatLine(persona)}" has no unread mail.`, ...notes].join('\n'),
      structured: { note: notes.join(' ') || null, items: [], left: 0 },
    };
  }
  try {
    const { text, messages, note, shownItems } = formatMail(lent.items, { persona, left: lent.left, notes });
    const left = lent.left + lent.items.length - shownItems.length;
    const delivery = createDelivery(inbox, io, () => lent.commit(shownItems), lent.release);
    return { text, structured: { note, items: messages, left }, delivery };
  } catch (error) {
    lent.release();
    throw error;
  }
}

/** Reads these messages, read or not. @throws Fault `usage` when there is none of them */
export function readById(inbox: CallerInbox, ids: readonly number[], io: Io): ToolResult {
  const { db, items, caller, log } = inbox;
  const { name: persona } = caller;
  const found = ids.flatMap((id) => items.find(persona, id) ?? []);
  const missing = ids.filter((id) => !found.some((item) => item.id === id));
  if (found.length === 0) throw refuse(`"${formatLine(persona)}" has no message ${missing.join(', ')}: see inbox_list`);
  const notes = missing.length === 0 ? [] : [`There is no message ${missing.join(', ')}: see inbox_list.`];
  const { text, messages, note, shownItems } = formatMail(found, { persona, left: 0, notes });
  const unread = shownItems.flatMap(({ id, read }) => (read === null ? [id] : []));
  const structured = { note, items: messages, left: found.length - shownItems.length };
  const markRead = (): void => {
    if (unread.length === 0) return;
    using hive = openLocalHive({ db, clock: realClock, log, contentChars: null });
    hive.markRead(persona, unread);
  };
  return { text, structured, delivery: createDelivery(inbox, io, markRead, () => {}) };
}

/** Closes the store after `commit` or `release`. */
function createDelivery(inbox: CallerInbox, io: Io, commit: () => void, release: () => void): ResultDelivery {
  const end = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      inbox.log.warn(`what was shown will be shown again: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      inbox[Symbol.dispose]();
    }
  };
  return {
    written() {
      end(commit);
      void tellTray(io);
    },
    lost: () => end(release),
  };
}
