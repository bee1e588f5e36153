import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratch } from './scratch.ts';

/** A config directory of Claude Code, written as the program writes it. Its processes are made up. */
export interface ClaudeStore extends Disposable {
  readonly root: string;
  at(...parts: readonly string[]): string;
  /** A session with this id to begin with, whose process lives. */
  addSession(id: string, fields?: object): StoredSession;
  /** The implicit team of that session, with an empty inbox of its lead and of each member. */
  addTeam(id: string, members: readonly string[]): void;
  setMembers(id: string, members: readonly string[]): void;
  /** Adds an entry to an inbox, by a file of its own that is renamed. */
  deliver(id: string, name: string, entry: object): void;
  /** Replaces an inbox by these entries. */
  replaceInbox(id: string, name: string, entries: readonly object[]): void;
  /** Writes any file in it. */
  write(name: string, text: string): void;
  /** The reader takes everything. */
  take(id: string, name: string): void;
  readonly readProcess: (pid: number) => { is: 'running'; startKey: string; parent: null } | { is: 'gone' };
}

export interface StoredSession {
  readonly pid: number;
  readonly sessionId: string;
  /** Rewrites its file, in place, with other values. */
  set(fields: object): void;
  /** The process ends, and leaves its file. */
  kill(): void;
  /** The process ends, and takes its file along. */
  end(): void;
}

export const toSessionId = (id: string): string => `${id}-0000-4000-8000-000000000000`;

export function claudeStore(): ClaudeStore {
  const place = scratch();
  const root = join(place.dir, '.claude');
  const at = (...parts: readonly string[]): string => join(place.dir, ...parts);
  const alive = new Map<number, string>();
  const teamAt = (id: string): string => join(root, 'teams', `session-${id}`);
  let pids = 100_000;
  let writes = 0;
  mkdirSync(join(root, 'sessions'), { recursive: true });
  mkdirSync(join(root, 'teams'), { recursive: true });

  /** As the program replaces an inbox. */
  function replace(path: string, entries: readonly object[]): void {
    writes += 1;
    const aside = `${path}.tmp.${writes.toString(16).padStart(8, '0')}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(aside, JSON.stringify(entries, null, 2));
    renameSync(aside, path);
  }
  const inboxAt = (id: string, name: string): string => join(teamAt(id), 'inboxes', `${name}.json`);

  function setMembers(id: string, members: readonly string[]): void {
    const name = `session-${id}`;
    const lead = {
      agentId: `team-lead@${name}`,
      name: 'team-lead',
      tmuxPaneId: 'leader',
      cwd: '/proj',
      backendType: 'in-process',
    };
    const others = members.map((member) => ({
      ...{
        agentId: `${member}@${name}`,
        name: member,
        model: 'claude-opus-4-8',
        tmuxPaneId: 'in-process',
        cwd: '/proj',
      },
    }));
    mkdirSync(join(teamAt(id), 'inboxes'), { recursive: true });
    const config = {
      name,
      leadAgentId: `team-lead@${name}`,
      leadSessionId: toSessionId(id),
      members: [lead, ...others],
    };
    writeFileSync(join(teamAt(id), 'config.json'), JSON.stringify(config, null, 2));
  }

  return {
    root,
    at,
    addSession(id, fields = {}) {
      pids += 1;
      const pid = pids;
      const path = join(root, 'sessions', `${pid}.json`);
      const procStart = String(pid * 7);
      alive.set(pid, procStart);
      let now: object = {
        ...{
          pid,
          sessionId: toSessionId(id),
          cwd: '/proj',
          startedAt: 1_795_943_471_839,
          procStart,
          version: '2.1.197',
        },
        ...{
          peerProtocol: 1,
          kind: 'interactive',
          entrypoint: 'cli',
          name: `proj-${id.slice(0, 2)}`,
          nameSource: 'derived',
        },
        ...{ updatedAt: 1_795_943_471_997, statusUpdatedAt: 1_795_943_471_997 },
      };
      const set = (more: object): void => {
        now = { ...now, ...more };
        writeFileSync(path, JSON.stringify(now));
      };
      set(fields);
      return {
        ...{ pid, sessionId: toSessionId(id), set },
        kill: () => void alive.delete(pid),
        end() {
          alive.delete(pid);
          rmSync(path);
        },
      };
    },
    addTeam(id, members) {
      setMembers(id, members);
      for (const name of ['team-lead', ...members]) replace(inboxAt(id, name), []);
    },
    setMembers,
    deliver(id, name, entry) {
      const path = inboxAt(id, name);
      replace(path, [...(JSON.parse(readFileSync(path, 'utf8')) as object[]), entry]);
    },
    replaceInbox: (id, name, entries) => replace(inboxAt(id, name), entries),
    write: (name, text) => writeFileSync(join(root, name), text),
    take: (id, name) => replace(inboxAt(id, name), []),
    readProcess(pid) {
      const startKey = alive.get(pid);
      return startKey === undefined ? { is: 'gone' } : { is: 'running', startKey, parent: null };
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}
