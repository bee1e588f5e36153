import { hash } from 'node:crypto';
import { AGENT_STATE_NOT_REPORTED, type AgentState, exactly, foldName, type PersonaId } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import type {
  Gap,
  LogEvidence,
  MarkReadSelection,
  Persona,
  PollResult,
  Reply,
  Source,
  UnreadCounts,
} from '../source.ts';
import { createTimers, cut } from '../source-tools.ts';
import type { MailProject, UnifiedInbox } from './answer.ts';
import { type RunInboxEvents, readMissedMail } from './deliveries.ts';
import { createLedger, type SavedLedger, toAddress, toMessageLink } from './ledger.ts';
import type { ReplyToMailAgent } from './reply.node.ts';
import type { MailServer } from './server.ts';
import { AMAIL, AMAIL_PREFIX, createServerFault } from './settings.ts';

export interface AmailOptions {
  /** Owned by the source, which closes it. */
  readonly server: MailServer;
  /** `http://HOST:PORT` */
  readonly base: string;
  readonly clock: Clock;
  readonly memory: AmailMemory;
  /** Calls the listener with the address of an agent for whom the server wrote a signal file. */
  readonly watchSignals?: (heard: (address: string) => void) => Disposable;
  /** Fills gaps. Absent: a gap is reported and given up. */
  readonly runInboxEvents?: RunInboxEvents;
  /** Sends what a person typed; absent: the settings do not allow it. */
  readonly replyToAgent?: ReplyToMailAgent;
  /** Has a person mark mail as read; absent: the settings do not allow it. Its log says when that failed. */
  readonly acting?: Pick<Log, 'warn'>;
}

/** Where the source remembers what it knows of a server, from one process to the next. */
export interface AmailMemory {
  load(): SavedAmail | null;
  /** Saves it soon. */
  save(saved: SavedAmail): void;
}

export interface SavedAmail {
  readonly base: string;
  readonly ledger: SavedLedger;
  readonly agents: readonly SavedAgent[];
}

export interface SavedAgent {
  readonly address: string;
  readonly id: PersonaId;
  /** Nothing up to this message can be addressed to it, because it was not there yet. */
  readonly bornAfter: number;
}

export interface AmailSource extends Source {
  /** An agent as a persona, also one that is not listed. */
  named(address: string): Persona;
  /** The page with the inbox of an agent; null for an id that no agent has. Opening it marks nothing as read. */
  findPage(id: PersonaId): string | null;
}

/** Hivebar sends one request for all agents so often (agent-mail contract 4). */
const POLL_MS = 10_000;
/** The signal of one message is followed by others. */
const HINT_MS = 2000;
/** A request that somebody else made is as good as an own one. */
const RECENT_MS = 5000;
/** An answer serves each agent once, within this time. */
const SHARED_MS = 2000;
const USUAL_WINDOW = 200;
const LARGE_WINDOW = 1000;
/** How often the large window is read when only that shows what is read. */
const LARGE_EVERY_MS = 60_000;
/** An unknown recipient has the agents listed anew, but not more often. */
const LIST_EVERY_MS = 30_000;
const LABEL_CHARS = 80;
/** The server marks so many messages at once. */
const MOST_MARKED = 500;

/** What a request brought, and which agents heard of it. */
interface WindowOutcome {
  readonly at: number;
  readonly error: unknown;
  readonly served: Set<string>;
}

interface SharedRequest {
  readonly promise: Promise<void>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * The agents of a server as personas. Their inboxes are logs, all parts of one window of the newest messages, so one request serves
 * all of them. Nothing is ever marked as read (agent-mail contract 2).
 */
export function createAmailSource(options: AmailOptions): AmailSource {
  const { server, base, clock, memory, replyToAgent, acting } = options;
  const saved = memory.load();
  const own = saved?.base === base ? saved : null;
  const ledger = createLedger(own?.ledger ?? null, base);
  const agents = new Map<string, SavedAgent>(own?.agents.map((agent) => [agent.address, agent]));
  const ids = new Set([...agents.values()].map(({ id }) => foldName(id)));
  const labels = new Map<string, string>();
  const timers = createTimers(clock);
  /** Aborts when the source is closed. */
  const over = new AbortController();
  /** What the last poll of each agent said; null: it failed. */
  const signs = new Map<string, string | null>();
  let listed: ReadonlySet<string> | null = null;
  let listedAt = Number.NEGATIVE_INFINITY;
  let projects: readonly MailProject[] = [];
  /** Recipients that the server does not list, such as retired agents. */
  let unlisted: ReadonlySet<string> = new Set();
  let last: WindowOutcome | null = null;
  let current: SharedRequest | null = null;
  let lastAnswer: UnifiedInbox | null = null;
  let largeAt = Number.NEGATIVE_INFINITY;
  let listsProjects = false;
  let hasAnswered = false;
  let isDegraded = false;
  let pending: ReadonlyMap<string, UnreadCounts> | null = null;
  let wakes: ((address: string) => void) | null = null;

  /** Asks the server, together with everybody who asks meanwhile. Afterwards `last` says what came of it. */
  async function refresh(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    current ??= begin();
    const request = current;
    request.waiting += 1;
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([request.promise, aborted.promise]);
      if (request.stop.signal.aborted) throw createServerFault('broken', `${base}: the connection was dropped`);
    } finally {
      signal.removeEventListener('abort', abort);
      request.waiting -= 1;
      if (request.waiting === 0) request.stop.abort();
      if (request.waiting === 0 && current === request) current = null;
    }
  }

