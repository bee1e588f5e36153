import { type AgentState, type Count, exactly, formatIso, type Instant, parseTimestamp } from '../../model/index.ts';
import type { Checkpoint, SetItem } from '../source.ts';
import { cut, type StoreDefect, sanitizeText } from '../source-tools.ts';

/** One message, as both Gas City and Gas Town have it. */
export interface GasMessage {
  readonly id: string;
  readonly from: string;
  /** Whoever has it in the inbox: the recipient, and those who got a copy. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly body: string;
  readonly created: Instant | null;
  readonly isRead: boolean;
  readonly isUrgent: boolean;
  readonly event: 'new' | 'assigned';
  readonly thread: string | null;
}

/** Messages that can be used, and what is wrong with the others. */
export interface GasMail {
  readonly messages: readonly GasMessage[];
  readonly defects: readonly StoreDefect[];
}

/** An id is part of requests, commands and event lines. Spaces, slashes and dots at its start are in none that the system makes. */
const ID = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;
/** The name of a recipient: printable, and without the spaces that no name of these systems has. */
const ADDRESS = /^[^\s\p{Cc}\p{Cf}]{1,200}$/u;
const URGENT_SUBJECT = /^(?:URGENT|ESCALATION)\b/;

export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && ADDRESS.test(value) && value.isWellFormed() && !value.split('/').includes('..');

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

function createDefect(about: unknown, message: string): StoreDefect {
  return { filename: `message ${JSON.stringify(String(about).slice(0, 80))}`, message };
}

/** Parses the items of a list of Gas City. What cannot be a message is a defect, and the others count. */
export function parseCityMail(items: readonly unknown[]): GasMail {
  return collect(items, (item) => {
    const { to, cc, subject, priority } = item;
    const copies = Array.isArray(cc) ? cc : typeof cc === 'string' ? cc.split(',').map((name) => name.trim()) : [];
    const title = readText(subject);
    return {
      id: item.id,
      to: [to, ...copies],
      from: readText(item.from),
      subject: title,
      body: readText(item.body),
      created: parseTimestamp(readText(item.created_at)),
      isRead: item.read === true,
      isUrgent: priority === 1 || URGENT_SUBJECT.test(title),
      event: 'new',
      thread: readText(item.thread_id) || null,
    };
  });
}

/**
 * Parses the beads of Gas Town, as `bd list --json` lists them. Mail of a queue or a channel is nobody's until somebody claims it,
 * and closed beads are archived.
 */
export function parseTownMail(items: readonly unknown[]): GasMail {
  return collect(items, (bead) => {
    const labels = Array.isArray(bead.labels) ? bead.labels.filter((label) => typeof label === 'string') : [];
    const find = (name: string): string | null =>
      labels.find((label) => label.startsWith(`${name}:`))?.slice(name.length + 1) ?? null;
    if (bead.status === 'closed' || bead.status === 'tombstone' || !labels.includes('gt:message')) return null;
    const claimed = find('claimed-by');
    if (claimed === null && (find('queue') !== null || find('channel') !== null))
      return `lies in ${find('queue') === null ? 'the channel' : 'the queue'} ${find('queue') ?? find('channel')}, and nobody has claimed it`;
    const copies = labels.filter((label) => label.startsWith('cc:')).map((label) => label.slice(3));
    const kind = find('msg-type');
    const { priority } = bead;
    return {
      id: bead.id,
      to: [claimed ?? bead.assignee, ...copies],
      from: find('from') ?? '',
      subject: readText(bead.title),
      body: readText(bead.description),
      created: parseTimestamp(readText(bead.created_at)),
      isRead: labels.includes('read'),
      isUrgent: kind === 'escalation' || priority === 0 || priority === 1 || priority === '0' || priority === '1',
      event: kind === 'task' ? 'assigned' : 'new',
      thread: find('thread'),
    };
  });
}

type Candidate = Omit<GasMessage, 'id' | 'to'> & { readonly id: unknown; readonly to: readonly unknown[] };

/** @param read returns the message, a text that says why it is nobody's, or null for a bead that is no message in an inbox */
function collect(
  items: readonly unknown[],
  read: (item: Readonly<Record<string, unknown>>) => Candidate | string | null,
): GasMail {
  const messages = new Map<string, GasMessage>();
  const defects: StoreDefect[] = [];
  for (const item of items) {
    const candidate = isRecord(item) ? read(item) : 'is not an object';
    if (candidate === null) continue;
    const id = isRecord(item) ? item.id : null;
    if (typeof candidate === 'string') defects.push(createDefect(id, candidate));
    else if (typeof id !== 'string' || !ID.test(id)) defects.push(createDefect(id, 'has an id that cannot be used'));
    else if (!isAddress(candidate.to[0])) defects.push(createDefect(id, 'has a recipient that cannot be used'));
    else if (!messages.has(id))
      messages.set(id, { ...candidate, id, to: [...new Set(candidate.to.filter(isAddress))] });
  }
  return { messages: [...messages.values()], defects };
}

/** Groups messages by recipient, each group in the order of delivery: by time, then by id. */
export function groupByRecipient(messages: readonly GasMessage[]): ReadonlyMap<string, readonly GasMessage[]> {
  const groups = new Map<string, GasMessage[]>();
  for (const message of messages.toSorted(compareMessages)) {
    for (const address of message.to) {
      const group = groups.get(address);
      if (group === undefined) groups.set(address, [message]);
      else group.push(message);
    }
  }
  return groups;
}

function compareMessages(a: GasMessage, b: GasMessage): number {
  return (a.created ?? 0) - (b.created ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** What tells one state of an inbox from another. */
export function toInboxFingerprint(messages: readonly GasMessage[]): string {
  return messages.map(({ id, isRead }) => (isRead ? `${id} read` : id)).join('\n');
}

/** The things of a set, one for each message. A message that was read before it was ever seen makes no event. */
export function toSetItems(messages: readonly GasMessage[], contentChars: number | null): readonly SetItem[] {
  return messages.map((message) => {
    const { id, isRead, body, created, thread } = message;
    const text = (value: string): string => cut(sanitizeText(value), contentChars ?? 0);
    return {
      key: id,
      fingerprint: isRead ? READ : UNREAD,
      appeared: isRead ? 'quiet' : message.event,
      changed: isRead ? 'read' : null,
      // What was read may be archived at any time, which is no news.
      vanished: isRead ? null : 'gone',
      from: cut(sanitizeText(message.from), 200) || null,
      created: created === null ? null : formatIso(created),
      content: contentChars === null ? null : text(body),
      extra: {
        message: id,
        ...(message.subject === '' || contentChars === null ? {} : { subject: text(message.subject) }),
        ...(thread === null ? {} : { thread: cut(sanitizeText(thread), 200) }),
      },
    };
  });
}

const READ = 'read';
const UNREAD = 'unread';

/** The keys of delivered messages that were unread when they were seen last. */
export function listKnownUnread(from: Checkpoint): readonly string[] {
  return from.is === 'known' ? from.keys.filter(({ fingerprint }) => fingerprint === UNREAD).map(({ key }) => key) : [];
}

/** What is known, as a poll that says that nothing changed. */
export function toUnchangedItems(from: Checkpoint): readonly SetItem[] {
  if (from.is !== 'known') return [];
  return from.keys.map(({ key, fingerprint, vanished, extra }) => ({
    ...{ key, fingerprint, vanished, extra },
    appeared: 'quiet',
    changed: null,
    from: null,
    created: null,
    content: null,
  }));
}

export function countUnread(messages: readonly GasMessage[]): { readonly unread: Count; readonly urgent: Count } {
  const unread = messages.filter(({ isRead }) => !isRead);
  return { unread: exactly(unread.length), urgent: exactly(unread.filter(({ isUrgent }) => isUrgent).length) };
}

/** Mail that lies longer than this beside an agent that does nothing is not taken (Gas City contract 4). */
const STALLED_AFTER_MS = 15 * 60_000;

/** An agent that idles while its mail lies is stalled: nobody wakes it. */
export function toStalled(state: AgentState, messages: readonly GasMessage[], now: Instant): AgentState {
  if (state.is !== 'idle') return state;
  const oldest = messages.find(({ isRead, created }) => !isRead && created !== null)?.created ?? null;
  return oldest === null || now - oldest < STALLED_AFTER_MS
    ? state
    : { ...state, is: 'stalled', why: 'mail-not-taken' };
}
