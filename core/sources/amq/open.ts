import { join } from 'node:path';
import { Fault, parseJson } from '../../model/index.ts';
import { type Files, realSpawn } from '../../ports/index.ts';
import { createTroubleLog, every, type Service, type TroubleLog } from '../../services/index.ts';
import { ensurePrivateDir, readPrivate, writeAtomically } from '../../state/index.ts';
import type { MailFolderSource } from '../mail-folders/index.ts';
import type {
  HiveHandle,
  NativeSession,
  PersonaOnBoard,
  SourceHost,
  SourcePlace,
  WatchedHive,
  WatchedSource,
} from '../module.ts';
import type { Source } from '../source.ts';
import type { AmqActionParams } from './act.ts';
import { type FoundQueue, findQueues, isQueue, type NamedQueue, nameQueues } from './queues.ts';
import { AMQ, AMQ_PREFIX, type AmqSettings, AUTO } from './settings.ts';
import { createAmqSource } from './source.ts';

/** How often folders are searched for queues. */
const RESCAN_MS = 10_000;
/** A queue that is missing is over when it is still missing after this time. It may be made anew. */
const MISSING_MS = 3000;

/** Watches each queue that the settings name, or that lies in the folder of a known session. Null when there is nothing to look for. */
export function openAmq({ amq }: AmqSettings, host: SourceHost): WatchedSource | null {
  if (amq.roots.length === 0) return null;
  const queues = createQueuesService(amq, host);
  return {
    hives: [],
    services: [queues],
    poll: queues.poll,
    findSessions: queues.findSessions,
    act: queues.act,
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The queues in the places where the settings look. */
export function findConfiguredQueues(
  { roots }: AmqSettings['amq'],
  files: Files,
  sessionFolders: readonly string[],
): readonly FoundQueue[] {
  const isAuto = roots.includes(AUTO);
  return findQueues(files, [...roots.filter((root) => root !== AUTO), ...(isAuto ? sessionFolders : [])]);
}

/** Where queues are looked for, and what is there. */
export function findQueuePlaces({ roots }: AmqSettings['amq'], files: Files): readonly SourcePlace[] {
  return roots.map((root) => {
    if (root === AUTO) return { what: 'AMQ queues', where: '.agent-mail in the folders of sessions', found: null };
    const count = findQueues(files, [root]).length;
    return { what: 'AMQ queues', where: root, found: count === 0 ? null : `${count} queue${count === 1 ? '' : 's'}` };
  });
}

interface OpenQueue {
  readonly queue: FoundQueue;
  readonly suffix: string;
  readonly source: MailFolderSource;
  readonly handle: HiveHandle;
}

interface QueuesService extends Service {
  /** Searches now. */
  poll(): void;
  findSessions(persona: PersonaOnBoard): readonly NativeSession[];
  act(action: string, params: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Searches for queues, watches those that come, and releases those that are gone. */
function createQueuesService(settings: AmqSettings['amq'], host: SourceHost): QueuesService {
  const { disk, clock, log, put } = host;
  const { files } = disk;
  const open = new Map<string, OpenQueue>();
  const names = openQueueNames(host);
  let search: ReturnType<typeof every> | null = null;

  function watchQueue(queue: FoundQueue, suffix: string): void {
    const id = `${AMQ}${suffix}`;
    const source = createAmqSource({
      ...{ id, queue: queue.path, suffix, disk, clock, log },
      contentChars: host.contentChars,
      ...(settings.actions === true ? { reply: createReply(queue) } : {}),
    });
    const hive: WatchedHive = {
      source,
      address: queue.path,
      identity: ({ address }) => [AMQ, address, queue.path],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: settings.backfill === true,
    };
    open.set(queue.path, { queue, suffix, source, handle: host.watch(hive) });
    log.info(`${id}: watching ${queue.path}`);
  }

  /** To a message of the person, or to an agent as a new one. */
  function createReply(queue: FoundQueue): NonNullable<Source['reply']> {
    return async ({ id: persona, address: handle }, { text, message }, signal) => {
      const { createFault, runAmqAction, toReplyParams } = await import('./act.ts');
      const params = toReplyParams({ persona, handle, text, message });
      if (params === null) throw createFault('usage', `${persona} is you: name the message of yours that you answer`);
      await runAmqAction(params, { queue: queue.path, handle }, realSpawn, host.env, signal);
      return { is: 'accepted', says: 'sent: AMQ delivered it' };
    };
  }

  async function leave({ queue, source, handle }: OpenQueue): Promise<void> {
    open.delete(queue.path);
    await handle.release();
    handle.leave();
    put({ is: 'source', at: clock.now(), source: source.id, address: queue.path, fault: null });
    put({ is: 'withdrawn', at: clock.now(), source: source.id });
    log.info(`${source.id}: ${queue.path} is gone and not watched any more`);
  }

  async function scan(signal: AbortSignal): Promise<void> {
    const isMissing = ({ queue }: OpenQueue): boolean => !isQueue(files, queue.path);
    if ([...open.values()].some(isMissing)) {
      await clock.sleep(MISSING_MS, signal);
      if (signal.aborted) return;
      for (const queue of [...open.values()].filter(isMissing)) await leave(queue);
    }
    const found = findConfiguredQueues(settings, files, host.listSessionFolders());
    const fresh = found.filter(({ path }) => !open.has(path));
    if (fresh.length === 0 || signal.aborted) return;
    const suffixes = new Map(names.assign(found).map(({ path, suffix }) => [path, suffix]));
    for (const queue of fresh) watchQueue(queue, suffixes.get(queue.path) ?? '');
  }

  return {
    name: 'search for queues',
    poll: () => search?.wake(),
    findSessions({ id, source }) {
      const watched = [...open.values()].find((queue) => queue.source.id === source);
      const handle = watched === undefined ? null : toHandle(id, watched.suffix);
      if (watched === undefined || handle === null) return [];
      return [{ persona: id, id: handle, cwd: watched.queue.project, resume: null }];
    },
    async act(_action, params, signal) {
      const { createFault, runAmqAction } = await import('./act.ts');
      const request = params as AmqActionParams;
      if (settings.actions !== true)
        throw createFault('usage', 'amq.actions is not switched on in the settings, so AMQ is not run');
      for (const { queue, suffix, source } of open.values()) {
        const handle = toHandle(request.persona, suffix);
        if (handle === null || !(await source.personas(signal)).some(({ address }) => address === handle)) continue;
        return await runAmqAction(request, { queue: queue.path, handle }, realSpawn, host.env, signal);
      }
      throw createFault('usage', `there is no persona ${request.persona} in a queue`);
    },
    async run(signal) {
      search = every({ name: 'search for queues', ms: RESCAN_MS, round: () => scan(signal), clock });
      try {
        await search.run(signal);
      } finally {
        await Promise.all([...open.values()].map(({ handle }) => handle.release()));
        open.clear();
      }
    },
  };
}

/** The handle in the id of a persona of a queue; null for an id of another queue. */
function toHandle(personaId: string, suffix: string): string | null {
  if (!personaId.startsWith(AMQ_PREFIX) || !personaId.endsWith(suffix)) return null;
  const handle = personaId.slice(AMQ_PREFIX.length, personaId.length - suffix.length);
  return handle.includes('@') ? null : handle;
}

interface QueueNames {
  assign(queues: readonly FoundQueue[]): readonly NamedQueue[];
}

const MOST_BYTES = 256 * 1024;
const MOST_NAMES = 200;

/** Remembers what the personas of each queue are called. Losing it costs nothing but that ids may change. */
function openQueueNames({
  state,
  disk,
  random,
  log,
}: Pick<SourceHost, 'state' | 'disk' | 'random' | 'log'>): QueueNames {
  const directory = join(state, AMQ);
  const path = join(directory, 'queues.json');
  let trouble: TroubleLog | null = null;

  const read = (): readonly NamedQueue[] => {
    try {
      const bytes = readPrivate(disk, path, MOST_BYTES);
      const value: unknown = bytes === null ? [] : parseJson(new TextDecoder().decode(bytes));
      return Array.isArray(value) ? value.filter(isNamedQueue) : [];
    } catch (error) {
      if (!(error instanceof Fault) && !(error instanceof SyntaxError)) throw error;
      return [];
    }
  };
  const write = (queues: readonly NamedQueue[]): void => {
    try {
      ensurePrivateDir(disk, directory);
      writeAtomically(disk, random, path, `${JSON.stringify(queues, null, 1)}\n`);
      trouble?.clear('the names of queues are saved again');
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      trouble ??= createTroubleLog(log);
      trouble.raise(`the names of queues are not saved: ${error.explain()}`);
    }
  };
  return {
    assign(queues) {
      const isFound = new Set(queues.map((queue) => queue.path));
      const stored = read();
      // A queue that is gone keeps its name for a while, unless it alone held the plain ids.
      const before = stored.filter((queue) => isFound.has(queue.path) || isQueue(disk.files, queue.path));
      const named = nameQueues(queues, before);
      const all = [...before.filter((queue) => !isFound.has(queue.path)), ...named].slice(-MOST_NAMES);
      if (JSON.stringify(all) !== JSON.stringify(stored)) write(all);
      return named;
    },
  };
}

function isNamedQueue(value: unknown): value is NamedQueue {
  const { path, suffix } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof path === 'string' && typeof suffix === 'string' && (suffix === '' || suffix.startsWith('@'));
}
