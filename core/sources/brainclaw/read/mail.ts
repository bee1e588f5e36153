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
   * lie beside the agents' directories and are none (brainclaw contract 5).
   * @throws Fault `unreadable` when a directory can not be looked into
   */
  look(): ReadonlyMap<string, AgentInbox> | null;
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

/**
 * @param directory `coordination/inbox` of a store
 * @param shorten what is kept of a message's text
 */
export function keepAgentMail(files: ReadFiles, directory: string, shorten: (text: string) => string): AgentMail {
  let kept = new Map<string, Kept>();

  const readAt = (path: string): Kept['read'] | null => {
    const file = readFile(files, path, MOST_MESSAGE);
    if (file.is === 'absent') return null;
    if (file.is === 'refused') return { is: 'bad', why: file.why };
    const read = messageOf(file.bytes.toString('utf8'), shorten);
    return read.is === 'message' ? read : { is: 'bad', why: read.why };
  };

  const inboxOf = (agent: string, next: Map<string, Kept>): AgentInbox => {
    const messages: AgentMessage[] = [];
    const bad: BadFile[] = [];
    for (const name of namesIn(files, join(directory, agent)) ?? []) {
      if (!name.endsWith('.json') || name.startsWith('.')) continue;
      const path = join(directory, agent, name);
      const stat = statOf(files, path);
      if (stat === null) continue; // gone since the listing
      const stamp = stampOf(stat);
      const known = kept.get(path);
      const read = known?.stamp === stamp ? known.read : readAt(path);
      if (read === null) continue;
      next.set(path, { stamp, read });
      if (read.is === 'message') messages.push(read.message);
      else bad.push({ name, why: read.why });
    }
    return {
      ...{ agent, messages, bad },
      pending: messages.filter(isPending).length,
      actionable: messages.filter(isActionable).length,
    };
  };

  return {
    look: () => {
      const names = namesIn(files, directory);
      if (names === null) return null;
      const next = new Map<string, Kept>();
      const agents = names.filter(
        (name) => AGENT.test(name) && statOf(files, join(directory, name))?.kind === 'directory',
      );
      const inboxes = new Map(agents.map((agent) => [agent, inboxOf(agent, next)]));
      kept = next;
      return inboxes;
    },
  };
}
