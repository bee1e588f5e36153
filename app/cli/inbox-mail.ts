import type { Io } from '../../core/command/index.ts';
import { displayJson, displayLine, displayName, formatUtcTime } from '../../core/format/index.ts';
import { runWithHive } from './open-local-hive.ts';

const LIST_CHARS = 100;

export async function listMail(io: Io, persona: string, limit: number, json: boolean): Promise<number> {
  const rows = await runWithHive(io, 'hivebar inbox', LIST_CHARS, false, (hive) => hive.list(persona, limit));
  if (json) io.out(`${displayJson(JSON.stringify(rows))}\n`);
  else if (rows.length === 0) io.out(`${displayName(persona)} has no mail\n`);
  else for (const row of rows) io.out(`${formatMessageLine(row)}\n`);
  return 0;
}

function formatMessageLine(row: {
  id: number;
  from: string;
  created: string;
  content: string | null;
  read: boolean;
}): string {
  const text = displayLine((row.content ?? '').slice(0, 2 * LIST_CHARS)).slice(0, LIST_CHARS);
  return `${row.read ? ' ' : '*'} ${String(row.id).padStart(6)}  ${formatUtcTime(row.created)}  ${displayName(row.from)}: ${text}`;
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
