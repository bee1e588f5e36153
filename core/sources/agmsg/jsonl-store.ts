import { dirname, join } from 'node:path';
import { Fault, parseJson } from '../../model/index.ts';
import { O } from '../../ports/index.ts';
import { getErrno, readText } from '../../state/index.ts';
import { NO_EPOCH } from '../source-tools.ts';
import {
  type AgmsgMessage,
  type AgmsgStore,
  listMessages,
  NO_MESSAGES,
  SCOPE,
  type StoreOptions,
  toMember,
  toMessage,
} from './store.ts';

const CHUNK_BYTES = 1024 * 1024;
/** A longer line is no message of agmsg, and is passed over. */
const MOST_LINE_BYTES = 16 * CHUNK_BYTES;
const MOST_CURSOR_BYTES = 8 * CHUNK_BYTES;

/** The log, as far as it was read. */
interface LogState {
  readonly identity: string;
  /** Complete lines up to this byte were read. */
  offset: number;
  /** How many messages were sent, to whomever: the place of the newest. */
  sent: number;
  readonly messages: Map<string, AgmsgMessage[]>;
  /** Ids of messages that a marker names, per agent. */
  readonly markers: Map<string, Set<string>>;
}

/** The file-based store of agmsg: an append-only log of lines, and a table of cursors beside it. */
export function createJsonlStore(options: StoreOptions): AgmsgStore {
  const { path, disk, contentChars } = options;
  const { files } = disk;
  const cursorsPath = join(dirname(path), 'read-cursors.tsv');
  const members = new Map<string, readonly AgmsgMessage[]>();
  const released = new Map<string, number>();
  let log: LogState | null = null;
  let startSeq: number | null = null;
  let cursors: ReadonlyMap<string, number> = new Map();
  let lastStamp = '';

  function readStamp(): string {
    return [path, cursorsPath]
      .map((file) => files.lstat(file))
      .map((stat) => (stat === null ? '' : `${stat.dev}:${stat.ino} ${stat.size} ${stat.ctimeMs}`))
      .join();
  }

  async function refresh(): Promise<void> {
    try {
      const stamp = readStamp();
      if (stamp === lastStamp) return;
      readLog();
      cursors = readCursors();
      startSeq ??= log?.sent ?? 0;
      for (const member of log?.messages.keys() ?? []) list(member);
      lastStamp = stamp;
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('unreadable', `${path} cannot be read: ${String(error)}`, SCOPE, { cause: error });
    }
  }

  function list(member: string): void {
    const base = released.get(member) ?? startSeq ?? 0;
    const cursor = cursors.get(member) ?? 0;
    const markers = log?.markers.get(member);
    const all = (log?.messages.get(member) ?? []).map((message) => {
      const isRead = message.seq <= cursor || markers?.has(message.key) === true;
      return message.isRead === isRead ? message : { ...message, isRead };
    });
    const listed = listMessages(all, base, members.get(member));
    if (listed.length === 0) members.delete(member);
    else members.set(member, listed);
    // What is read stays so. Its marker is needed no more.
    log?.messages.set(member, [...listed]);
    if (markers !== undefined) for (const { key, isRead } of all) if (isRead) markers.delete(key);
  }

  function readLog(): void {
    const fd = openLog();
    if (fd === null) {
      log = null;
      members.clear();
      return;
    }
    try {
      const { kind, dev, ino, size } = files.fstat(fd);
      if (kind !== 'file') throw new Fault('unreadable', `${path} is not a regular file`, SCOPE);
      const identity = `${dev}:${ino}`;
      // A shorter file, or another one, was compacted: it is read again, and known messages have the same ids.
      if (log === null || log.identity !== identity || size < log.offset)
        log = { identity, offset: 0, sent: 0, messages: new Map(), markers: new Map() };
      readLines(fd, log);
    } finally {
      files.close(fd);
    }
  }

  function openLog(): number | null {
    try {
      return files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    } catch (error) {
      if (getErrno(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** Reads complete lines only. */
  function readLines(fd: number, state: LogState): void {
    let rest = Buffer.alloc(0);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const got = files.read(fd, chunk, state.offset + rest.length);
      if (got === 0) return;
      const bytes = Buffer.concat([rest, chunk.subarray(0, got)]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      if (end > 0)
        for (const line of bytes
          .subarray(0, end - 1)
          .toString('utf8')
          .split('\n'))
          readLine(line, state);
      state.offset += end;
      rest = bytes.subarray(end);
      if (rest.length > MOST_LINE_BYTES) throw new Fault('schema', `${path} has a line that is too long`, SCOPE);
    }
  }

  function readLine(line: string, state: LogState): void {
    const event = parseLine(line);
    if (event === null || typeof event.team !== 'string') return;
    const { type, id, team, from, to, body, at, agent, msg_id: marked } = event;
    if (type === 'message_sent') {
      state.sent += 1;
      if (typeof to !== 'string') return;
      const member = toMember(team, to);
      const message = toMessage({ id, seq: state.sent, from, body, at, legacyId: null, isRead: false }, contentChars);
      const messages = state.messages.get(member);
      if (messages === undefined) state.messages.set(member, [message]);
      else messages.push(message);
    } else if (type === 'message_read' && typeof agent === 'string') {
      const member = toMember(team, agent);
      const markers = state.markers.get(member) ?? new Set();
      state.markers.set(member, markers.add(String(marked)));
    }
  }

  function readCursors(): ReadonlyMap<string, number> {
    const text = readText(files, cursorsPath, MOST_CURSOR_BYTES) ?? '';
    return new Map(
      text.split('\n').flatMap((line) => {
        const [team, agent, position] = line.split('\t');
        return team === undefined || agent === undefined || !/^\d{1,15}$/.test(position ?? '')
          ? []
          : [[toMember(team, agent), Number(position)] as const];
      }),
    );
  }

  return {
    refresh,
    isUnchanged: () => lastStamp !== '' && readStamp() === lastStamp,
    get epoch() {
      return log?.identity ?? NO_EPOCH;
    },
    list: (team, agent) => members.get(toMember(team, agent)) ?? NO_MESSAGES,
    /** A log only grows, so what was a message is one. */
    findExisting: async (_team, _agent, keys) => new Set(keys),
    release(team, agent, seq) {
      const member = toMember(team, agent);
      if (seq <= (released.get(member) ?? startSeq ?? 0)) return;
      released.set(member, seq);
      if (members.has(member)) list(member);
    },
  };
}

function parseLine(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null; // no event of this format
  }
}
