import { join } from 'node:path';
import { AGENT_STATE_NOT_REPORTED, type AgentState, type Extra, type KnownItem } from '../../model/index.ts';
import { type Clock, type Files, O, type Stat } from '../../ports/index.ts';
import { getErrno } from '../../state/index.ts';
import type { Checkpoint, SetItem } from '../source.ts';
import { cut, type StoreDefect, sanitizeText, toOneLine } from '../source-tools.ts';
import type { AgentReading, MailLayout, MessageDefect, ParsedMessage } from './layout.ts';

export interface MailboxReaderOptions {
  /** It only reads. */
  readonly files: Files;
  readonly clock: Clock;
  /** The folder that holds the mailboxes. */
  readonly root: string;
  readonly layout: MailLayout;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
}

export interface MailboxReading {
  readonly items: readonly SetItem[];
  readonly unread: number;
  readonly urgent: number;
  readonly agentState: AgentState;
  /** In so many milliseconds another poll is needed, although nothing changes on the disk; null: none is. */
  readonly againIn: number | null;
  /** What is wrong with single files; it concerns no other mail. */
  readonly defects: readonly StoreDefect[];
}

/** Reads mailboxes that are folders. It remembers names, and of unread messages what their headers say. */
export interface MailboxReader {
  /** Null when no mail can arrive there, because the folder is missing. @throws what the disk throws, or a Fault */
  read(address: string, from: Checkpoint, signal: AbortSignal): Promise<MailboxReading | null>;
  /** Whether the folders of a mailbox are not as the last poll found them. */
  hasChanged(address: string): boolean;
  /** The folders in which a change is a change of the mailbox. */
  listFolders(address: string): readonly string[];
  forget(address: string): void;
  forgetAll(): void;
}

/** What is read of a message: enough for its header. */
const HEAD_BYTES = 64 * 1024;
/** A file that grows in place is complete when it stood still for so long. */
const STILL_MS = 250;
/** A file that stays empty or unreadable is delivered without content after this time. */
const LOST_MS = 10_000;
/** So many read messages of a mailbox are remembered, so that it is noticed when they are removed. */
const MOST_READ = 1000;
/** A folder that changed so recently may change again without another time of change. */
const SURE_AFTER_MS = 1000;
/** Another poll follows at once, for the second event of a message that was read before it was seen. */
const AT_ONCE_MS = 1;
/** Others get a turn after so much work. */
const BREATH_MS = 8;

/** A mailbox without a folder of new mail is polled so often again, after so much time. */
const MOST_ABSENCES = 5;
const ABSENT_MS = 200;

const FROM_CHARS = 200;
const EXTRA_CHARS = 500;

/** `past`: read so long ago that it is not watched any more, and leaves the set without an event. */
type FolderStage = 'unread' | 'read' | 'past';

/** One message file in the newest listing. */
interface FolderMessage {
  readonly key: string;
  readonly name: string;
  readonly path: string;
}

interface WaitingFile {
  readonly size: number;
  readonly ctimeMs: number;
  /** On the monotonic clock. */
  readonly since: number;
}

/** A message as the set has it. */
interface FolderMessageText {
  readonly appeared: SetItem['appeared'];
  readonly from: string | null;
  readonly created: string | null;
  readonly order: readonly [number, number];
  readonly content: string | null;
  readonly extra: Extra;
}

/** What is remembered of a mailbox between polls. */
interface MailboxMemory {
  /** The state of its folders and its agent file when they were read last. */
  stamps: readonly string[];
  /** Claimed messages, unread and read ones; null before the first listing. */
  claimed: ClaimedNames | null;
  /** The claimed folder as it was listed; null: it may have changed since. */
  claimedStamp: string | null;
  /** Messages that were seen unread, or came in passing, and that no checkpoint knows yet. */
  readonly arrived: Set<string>;
  /** How often its folder of new mail was missing, one poll after the other. */
  absences: number;
  /** Those of them that were read before they were delivered, and are delivered as new. */
  readonly passed: Set<string>;
  readonly texts: Map<string, FolderMessageText>;
  readonly waiting: Map<string, WaitingFile>;
  agent: { readonly stamp: string; readonly text: string | null } | null;
  /** What its own programs gave up, by file. */
  readonly dead: Map<string, StoreDefect | null>;
  hasDead: boolean;
}

