import { type Count, exactly, type Instant, UNKNOWN } from '../../model/index.ts';
import type { Checkpoint, Gap, LogEvidence, Message, UnreadCounts } from '../source.ts';
import type { AgentMail, UnifiedInbox } from './answer.ts';

/** What outlives a process, so that the next one knows what was seen without a gap. Plain data. */
export interface SavedLedger {
  /** The largest id of the current numbering. */
  readonly highest: number;
  /** Every id from here to `highest` was seen. */
  readonly coveredFrom: number;
  /** When the newest message was written that was ever seen. */
  readonly newest: Instant;
  /** The numbering before; null: ids never began again. */
  readonly before: FormerNumbering | null;
}

/** A store that was built again has the same messages under other ids. By their time they are known all the same. */
interface FormerNumbering {
  readonly highest: number;
  readonly newest: Instant;
}

/** What all answers of one server say together. Each answer is a window of the newest messages of all agents. */
export interface MailLedger {
  /** Adds an answer to a request for at most `limit` messages. */
  add(answer: UnifiedInbox, limit: number): void;
  /** Whether messages between this answer and those before may be missing, so that a larger window is worth its cost. */
  leavesGap(answer: UnifiedInbox, limit: number): boolean;
  /** Unread messages lie below the last window, so only a larger one shows when they are read. */
  readonly hasUnreadBelow: boolean;
  /** The evidence for one agent. Nothing that was written before `bornAfter` can be addressed to it. */
  read(address: string, from: Checkpoint, bornAfter: number): LogEvidence;
  count(address: string): UnreadCounts;
  /** The ids of messages to this agent that it has not read, as far as the server says, ascending. */
  listUnread(address: string): readonly number[];
  /** Changes when a poll of this agent would say something else. */
  sign(address: string): string;
  /** Addresses of everybody who received mail, as far as it was seen. */
  listRecipients(): IterableIterator<string>;
  /** Names of everybody who wrote or received mail in a project. */
  listNames(project: string): ReadonlySet<string>;
  readonly highest: number;
  save(): SavedLedger;
}

/** How many messages are remembered below the last window. */
const MOST_REMEMBERED = 1000;
const NOBODY: readonly AgentMail[] = [];
const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };
const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };
const AT_LEAST_NOTHING: UnreadCounts = { unread: { is: 'atLeast', n: 0 }, urgent: { is: 'atLeast', n: 0 } };

/** The page of a message. Opening it marks nothing as read. */
export const toMessageLink = (base: string, project: string, id: number): string =>
  `${base}/mail/${encodeURIComponent(project)}/message/${id}`;

export const toAddress = (project: string, name: string): string => `${project}/${name}`;

