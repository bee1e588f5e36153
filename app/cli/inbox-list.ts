import { type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayLine, displayName, formatUtcTime } from '../../core/format/index.ts';
import { type Item, type ItemFilter, type MailboxMessage, toItemJson } from '../../core/inbox/index.ts';
import { formatIso, type Instant } from '../../core/model/index.ts';
import { realClock } from '../../core/ports/index.ts';
import type { InboxValues } from './inbox-schema.ts';
import { runWithHive, runWithItems } from './open-local-hive.ts';

const TEXT_CHARS = 100;

/** Which items the flags ask for; null: the list of messages instead. @throws Fault `usage` */
export function parseListFilter({ all: includesAll, pending, delivered }: InboxValues<'list'>): ItemFilter | null {
  const filters = [includesAll && 'all', pending && 'pending', delivered && 'delivered'].filter(
    (value) => typeof value === 'string',
  );
  if (filters.length > 1) throw toUsageFault(new Error('use only one of --all, --pending and --delivered'));
  return (filters[0] as ItemFilter | undefined) ?? null;
}

/** Prints the items of a persona, newest first, with what became of each. It marks nothing. */
export async function listItems(
  io: Io,
  persona: string,
  which: ItemFilter,
  limit: number,
  json: boolean,
): Promise<number> {
  const matching = await runWithItems(io, 'looks', (items) => items.list(persona, which, limit));
  const newest = matching.toReversed();
  const now = realClock.now();
  if (json) io.out(`${displayJson(JSON.stringify(newest.map(toItemJson)))}\n`);
  else if (newest.length === 0) io.out(`${displayName(persona)} has no ${which === 'all' ? '' : `${which} `}items\n`);
  else for (const item of newest) io.out(`${formatItemLine(item, now)}\n`);
  return 0;
}

function formatItemLine(item: Item, now: Instant): string {
  const { id, type, source, content, priority, created, session, isBroadcast, origin } = item;
  const whom = `${isBroadcast ? ' to everyone' : ''}${session === null ? '' : ` for session ${displayName(session)}`}`;
  const text = displayLine([...content.slice(0, TEXT_CHARS * 2)].slice(0, TEXT_CHARS).join(''));
  const at = formatUtcTime(formatIso(created));
  return `${getItemState(item, now).padEnd(9)} ${String(id).padStart(6)}  ${at}  ${type} ${priority}  ${displayName(source)}${origin === null ? '' : ` (${origin})`}${whom}: ${text}`;
}

function getItemState({ delivered, read, expires }: Item, now: Instant): 'delivered' | 'read' | 'expired' | 'pending' {
  if (delivered !== null) return 'delivered';
  if (read !== null) return 'read';
  return expires !== null && expires <= now ? 'expired' : 'pending';
}

const LIST_CHARS = 100;

export async function listMail(io: Io, persona: string, limit: number, json: boolean): Promise<number> {
  const rows = await runWithHive(io, 'hivebar inbox', null, false, (hive) =>
    takeFirst(hive.older(persona, null), limit),
  );
  if (json) io.out(`${displayJson(JSON.stringify(rows.map(toListJson)))}\n`);
  else if (rows.length === 0) io.out(`${displayName(persona)} has no mail\n`);
  else for (const row of rows) io.out(`${formatMessageLine(row)}\n`);
  return 0;
}

/** Reads no more messages than are wanted. */
function takeFirst<T>(values: Iterable<T>, most: number): readonly T[] {
  const taken: T[] = [];
  for (const value of values) {
    taken.push(value);
    if (taken.length === most) break;
  }
  return taken;
}

/** A message as a script reads it. Mail of the local hive has no subject, and its text is whole. */
function toListJson({ id, from, to, created, content, urgent, priority, read, origin }: MailboxMessage) {
  const about = { subject: null, urgent, priority, read, truncated: false };
  return { id, from, to, created, content, ...about, ...(origin === undefined ? {} : { origin }) };
}

function formatMessageLine({ id, from, created, content, read, urgent }: MailboxMessage): string {
  const text = displayLine(content.slice(0, 2 * LIST_CHARS)).slice(0, LIST_CHARS);
  const marks = `${read ? ' ' : '*'}${urgent ? '!' : ' '}`;
  return `${marks}${String(id).padStart(6)}  ${formatUtcTime(created)}  ${displayName(from)}: ${text}`;
}

interface FullMessage {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string;
  readonly origin?: string;
}

export async function showMail(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
  const lookups = await runWithHive(io, 'hivebar inbox', 0, false, (hive) => {
    const requestedIds = ids.length > 0 ? ids : hive.list(persona, 1).map((row) => row.id);
    return requestedIds.map((id) => ({ id, message: hive.show(persona, id) }));
  });
  const messages = lookups.flatMap(({ message }) => (message === null ? [] : [message]));
  printMessages(io, messages, json);
  const missing = lookups.filter(({ message }) => message === null);
  for (const { id } of missing) io.err(`hivebar inbox: ${displayName(persona)} has no message ${id}\n`);
  return missing.length > 0 ? 1 : 0;
}

export async function readMail(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
  const { found: messages, missing } = await runWithHive(io, 'hivebar inbox', 0, true, (hive) => {
    const listUnread = (): number[] =>
      hive.list(persona, Number.MAX_SAFE_INTEGER).flatMap((row) => (row.read ? [] : [row.id]));
    const requestedIds = ids.length > 0 ? ids : listUnread().reverse();
    const lookups = requestedIds.map((id) => ({ id, message: hive.show(persona, id) }));
    const existing = lookups.flatMap(({ message }) => (message === null ? [] : [message]));
    // Only the messages that were shown are marked: mail that arrives in between stays unread.
    hive.markRead(
      persona,
      existing.map((message) => message.id),
    );
    return { found: existing, missing: lookups.filter(({ message }) => message === null) };
  });
  printMessages(io, messages, json);
  if (!json && messages.length === 0 && missing.length === 0) io.out(`${displayName(persona)} has no unread mail\n`);
  for (const { id } of missing) io.err(`hivebar inbox: ${displayName(persona)} has no message ${id}\n`);
  return missing.length > 0 ? 1 : 0;
}

function printMessages(io: Io, messages: readonly FullMessage[], json: boolean): void {
  if (json) {
    io.out(`${displayJson(JSON.stringify(messages))}\n`);
    return;
  }
  for (const message of messages) {
    const by = message.origin === undefined ? '' : `, origin: ${message.origin}`;
    io.out(`#${message.id} from ${displayName(message.from)}, ${formatUtcTime(message.created)}${by}\n`);
    for (const line of message.content.split(/\r?\n/)) io.out(`  ${displayName(line)}\n`);
  }
}