/** File names of claimed messages by their keys. */
interface ClaimedNames {
  readonly unread: ReadonlyMap<string, string>;
  readonly read: ReadonlyMap<string, string>;
}

/** What lies in a mailbox: unread messages, and the file names of read ones, by their keys. */
interface MailboxListing {
  readonly unread: ReadonlyMap<string, FolderMessage>;
  readonly read: ReadonlyMap<string, string>;
}

/** One poll of a mailbox. */
interface MailboxPoll {
  readonly address: string;
  readonly memory: MailboxMemory;
  readonly signal: AbortSignal;
  readonly stamps: readonly string[];
  /** The checkpoint: what was delivered, and what of it vanished. */
  readonly known: ReadonlyMap<string, KnownItem>;
  readonly gone: ReadonlyMap<string, KnownItem>;
  readonly defects: StoreDefect[];
  /** Extra keys of unread messages. */
  readonly extras: Map<string, Extra>;
  /** A known message is in no folder. */
  isMissing: boolean;
  againIn: number | null;
  /** When others had a turn last, on the monotonic clock. */
  breathedAt: number;
}

export function createMailboxReader(options: MailboxReaderOptions): MailboxReader {
  const { files, clock, root, layout, contentChars } = options;
  const memories = new Map<string, MailboxMemory>();

  const toPath = (address: string, ...parts: readonly string[]): string =>
    join(root, layout.mailboxes, address, ...parts);

  function listFolders(address: string): readonly string[] {
    const { arriving, claimed, agent } = layout;
    return [
      toPath(address, arriving),
      ...(claimed === null ? [] : [toPath(address, claimed)]),
      ...(agent === undefined ? [] : [toPath(address)]),
    ];
  }

  function findMemory(address: string): MailboxMemory {
    const known = memories.get(address);
    if (known !== undefined) return known;
    const memory: MailboxMemory = {
      stamps: [],
      claimed: null,
      claimedStamp: null,
      arrived: new Set(),
      absences: 0,
      passed: new Set(),
      texts: new Map(),
      waiting: new Map(),
      agent: null,
      dead: new Map(),
      hasDead: false,
    };
    memories.set(address, memory);
    return memory;
  }

  /** The names in a folder; null when it is not there. */
  function listNames(folder: string): readonly string[] | null {
    try {
      return files.readdir(folder);
    } catch (error) {
      if (getErrno(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** What a change of the mailbox changes: its folders, and the file of its agent. */
  function readStamps(address: string): readonly string[] {
    const { arriving, claimed, agent } = layout;
    const parts = [arriving, ...(claimed === null ? [] : [claimed]), ...(agent === undefined ? [] : [agent.name])];
    return parts.map((part) => toStamp(files.lstat(toPath(address, part))));
  }

  function listArriving(address: string, unread: Map<string, FolderMessage>): boolean {
    const folder = toPath(address, layout.arriving);
    const names = listNames(folder);
    for (const name of names ?? []) {
      const message = name.startsWith('.') ? null : layout.parseName(name, false);
      if (message !== null) unread.set(message.key, { key: message.key, name, path: join(folder, name) });
    }
    return names !== null;
  }

  function listClaimed(address: string, folder: string): ClaimedNames {
    const unread = new Map<string, string>();
    const read = new Map<string, string>();
    for (const name of listNames(toPath(address, folder)) ?? []) {
      const message = name.startsWith('.') ? null : layout.parseName(name, true);
      if (message !== null) (message.isRead ? read : unread).set(message.key, name);
    }
    return { unread, read };
  }

  /** Reads the state of an agent from its file, which may be half written. */
  function readAgent(address: string, memory: MailboxMemory): AgentReading {
    const { agent } = layout;
    if (agent === undefined) return { state: AGENT_STATE_NOT_REPORTED, until: null };
    const stat = tryLstat(files, toPath(address, agent.name));
    const stamp = toStamp(stat);
    if (memory.agent?.stamp !== stamp) memory.agent = { stamp, text: readAgentText(toPath(address, agent.name), stat) };
    return agent.parse(memory.agent.text, clock.now());
  }

  function readAgentText(path: string, stat: Stat | null): string | null {
    if (stat?.kind !== 'file' || stat.size > HEAD_BYTES) return null;
    try {
      return toText(readHead(files, path) ?? new Uint8Array());
    } catch {
      return null; // it says nothing about the mail
    }
  }

  /** Reads what the programs of the mailbox gave up. Each file is read once. */
  function readDead(address: string, memory: MailboxMemory): void {
    const { dead } = layout;
    if (dead === undefined) return;
    memory.hasDead = true;
    const found = new Set<string>();
    for (const folder of dead.folders) {
      for (const name of tryListNames(files, toPath(address, folder))) {
        if (name.startsWith('.')) continue;
        found.add(name);
        if (memory.dead.has(name)) continue;
        const path = toPath(address, folder, name);
        if (tryLstat(files, path)?.kind !== 'file') continue;
        try {
          const bytes = readHead(files, path);
          if (bytes !== null) memory.dead.set(name, dead.parse(name, toText(bytes)));
        } catch {
          memory.dead.set(name, null); // it only explains, so it is not tried again
        }
      }
    }
    for (const name of memory.dead.keys()) if (!found.has(name)) memory.dead.delete(name);
  }

  /**
   * Reads the text of a message.
   * @returns `gone` when its file has another name by now, else in how many milliseconds to try again
   */
  async function readMessage(
    file: FolderMessage,
    address: string,
    memory: MailboxMemory,
  ): Promise<FolderMessageText | 'gone' | number> {
    const { key, name, path } = file;
    const stat = files.lstat(path);
    if (stat === null) return name.includes(NO_UTF_8) ? toDefectText('unreadable') : 'gone';
    if (stat.kind !== 'file') return toDefectText(stat.kind === 'symlink' ? 'symlink' : 'not-a-file');
    if (stat.size > layout.mostBytes) return toDefectText('too-large');
    if (!layout.isWhole) {
      const left = waitFor(key, stat, memory);
      if (left > 0) return left;
    }
    let bytes: Uint8Array | null;
    try {
      bytes = readHead(files, path);
    } catch (error) {
      if (!FILE_ERRNOS.has(getErrno(error))) throw error;
      return waitOr(key, stat, memory, 'unreadable');
    }
    if (bytes === null) return 'gone';
    const isCut = stat.size > bytes.length;
    const parsed = await layout.parse({ bytes, isCut, name, address });
    if (parsed !== null) {
      memory.waiting.delete(key);
      return toMessageText(parsed);
    }
    return layout.isWhole ? toDefectText('unparsable') : waitOr(key, stat, memory, 'unparsable');
  }

  /** How long a file that is written in place has to stand still until it counts as complete; 0 or less: it is. */
  function waitFor(key: string, { size, ctimeMs }: Stat, memory: MailboxMemory): number {
    const stillMs = size === 0 ? LOST_MS : STILL_MS;
    if (clock.now() - ctimeMs >= stillMs) return 0;
    // The disk may have another clock, so what counts in the end is how long we saw it stand still.
    const now = clock.monotonic();
    const before = memory.waiting.get(key);
    const since = before?.size === size && before.ctimeMs === ctimeMs ? before.since : now;
    memory.waiting.set(key, { size, ctimeMs, since });
    return since + stillMs - now;
  }

  /** Waits for a file to become readable, and gives it up after a while. */
  function waitOr(
    key: string,
    { size, ctimeMs }: Stat,
    memory: MailboxMemory,
    defect: MessageDefect,
  ): FolderMessageText | number {
    const now = clock.monotonic();
    const before = memory.waiting.get(key);
    const since = before?.size === size && before.ctimeMs === ctimeMs ? before.since : now;
    memory.waiting.set(key, { size, ctimeMs, since });
    const left = since + LOST_MS - now;
    if (left > 0) return Math.min(left, STILL_MS * 4);
    memory.waiting.delete(key);
    return toDefectText(defect);
  }

  function toMessageText({ appeared, from, created, order, content, extra }: ParsedMessage): FolderMessageText {
    return {
      ...{ appeared, created, order },
      from: from === null ? null : toOneLine(from, FROM_CHARS),
      content: contentChars === null ? null : cut(sanitizeText(content), contentChars),
      extra: Object.fromEntries(
        Object.entries(extra).map(([key, value]) => [
          key,
          typeof value === 'string' ? toOneLine(value, EXTRA_CHARS) : value,
        ]),
      ),
    };
  }

  /** A message that is counted, and of which nothing can be read. */
  function toDefectText(diagnostic: MessageDefect): FolderMessageText {
    const content = contentChars === null ? null : '';
    return { appeared: 'new', from: null, created: null, order: NO_ORDER, content, extra: { diagnostic } };
  }

  /** Lists a mailbox. Null when no mail can arrive there. */
  function listMailbox(poll: MailboxPoll): MailboxListing | null {
    const { address, memory, known } = poll;
    const unread = new Map<string, FolderMessage>();
    const hasArriving = listArriving(address, unread);
    if (!hasArriving && tryLstat(files, toPath(address))?.kind !== 'directory') return null;
    if (hasArriving) memory.absences = 0;
    else if (memory.absences < MOST_ABSENCES) {
      memory.absences += 1;
      wait(poll, ABSENT_MS); // its folders may just be made, one after the other
    }
    for (const key of unread.keys()) if (isNews(poll, key)) memory.arrived.add(key);
    const { claimed: folder } = layout;
    if (folder === null) return { unread, read: NO_NAMES };
    const remembered = [...known.keys(), ...memory.arrived];
    const claimed = updateClaimed(poll, folder, unread, remembered);
    for (const [key, name] of claimed.unread)
      if (!unread.has(key)) unread.set(key, { key, name, path: toPath(address, folder, name) });
    for (const [key, file] of unread) {
      if (!claimed.read.has(key)) continue;
      if (tryLstat(files, file.path) === null)
        unread.delete(key); // it was moved after it was listed
      else
        poll.defects.push({ filename: file.name, message: 'is unread and read at the same time: it counts as unread' });
    }
    return { unread, read: claimed.read };
  }

  /** Lists the claimed messages again if they may be others than before. */
  function updateClaimed(
    poll: MailboxPoll,
    folder: string,
    unread: Map<string, FolderMessage>,
    remembered: readonly string[],
  ): ClaimedNames {
    const { address, memory } = poll;
    const before = memory.claimed;
    const isIn = (names: ClaimedNames, key: string): boolean =>
      unread.has(key) || names.read.has(key) || names.unread.has(key);
    const stamp = poll.stamps[1] ?? '';
    if (before !== null && memory.claimedStamp === stamp && remembered.every((key) => isIn(before, key))) return before;
    const claimed = listClaimed(address, folder);
    memory.claimed = claimed;
    const isStable = isStableStamp(files.lstat(toPath(address, folder)), stamp, clock.now());
    memory.claimedStamp = isStable ? stamp : null;
    if (layout.deliversPassing && before !== null)
      for (const key of claimed.read.keys()) if (!before.read.has(key) && isNews(poll, key)) memory.arrived.add(key);
    // A message may have been moved from one folder to the other between the two listings.
    if (!remembered.every((key) => isIn(claimed, key))) listArriving(address, unread);
    return claimed;
  }

  /** The text of a message; null when it cannot be had yet. */
  async function getText(poll: MailboxPoll, file: FolderMessage): Promise<FolderMessageText | null> {
    const { address, memory, signal } = poll;
    const text = memory.texts.get(file.key) ?? (await readMessage(file, address, memory));
    if (clock.monotonic() - poll.breathedAt > BREATH_MS) {
      await clock.sleep(0, signal);
      signal.throwIfAborted();
      poll.breathedAt = clock.monotonic();
    }
    if (text === 'gone') return null; // its folders changed, so another poll follows
    if (typeof text === 'number') {
      wait(poll, text);
      return null;
    }
    memory.texts.set(file.key, text);
    return text;
  }

  /** What is known, in the order of the checkpoint, so that an unchanged set is compared quickly. */
  async function buildKnownItems(poll: MailboxPoll, { unread, read }: MailboxListing): Promise<readonly SetItem[]> {
    const { memory, known, gone } = poll;
    const items: SetItem[] = [];
    let surplus = -MOST_READ;
    for (const { key, fingerprint } of known.values()) if (fingerprint === 'read' && read.has(key)) surplus += 1;
    for (const item of known.values()) {
      const { key, fingerprint, seq } = item;
      const file = unread.get(key);
      memory.arrived.delete(key);
      memory.passed.delete(key);
      if (file === undefined || seq !== null) memory.texts.delete(key);
      if (file !== undefined) {
        const extra = seq === null ? ((await getText(poll, file))?.extra ?? NO_EXTRA) : item.extra;
        poll.extras.set(key, extra);
        items.push(toKnownSetItem(item, 'unread', extra));
      } else if (!read.has(key)) poll.isMissing = true;
      else if (fingerprint === 'read' && surplus > 0) {
        surplus -= 1;
        items.push(toKnownSetItem(item, 'past', NO_EXTRA));
      } else if (fingerprint !== 'past') items.push(toKnownSetItem(item, 'read', item.extra));
    }
    for (const item of gone.values())
      if (!unread.has(item.key) && read.has(item.key) && item.fingerprint !== 'past')
        items.push(toKnownSetItem(item, 'read', item.extra));
    return items;
  }

  /** What the checkpoint does not know: unread messages, and those that were read before they were delivered. */
  async function buildNewItems(poll: MailboxPoll, { unread, read }: MailboxListing): Promise<readonly SetItem[]> {
    const { address, memory } = poll;
    const found: { readonly key: string; readonly text: FolderMessageText }[] = [];
    for (const file of unread.values()) {
      const { key } = file;
      if (poll.known.has(key)) continue;
      const text = await getText(poll, file);
      if (text !== null) found.push({ key, text });
      poll.extras.set(key, text?.extra ?? NO_EXTRA);
    }
    for (const key of memory.arrived) {
      if (unread.has(key)) continue;
      const name = read.get(key);
      if (name === undefined || !isNews(poll, key)) {
        memory.arrived.delete(key);
        memory.passed.delete(key);
        memory.texts.delete(key);
        continue;
      }
      const text = await getText(poll, { key, name, path: toPath(address, layout.claimed ?? '', name) });
      if (text === null) continue;
      found.push({ key, text });
      // The poll after its delivery finds it read. What is not accepted is tried again by the watcher.
      if (!memory.passed.has(key)) wait(poll, AT_ONCE_MS);
      memory.passed.add(key);
    }
    found.sort((a, b) => compareTexts(a.text, b.text) || (a.key < b.key ? -1 : 1));
    return found.map(({ key, text }) => toNewSetItem(key, text));
  }

  return {
    async read(address, from, signal) {
      const memory = findMemory(address);
      const poll: MailboxPoll = {
        ...{ address, memory, signal, stamps: readStamps(address), defects: [], extras: new Map() },
        known: new Map(from.is === 'known' ? from.keys.map((item) => [item.key, item]) : []),
        gone: new Map(from.is === 'known' ? from.gone?.map((item) => [item.key, item]) : []),
        ...{ isMissing: false, againIn: null, breathedAt: clock.monotonic() },
      };
      const { defects, extras } = poll;
      const listing = listMailbox(poll);
      if (listing === null) {
        memories.delete(address);
        return null;
      }
      const { unread, read } = listing;
      const items = [...(await buildKnownItems(poll, listing)), ...(await buildNewItems(poll, listing))];
      for (const key of memory.waiting.keys()) if (!unread.has(key) && !read.has(key)) memory.waiting.delete(key);
      for (const [key, { diagnostic }] of extras)
        if (typeof diagnostic === 'string')
          defects.push({ filename: unread.get(key)?.name ?? key, message: DEFECTS[diagnostic] ?? diagnostic });
      if (poll.isMissing || !memory.hasDead) readDead(address, memory);
      for (const defect of memory.dead.values()) if (defect !== null) defects.push(defect);
      const agent = readAgent(address, memory);
      if (agent.until !== null) wait(poll, Math.max(AT_ONCE_MS, agent.until - clock.now()));
      memory.stamps = poll.stamps;
      let urgent = 0;
      for (const [key, extra] of extras) if (unread.has(key) && layout.isUrgent(extra, address)) urgent += 1;
      return { items, unread: unread.size, urgent, agentState: agent.state, againIn: poll.againIn, defects };
    },
    hasChanged(address) {
      const memory = memories.get(address);
      if (memory === undefined) return true;
      if (memory.claimed !== null && memory.claimedStamp === null) return true;
      try {
        const stamps = readStamps(address);
        return stamps.length !== memory.stamps.length || stamps.some((stamp, i) => stamp !== memory.stamps[i]);
      } catch {
        return true; // the poll reports what is wrong
      }
    },
    listFolders,
    forget: (address) => void memories.delete(address),
    forgetAll: () => memories.clear(),
  };
}

/** Stands in a file name for bytes that are no text. Such a file cannot be named. */
const NO_UTF_8 = '\uFFFD';
const NO_NAMES: ReadonlyMap<string, string> = new Map();
const NO_EXTRA: Extra = {};
const NO_ORDER = [0, 0] as const;

const DEFECTS: Readonly<Record<string, string>> = {
  unparsable: 'cannot be parsed: it counts as unread and has no content',
  'too-large': 'is larger than a message can be: it counts as unread and is not opened',
  symlink: 'is a symlink, which is never opened: it counts as unread',
  'not-a-file': 'is not a regular file: it counts as unread and is not opened',
  unreadable: 'cannot be read: it counts as unread and has no content',
} satisfies Readonly<Record<MessageDefect, string>>;

/** Errors that concern one file. Any other one concerns the machine. */
const FILE_ERRNOS: ReadonlySet<string> = new Set([
  'ELOOP',
  'EMLINK',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ENXIO',
  'ENODEV',
  'EINVAL',
]);

function toKnownSetItem({ key }: KnownItem, stage: FolderStage, extra: Extra): SetItem {
  const fields = { from: null, created: null, content: null, extra };
  const changed = stage === 'read' ? 'read' : null;
  const vanished = stage === 'past' ? null : 'gone';
  return { key, fingerprint: stage, appeared: stage === 'unread' ? 'new' : 'quiet', changed, vanished, ...fields };
}

function toNewSetItem(key: string, { appeared, from, created, content, extra }: FolderMessageText): SetItem {
  return { key, fingerprint: 'unread', appeared, changed: null, vanished: 'gone', from, created, content, extra };
}

const isNews = ({ known, gone }: MailboxPoll, key: string): boolean => !known.has(key) && !gone.has(key);

function wait(poll: MailboxPoll, ms: number): void {
  poll.againIn = poll.againIn === null ? ms : Math.min(poll.againIn, ms);
}

function compareTexts({ order: a }: FolderMessageText, { order: b }: FolderMessageText): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** The first bytes of a file; null when nothing is there. Symlinks are not followed, and a pipe does not block. */
function readHead(files: Files, path: string): Uint8Array | null {
  let fd: number;
  try {
    fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { kind, size } = files.fstat(fd);
    if (kind !== 'file') return null; // another file has its name by now
    const bytes = new Uint8Array(Math.min(size, HEAD_BYTES));
    let done = 0;
    while (done < bytes.length) {
      const got = files.read(fd, bytes.subarray(done), done);
      if (got === 0) break;
      done += got;
    }
    return bytes.subarray(0, done);
  } finally {
    files.close(fd);
  }
}

function tryLstat(files: Files, path: string): Stat | null {
  try {
    return files.lstat(path);
  } catch {
    return null; // what cannot be examined is reported where it is needed
  }
}

function tryListNames(files: Files, folder: string): readonly string[] {
  try {
    return files.readdir(folder);
  } catch {
    return []; // most mailboxes have no such folder
  }
}

const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function toStamp(stat: Stat | null): string {
  return stat === null ? '' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.ctimeMs}`;
}

/** Whether a folder is as it was before it was listed, and did not change so recently that its time may hide a change. */
function isStableStamp(stat: Stat | null, before: string, now: number): boolean {
  return toStamp(stat) === before && (stat === null || Math.abs(now - stat.ctimeMs) >= SURE_AFTER_MS);
}
