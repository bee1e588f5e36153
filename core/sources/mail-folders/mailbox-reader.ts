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
  claimed: { readonly unread: ReadonlyMap<string, string>; readonly read: ReadonlyMap<string, string> } | null;
  /** The claimed folder as it was listed; null: it may have changed since. */
  claimedStamp: string | null;
  /** Messages that were seen unread, or came in passing, and that no checkpoint knows yet. */
  readonly arrived: Set<string>;
  readonly texts: Map<string, FolderMessageText>;
  readonly waiting: Map<string, WaitingFile>;
  agent: { readonly stamp: string; readonly text: string | null } | null;
  /** What its own programs gave up, by file. */
  readonly dead: Map<string, StoreDefect | null>;
  hasDead: boolean;
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

  function listClaimed(address: string, folder: string): NonNullable<MailboxMemory['claimed']> {
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
    if (stat === null) return 'gone';
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

  return {
    async read(address, from, signal) {
      const memory = findMemory(address);
      const { claimed: claimedFolder } = layout;
      const stamps = readStamps(address);
      const unread = new Map<string, FolderMessage>();
      const hasArriving = listArriving(address, unread);
      if (!hasArriving && tryLstat(files, toPath(address))?.kind !== 'directory') {
        memories.delete(address);
        return null;
      }
      const keys = from.is === 'known' ? from.keys : NO_KEYS;
      const known = new Map(keys.map((item) => [item.key, item]));
      const gone = new Map(from.is === 'known' ? from.gone?.map((item) => [item.key, item]) : []);
      const isNews = (key: string): boolean => !known.has(key) && !gone.has(key);
      for (const key of unread.keys()) if (isNews(key)) memory.arrived.add(key);

      let read: ReadonlyMap<string, string> = NO_NAMES;
      const defects: StoreDefect[] = [];
      if (claimedFolder !== null) {
        const before = memory.claimed;
        const isLost = (key: string): boolean =>
          !unread.has(key) && before?.read.has(key) !== true && before?.unread.has(key) !== true;
        const waits = [...known.keys(), ...memory.arrived];
        const stamp = stamps[1] ?? '';
        let claimed = before;
        if (claimed === null || memory.claimedStamp !== stamp || waits.some(isLost)) {
          claimed = listClaimed(address, claimedFolder);
          memory.claimed = claimed;
          memory.claimedStamp = isStableStamp(files.lstat(toPath(address, claimedFolder)), stamp, clock.now())
            ? stamp
            : null;
          if (layout.deliversPassing && before !== null)
            for (const key of claimed.read.keys()) if (!before.read.has(key) && isNews(key)) memory.arrived.add(key);
          const found = claimed;
          // A message may have been moved from one folder to the other between the two listings.
          if (waits.some((key) => !unread.has(key) && !found.read.has(key) && !found.unread.has(key)))
            listArriving(address, unread);
        }
        for (const [key, name] of claimed.unread) {
          if (!unread.has(key)) unread.set(key, { key, name, path: toPath(address, claimedFolder, name) });
        }
        read = claimed.read;
        for (const [key, file] of unread) {
          if (!read.has(key)) continue;
          if (tryLstat(files, file.path) === null)
            unread.delete(key); // it was moved after it was listed
          else
            defects.push({ filename: file.name, message: 'is unread and read at the same time: it counts as unread' });
        }
      }

      let againIn: number | null = null;
      const wait = (ms: number): void => {
        againIn = againIn === null ? ms : Math.min(againIn, ms);
      };
      const extras = new Map<string, Extra>();
      const items: SetItem[] = [];
      const started = { at: clock.monotonic() };
      const getText = async (file: FolderMessage): Promise<FolderMessageText | null> => {
        const text = memory.texts.get(file.key) ?? (await readMessage(file, address, memory));
        if (clock.monotonic() - started.at > BREATH_MS) {
          await clock.sleep(0, signal);
          signal.throwIfAborted();
          started.at = clock.monotonic();
        }
        if (text === 'gone') wait(AT_ONCE_MS);
        else if (typeof text === 'number') wait(text);
        else {
          memory.texts.set(file.key, text);
          return text;
        }
        return null;
      };

      // What is known comes first and in the order of the checkpoint, so that an unchanged set is compared quickly.
      let surplus =
        keys.reduce((sum, { key, fingerprint }) => sum + (fingerprint === 'read' && read.has(key) ? 1 : 0), 0) -
        MOST_READ;
      let isMissing = false;
      for (const item of keys) {
        const { key, fingerprint } = item;
        memory.arrived.delete(key);
        const file = unread.get(key);
        if (file !== undefined) {
          const text = item.seq === null ? await getText(file) : null;
          if (item.seq !== null) memory.texts.delete(key);
          const extra = item.seq === null ? (text?.extra ?? NO_EXTRA) : item.extra;
          extras.set(key, extra);
          items.push(toKnownSetItem(item, 'unread', extra));
          continue;
        }
        memory.texts.delete(key);
        if (!read.has(key)) isMissing = true;
        else if (fingerprint === 'read' && surplus > 0) {
          surplus -= 1;
          items.push(toKnownSetItem(item, 'past', NO_EXTRA));
        } else if (fingerprint !== 'past') items.push(toKnownSetItem(item, 'read', item.extra));
      }
      for (const [key, item] of gone)
        if (!unread.has(key) && read.has(key) && item.fingerprint !== 'past')
          items.push(toKnownSetItem(item, 'read', item.extra));

      const fresh: { readonly file: FolderMessage; readonly text: FolderMessageText }[] = [];
      for (const file of unread.values()) {
        if (known.has(file.key)) continue;
        const text = await getText(file);
        if (text !== null) fresh.push({ file, text });
        extras.set(file.key, text?.extra ?? NO_EXTRA);
      }
      for (const key of memory.arrived) {
        if (unread.has(key)) continue;
        const name = read.get(key);
        if (name === undefined || !isNews(key)) {
          memory.arrived.delete(key);
          memory.texts.delete(key);
          continue;
        }
        const text = await getText({ key, name, path: toPath(address, claimedFolder ?? '', name) });
        if (text === null) continue;
        fresh.push({ file: { key, name, path: '' }, text });
        wait(AT_ONCE_MS);
      }
      fresh.sort((a, b) => compareTexts(a.text, b.text) || (a.file.key < b.file.key ? -1 : 1));
      for (const { file, text } of fresh) items.push(toNewSetItem(file.key, text));

      for (const key of memory.waiting.keys()) if (!unread.has(key) && !read.has(key)) memory.waiting.delete(key);
      for (const [key, { diagnostic }] of extras)
        if (typeof diagnostic === 'string')
          defects.push({ filename: unread.get(key)?.name ?? key, message: DEFECTS[diagnostic] ?? diagnostic });
      if (isMissing || !memory.hasDead) readDead(address, memory);
      for (const defect of memory.dead.values()) if (defect !== null) defects.push(defect);

      const agent = readAgent(address, memory);
      if (agent.until !== null) wait(Math.max(AT_ONCE_MS, agent.until - clock.now()));
      memory.stamps = stamps;
      const urgent = [...extras].filter(([key, extra]) => unread.has(key) && layout.isUrgent(extra, address)).length;
      return { items, unread: unread.size, urgent, agentState: agent.state, againIn, defects };
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

const NO_KEYS: readonly KnownItem[] = [];
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
