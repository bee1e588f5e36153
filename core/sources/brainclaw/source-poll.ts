import {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  type Count,
  exactly,
  type KnownItem,
  type SourceId,
  UNKNOWN,
} from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Checkpoint, Persona, SetItem, Source } from '../source.ts';
import {
  type AgentInbox,
  type Cursor,
  findRemarks,
  isActionable,
  type JournalView,
  type Project,
  type ProjectSheet,
  type Seed,
  type SheetPage,
} from './read/index.ts';
import { BRAINCLAW_PREFIX } from './settings.ts';
import { parseMessageId, type StoreSnapshot, toKnownItem, toMessageItem } from './source-store.ts';

/** The part of a project that concerns one persona. As long as it is the same object, nothing is new for that persona. */
export interface Share {
  /** Null means unknown: the journal is off. */
  readonly work: readonly SetItem[] | null;
  /** Null when the agent has no inbox, or its mail is unknown. */
  readonly inbox: AgentInbox | null;
  /** Whether its mail is known. */
  readonly hasMail: boolean;
  /** The count of the board; an agent's count comes from its inbox. */
  readonly unread: Count;
  readonly agentState: AgentState;
}

/** What a watcher gets from a poll. */
export interface ShareResult {
  readonly epoch: string;
  readonly items: readonly SetItem[];
  readonly unread: Count;
  readonly agentState: AgentState;
  /** The set is not the one that the watcher knows. Its items become known without events, so mail waits for the next poll. */
  readonly isOther: boolean;
  /** Some items could not be seen now and are reported as they were. */
  readonly isRetained: boolean;
  /** The file of a known message exists, though the listing did not have it. */
  readonly isMissed: boolean;
}

const NO_JOURNAL = 'none';
const PARTIAL = ':partial';

/**
 * The epoch of the set: the journal, and whether it is known to hold everything. An item that appears or disappears only because
 * that changed is no news (brainclaw contract 4). While the journal is off, the epoch stays as it was.
 */
function findEpoch({ view, journal: { identity, isContinued } }: StoreSnapshot, from: Checkpoint): string {
  const deliveredEpoch = from.is === 'known' ? from.epoch : NO_JOURNAL;
  if (view === null || identity === null) return deliveredEpoch;
  const base = isContinued && deliveredEpoch !== NO_JOURNAL ? deliveredEpoch.replace(PARTIAL, '') : identity;
  return isWhole(view) ? base : `${base}${PARTIAL}`;
}

const isWhole = ({ isComplete, replay }: JournalView): boolean => isComplete && replay.projection.registryAuthoritative;

export function toBoardShare({ view, work }: StoreSnapshot, seed: Seed | null): Share {
  const [remark] = findRemarks(view);
  const isSeeded = view === null && (seed?.actions ?? null) !== null;
  const agentState: AgentState =
    remark === undefined ? AGENT_STATE_NOT_REPORTED : { is: 'unknown', why: isSeeded ? 'seeded' : remark };
  return {
    work: work?.board ?? null,
    inbox: null,
    hasMail: false,
    unread: countBoardUnread(view, work, seed),
    agentState,
  };
}

/** Before the registry is in the journal, its numbers are too low (brainclaw contract 4). */
function countBoardUnread(view: JournalView | null, work: StoreSnapshot['work'], seed: Seed | null): Count {
  const seededCount = seed?.actions ?? null;
  if (view === null || work === null) return seededCount === null ? UNKNOWN : exactly(seededCount);
  const n = work.board.length;
  if (view.replay.projection.registryAuthoritative) return exactly(n);
  return { is: 'atLeast', n: Math.max(n, seededCount ?? 0) };
}

export function toAgentShare({ work, mail }: StoreSnapshot, agent: string): Share {
  const inbox = mail?.get(agent) ?? null;
  const bad = inbox?.bad.length ?? 0;
  const agentState: AgentState = bad === 0 ? AGENT_STATE_NOT_REPORTED : { is: 'unknown', why: `skipped=${bad}` };
  return {
    work: work === null ? null : (work.agents.get(agent) ?? []),
    ...{ inbox, hasMail: mail !== null, unread: UNKNOWN, agentState },
  };
}

export function isSameShare(a: Share, b: Share): boolean {
  return (
    areSameItems(a.work, b.work) &&
    a.inbox === b.inbox &&
    a.hasMail === b.hasMail &&
    a.unread.is === b.unread.is &&
    (a.unread.is === 'unknown' || (b.unread.is !== 'unknown' && a.unread.n === b.unread.n)) &&
    a.agentState.is === b.agentState.is &&
    a.agentState.why === b.agentState.why
  );
}

/** Equal items are the same objects. */
function areSameItems(a: Share['work'], b: Share['work']): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

