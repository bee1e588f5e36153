import { join } from 'node:path';
import { waitUntil } from '../../services/index.ts';
import { findOwnHome, readLockTable } from '../../state/index.ts';
import type { SourceEnvironment, SourceHost, SourcePlace, WatchedSource } from '../module.ts';
import { listNumbered } from './queue.ts';
import type { ReplyToThread } from './reply.node.ts';
import { CODEX, CODEX_PREFIX, type CodexSettings } from './settings.ts';
import { createCodexSource } from './source.ts';

/** How often Hivebar looks for a queue that does not exist yet. */
const APPEARS_EVERY_MS = 10_000;

type CodexHost = Pick<SourceHost, 'env' | 'disk' | 'clock' | 'log' | 'put' | 'findSessionPersona' | 'contentChars'>;

/** Opens the queue of Codex, watched as one hive from when there is one. Null when the settings switch it off. */
export function openCodex({ codex }: CodexSettings, host: CodexHost): WatchedSource | null {
  if (codex.is === 'off') return null;
  const home = findCodexHome(codex.home, host.env);
  const replyToThread: ReplyToThread = async (...call) => {
    const { createThreadReply } = await import('./reply.node.ts'); // loaded when a person replies
    return await createThreadReply(home, host)(...call);
  };
  const source = createCodexSource({
    ...{ ...host, home, readLockTable },
    ...(codex.actions === true ? { replyToThread } : {}),
  });
  return {
    hives: [
      {
        source,
        address: home,
        identity: ({ address }) => [CODEX, address, home],
        named: source.named,
        holdMs: null,
        kind: 'disk',
        deliversBacklog: codex.backfill === true,
        async appears(signal) {
          if (hasQueue(home, host)) return 'there';
          await waitUntil(() => hasQueue(home, host), APPEARS_EVERY_MS, host.clock, signal);
          return 'came';
        },
      },
    ],
    findSessions(persona) {
      if (persona.source !== source.id || !persona.id.startsWith(CODEX_PREFIX)) return [];
      const thread = source.findThread(persona.id);
      if (thread === null) return [];
      // A thread that runs can be resumed too: its server shows it in one more terminal.
      return [
        {
          persona: persona.id,
          id: thread.id,
          cwd: thread.cwd ?? findOwnHome(),
          resume: ['codex', 'resume', thread.id],
        },
      ];
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The folder of Codex: the one that the settings name, else that of the environment, else this user's (Codex contract 1). */
export function findCodexHome(named: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  return named ?? (env.CODEX_HOME || join(findOwnHome(), '.codex'));
}

/** A folder that cannot be read counts, so that its fault is shown. */
function hasQueue(home: string, { disk }: Pick<SourceEnvironment, 'disk'>): boolean {
  try {
    return listNumbered(disk, home, 'queue').length > 0;
  } catch {
    return true; // listing it reports what is wrong
  }
}

export function findCodexPlaces(
  { codex }: CodexSettings,
  { env, disk }: Pick<SourceEnvironment, 'env' | 'disk'>,
): readonly SourcePlace[] {
  const home = findCodexHome(codex.home, env);
  const place = { what: 'Codex queue', where: home };
  if (codex.is === 'off') return [{ ...place, found: null }];
  try {
    return [{ ...place, found: listNumbered(disk, home, 'queue')[0]?.name ?? null }];
  } catch (error) {
    return [{ ...place, found: error instanceof Error ? error.message : String(error) }];
  }
}
