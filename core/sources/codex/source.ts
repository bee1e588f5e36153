import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { type AgentState, exactly, Fault, type PersonaId, UNKNOWN } from '../../model/index.ts';
import { every } from '../../services/index.ts';
import { getErrno, isFlocked } from '../../state/index.ts';
import { watchDirectories } from '../directories.node.ts';
import type { SourceHost } from '../module.ts';
import type {
  Checkpoint,
  PendingCounts,
  Persona,
  PollResult,
  Reply,
  SetItem,
  Source,
  UnreadCounts,
} from '../source.ts';
import { chooseEpoch, createTimers, shareReading, toReadOnlyFiles } from '../source-tools.ts';
import { createQueueReader, NO_QUEUE, type Queue, THREAD_ID } from './queue.ts';
import type { ReplyToThread } from './reply.node.ts';
import { CODEX, CODEX_PREFIX } from './settings.ts';
import { readThreads, type ThreadInfo } from './threads.ts';

export interface CodexOptions extends Pick<SourceHost, 'disk' | 'clock' | 'log' | 'put' | 'findSessionPersona'> {
  /** The folder of Codex. */
  readonly home: string;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** The locks on files of this machine as proc_locks(5) has them; null where they cannot be known. */
  readonly readLockTable: () => string | null;
  /** Stores what a person typed; absent: the settings do not allow it. */
  readonly replyToThread?: ReplyToThread;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** The queue of Codex as a source. */
export interface CodexSource extends Source {
  /** A thread as a persona, also one that has no message. */
  named(thread: string): Persona;
  /** The thread of a persona, and its folder where that is known. Null when it was never listed. */
  findThread(persona: PersonaId): { readonly id: string; readonly cwd: string | null } | null;
}

/** Changes within this time are one reading (Codex contract 5). */
const GATHER_MS = 250;
const SWEEP_MS = 10_000;
/** How many characters of the end of its thread id the id of a persona has. Ids of threads begin with the time. */
const ID_CHARS = 12;
/** A thread is a UUID. What is none gets an id of the same form, because names of another form belong to people. */
const ID_END = /^[\da-f]{12}$/;
const UUID_START = /^[\da-f]{8}-/;
const LOCKS = 'thread-writer-locks';

const NOTHING: readonly SetItem[] = [];
const NO_LOCKS: ReadonlySet<string> = new Set();

/** One thread that has a message, or had one since the start. */
interface Thread {
  readonly id: string;
  items: readonly SetItem[];
  /** `null`: Codex does not know the thread. `undefined`: that could not be read yet. */
  info: ThreadInfo | null | undefined;
  /** Whether somebody runs it, as it was checked last. */
  isRun: boolean | null;
  /** What its last poll returned; null when it is not polled yet. */
  polled: { readonly items: readonly SetItem[]; readonly isRun: boolean | null; readonly counts: UnreadCounts } | null;
  /** The persona that announced its session, where that was reported to run. */
  reportedAt: PersonaId | null;
}

/**
 * The threads of Codex as personas, their queued messages as sets (Codex contract). It reads files of Codex and never writes one,
 * takes no lock, and starts no program.
 */
export function createCodexSource(options: CodexOptions): CodexSource {
  const { home, clock, log, put, replyToThread } = options;
  const disk = { ...options.disk, files: toReadOnlyFiles(options.disk.files, CODEX) };
  const queue = createQueueReader({ ...options, disk });
  const threads = new Map<string, Thread>();
  /** Whose id each persona has, since the ends of two thread ids might be equal. */
  const owners = new Map<string, string>();
  const timers = createTimers(clock);
  /** What was applied to `threads`. */
  let applied: Queue = NO_QUEUE;
  let wasRead = false;
  /** Reads what changed. */
  const { read: refresh, waitForAll } = shareReading(readNow);
  let pending: ReadonlyMap<string, UnreadCounts> | null = null;
  let lastTrouble = '';
  let wakes: ((address: string) => void) | null = null;

  function named(thread: string): Persona {
    const end = thread.slice(-ID_CHARS);
    const digest = hash('sha256', thread).slice(0, ID_CHARS);
    const short = ID_END.test(end) ? end : digest;
    const owner = owners.get(short) ?? thread;
    owners.set(short, owner);
    const own = UUID_START.test(thread) ? thread : digest;
    const id = `${CODEX_PREFIX}${owner === thread ? short : own}`;
    return { id, address: thread, label: threads.get(thread)?.info?.label ?? thread };
  }

  async function readNow(): Promise<void> {
    const now = await queue.read();
    if (now !== applied) await apply(now);
    wasRead = true;
  }

  async function apply(now: Queue): Promise<void> {
    const changed: Thread[] = [];
    for (const [id, items] of now.threads) {
      const thread = threads.get(id);
      if (thread?.items === items) continue;
      if (thread === undefined && !THREAD_ID.test(id)) {
        log.warn(`codex: a queued message names the thread ${JSON.stringify(id.slice(0, 100))}, which is no id`);
        continue;
      }
      changed.push(setItems(id, items));
    }
    for (const [id, { items }] of threads)
      if (items.length > 0 && !now.threads.has(id)) changed.push(setItems(id, NOTHING));
    applied = now;
    await readInfos(changed);
  }

  function setItems(id: string, items: readonly SetItem[]): Thread {
    const thread: Thread = threads.get(id) ?? {
      id,
      items,
      info: undefined,
      isRun: null,
      polled: null,
      reportedAt: null,
    };
    thread.items = items;
    threads.set(id, thread);
    return thread;
  }

  async function readInfos(list: readonly Thread[]): Promise<void> {
    if (list.length === 0) return;
    const infos = await readThreads(
      list.map(({ id }) => id),
      { home, disk, clock },
    ).catch(() => null);
    if (infos !== null) for (const thread of list) thread.info = infos.get(thread.id) ?? null;
  }

  /** Checks who holds the writer locks, and reports it at the personas that announced the threads. */
  function checkRunners(list: Iterable<Thread>): void {
    let table: string | null | undefined;
    let locks: ReadonlySet<string> | null = null;
    for (const thread of list) {
      if (table === undefined) [table, locks] = [options.readLockTable(), listLocks()];
      thread.isRun = table === null ? null : isHeld(thread.id, table, locks);
      report(thread);
    }
  }

  /** The lock files that there are; most threads have none. Null when they cannot be listed. */
  function listLocks(): ReadonlySet<string> | null {
    try {
      return new Set(disk.files.readdir(join(home, LOCKS)));
    } catch (error) {
      return getErrno(error) === 'ENOENT' ? NO_LOCKS : null;
    }
  }

  function isHeld(thread: string, table: string, locks: ReadonlySet<string> | null): boolean | null {
    const name = `${thread}.lock`;
    if (locks === null) return null;
    if (!locks.has(name)) return false;
    try {
      const stat = disk.files.lstat(join(home, LOCKS, name));
      return stat !== null && isFlocked(table, stat.ino);
    } catch {
      return null; // the lock file cannot be checked, so nothing is known
    }
  }

  /** A persona that announced the thread may have other sessions too. So only that it runs is reported, never that it ended. */
  function report(thread: Thread): void {
    const persona = thread.isRun === true ? options.findSessionPersona(thread.id) : null;
    const before = thread.reportedAt;
    if (persona === before) return;
    const say = (to: PersonaId, state: AgentState | null): void =>
      put({ is: 'agent', at: clock.now(), persona: to, reporter: 'session', state });
    if (before !== null) say(before, null);
    if (persona !== null) say(persona, { is: 'live', ...toDetails(thread) });
    thread.reportedAt = persona;
  }

  /** A thread without messages is listed on, unless it has a row elsewhere, or Codex does not have it any more. */
  function isListed({ id, items, info }: Thread): boolean {
    if (items.length > 0) return true;
    return info !== null && info?.isArchived !== true && options.findSessionPersona(id) === null;
  }

  const isChanged = ({ polled, items, isRun }: Thread): boolean => polled?.items !== items || polled.isRun !== isRun;

  async function poll({ address }: Persona, from: Checkpoint): Promise<PollResult> {
    await refresh();
    const thread = threads.get(address);
    if (thread !== undefined) checkRunners([thread]);
    const items = thread?.items ?? NOTHING;
    const counts = toCounts(items);
    if (thread !== undefined && isChanged(thread)) {
      thread.polled = { items, isRun: thread.isRun, counts };
      pending = null;
    }
    const agentState = toAgentState(thread ?? null);
    return {
      at: clock.now(),
      ...counts,
      agentState,
      evidence: { is: 'set', epoch: chooseEpoch(applied.epoch, from), items },
    };
  }

  /** While nothing changed, the counts are the same object, so that nobody has to compare them. */
  async function readPendingCounts(): Promise<PendingCounts> {
    await refresh();
    const all = [...threads.values()];
    checkRunners(all);
    const isQuiet = all.every((thread) => !isChanged(thread) && isListed(thread));
    if (pending !== null && isQuiet && pending.size === all.length)
      return { at: clock.now(), byAddress: pending, cursor: null };
    const byAddress = new Map<string, UnreadCounts>();
    for (const thread of all)
      byAddress.set(thread.id, isChanged(thread) || !isListed(thread) ? UNKNOWN_COUNTS : toCounts(thread.items));
    pending = isQuiet ? byAddress : null;
    return { at: clock.now(), byAddress, cursor: null };
  }

  /** Reads what changed, and wakes whom it concerns. */
  async function check(): Promise<void> {
    const before = new Map([...threads].map(([id, { items, isRun }]) => [id, { items, isRun }]));
    try {
      await refresh();
      checkRunners(threads.values());
      if (lastTrouble !== '') for (const id of threads.keys()) wakes?.(id);
      lastTrouble = '';
      for (const [id, { items, isRun }] of threads) {
        const known = before.get(id);
        if (known?.items !== items || known.isRun !== isRun) wakes?.(id);
      }
    } catch (error) {
      const trouble = error instanceof Fault ? error.message : String(error);
      if (trouble !== lastTrouble) for (const id of threads.keys()) wakes?.(id); // their polls say what is wrong
      lastTrouble = trouble;
    }
  }

  /** Opening a database may be reported as a change of it. Nothing is read because of that. */
  function isWritten(name: string): boolean {
    const file = /^(queue_\d+\.sqlite)(?:-wal)?$/.exec(name)?.[1];
    return file !== undefined && !queue.isUnchanged(file);
  }

  return {
    id: CODEX,
    kind: 'codex-queue',
    named,
    findThread(persona) {
      const thread = [...threads.values()].find(({ id }) => named(id).id === persona);
      return thread === undefined ? null : { id: thread.id, cwd: thread.info?.cwd ?? null };
    },
    async personas() {
      await refresh();
      for (const [id, thread] of threads) if (!isListed(thread) && thread.reportedAt === null) threads.delete(id);
      await readInfos([...threads.values()]);
      return [...threads.values()].filter(isListed).map(({ id }) => named(id));
    },
    poll: (persona, from) => poll(persona, from),
    pending: { once: readPendingCounts },
    ...(replyToThread === undefined
      ? {}
      : {
          async reply({ id, address }: Persona, reply: Reply, signal: AbortSignal) {
            const result = await replyToThread(address, reply, signal);
            const thread = threads.get(address);
            if (thread !== undefined) checkRunners([thread]);
            if (thread?.isRun !== false) return result;
            return { ...result, says: `${result.says}, which nobody runs now (hivebar open ${id})` };
          },
        }),
    isGone({ address }) {
      const thread = threads.get(address);
      return wasRead && (thread === undefined || !isListed(thread));
    },
    hints(wake) {
      wakes = wake;
      const checkSoon = (): void => timers.schedule(GATHER_MS, 'queue', () => void check());
      const directories = watchDirectories({ clock, statOnly: options.statOnly === true });
      directories.add(home, (name) => (name === null || isWritten(name)) && checkSoon(), 'always');
      directories.add(
        join(home, LOCKS),
        (name) => (name === null || threads.has(basename(name, '.lock'))) && checkSoon(),
        'always',
      );
      const stop = new AbortController();
      const sweeps = every({ name: 'codex sweep', ms: SWEEP_MS, firstMs: SWEEP_MS, round: check, clock });
      void sweeps.run(stop.signal);
      checkSoon(); // what changed since the listing
      return {
        [Symbol.dispose]() {
          wakes = null;
          stop.abort();
          directories[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await waitForAll();
    },
  };
}

const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };

function toCounts(items: readonly SetItem[]): UnreadCounts {
  return { unread: exactly(items.length), urgent: items.length === 0 ? exactly(0) : UNKNOWN };
}

function toDetails({ info }: Thread): Pick<AgentState, 'cwd' | 'model'> {
  const { cwd = null, model = null } = info ?? {};
  return { ...(cwd === null ? {} : { cwd }), ...(model === null ? {} : { model }) };
}

function toAgentState(thread: Thread | null): AgentState {
  if (thread === null) return { is: 'unknown', why: 'not-reported' };
  const details = toDetails(thread);
  switch (thread.isRun) {
    case null:
      return { is: 'unknown', why: 'not-reported', ...details };
    case true:
      return { is: 'live', ...details };
    case false:
      return { is: 'gone', why: thread.items.length > 0 ? 'no-reader' : 'not-run', ...details };
  }
}
