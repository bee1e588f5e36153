import { formatIso, parseJson, parseTimestamp } from '../../model/index.ts';
import type { Message } from '../source.ts';
import { sanitizeText } from '../source-tools.ts';

/** What `am inbox-events` printed, and its exit code. */
export interface ProgramOutput {
  readonly code: number;
  readonly stdout: string;
}

/** Runs `am inbox-events` for one agent from a delivery on. Null: it did not run to its end. */
export type RunInboxEvents = (
  agent: { readonly folder: string; readonly name: string },
  after: number,
  signal: AbortSignal,
) => Promise<ProgramOutput | null>;

/** Mail of one agent that no window shows any more. It has no text, for deliveries have none. */
export interface MissedMail {
  readonly messages: readonly Message[];
  /** Whether it is all that lies in the gap. Null: the server cannot tell, for it is too old, or does not answer. */
  readonly isWhole: boolean | null;
}

interface Delivery {
  readonly cursor: number;
  readonly id: number;
  readonly message: Message;
}

type DeliveryPage =
  | { readonly is: 'page'; readonly deliveries: readonly Delivery[]; readonly next: number; readonly hasMore: boolean }
  | { readonly is: 'expired'; readonly oldest: number }
  | { readonly is: 'none' };

/** The most pages of one walk: 50,000 deliveries. */
const MOST_PAGES = 50;
export const PAGE_EVENTS = 1000;

/**
 * Reads the deliveries of an agent and returns those of messages with `from < id < to`. Deliveries mark nothing as read, and have a
 * numbering of their own (agent-mail contract 2).
 */
export async function readMissedMail(
  run: RunInboxEvents,
  agent: { readonly folder: string; readonly name: string },
  { from, to, toLink }: { readonly from: number; readonly to: number; readonly toLink: (id: number) => string },
  signal: AbortSignal,
): Promise<MissedMail> {
  const found = new Map<number, Message>();
  let after = 0;
  let hasExpired = false;
  let seesCursor = false;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const output = await run(agent, after, signal);
    signal.throwIfAborted();
    const page = output === null ? ({ is: 'none' } as const) : parsePage(output, toLink);
    if (page.is === 'none') return { messages: [], isWhole: null };
    if (page.is === 'expired') {
      if (hasExpired || page.oldest <= after) return { messages: [], isWhole: null };
      hasExpired = true;
      after = page.oldest - 1;
      continue;
    }
    for (const { id, message } of page.deliveries) {
      if (id <= from) seesCursor = true;
      else if (id < to) found.set(id, message);
    }
    if (page.hasMore && page.next > after) {
      after = page.next;
      continue;
    }
    // Deliveries that begin before the cursor leave nothing out behind it.
    const messages = [...found.values()].sort((a, b) => a.id - b.id);
    return { messages, isWhole: seesCursor || (from === 0 && !hasExpired) };
  }
  return { messages: [...found.values()].sort((a, b) => a.id - b.id), isWhole: false };
}

function parsePage({ code, stdout }: ProgramOutput, toLink: (id: number) => string): DeliveryPage {
  const answer = parseObject(stdout);
  if (answer === null) return { is: 'none' };
  if (answer.code === 'cursor_expired') {
    const oldest = isRecord(answer.details) ? answer.details.oldest_available_cursor : null;
    return isId(oldest) ? { is: 'expired', oldest } : { is: 'none' };
  }
  const { events, next_cursor: next, has_more: hasMore } = answer;
  if (code !== 0 || !Array.isArray(events) || !isId(next)) return { is: 'none' };
  const deliveries = events.flatMap((event) => parseDelivery(event, toLink));
  if (deliveries.length < events.length) return { is: 'none' };
  return { is: 'page', deliveries, next, hasMore: hasMore === true };
}

function parseDelivery(event: unknown, toLink: (id: number) => string): readonly Delivery[] {
  if (!isRecord(event)) return [];
  const { cursor, message_id: id, from, subject, delivered_ts: delivered } = event;
  if (!isId(cursor) || !isId(id)) return [];
  const at = typeof delivered === 'number' ? delivered / 1000 : parseTimestamp(toText(delivered));
  const created = at === null ? toText(delivered) : formatIso(at);
  const extra = { subject: toText(subject), link: toLink(id) };
  return [{ cursor, id, message: { id, from: toText(from), created, content: null, read: false, extra } }];
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJson(text);
    return isRecord(value) ? value : null;
  } catch {
    return null; // an older program, which prints its usage
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? sanitizeText(value.slice(0, 200)) : '';
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
