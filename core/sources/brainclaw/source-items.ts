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

/** What a project asks of somebody, as things of sets (brainclaw contract 9). */
export interface Work {
  readonly board: readonly SetItem[];
  /** By agent, as its inbox is called. */
  readonly agents: ReadonlyMap<string, readonly SetItem[]>;
}

/** Longer names are nobody's: each would be a persona. */
const MOST_NAME = 100;
/** Agents that only the journal knows. */
const MOST_AGENTS = 200;
const MOST_WORDS = 200;

/** An agent has nothing to do on these any more. */
const ENDED_ASSIGNMENT: ReadonlySet<string> = new Set([
  ...['completed', 'expired', 'rerouted', 'cancelled', 'failed', 'timed_out'],
]);

/** What is addressed to agents in the journal: whose it is, who it is from, and while it is in this state. */
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

/** Where an item's text stands; all that is there is told, in this order. */
const TEXTS = ['title', 'prompt', 'text', 'description', 'scope'] as const;

/** Makes items of entities, one for each as long as the entity is the same. */
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

/** An item as it is remembered: `item_type:item_id`. */
function toKey({ item_type, item_id }: Entity): string {
  return `${item_type}:${item_id}`;
}

const MESSAGE = 'message:';
const CHANGED: Readonly<Record<AgentMessage['status'], SetItem['changed']>> = {
  ...{ pending: null, read: 'read', acknowledged: 'acked', archived: null },
};

/** A message as a thing of its agent's set. One that asks for nothing any more when it is first seen is not told. */
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

/** The id of a message that is remembered; null: it is something else. */
export function parseMessageId({ key }: KnownItem): string | null {
  return key.startsWith(MESSAGE) ? key.slice(MESSAGE.length) : null;
}

/** A thing that cannot be seen now and is taken to be as it was told last. */
export function toKnownItem({ key, seq, mark: fingerprint, vanished, extra }: KnownItem): SetItem {
  const appeared = seq === null ? 'quiet' : 'new';
  return { key, fingerprint, appeared, changed: null, vanished, from: null, created: null, content: null, extra };
}

/** A word of others, of a length that a line has room for. */
function cleanWords(text: string): string {
  return cut(sanitizeText(text), MOST_WORDS);
}
