import type { Extra, KnownItem, MailName } from '../../model/index.ts';
import type { SetItem } from '../set.ts';
import { cut, sanitizeText } from '../text.ts';
import {
  type AgentMessage,
  type Entity,
  findAttentionItems,
  getStatus,
  type Projection,
  toInboxName,
} from './read/index.ts';

/** What a project asks of somebody, as items of sets (brainclaw contract 9). */
export interface Work {
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
export interface ItemMaker {
  toWork(projection: Projection): Work;
}

/** @param contentChars code points of content; null leaves it out */
export function createItemMaker(contentChars: number | null): ItemMaker {
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
