import { join } from 'node:path';
import { parseJson } from '../../../model/index.ts';
import type { Stat } from '../../../ports/index.ts';
import { formatJson } from '../../source-tools.ts';
import { shortenText } from './projection.ts';
import { listNames, type ReadFiles, readFile, readStat } from './read-files.ts';
import { isObject, type JsonFields } from './record.ts';

/** A file in an agent's inbox that is no message. Brainclaw itself ignores such files silently. */
export interface BadFile {
  readonly name: string;
  readonly why: string;
}

/** One agent's inbox. */
export interface AgentInbox {
  /** The directory's name: aliases are resolved, and letters are lower case. */
  readonly agent: string;
  /** In the order of their file names. */
  readonly messages: readonly AgentMessage[];
  readonly pending: number;
  readonly actionable: number;
  readonly bad: readonly BadFile[];
}

/** Reads the inboxes of a store, and then only what has changed. */
export interface AgentMailReader {
  /**
   * Every agent's inbox by the agent's name, sorted. Null when there is no mail directory, because nobody ever sent mail.
   * Candidates lie beside the agents' directories and are no inboxes (brainclaw contract 5). An inbox in which nothing changed is
   * the same object as before.
   * @param agents only their inboxes are read again; the others are as they were read last
   * @throws Fault `unreadable` when a directory cannot be read
   */
  read(agents?: ReadonlySet<string>): ReadonlyMap<string, AgentInbox> | null;
}

/** The largest file that is read: an old message had 960 KB. */
export const MOST_MESSAGE = 16 * 1024 * 1024;
const AGENT = /^[a-z0-9_-]+$/;

interface MessageFile {
  readonly stamp: string;
  readonly read:
    | { readonly is: 'message'; readonly message: AgentMessage }
    | { readonly is: 'bad'; readonly why: string };
}

interface CachedInbox {
  /** By file name. */
  readonly messageFiles: ReadonlyMap<string, MessageFile>;
  readonly inbox: AgentInbox;
}

/**
 * @param directory `coordination/inbox` of a store
 * @param shorten returns the part of a message's text that is kept
 */
export function createAgentMailReader(
  files: ReadFiles,
  directory: string,
  shorten: (text: string) => string,
): AgentMailReader {
  let inboxes: ReadonlyMap<string, CachedInbox> = new Map();

  const readMessageFile = (path: string): MessageFile['read'] | null => {
    const file = readFile(files, path, MOST_MESSAGE);
    if (file.is === 'absent') return null;
    if (file.is === 'refused') return { is: 'bad', why: file.why };
    const read = parseAgentMessage(file.bytes.toString('utf8'), shorten);
    return read.is === 'message' ? read : { is: 'bad', why: read.why };
  };

  const readInbox = (agent: string, before: CachedInbox | undefined): CachedInbox => {
    const messageFiles = new Map<string, MessageFile>();
    let isSame = before !== undefined;
    for (const name of listNames(files, join(directory, agent)) ?? []) {
      if (!name.endsWith('.json') || name.startsWith('.')) continue;
      const path = join(directory, agent, name);
      const stat = readStat(files, path);
      if (stat === null) continue; // deleted since the listing
      const stamp = toStamp(stat);
      const known = before?.messageFiles.get(name);
      if (known?.stamp === stamp) {
        messageFiles.set(name, known);
        continue;
      }
      const read = readMessageFile(path);
      if (read === null) continue;
      messageFiles.set(name, { stamp, read });
      isSame = false;
    }
    if (before !== undefined && isSame && messageFiles.size === before.messageFiles.size) return before;
    return { messageFiles, inbox: toAgentInbox(agent, messageFiles) };
  };

  return {
    read: (agents) => {
      const names = listNames(files, directory);
      if (names === null) {
        inboxes = new Map();
        return null;
      }
      const next = new Map<string, CachedInbox>();
      for (const agent of names) {
        if (!AGENT.test(agent)) continue;
        const before = inboxes.get(agent);
        if (before !== undefined && agents?.has(agent) === false) next.set(agent, before);
        else if (readStat(files, join(directory, agent))?.kind === 'directory')
          next.set(agent, readInbox(agent, before));
      }
      inboxes = next;
      return new Map([...next].map(([agent, { inbox }]) => [agent, inbox]));
    },
  };
}

function toAgentInbox(agent: string, messageFiles: ReadonlyMap<string, MessageFile>): AgentInbox {
  const messages: AgentMessage[] = [];
  const bad: BadFile[] = [];
  for (const [name, { read }] of messageFiles) {
    if (read.is === 'message') messages.push(read.message);
    else bad.push({ name, why: read.why });
  }
  return {
    ...{ agent, messages, bad },
    pending: messages.filter(isPending).length,
    actionable: messages.filter(isActionable).length,
  };
}

/** Names have exactly eight digits, so that they sort in the order of their records (observer protocol 2). */
const NAME = /^seg-(\d{8})\.jsonl$/;

