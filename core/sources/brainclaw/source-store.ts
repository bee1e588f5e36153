import { join } from 'node:path';
import { type Extra, type KnownItem, type MailName, toFault } from '../../model/index.ts';
import type { Files, Log } from '../../ports/index.ts';
import { createRefusal } from '../../state/index.ts';
import type { SetItem } from '../source.ts';
import { cut, type StoreDefect, sanitizeText } from '../source-tools.ts';
import {
  type AgentInbox,
  type AgentMessage,
  type Cursor,
  createAgentMailReader,
  createJournalReader,
  type Entity,
  findAttentionItems,
  getStatus,
  type JournalView,
  type Projection,
  readBases,
  readConfig,
  toInboxName,
} from './read/index.ts';

interface StoreReaderOptions {
  /** The `.brainclaw` directory itself. */
  readonly store: string;
  /** Only the operations that read are called. */
  readonly files: Files;
  readonly log: Log;
  readonly contentChars: number | null;
  readonly mail: boolean;
  readonly cursor: { load(): Cursor | null };
}

/** A store as it was read last. Unchanged parts are the same objects as before. */
export interface StoreSnapshot {
  /** Null: the journal is off. */
  readonly view: JournalView | null;
  /** Null in the same case. */
  readonly work: Work | null;
  /** Null when mail is switched off, or its directory does not exist. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
  readonly journal: JournalName;
}

/** Identifies a journal. */
export interface JournalName {
  /** The identity of the first record at the first read in this process; null while the journal has no record. */
  readonly identity: string | null;
  /** The journal is the one that an earlier run read, whatever name that run gave it. */
  readonly isContinued: boolean;
}

/** Reads a store, and then what changes in it. */
interface StoreReader {
  /**
   * @param agents only their inboxes are read again; the others are as they were read last. Undefined: all
   * @throws Fault `unreadable` when there is neither a journal nor mail, or the disk fails
   */
  refresh(agents?: ReadonlySet<string>): StoreSnapshot;
  readonly last: StoreSnapshot | null;
  /** Problems with files of the store. */
  readonly defects: readonly StoreDefect[];
}

const NO_NAME: JournalName = { identity: null, isContinued: false };

export function createStoreReader({
  store,
  files,
  log,
  contentChars,
  mail: isMailEnabled,
  cursor,
}: StoreReaderOptions): StoreReader {
  const events = join(store, 'events');
  const findBases = (first: number) =>
    readBases(files, join(events, 'checkpoints'), readConfig(files, join(store, 'config.yaml')).projectId, first);
  const journal = createJournalReader(files, events, { saved: loadCursor(cursor, log), bases: findBases });
  const shorten = (text: string): string => cut(sanitizeText(text), contentChars ?? 0);
  const mail = isMailEnabled ? createAgentMailReader(files, join(store, 'coordination', 'inbox'), shorten) : null;
  const { toWork } = createItemMaker(contentChars);
  let last: StoreSnapshot | null = null;
  /** Null before the journal was ever read. */
  let name: JournalName | null = null;

  /** A journal that is read from its start again keeps its name while it is the same journal (brainclaw contract 9). */
  function toJournalName(view: JournalView, isReplayed: boolean): JournalName {
    const { identity } = view.replay;
    const isSame = !isReplayed || view.continuity === 'same';
    if (name !== null && isSame) return name.identity === null ? { ...name, identity } : name;
    return { identity, isContinued: isSame };
  }

  return {
    refresh(agents) {
      const done = journal.refresh();
      const inboxes = mail?.read(agents) ?? null;
      const { view } = journal;
      if (view === null && inboxes === null) {
        const missing = mail === null ? 'no journal, and mail is not to be read' : 'neither a journal nor an inbox';
        throw createRefusal(store, `has ${missing}`, 'unreadable');
      }
      const before = last;
      const isSame = before !== null && (done.is === 'same' || (done.is === 'off' && before.view === null));
      if (isSame && areSameInboxes(before.mail, inboxes)) return before;
      if (isSame) last = { ...before, mail: inboxes };
      else if (view === null) last = { view, work: null, mail: inboxes, journal: name ?? NO_NAME };
      else {
        name = toJournalName(view, done.is === 'replayed');
        last = { view, work: toWork(view.replay.projection), mail: inboxes, journal: name };
      }
      return last;
    },
    get last() {
      return last;
    },
    get defects() {
      const { view = null, mail: inboxes = null } = last ?? {};
      return [
        ...(view?.segments ?? []).flatMap(({ name, unreadable }) =>
          unreadable === null ? [] : [{ filename: `events/${name}`, message: unreadable }],
        ),
        ...(view?.refusedBases ?? []).map(({ name, why }) => ({
          filename: `events/checkpoints/${name}`,
          message: why,
        })),
        ...[...(inboxes?.values() ?? [])].flatMap(({ agent, bad }) =>
          bad.map(({ name, why }) => ({ filename: `coordination/inbox/${agent}/${name}`, message: why })),
        ),
      ];
    },
  };
}

/** An inbox in which nothing changed is the same object. */
function areSameInboxes(a: StoreSnapshot['mail'], b: StoreSnapshot['mail']): boolean {
  if (a === null || b === null) return a === b;
  if (a.size !== b.size) return false;
  for (const [agent, inbox] of b) if (a.get(agent) !== inbox) return false;
  return true;
}

/** Without a cursor it is less certain which journal this is, but that is no reason not to read it. */
function loadCursor(cursor: StoreReaderOptions['cursor'], log: Log): Cursor | null {
  try {
    return cursor.load();
  } catch (error) {
    log.warn(`brainclaw: ${toFault(error, { is: 'source', key: 'brainclaw' }).explain()}`);
    return null;
  }
}

/** What a project asks of somebody, as items of sets (brainclaw contract 9). */
interface Work {
  readonly board: readonly SetItem[];
  /** By the name of the agent's inbox. */
  readonly agents: ReadonlyMap<string, readonly SetItem[]>;
}

/** Longer names are ignored, because each name becomes a persona. */
const MOST_NAME = 100;
/** The most agents that only the journal knows. */
const MOST_AGENTS = 200;
const MOST_WORDS = 200;

/** The agent has nothing to do for these any more. */
const ENDED_ASSIGNMENT: ReadonlySet<string> = new Set([
  ...['completed', 'expired', 'rerouted', 'cancelled', 'failed', 'timed_out'],
]);

/** What the journal addresses to agents: who receives it, who sent it, and in which states it is open. */
const ADDRESSED: readonly {
  readonly itemType: string;
  readonly event: MailName;
  readonly to: string;
  readonly from: string | null;
  readonly isOpen: (status: string) => boolean;
}[] = [
  { itemType: 'handoff', event: 'handoff', to: 'to', from: 'from', isOpen: (status) => status === 'open' },
  {
    ...{ itemType: 'assignment', event: 'assigned', to: 'agent', from: 'dispatcher_agent' },
    isOpen: (status) => !ENDED_ASSIGNMENT.has(status),
  },
  { itemType: 'state', event: 'action', to: 'agent', from: null, isOpen: (status) => status === 'pending' },
];

/** The fields that hold an item's text. All of them that exist are delivered, in this order. */
const TEXTS = ['title', 'prompt', 'text', 'description', 'scope'] as const;

/** Turns entities into set items. An unchanged entity gives the same item object. */
interface ItemMaker {
  toWork(projection: Projection): Work;
}

/** @param contentChars code points of content; null leaves it out */
function createItemMaker(contentChars: number | null): ItemMaker {
  const boardItems = new WeakMap<Entity, { readonly why: string; readonly item: SetItem }>();
  const agentItems = new WeakMap<Entity, SetItem>();

  const formatContent = ({ payload }: Entity): string | null => {
    if (contentChars === null) return null;
    const texts = TEXTS.flatMap((key) => {
      const text = payload[key];
      return typeof text === 'string' && text !== '' ? [text] : [];
    });
    return cut(sanitizeText([...new Set(texts)].join('\n')), contentChars);
  };
  const createItem = (entity: Entity, event: MailName, from: unknown, extra: Extra): SetItem => ({
    key: toKey(entity),
    fingerprint: entity.seq === null ? '' : String(entity.seq),
    ...{ appeared: event, changed: null, vanished: 'cleared', returns: 'occasion' },
    from: typeof from === 'string' && from !== '' ? cleanWords(from) : null,
    created: entity.ts === null ? null : cleanWords(entity.ts),
    content: formatContent(entity),
    extra: { item: cleanWords(toKey(entity)), ...extra, journal_seq: entity.seq },
  });

  return {
    toWork(projection) {
      const board = findAttentionItems(projection).map(({ why, entity }) => {
        const known = boardItems.get(entity);
        if (known?.why === why) return known.item;
        const boardItem = { why, item: createItem(entity, 'new', entity.agent, { why }) };
        boardItems.set(entity, boardItem);
        return boardItem.item;
      });
      const agents = new Map<string, SetItem[]>();
      for (const { itemType, event, to, from, isOpen } of ADDRESSED) {
        for (const entity of projection.getByType(itemType).values()) {
          const name = entity.payload[to];
          if (typeof name !== 'string' || name === '' || name.length > MOST_NAME || !isOpen(getStatus(entity)))
            continue;
          const agent = toInboxName(name);
          let items = agents.get(agent);
          if (items === undefined) {
            if (agents.size >= MOST_AGENTS) continue;
            items = [];
            agents.set(agent, items);
          }
          const agentItem =
            agentItems.get(entity) ??
            createItem(entity, event, from === null ? entity.agent : entity.payload[from], {});
          agentItems.set(entity, agentItem);
          items.push(agentItem);
        }
      }
      return { board, agents };
    },
  };
}

/** The key of an item: `item_type:item_id`. */
function toKey({ item_type, item_id }: Entity): string {
  return `${item_type}:${item_id}`;
}

const MESSAGE = 'message:';
const CHANGED: Readonly<Record<AgentMessage['status'], SetItem['changed']>> = {
  ...{ pending: null, read: 'read', acknowledged: 'acked', archived: null },
};

/** A message as an item of its agent's set. A message that asks for nothing when it is first seen causes no event. */
export function toMessageItem(message: AgentMessage, asks: boolean, withContent: boolean): SetItem {
  const { id, from, type, status, text, ref, requires_ack, created_at } = message;
  return {
    key: `${MESSAGE}${id}`,
    fingerprint: status,
    ...{ appeared: asks ? 'new' : 'quiet', changed: CHANGED[status], vanished: null },
    ...{ from: cleanWords(from), created: cleanWords(created_at), content: withContent ? text : null },
    extra: { message_id: cleanWords(id), type, ref: ref === null ? null : cleanWords(ref), requires_ack },
  };
}

/** The message id of a known item; null when the item is no message. */
export function parseMessageId({ key }: KnownItem): string | null {
  return key.startsWith(MESSAGE) ? key.slice(MESSAGE.length) : null;
}

/** An item that cannot be seen now and is assumed to be as it was delivered last. */
export function toKnownItem({ key, seq, fingerprint, vanished, extra }: KnownItem): SetItem {
  const appeared = seq === null ? 'quiet' : 'new';
  return { key, fingerprint, appeared, changed: null, vanished, from: null, created: null, content: null, extra };
}

/** A word written by others, cut to a length that fits into an event line. */
function cleanWords(text: string): string {
  return cut(sanitizeText(text), MOST_WORDS);
}
