import { join } from 'node:path';
import { type AgentMessage, isActionable, isPending, messageOf } from './message.ts';
import { stampOf } from './segments.ts';
import { namesIn, type ReadFiles, readFile, statOf } from './shelf.ts';

/** A file in an agent's inbox that is no message. The store passes such files over without a word. */
export interface BadFile {
  readonly name: string;
  readonly why: string;
}

/** One agent's inbox. */
export interface AgentInbox {
  /** The directory's name: an alias is resolved, and letters are small. */
  readonly agent: string;
  /** In the order of their file names. */
  readonly messages: readonly AgentMessage[];
  readonly pending: number;
  readonly actionable: number;
  readonly bad: readonly BadFile[];
}

/** Looks at the inboxes of a store, and reads what has changed since it looked last. */
export interface AgentMail {
  /**
   * Every agent's inbox by the agent's name, sorted; null when there is no mail at all: nobody ever sent any. Candidates
   * lie beside the agents' directories and are none (brainclaw contract 5). An inbox in which nothing changed is the same
   * object as before.
   * @param of only these are looked into; of others it knows what was seen last
   * @throws Fault `unreadable` when a directory can not be looked into
   */
  look(of?: ReadonlySet<string>): ReadonlyMap<string, AgentInbox> | null;
}

/** Longest file that is read: one message of old had 960 KB. */
export const MOST_MESSAGE = 16 * 1024 * 1024;
const AGENT = /^[a-z0-9_-]+$/;

interface Kept {
  readonly stamp: string;
  readonly read:
    | { readonly is: 'message'; readonly message: AgentMessage }
    | { readonly is: 'bad'; readonly why: string };
}

interface Looked {
  /** By file name. */
  readonly kept: ReadonlyMap<string, Kept>;
  readonly inbox: AgentInbox;
}

/**
 * @param directory `coordination/inbox` of a store
 * @param shorten what is kept of a message's text
 */
export function keepAgentMail(files: ReadFiles, directory: string, shorten: (text: string) => string): AgentMail {
  let inboxes: ReadonlyMap<string, Looked> = new Map();

  const readAt = (path: string): Kept['read'] | null => {
    const file = readFile(files, path, MOST_MESSAGE);
    if (file.is === 'absent') return null;
    if (file.is === 'refused') return { is: 'bad', why: file.why };
    const read = messageOf(file.bytes.toString('utf8'), shorten);
    return read.is === 'message' ? read : { is: 'bad', why: read.why };
  };

  const lookInto = (agent: string, before: Looked | undefined): Looked => {
    const kept = new Map<string, Kept>();
    let isSame = before !== undefined;
    for (const name of namesIn(files, join(directory, agent)) ?? []) {
      if (!name.endsWith('.json') || name.startsWith('.')) continue;
      const path = join(directory, agent, name);
      const stat = statOf(files, path);
      if (stat === null) continue; // gone since the listing
      const stamp = stampOf(stat);
      const known = before?.kept.get(name);
      if (known?.stamp === stamp) {
        kept.set(name, known);
        continue;
      }
      const read = readAt(path);
      if (read === null) continue;
      kept.set(name, { stamp, read });
      isSame = false;
    }
    if (before !== undefined && isSame && kept.size === before.kept.size) return before;
    return { kept, inbox: inboxOf(agent, kept) };
  };

  return {
    look: (of) => {
      const names = namesIn(files, directory);
      if (names === null) {
        inboxes = new Map();
        return null;
      }
      const next = new Map<string, Looked>();
      for (const agent of names) {
        if (!AGENT.test(agent)) continue;
        const before = inboxes.get(agent);
        if (before !== undefined && of?.has(agent) === false) next.set(agent, before);
        else if (statOf(files, join(directory, agent))?.kind === 'directory') next.set(agent, lookInto(agent, before));
      }
      inboxes = next;
      return new Map([...next].map(([agent, { inbox }]) => [agent, inbox]));
    },
  };
}

function inboxOf(agent: string, kept: ReadonlyMap<string, Kept>): AgentInbox {
  const messages: AgentMessage[] = [];
  const bad: BadFile[] = [];
  for (const [name, { read }] of kept) {
    if (read.is === 'message') messages.push(read.message);
    else bad.push({ name, why: read.why });
  }
  return {
    ...{ agent, messages, bad },
    pending: messages.filter(isPending).length,
    actionable: messages.filter(isActionable).length,
  };
}
