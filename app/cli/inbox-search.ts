import type { Io } from '../../core/command/index.ts';
import { displayJson, displayLine, displayName, formatUtcTime } from '../../core/format/index.ts';
import { unwrapResponse } from './act.ts';
import { askTray } from './tray-request.node.ts';

/** What a line shows of a message, as `GET /api/v1/search` answers. */
interface FoundMessage {
  readonly id: number;
  readonly persona: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly at: string | null;
  readonly urgent: boolean;
  readonly unread: boolean | null;
}

const TEXT_CHARS = 100;

/** Prints the messages with these words, newest first. The running program searches, because it knows the mail of all sources. */
export async function searchMail(io: Io, words: string, limit: number, json: boolean): Promise<number> {
  const query = new URLSearchParams({ q: words, limit: String(limit) });
  const response = await askTray({ method: 'GET', path: `/api/v1/search?${query}`, body: null }, io.env);
  const body = unwrapResponse(response, io);
  if (body === null) return 1;
  const { messages, complete } = JSON.parse(body) as { messages: readonly FoundMessage[]; complete: boolean };
  if (json) io.out(`${displayJson(JSON.stringify(messages))}\n`);
  else if (messages.length === 0) io.out(`no message has ${displayLine(words)}\n`);
  else for (const message of messages) io.out(`${formatFoundLine(message)}\n`);
  if (!complete) io.err('older mail is still being indexed\n');
  return 0;
}

function formatFoundLine({ id, persona, from, subject, text, at, urgent, unread }: FoundMessage): string {
  const marks = `${unread === true ? '*' : ' '}${urgent ? '!' : ' '}`;
  const time = at === null ? '-' : formatUtcTime(at);
  const whom = `${displayName(from) || '?'} -> ${persona === '' ? 'everybody' : displayName(persona)}`;
  const words = displayLine([subject, text].filter((part) => part !== '').join(' · ')).slice(0, TEXT_CHARS);
  return `${marks} ${String(id).padStart(6)}  ${time}  ${whom}: ${words}`;
}