  function begin(): SharedRequest {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      let error: unknown = null;
      try {
        await fetchWindow(stop.signal);
      } catch (caught) {
        error = caught;
      }
      if (!stop.signal.aborted) last = { at: clock.monotonic(), error, served: new Set() };
      if (current?.stop === stop) current = null;
    };
    return { promise: run(), stop, waiting: 0 };
  }

  async function fetchWindow(signal: AbortSignal): Promise<void> {
    const isLargeDue = ledger.hasUnreadBelow && clock.monotonic() - largeAt >= LARGE_EVERY_MS;
    const wanted = !hasAnswered || isLargeDue ? LARGE_WINDOW : USUAL_WINDOW;
    let window = await server.listMail(wanted, signal);
    if (window !== null && window.limit === USUAL_WINDOW && ledger.leavesGap(window.answer, window.limit))
      window = await server.listMail(LARGE_WINDOW, signal);
    signal.throwIfAborted();
    if (window === null) {
      if (!hasAnswered) throw createServerFault('status', `${base}: answered 503, and nothing is known of its mail`);
      isDegraded = true;
      return;
    }
    const { answer, limit } = window;
    // The Python server answers so when it cannot read its store.
    if (answer.listsProjects && answer.messages.length === 0 && ledger.highest > 0)
      throw createServerFault('amail-answer', `${base}: it gives no message, though it had ${ledger.highest}`);
    if (limit >= LARGE_WINDOW || limit < USUAL_WINDOW) largeAt = clock.monotonic();
    if (answer !== lastAnswer) {
      ledger.add(answer, limit);
      pending = null;
      lastAnswer = answer;
    }
    ({ isDegraded, listsProjects } = answer);
    hasAnswered = true;
    if (listsProjects) projects = mergeProjects(projects, answer.projects);
    memory.save(toSaved());
  }

  /** @throws what the last request threw */
  function throwIfFailed(): void {
    if (last !== null && last.error !== null) throw last.error;
  }

  async function list(signal: AbortSignal): Promise<readonly Persona[]> {
    if (!hasAnswered || listsProjects) {
      await refresh(signal);
      throwIfFailed();
      last = null; // a poll speaks of something later
    }
    if (!listsProjects) projects = await server.listProjects(signal);
    const found: { readonly address: string; readonly name: string; readonly folder: string }[] = [];
    for (const { slug, folder } of projects) {
      // A server without this route, or without an archive of the project, still shows who has mail.
      const names = (await server.listAgents(slug, signal)) ?? ledger.listNames(slug);
      for (const name of names)
        found.push({ address: toAddress(slug, name), name, folder: toFolderName(folder, slug) });
    }
    found.sort((a, b) => (a.address < b.address ? -1 : 1));
    const isUnique = countNames(found);
    const wasListed = listed;
    for (const { address, name, folder } of found) {
      labels.set(address, `${name} · ${folder}`);
      if (!agents.has(address)) enter(address, name, isUnique(name) ? null : folder);
    }
    listed = new Set(found.map(({ address }) => address));
    listedAt = clock.monotonic();
    unlisted = new Set([...ledger.listRecipients()].filter((address) => listed?.has(address) !== true));
    pending = null;
    for (const address of wasListed ?? []) if (!listed.has(address)) wakes?.(address); // its poll says that it is gone
    memory.save(toSaved());
    return found.map(({ address }) => named(address));
  }

  /** Gives an agent its id, which it keeps for good, whoever of the same name comes or leaves. */
  function enter(address: string, name: string, folder: string | null): void {
    const plain = `${AMAIL_PREFIX}${name}`;
    const placed = `${plain}@${folder ?? toFolderName('', address.slice(0, address.indexOf('/')))}`;
    const unique = `${placed}~${hash('sha256', address).slice(0, 6)}`;
    const id = [...(folder === null ? [plain] : []), placed].find((each) => !ids.has(foldName(each))) ?? unique;
    ids.add(foldName(id));
    agents.set(address, { address, id, bornAfter: listed === null && own === null ? 0 : ledger.highest });
  }

  function toSaved(): SavedAmail {
    return { base, ledger: ledger.save(), agents: [...agents.values()] };
  }

  const named = (address: string): Persona => {
    const name = address.slice(address.indexOf('/') + 1);
    const id = agents.get(address)?.id ?? `${AMAIL_PREFIX}${name}`;
    return { id, address, label: labels.get(address) ?? name };
  };

  const isListed = (address: string): boolean => listed === null || listed.has(address);

  function toPollResult(address: string, from: Parameters<Source['poll']>[1]): PollResult {
    const at = clock.now();
    const agentState: AgentState = isDegraded ? DEGRADED : AGENT_STATE_NOT_REPORTED;
    if (!isListed(address)) return { at, ...NOTHING_UNREAD, agentState, evidence: toNoEvidence(from) };
    const evidence = ledger.read(address, from, agents.get(address)?.bornAfter ?? 0);
    return { at, ...ledger.count(address), agentState, evidence };
  }

  /** Adds what lies in a gap, where the server can tell. Without text, for that is not shown any more. */
  async function fillGap(
    address: string,
    from: number,
    result: PollResult,
    gap: Gap,
    signal: AbortSignal,
  ): Promise<PollResult> {
    const { evidence } = result;
    const [slug = '', name = ''] = address.split('/');
    const project = projects.find((each) => each.slug === slug);
    if (options.runInboxEvents === undefined || project === undefined || evidence.is !== 'log') return result;
    const to = gap.floor ?? from;
    const range = { from, to, toLink: (id: number) => toMessageLink(base, slug, id) };
    const missed = await readMissedMail(options.runInboxEvents, { folder: project.folder, name }, range, signal);
    if (missed.isWhole === null) return result;
    const messages = [...missed.messages, ...evidence.messages];
    if (!missed.isWhole)
      return { ...result, evidence: { ...evidence, messages, gap: { ...gap, walked: missed.messages.length } } };
    const agent = agents.get(address);
    if (missed.messages.length === 0 && agent !== undefined) agents.set(address, { ...agent, bornAfter: to - 1 });
    const { gap: _, ...whole } = evidence;
    return { ...result, evidence: { ...whole, messages } };
  }

  function readPending(): ReadonlyMap<string, UnreadCounts> {
    if (pending !== null) return pending;
    const counts = new Map<string, UnreadCounts>();
    for (const address of listed ?? signs.keys()) counts.set(address, ledger.count(address));
    pending = counts;
    return counts;
  }

  /** Whether an agent is the reason for a new list: somebody wrote to it, and no list had it. */
  function hasUnknownRecipient(): boolean {
    for (const address of ledger.listRecipients())
      if (listed !== null && !listed.has(address) && !unlisted.has(address)) return true;
    return false;
  }

  function wakeChanged(): void {
    // Before the first list nobody knows which of the remembered agents are still there.
    for (const address of listed ?? signs.keys()) {
      const hasFailed = last !== null && last.error !== null;
      if (hasFailed || signs.get(address) !== sign(address)) wakes?.(address);
    }
  }

  /** Returns how many messages the server is asked to mark. That it did shows at the next poll. */
  function markRead(persona: Persona, which: MarkReadSelection, log: Pick<Log, 'warn'>): number {
    const { id: agent, address } = persona;
    const ids = ledger.listUnread(address).filter((id) => isSelected(id, which));
    void sendMarks(address, ids).catch((error: unknown) =>
      log.warn(`${agent}: mail is not marked as read: ${error instanceof Error ? error.message : String(error)}`),
    );
    return ids.length;
  }

  async function sendMarks(address: string, ids: readonly number[]): Promise<void> {
    const [slug = '', name = ''] = address.split('/');
    for (let from = 0; from < ids.length; from += MOST_MARKED)
      await server.markRead(slug, name, ids.slice(from, from + MOST_MARKED), over.signal);
    last = null; // the last answer is from before, and may not show mail that is this old
    largeAt = Number.NEGATIVE_INFINITY;
    wakes?.(address);
  }

  const sign = (address: string): string => `${ledger.sign(address)} ${isDegraded}`;

  return {
    id: AMAIL,
    kind: 'agent-mail',
    personas: list,
    async poll({ address }, from, signal) {
      const isShared = last !== null && clock.monotonic() - last.at < SHARED_MS && !last.served.has(address);
      if (!isShared) await refresh(signal);
      last?.served.add(address);
      signs.set(address, null);
      throwIfFailed();
      signs.set(address, sign(address));
      const result = toPollResult(address, from);
      return result.evidence.is === 'log' && result.evidence.gap !== undefined && from.is === 'at'
        ? await fillGap(address, from.id, result, result.evidence.gap, signal)
        : result;
    },
    pending: {
      async once(signal) {
        await refresh(signal);
        throwIfFailed();
        return { at: clock.now(), byAddress: readPending(), cursor: null };
      },
    },
    isGone: ({ address }) => !isListed(address),
    reset() {
      current?.stop.abort();
      current = null;
      last = null;
      server.reset();
    },
    hints(wake) {
      wakes = wake;
      const stop = new AbortController();
      let isHinted = false;
      const loop = every({
        ...{ name: 'watch of agent mail', ms: POLL_MS, firstMs: POLL_MS, clock },
        async round(signal) {
          const isRecent = last !== null && clock.monotonic() - last.at < RECENT_MS;
          if (isHinted || !isRecent) await refresh(signal).catch(() => {}); // only the end aborts it
          isHinted = false;
          if (signal.aborted) return;
          if (hasUnknownRecipient() && clock.monotonic() - listedAt >= LIST_EVERY_MS) await listAgain(signal);
          if (!signal.aborted) wakeChanged();
        },
      });
      void loop.run(stop.signal);
      const signals = options.watchSignals?.(() => {
        timers.schedule(HINT_MS, 'hint', () => {
          isHinted = true;
          loop.wake();
        });
      });
      return {
        [Symbol.dispose]() {
          wakes = null;
          stop.abort();
          signals?.[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    ...(acting === undefined
      ? {}
      : { markRead: (persona: Persona, which: MarkReadSelection) => markRead(persona, which, acting) }),
    ...(replyToAgent === undefined
      ? {}
      : { reply: ({ address }: Persona, reply: Reply, signal: AbortSignal) => replyToAgent(address, reply, signal) }),
    findPage(id) {
      const agent = [...agents.values()].find((each) => each.id === id);
      const [slug = '', name = ''] = agent?.address.split('/') ?? [];
      if (agent === undefined) return null;
      return `${base}/mail/${encodeURIComponent(slug)}/inbox/${encodeURIComponent(name)}`;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      current?.stop.abort();
      await server[Symbol.asyncDispose]();
    },
  };

  async function listAgain(signal: AbortSignal): Promise<void> {
    const before = listed;
    try {
      await list(signal);
    } catch {
      return; // the polls say what is wrong
    }
    for (const address of listed ?? []) if (before?.has(address) !== true) wakes?.(address);
  }
}

const DEGRADED: AgentState = { is: 'unknown', why: 'degraded' };
const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

/** What is addressed to an agent that is not listed is of no concern to anybody. */
function toNoEvidence(from: Parameters<Source['poll']>[1]): LogEvidence {
  return { is: 'log', messages: [], max: from.is === 'at' ? from.id : 0, isRenumbered: true };
}

function mergeProjects(before: readonly MailProject[], now: readonly MailProject[]): readonly MailProject[] {
  return [...new Map([...before, ...now].map((project) => [project.slug, project])).values()];
}

function countNames(found: readonly { readonly name: string }[]): (name: string) => boolean {
  const counts = new Map<string, number>();
  for (const { name } of found) counts.set(foldName(name), (counts.get(foldName(name)) ?? 0) + 1);
  return (name) => counts.get(foldName(name)) === 1;
}

/** The last folder of a path, which may be one of another system. */
function toFolderName(path: string, slug: string): string {
  const folder = path.split(/[/\\]/).findLast((part) => part !== '') ?? slug;
  return cut(folder.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/]/gu, ''), LABEL_CHARS) || slug;
}

function isSelected(id: number, which: MarkReadSelection): boolean {
  if (which === 'all') return true;
  return 'upTo' in which ? id <= which.upTo : which.includes(id);
}
