import { isAbsolute, join, resolve } from 'node:path';
import { waitUntil } from '../../services/index.ts';
import { findOwnHome, findWorkFolder } from '../../state/index.ts';
import type { NativeSession, SourceEnvironment, SourceHost, SourcePlace, WatchedSource } from '../module.ts';
import { createConfigDirectory, type LiveSession } from './directory.ts';
import { readEnvironment, readProcess, tryStat } from './read/index.ts';
import type { ReplyToSession } from './reply.ts';
import { toPersonaId } from './roster.ts';
import { CLAUDE, CLAUDE_PREFIX, type ClaudeSettings } from './settings.ts';
import { createClaudeSource } from './source.ts';

/** The config directories that are watched: those of the settings, else the one that Claude Code uses here. */
export function resolveDirectories(
  { directories }: ClaudeSettings['claude'],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const home = findOwnHome();
  const own = env.CLAUDE_CONFIG_DIR;
  const named = directories ?? [own === undefined || own === '' ? join(home, '.claude') : own];
  const paths = named.map((path) => (path === '~' || path.startsWith('~/') ? join(home, path.slice(2)) : path));
  return [...new Set(paths.map((path) => (isAbsolute(path) ? path : resolve(findWorkFolder(), path))))];
}

/** Opens the config directories of Claude Code, watched as one hive. Null when the settings switch them off. */
export function openClaude({ claude }: ClaudeSettings, host: SourceHost): WatchedSource | null {
  if (claude.is === 'off') return null;
  const { disk, clock, log, contentChars, put, findSessionPersona } = host;
  const directories = resolveDirectories(claude, host.env);
  const replyToSession: ReplyToSession = async (...call) => {
    const { createSessionReply } = await import('./reply.ts'); // loaded when a person replies
    const { createSendToSession } = await import('./send-to-session.node.ts');
    return await createSessionReply({ readProcess, send: createSendToSession(disk.files, disk.uid) })(...call);
  };
  const source = createClaudeSource({
    ...{ directories, disk, clock, log, contentChars, readProcess, put, findSessionPersona },
    positions: host.positions,
    ...(claude.actions === true ? { replyToSession } : {}),
  });
  return {
    hives: [
      {
        source,
        address: directories.join(', '),
        identity: ({ address }) => [CLAUDE, address],
        named: source.named,
        holdMs: null,
        kind: 'disk',
        deliversBacklog: false,
        ...(claude.directories === undefined
          ? { appears: (signal: AbortSignal) => waitForDirectory(directories, host, signal) }
          : {}),
      },
    ],
    findSessions(persona): readonly NativeSession[] {
      if (persona.source !== source.id || !persona.id.startsWith(CLAUDE_PREFIX)) return [];
      const entry = source.find(persona.id.slice(CLAUDE_PREFIX.length));
      const session = entry?.session ?? null;
      if (entry === null || session === null) return [];
      const { sessionId: id, cwd } = session.file;
      if (!isAbsolute(cwd)) return [];
      return [{ persona: toPersonaId(entry.address), id, cwd, ...findWay(session, entry.member?.tmuxPaneId ?? null) }];
    },
    findSessionOwner(sessionId) {
      const entry = source.findBySession(sessionId);
      return entry === null ? null : toPersonaId(entry.address);
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() as Promise<void>,
  };
}

const APPEARS_EVERY_MS = 10_000;

/** A machine without Claude Code has none on its board. A directory that cannot be looked at counts, so that its fault is shown. */
async function waitForDirectory(
  directories: readonly string[],
  { disk, clock }: Pick<SourceHost, 'disk' | 'clock'>,
  signal: AbortSignal,
): Promise<'there' | 'came'> {
  const isThere = (): boolean => {
    try {
      return directories.some((path) => disk.files.lstat(path) !== null);
    } catch {
      return true; // the first poll says why
    }
  };
  if (isThere()) return 'there';
  await waitUntil(isThere, APPEARS_EVERY_MS, clock, signal);
  return 'came';
}

/**
 * How a click opens a session (contract 5). One that lives is never resumed, because two programs would write to it.
 * @param ownPane the pane of a member of its team
 */
export function findWay(
  { file: { pid, sessionId, kind, jobId, entrypoint }, goneAt }: Pick<LiveSession, 'file' | 'goneAt'>,
  ownPane: string | null,
): Pick<NativeSession, 'resume' | 'tmux' | 'shownBy'> {
  if (goneAt !== null) return { resume: ['claude', '--resume', sessionId] };
  const tmux = findPane(pid, ownPane);
  if (tmux !== null) return { resume: null, tmux };
  if (kind === 'bg' && jobId !== null && JOB_ID.test(jobId)) return { resume: ['claude', 'attach', jobId] };
  return entrypoint === 'claude-vscode' ? { resume: null, shownBy: ['code', '--', '{cwd}'] } : { resume: null };
}

const JOB_ID = /^[\dA-Za-z][\w-]{0,63}$/;

/** The pane of a session that runs in tmux, which its process has in its environment. A member of a team may have a pane of its own. */
function findPane(pid: number, ownPane: string | null): NonNullable<NativeSession['tmux']> | null {
  const variables = readEnvironment(pid);
  const server = variables.get('TMUX');
  const pane = ownPane?.startsWith('%') ? ownPane : variables.get('TMUX_PANE');
  return server === undefined || pane === undefined ? null : { server, pane };
}

/** Lists the config directories, and how many sessions live in each. */
export function findClaudePlaces({ claude }: ClaudeSettings, host: SourceEnvironment): readonly SourcePlace[] {
  if (claude.is === 'off') return [];
  return resolveDirectories(claude, host.env).map((root) => {
    const store = createConfigDirectory({
      ...{ root, files: host.disk.files, clock: host.clock, readProcess, texts: { contentChars: null } },
    });
    store.scan();
    const isThere = tryStat(host.disk.files, root) !== null;
    const count = store.sessions.size;
    const found = isThere ? `${count} session${count === 1 ? '' : 's'}` : null;
    return { what: 'Claude Code sessions', where: root, found };
  });
}