export interface SegmentFile {
  readonly name: string;
  /** The seq of its first record, according to its name. */
  readonly first: number;
  readonly stat: Stat;
}

export interface Segments {
  /** In replay order. */
  readonly files: readonly SegmentFile[];
  /** Names that look like segments and are none, because of their spelling or because they are no files. */
  readonly decoys: readonly string[];
}

/**
 * The segments of a journal; null when the directory does not exist, which means that the journal is off.
 * @throws Fault `unreadable` when the directory cannot be read
 */
export function readSegments(files: ReadFiles, directory: string): Segments | null {
  const names = listNames(files, directory);
  if (names === null) return null;
  const segments: SegmentFile[] = [];
  const decoys: string[] = [];
  for (const name of names) {
    const match = NAME.exec(name);
    if (match === null) {
      if (name.startsWith('seg-')) decoys.push(name);
      continue;
    }
    const stat = readStat(files, join(directory, name));
    if (stat === null) continue; // deleted since the listing
    if (stat.kind === 'file') segments.push({ name, first: Number(match[1]), stat });
    else decoys.push(name);
  }
  return { files: segments, decoys };
}

/** Two equal stamps mean the same file, without any change in between that the disk reports. */
export const toStamp = ({ dev, ino, size, ctimeMs }: Stat): string => `${dev}:${ino}:${size}:${ctimeMs}`;

const TYPES = ['assign', 'review', 'rfc', 'info', 'reply'] as const;
/** The newest message schema that is known. */
const SCHEMA = 2;
const MOST_TYPE = 80;
const STATUSES = ['pending', 'read', 'acknowledged', 'archived'] as const;

/** A message to an agent (brainclaw contract 5). Missing fields are null. */
export interface AgentMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** A known type, or the one that a store of a newer schema states. */
  readonly type: string;
  readonly status: (typeof STATUSES)[number];
  /** As long as the caller asked for. */
  readonly text: string;
  readonly requires_ack: boolean;
  readonly ref: string | null;
  readonly short_label: string | null;
  readonly thread_id: string | null;
  readonly claim_id: string | null;
  readonly assignment_id: string | null;
  /** UTC, as the writer states it. */
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** `why` says to a person why a file is no message. It follows the name of the file. */
export type MessageRead =
  | { readonly is: 'message'; readonly message: AgentMessage }
  | { readonly is: 'refused'; readonly why: string };

/**
 * @param json the whole file
 * @param shorten returns the part of the text that is kept; a text has up to 131,072 characters, and older ones have more
 */
export function parseAgentMessage(json: string, shorten: (text: string) => string): MessageRead {
  let fields: unknown;
  try {
    fields = parseJson(json);
  } catch (error) {
    return createRefusal(`is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(fields)) return createRefusal('is not an object');
  const wrong = NEEDED.find((key) => !isNonEmptyText(fields[key]));
  if (wrong !== undefined) return createRefusal(`has no ${wrong}`);
  const type = parseType(fields);
  if (type === null) return createRefusal(`has type ${formatJson(fields.type)}, not one of ${TYPES.join(', ')}`);
  const status = STATUSES.find((candidate) => candidate === (fields.status ?? 'pending'));
  if (status === undefined)
    return createRefusal(`has status ${formatJson(fields.status)}, not one of ${STATUSES.join(', ')}`);
  const { id, from, to, text, requires_ack = false, created_at } = fields as Readonly<Record<string, string>>;
  if (typeof text !== 'string') return createRefusal('has no text');
  if (typeof requires_ack !== 'boolean') return createRefusal('has a requires_ack that is neither true nor false');
  return {
    is: 'message',
    message: {
      ...{ id: id ?? '', from: from ?? '', to: to ?? '', type, status, text: shorten(text), requires_ack },
      ...{ ref: findText(fields, 'ref'), short_label: findText(fields, 'short_label') },
      ...{ thread_id: findText(fields, 'thread_id'), claim_id: findText(fields, 'claim_id') },
      ...{ assignment_id: findText(fields, 'assignment_id'), created_at: created_at ?? '' },
      updated_at: findText(fields, 'updated_at'),
    },
  };
}

/**
 * A store of a newer schema may have types that are unknown here, and such mail still counts. In the known schema an unknown type
 * is a mistake.
 */
function parseType({ type, schema_version: schema }: JsonFields): string | null {
  if (typeof type !== 'string') return null;
  if (TYPES.some((known) => known === type)) return type;
  const isNewer = typeof schema === 'number' && schema > SCHEMA;
  return isNewer && type !== '' ? shortenText(type, MOST_TYPE) : null;
}

/** Nobody has read the message. */
export const isPending = ({ status }: AgentMessage): boolean => status === 'pending';

/** Somebody still has to do something about the message. */
export const isActionable = ({ status, requires_ack }: AgentMessage): boolean =>
  status === 'pending' || (status === 'read' && requires_ack);

const NEEDED = ['id', 'from', 'to', 'created_at'] as const;
const createRefusal = (why: string): MessageRead => ({ is: 'refused', why });
const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function findText(fields: JsonFields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
