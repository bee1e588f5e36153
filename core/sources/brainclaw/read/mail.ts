import { join } from 'node:path';
import { type AgentMessage, isActionable, isPending, parseAgentMessage } from './message.ts';
import { listNames, type ReadFiles, readFile, readStat } from './read-files.ts';
import { toStamp } from './segments.ts';

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
