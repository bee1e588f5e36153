import { join } from 'node:path';
import {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  exactly,
  Fault,
  type PersonaId,
  toFault,
  UNKNOWN,
} from '../../model/index.ts';
import { every } from '../../services/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';
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
import {
  chooseEpoch,
  createDefectLog,
  createTimers,
  cut,
  NO_EPOCH,
  shareReading,
  toReadOnlyFiles,
} from '../source-tools.ts';
import {
  type Agent,
  type AgmsgTeam,
  computeTeamsStamp,
  findDefaultStore,
  type Installation,
  JSONL,
  parseStoreAnswer,
  readTeams,
  SQLITE,
  type StoreAnswer,
} from './installations.ts';
import { createJsonlStore } from './jsonl-store.ts';
import type { ReplyToAgent } from './reply.node.ts';
import { AGMSG, AGMSG_PREFIX } from './settings.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { type AgmsgMessage, type AgmsgStore, NO_MESSAGES, SCOPE } from './store.ts';

export interface AgmsgOptions extends Pick<SourceHost, 'disk' | 'clock' | 'log' | 'env'> {
  /** Lists the installations. It is called at each reading. */
  readonly findInstallations: () => readonly Installation[];
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** What agmsg answers to the question where a team's messages are; null when it cannot be asked. */
  readonly askForStore: (root: string, team: string, signal: AbortSignal) => Promise<string | null>;
  /** Sends what a person typed; absent: the settings do not allow it. */
  readonly replyToAgent?: ReplyToAgent;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** Teams of agmsg as a source. */
export interface AgmsgSource extends Source {
  /** A member of a team as a persona, also one that is none any more. */
  named(address: string): Persona;
  /** The project of a persona's newest registration; null when none is known. */
  findProject(persona: PersonaId): { readonly address: string; readonly project: string } | null;
  /** What is wrong with teams and names, one line each. */
  readonly defects: readonly string[];
}

/** Changes within this time are one reading (agmsg contract 5). */
const GATHER_MS = 250;
const SWEEP_MS = 10_000;
/** Mail that nobody reads for this long, while more comes, has no reader (agmsg contract 6). */
const STALLED_MS = 600_000;
const LABEL_CHARS = 80;

/** One team with its store. */
interface OpenTeam {
  readonly installation: Installation;
  readonly team: AgmsgTeam;
  readonly answer: StoreAnswer;
  /** Null for a driver that this source does not know. */
  readonly store: AgmsgStore | null;
}

interface AgmsgMember {
  readonly agent: Agent;
  readonly open: OpenTeam;
}

/** What is known of the mail of one member since it was unread without a pause. */
interface UnreadSpan {
  readonly since: number;
  readonly first: string;
  readonly count: number;
}

interface AgmsgPoll {
  readonly messages: readonly AgmsgMessage[];
  readonly agentState: AgentState['is'];
  readonly counts: UnreadCounts;
}

/**
 * The members of teams of agmsg as personas, their messages as sets (agmsg contract). The stores are read as files, because the
 * scripts of agmsg that show messages also create tables and mark mail as read.
 */
export function createAgmsgSource(options: AgmsgOptions): AgmsgSource {
  const { clock, log, env, replyToAgent } = options;
  const disk = { ...options.disk, files: toReadOnlyFiles(options.disk.files, AGMSG) };
  const defects = createDefectLog(log, AGMSG);
  const timers = createTimers(clock);
  const stop = new AbortController();
  const stores = new Map<string, AgmsgStore>();
  /** The answers of agmsg, and the state of the folder of teams for which they hold. */
  const answers = new Map<string, { readonly stamp: string; readonly byTeam: Map<string, StoreAnswer> }>();
  const ids = new Map<string, PersonaId>();
  const waits = new Map<string, UnreadSpan>();
  const polled = new Map<string, AgmsgPoll>();
  let members: ReadonlyMap<string, AgmsgMember> = new Map();
  let watchedStores: readonly AgmsgStore[] = [];
  let teamsStamp = '-';
  let wasRead = false;
  /** Reads what changed. */
  const { read: refresh, waitForAll } = shareReading(readNow);
  let pending: ReadonlyMap<string, UnreadCounts> | null = null;
  let lastTrouble = '';
  let wakes: ((address: string) => void) | null = null;
  let follow: (() => void) | null = null;

  async function readNow(): Promise<void> {
    const before = members;
    members = await readMembers();
    wasRead = true;
    if (members !== before) {
      watchedStores = [...new Set([...members.values()].flatMap(({ open }) => open.store ?? []))];
      follow?.();
    }
    for (const store of watchedStores) await store.refresh();
  }

  /** Teams are read again, and agmsg is asked again, only when the folder of teams changed. */
  async function readMembers(): Promise<ReadonlyMap<string, AgmsgMember>> {
    const installations = options.findInstallations();
    const stamps = installations.map((installation) => readStamp(installation));
    const stamp = stamps.join('\n\n');
    if (stamp === teamsStamp) return members;
    const found = new Map<string, AgmsgMember>();
    const refused: { filename: string; message: string }[] = [];
    for (const [at, installation] of installations.entries()) {
      const { root } = installation;
      const teams = readTeamList(installation, (message) => refused.push({ filename: root, message }));
      const own = stamps[at] ?? '';
      if (answers.get(root)?.stamp !== own)
        answers.set(root, { stamp: own, byTeam: await askForStores(installation, teams) });
      const byTeam = answers.get(root)?.byTeam;
      for (const team of teams) {
        const answer = byTeam?.get(team.name);
        if (answer === undefined) continue;
        const open: OpenTeam = { installation, team, answer, store: openStore(answer) };
        for (const agent of team.agents) {
          const plain = `${team.name}/${agent.name}`;
          // Two installations may have teams of one name.
          found.set(found.has(plain) ? `${installation.name}/${plain}` : plain, { agent, open });
        }
      }
    }
    defects.report('names', refused);
    nameMembers(found);
    teamsStamp = stamp;
    return found;
  }

  function readTeamList(installation: Installation, refused: (line: string) => void): readonly AgmsgTeam[] {
    return wrapUnreadable(() => readTeams(disk, installation, refused));
  }

  /** Changes when a team came, went, or was configured in another way, and when the default store came. */
  function readStamp(installation: Installation): string {
    return wrapUnreadable(() => {
      const { path } = findDefaultStore(disk, installation, env);
      return `${computeTeamsStamp(disk, installation)}\n${path} ${disk.files.lstat(path) !== null}`;
    });
  }

  async function askForStores(
    installation: Installation,
    teams: readonly AgmsgTeam[],
  ): Promise<Map<string, StoreAnswer>> {
    const byTeam = new Map<string, StoreAnswer>();
    for (const { name } of teams) {
      const text = await options.askForStore(installation.root, name, stop.signal);
      byTeam.set(name, parseAnswer(text, name) ?? findDefaultStore(disk, installation, env));
    }
    return byTeam;
  }

  function parseAnswer(text: string | null, team: string): StoreAnswer | null {
    if (text === null) return null;
    try {
      return parseStoreAnswer(text, team);
    } catch (error) {
      log.warn(
        `agmsg: the answer where the messages of ${team} are cannot be read (${String(error)}); the default store is read`,
      );
      return null;
    }
  }

  function openStore({ kind, path }: StoreAnswer): AgmsgStore | null {
    const key = `${kind}:${path}`;
    const known = stores.get(key);
    if (known !== undefined) return known;
    const create = kind === SQLITE ? createSqliteStore : kind === JSONL ? createJsonlStore : null;
    if (create === null) return null;
    const store = create({ path, disk, clock, contentChars: options.contentChars });
    stores.set(key, store);
    return store;
  }

  /** A name that several teams have gets the team's. A persona keeps its id while Hivebar runs. */
  function nameMembers(found: ReadonlyMap<string, AgmsgMember>): void {
    const teamsByName = Map.groupBy(found.values(), ({ agent }) => agent.name);
    const used = new Set(ids.values());
    for (const [address, { agent }] of found) {
      if (ids.has(address)) continue;
      const isUnique = (teamsByName.get(agent.name)?.length ?? 0) < 2;
      const id = `${AGMSG_PREFIX}${agent.name}`;
      const [team] = splitAddress(address);
      const free = [...(isUnique ? [id] : []), `${id}@${team}`, `${AGMSG_PREFIX}${address}`].find(
        (each) => !used.has(each),
      );
      ids.set(address, free ?? `${AGMSG_PREFIX}${address}`);
      used.add(ids.get(address) as PersonaId);
    }
  }

  function named(address: string): Persona {
    const [team, name] = splitAddress(address);
    const member = members.get(address);
    const id = ids.get(address) ?? `${AGMSG_PREFIX}${name}@${team}`;
    return { id, address, label: member === undefined ? name : formatLabel(member.agent) };
  }

  async function poll({ address }: Persona, from: Checkpoint): Promise<PollResult> {
    await refresh();
    const member = members.get(address);
    if (member === undefined)
      return {
        at: clock.now(),
        ...NOTHING_UNREAD,
        agentState: AGENT_STATE_NOT_REPORTED,
        evidence: toEvidence(chooseEpoch(NO_EPOCH, from), []),
      };
    const { agent, open } = member;
    const { store } = open;
    if (store === null) throw createKindFault(open);
    const messages = store.list(agent.team, agent.name);
    const items = await toItems(store, agent, messages, from);
    const counts = toCounts(messages);
    const agentState = judgeReader(address, messages);
    const before = polled.get(address);
    if (before?.messages !== messages || before.agentState !== agentState.is) {
      polled.set(address, { messages, agentState: agentState.is, counts });
      pending = null;
    }
    return { at: clock.now(), ...counts, agentState, evidence: toEvidence(chooseEpoch(store.epoch, from), items) };
  }

  /** Messages that were delivered and are read now are items once more, with that change. Then they are left out. */
  async function toItems(
    store: AgmsgStore,
    agent: Agent,
    messages: readonly AgmsgMessage[],
    from: Checkpoint,
  ): Promise<readonly SetItem[]> {
    const known = new Map(from.is === 'known' ? from.keys.map(({ key, fingerprint }) => [key, fingerprint]) : []);
    const gone = new Set(from.is === 'known' ? from.gone?.map(({ key }) => key) : []);
    const items: SetItem[] = [];
    let handled = true;
    for (const message of messages) {
      const { legacyKey, isRead, seq } = message;
      const isOld = legacyKey !== null && (known.has(legacyKey) || gone.has(legacyKey));
      const key = isOld ? legacyKey : message.key;
      const isHandled = isRead && (known.get(key) === READ || (!known.has(key) && gone.has(key)));
      if (!isHandled) items.push(toItem(key, message, agent));
      handled &&= isHandled || !isRead;
      if (handled && isRead) store.release(agent.team, agent.name, seq);
    }
    const listed = new Set(items.map(({ key }) => key));
    const missing = [...known].flatMap(([key, fingerprint]) => (fingerprint === READ || listed.has(key) ? [] : [key]));
    if (missing.length === 0) return items;
    const existing = await store.findExisting(agent.team, agent.name, missing);
    return [...items, ...missing.filter((key) => existing.has(key)).map((key) => toReadItem(key, agent))];
  }

  /** Mail that lies although more comes is said to have no reader. What was unread before the start has waited since then. */
  function judgeReader(address: string, messages: readonly AgmsgMessage[]): AgentState {
    const unread = messages.filter(({ isRead }) => !isRead);
    const [first] = unread;
    if (first === undefined) {
      waits.delete(address);
      return AGENT_STATE_NOT_REPORTED;
    }
    const before = waits.get(address);
    if (before === undefined || before.first !== first.key) {
      waits.set(address, { since: clock.monotonic(), first: first.key, count: unread.length });
      return AGENT_STATE_NOT_REPORTED;
    }
    const isStalled = clock.monotonic() - before.since >= STALLED_MS && unread.length > before.count;
    return isStalled ? STALLED : AGENT_STATE_NOT_REPORTED;
  }

  function isChanged(address: string, { agent, open }: AgmsgMember): boolean {
    const before = polled.get(address);
    if (before === undefined || open.store === null) return true;
    const messages = open.store.list(agent.team, agent.name);
    return before.messages !== messages || before.agentState !== judgeReader(address, messages).is;
  }

  /** While nothing changed, the counts are the same object, so that nobody has to compare them. */
  async function readPendingCounts(): Promise<PendingCounts> {
    await refresh();
    const isQuiet =
      polled.size === members.size && [...members].every(([address, member]) => !isChanged(address, member));
    if (pending !== null && isQuiet) return { at: clock.now(), byAddress: pending, cursor: null };
    const byAddress = new Map<string, UnreadCounts>();
    for (const [address, member] of members)
      byAddress.set(
        address,
        isChanged(address, member) ? UNKNOWN_COUNTS : (polled.get(address)?.counts ?? UNKNOWN_COUNTS),
      );
    for (const address of polled.keys()) {
      if (members.has(address)) continue;
      byAddress.set(address, UNKNOWN_COUNTS);
      polled.delete(address);
    }
    pending = isQuiet ? byAddress : null;
    return { at: clock.now(), byAddress, cursor: null };
  }

  /** Reads what changed, and wakes whom it concerns. */
  async function check(): Promise<void> {
    const before = members;
    const lists = new Map([...members].map(([address, member]) => [address, findMessages(member)]));
    try {
      await refresh();
      const isOver = lastTrouble !== '';
      lastTrouble = '';
      for (const [address, member] of members)
        if (
          isOver ||
          findMessages(member) !== lists.get(address) ||
          (polled.has(address) && isChanged(address, member))
        )
          wakes?.(address);
      for (const address of before.keys()) if (!members.has(address)) wakes?.(address);
    } catch (error) {
      const trouble = error instanceof Fault ? error.message : String(error);
      if (trouble !== lastTrouble) for (const address of members.keys()) wakes?.(address); // their polls say what is wrong
      lastTrouble = trouble;
    }
  }

  const findMessages = ({ agent, open }: AgmsgMember): readonly AgmsgMessage[] | undefined =>
    open.store?.list(agent.team, agent.name);

  return {
    id: AGMSG,
    kind: AGMSG,
    named,
    findProject(persona) {
      for (const [address, { agent }] of members)
        if (ids.get(address) === persona && agent.project !== null) return { address, project: agent.project };
      return null;
    },
    get defects() {
      return defects.lines;
    },
    async personas() {
      await refresh();
      return [...members.keys()].map(named);
    },
    poll: (persona, from) => poll(persona, from),
    ...(replyToAgent === undefined
      ? {}
      : {
          async reply({ id, address }: Persona, reply: Reply, signal: AbortSignal) {
            await refresh();
            const member = members.get(address);
            if (member === undefined) throw new Fault('usage', `${id} is in no team any more`, SCOPE);
            const { agent, open } = member;
            return await replyToAgent({ root: open.installation.root, team: open.team, agent }, reply, signal);
          },
        }),
    pending: { once: readPendingCounts },
    isGone: ({ address }) => wasRead && !members.has(address),
    hints(wake) {
      wakes = wake;
      const checkSoon = (): void => timers.schedule(GATHER_MS, 'check', () => void check());
      const directories = watchDirectories({ clock, statOnly: options.statOnly === true });
      const watched = new Map<string, DirectoryObserver>();
      const listen = (path: string, isWritten: (name: string) => boolean): void => {
        if (!watched.has(path))
          watched.set(
            path,
            directories.add(path, (name) => (name === null || isWritten(name)) && checkSoon(), 'always'),
          );
      };
      follow = () => {
        for (const { root } of options.findInstallations()) listen(join(root, 'teams'), () => true);
        for (const { open } of members.values()) {
          listen(join(open.installation.root, 'teams', open.team.name), () => true);
          const { store, answer } = open;
          if (store !== null) listen(join(answer.path, '..'), (name) => !name.endsWith('-shm') && !store.isUnchanged());
        }
      };
      follow();
      const sweeping = new AbortController();
      const sweeps = every({ name: 'agmsg sweep', ms: SWEEP_MS, firstMs: SWEEP_MS, round: check, clock });
      void sweeps.run(sweeping.signal);
      checkSoon(); // what changed since the listing
      return {
        [Symbol.dispose]() {
          wakes = null;
          follow = null;
          sweeping.abort();
          directories[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await waitForAll();
    },
  };
}

/** What cannot be read concerns all members alike. */
function wrapUnreadable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('unreadable', toFault(error, SCOPE).message, SCOPE, { cause: error });
  }
}

const READ = 'read';
const UNREAD = 'unread';
const STALLED: AgentState = { is: 'stalled', why: 'mail-grows' };
const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };
const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

const toEvidence = (epoch: string, items: readonly SetItem[]): PollResult['evidence'] => ({ is: 'set', epoch, items });

function toCounts(messages: readonly AgmsgMessage[]): UnreadCounts {
  if (messages === NO_MESSAGES) return NOTHING_UNREAD;
  const unread = messages.filter(({ isRead }) => !isRead);
  return { unread: exactly(unread.length), urgent: exactly(unread.filter(({ isUrgent }) => isUrgent).length) };
}

function toItem(key: string, message: AgmsgMessage, agent: Agent): SetItem {
  const { from, created, content, isRead } = message;
  return {
    ...{ key, fingerprint: isRead ? READ : UNREAD, appeared: 'new', changed: isRead ? 'read' : null, vanished: null },
    ...{ from, created, content, isOwn: from === agent.name, extra: { team: agent.team } },
  };
}

/** A message that was delivered before, and is only listed because it is read now. */
function toReadItem(key: string, { team }: Agent): SetItem {
  const fields = { key, fingerprint: READ, appeared: 'new', changed: 'read', vanished: null } as const;
  return { ...fields, from: null, created: null, content: null, extra: { team } };
}

function createKindFault({ answer, team }: OpenTeam): Fault {
  const message = `the team ${team.name} has a store of the driver ${JSON.stringify(answer.kind.slice(0, 40))}, which is not known`;
  return new Fault('schema', message, { is: 'source', key: `${AGMSG}:${team.name}` });
}

function splitAddress(address: string): readonly [team: string, name: string] {
  const parts = address.split('/');
  return [parts.at(-2) ?? '', parts.at(-1) ?? ''];
}

/** `AGENT · type · folder`, as far as it is known. */
function formatLabel({ name, type, project }: Agent): string {
  const folder = project?.split(/[/\\]/).findLast((part) => part !== '');
  return [name, type, folder]
    .flatMap((part) =>
      part === null || part === undefined ? [] : [cut(part.toWellFormed().replaceAll(INVISIBLE, ''), LABEL_CHARS)],
    )
    .join(' · ');
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