export function createLedger(saved: SavedLedger | null, base: string): MailLedger {
  let highest = saved?.highest ?? 0;
  let coveredFrom = saved?.coveredFrom ?? Number.POSITIVE_INFINITY;
  let newest = saved?.newest ?? Number.NEGATIVE_INFINITY;
  let before = saved?.before ?? null;
  /** Counts the numberings that began in this process. */
  let numbering = 0;
  /** The numbering in which the position of each agent is. Absent: the first. */
  const numberings = new Map<string, number>();
  /** Read states are known of ids from here on. */
  let countedFrom = Number.POSITIVE_INFINITY;
  /** The smallest id of the last window; 0 when it held everything. */
  let floor = 0;
  /** Whether this server says who has read what. */
  let saysRead = false;
  const known = new Map<number, AgentMail>();
  let byAddress: ReadonlyMap<string, readonly AgentMail[]> = new Map();
  const counts = new Map<string, UnreadCounts>();

  function add(answer: UnifiedInbox, limit: number): void {
    const { messages } = answer;
    const top = messages.at(-1)?.id ?? 0;
    const isWhole = messages.length + answer.unreadable < limit;
    floor = isWhole ? 0 : (messages[0]?.id ?? 0);
    if (isRenumbered(messages)) startAgain();
    const isApart = floor > highest + 1;
    coveredFrom = isApart ? floor : Math.min(coveredFrom, floor);
    countedFrom = isApart ? floor : Math.min(countedFrom, floor);
    for (const id of known.keys()) if (id >= floor) known.delete(id); // what is not there any more was deleted
    for (const message of messages) known.set(message.id, message);
    highest = Math.max(highest, top);
    for (const { createdAt } of messages) if (createdAt !== null) newest = Math.max(newest, createdAt);
    saysRead = !answer.listsProjects || messages.some(({ readBy }) => [...readBy.values()].some((is) => is !== null));
    forgetOld(limit);
    index();
  }

  /**
   * Ids only rise. So it is another numbering when a known id is that of another message, when a message that is younger than all others
   * has an id that is not, or when the newest id went back and nothing is left that is known. Otherwise messages were only deleted.
   */
  function isRenumbered(messages: readonly AgentMail[]): boolean {
    let knownCount = 0;
    for (const message of messages) {
      const { id, createdAt } = message;
      const same = known.get(id);
      if (same !== undefined && !isSame(message, same)) return true;
      if (id <= highest && createdAt !== null && createdAt > newest) return true;
      if (same !== undefined) knownCount += 1;
    }
    return knownCount === 0 && (messages.at(-1)?.id ?? 0) < highest;
  }

  /** The store was built again, restored or emptied. */
  function startAgain(): void {
    before = { highest: Math.max(highest, before?.highest ?? 0), newest };
    numbering += 1;
    known.clear();
    highest = 0;
    coveredFrom = floor;
    countedFrom = floor;
  }

  /** Below the largest window nobody can see any more what is read. */
  function forgetOld(limit: number): void {
    if (limit >= MOST_REMEMBERED) countedFrom = Math.max(countedFrom, floor);
    const surplus = [...known.keys()].filter((id) => id < floor).sort((a, b) => b - a);
    for (const id of surplus.slice(MOST_REMEMBERED)) known.delete(id);
  }

  function index(): void {
    const lists = new Map<string, AgentMail[]>();
    for (const message of [...known.values()].sort((a, b) => a.id - b.id)) {
      for (const name of message.readBy.keys()) {
        const address = toAddress(message.project, name);
        const list = lists.get(address);
        if (list === undefined) lists.set(address, [message]);
        else list.push(message);
      }
    }
    byAddress = lists;
    counts.clear();
  }

  const list = (address: string): readonly AgentMail[] => byAddress.get(address) ?? NOBODY;

  function count(address: string): UnreadCounts {
    const stored = counts.get(address);
    if (stored !== undefined) return stored;
    const counted = countMail(address);
    counts.set(address, counted);
    return counted;
  }

  function countMail(address: string): UnreadCounts {
    if (!saysRead) return UNKNOWN_COUNTS;
    const name = toName(address);
    let unread = 0;
    let urgent = 0;
    for (const { id, readBy, isUrgent } of list(address)) {
      const isRead = readBy.get(name);
      if (isRead === null) return UNKNOWN_COUNTS;
      if (isRead !== false || id < countedFrom) continue;
      unread += 1;
      if (isUrgent) urgent += 1;
    }
    const isWhole = countedFrom <= 1;
    if (unread === 0) return isWhole ? NOTHING_UNREAD : AT_LEAST_NOTHING;
    const toCount = (n: number): Count => (isWhole ? exactly(n) : { is: 'atLeast', n });
    return { unread: toCount(unread), urgent: toCount(urgent) };
  }

  function listUnread(address: string): readonly number[] {
    const name = toName(address);
    return list(address).flatMap(({ id, readBy }) => (readBy.get(name) === true ? [] : [id]));
  }

  /** Whether it is known from the numbering before, under another id. */
  function isRepeated({ id, createdAt }: AgentMail): boolean {
    return before !== null && id <= before.highest && createdAt !== null && createdAt <= before.newest;
  }

  /**
   * Where the watcher goes on in another numbering: below the first message that is not known from the one before. Null: its position
   * is one of this numbering, or will do.
   */
  function findRestart(address: string, mail: readonly AgentMail[], from: number): number | null {
    if ((numberings.get(address) ?? 0) === numbering) return null;
    const fresh = mail.find((message) => !isRepeated(message));
    const to = fresh === undefined ? highest : fresh.id - 1;
    if (to < from) return to;
    numberings.set(address, numbering);
    return null;
  }

  function read(address: string, from: Checkpoint, bornAfter: number): LogEvidence {
    const mail = list(address);
    const last = mail.at(-1)?.id ?? 0;
    if (from.is !== 'at') {
      // Without mail in the window the position is that of all mail, so that older mail is no news later.
      const messages = mail.map((message) => toMessage(message, address, base));
      return { is: 'log', messages, max: last === 0 ? highest : last, isRenumbered: true };
    }
    const restart = findRestart(address, mail, from.id);
    if (restart !== null) return { is: 'log', messages: [], max: restart, isRenumbered: true };
    const messages = mail
      .filter((message) => message.id > from.id && !isRepeated(message))
      .map((message) => toMessage(message, address, base));
    const max = highest < from.id ? highest : Math.max(last, from.id);
    const gap = findGap(from, bornAfter);
    return { is: 'log', messages, max, isRenumbered: true, ...(gap === null ? {} : { gap }) };
  }

  /** A gap is reported until the watcher holds what lies above it. Nothing can fill it, so it is given up then. */
  function findGap(from: Extract<Checkpoint, { is: 'at' }>, bornAfter: number): Gap | null {
    const seen = Math.max(from.id, bornAfter);
    if (highest < from.id || coveredFrom <= seen + 1) return null;
    if (from.done?.some((span) => span.from <= coveredFrom && coveredFrom <= span.to)) return null;
    const why = `${base}: mail with ids from ${seen + 1} to ${coveredFrom - 1} was not among the newest messages`;
    return { why, spans: [{ from: coveredFrom, to: highest }], omitted: null, floor: coveredFrom, walked: 0 };
  }

  return {
    add,
    leavesGap: ({ messages, unreadable }, limit) =>
      messages.length + unreadable >= limit && (messages[0]?.id ?? 0) > highest + 1,
    get hasUnreadBelow() {
      for (const { id, readBy } of known.values())
        if (id < floor && id >= countedFrom) for (const isRead of readBy.values()) if (isRead === false) return true;
      return false;
    },
    read,
    count,
    listUnread,
    sign(address) {
      const { unread, urgent } = count(address);
      return `${list(address).at(-1)?.id ?? 0} ${formatSign(unread)} ${formatSign(urgent)}`;
    },
    listRecipients: () => byAddress.keys() as IterableIterator<string>,
    listNames(project) {
      const names = new Set<string>();
      for (const { project: slug, sender, readBy } of known.values()) {
        if (slug !== project) continue;
        if (sender !== '') names.add(sender);
        for (const name of readBy.keys()) names.add(name);
      }
      return names;
    },
    get highest() {
      return highest;
    },
    save: () => ({ highest, coveredFrom, newest, before }),
  };
}

function isSame(a: AgentMail, b: AgentMail): boolean {
  return a.createdAt === b.createdAt && a.sender === b.sender;
}

const formatSign = (count: Count): string => (count.is === 'unknown' ? '?' : `${count.n}${count.is}`);

function toName(address: string): string {
  return address.slice(address.indexOf('/') + 1);
}

function toMessage(
  { id, sender, created, content, project, subject, readBy }: AgentMail,
  address: string,
  base: string,
): Message {
  const name = toName(address);
  return {
    id,
    from: sender,
    created,
    content,
    read: readBy.get(name) === true,
    isOwn: sender === name,
    extra: { subject, link: toMessageLink(base, project, id) },
  };
}