export function toBoardResult(
  snapshot: StoreSnapshot,
  { work, unread, agentState }: Share,
  from: Checkpoint,
): ShareResult {
  const epoch = findEpoch(snapshot, from);
  const keys = getKeys(from);
  const isRetained = work === null || snapshot.journal.identity === null;
  const items = isRetained ? keys.map(toKnownItem) : work;
  return {
    epoch,
    items,
    unread,
    agentState,
    isOther: isOther(from, epoch),
    isRetained: isRetained && keys.length > 0,
    isMissed: false,
  };
}

interface AgentRules {
  /** False: the mail of agents must not be read. */
  readonly mail: boolean;
  readonly withContent: boolean;
  /** Whether the file of a message exists, though no listing has it. */
  readonly isThere: (id: string) => boolean;
}

export function toAgentResult(snapshot: StoreSnapshot, share: Share, from: Checkpoint, rules: AgentRules): ShareResult {
  const epoch = findEpoch(snapshot, from);
  const isNew = isOther(from, epoch);
  const keys = getKeys(from);
  const mailKeys = keys.filter((known) => parseMessageId(known) !== null);
  const workKeys = keys.filter((known) => parseMessageId(known) === null);
  const isWorkRetained = share.work === null || snapshot.journal.identity === null;
  const work = isWorkRetained ? workKeys.map(toKnownItem) : (share.work ?? []);
  const mail = share.hasMail
    ? toMailItems(share.inbox, mailKeys, rules)
    : { items: mailKeys.map(toKnownItem), retained: [], isMissed: false };
  const pending =
    (share.inbox?.pending ?? 0) + mail.retained.filter(({ fingerprint }) => fingerprint === 'pending').length;
  const isUnknown = !share.hasMail && (!rules.mail || mailKeys.length > 0);
  return {
    epoch,
    items: [...(isNew ? mailKeys.map(toKnownItem) : mail.items), ...work],
    unread: isUnknown ? UNKNOWN : exactly(pending),
    agentState: share.agentState,
    isOther: isNew,
    isRetained: (isWorkRetained && workKeys.length > 0) || (!share.hasMail && mailKeys.length > 0),
    isMissed: mail.isMissed,
  };
}

/**
 * The messages of an inbox. A delivered message is not gone while its file exists: the file may be unreadable while it is
 * written, or missing in the listing while it is renamed. Such a message is `retained`: reported and counted as it was.
 */
function toMailItems(inbox: AgentInbox | null, known: readonly KnownItem[], { withContent, isThere }: AgentRules) {
  const items = (inbox?.messages ?? []).map((message) => toMessageItem(message, isActionable(message), withContent));
  const listed = new Set(items.map(({ key }) => key));
  const bad = new Set(inbox?.bad.map(({ name }) => name));
  const retained: KnownItem[] = [];
  let isMissed = false;
  for (const knownMessage of known) {
    if (listed.has(knownMessage.key)) continue;
    const id = parseMessageId(knownMessage) ?? '';
    if (!bad.has(`${id}.json`)) {
      if (!isThere(id)) continue;
      isMissed = true;
    }
    retained.push(knownMessage);
    items.push(toKnownItem(knownMessage));
  }
  return { items, retained, isMissed };
}

function getKeys(from: Checkpoint): readonly KnownItem[] {
  return from.is === 'known' ? from.keys : [];
}

function isOther(from: Checkpoint, epoch: string): boolean {
  return from.is === 'known' && from.epoch !== epoch;
}

export interface BrainclawOptions {
  readonly project: Project;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** False: only the journal and the configuration of the store are read (observer protocol 1). */
  readonly mail: boolean;
  /** How far an earlier run came, stored outside the project's store (brainclaw contract 9). */
  readonly cursor: { load(): Cursor | null; save(cursor: Cursor): void };
  /**
   * Asks brainclaw once at activation, when the journal is off or partial. Null when nobody may be asked (brainclaw contract 9).
   */
  readonly seed: (() => Promise<Seed | null>) | null;
  /** Called when the sheet may have changed, even when the counts did not. */
  readonly changed?: () => void;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** A project as a source: its board and its agents (brainclaw contract 9). */
export interface BrainclawSource extends Source {
  readonly project: Project;
  /** The board (`BOARD`) or an agent as a persona, also an agent that does not exist, or not any more. */
  named(address: string): Persona;
  /** What surfaces show of the project; null before the first read. */
  readonly sheet: ProjectSheet | null;
  /** The sheet with only one page of one section. */
  sheetAt(page: SheetPage): ProjectSheet | null;
  /** The current problems of the store, one line each. */
  readonly defects: readonly string[];
}

/** The address of a project's board: no directory can have this name, so no agent has it. */
export const BOARD = '';

/** `bc-` and the project's id, in which anything but letters, digits, `_` and `-` becomes `_`. */
export const toSourceId = ({ id }: Pick<Project, 'id'>): SourceId =>
  `${BRAINCLAW_PREFIX}${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
