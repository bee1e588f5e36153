import type { Extra, Known, MailName } from '../../model/index.ts';
import type { SetItem } from '../set.ts';
import { cleaned, cut } from '../text.ts';
import {
  type AgentMessage,
  attentionItems,
  type Entity,
  inboxNameOf,
  type Projection,
  statusOf,
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
  workOf(projection: Projection): Work;
}

/** @param contentChars code points of content; null leaves it out */
export function itemMaker(contentChars: number | null): ItemMaker {
  const onBoard = new WeakMap<Entity, { readonly why: string; readonly item: SetItem }>();
  const ofAgents = new WeakMap<Entity, SetItem>();

  const contentOf = ({ payload }: Entity): string | null => {
    if (contentChars === null) return null;
    const texts = TEXTS.flatMap((key) => {
      const text = payload[key];
      return typeof text === 'string' && text !== '' ? [text] : [];
    });
    return cut(cleaned([...new Set(texts)].join('\n')), contentChars);
  };
  const item = (entity: Entity, event: MailName, from: unknown, extra: Extra): SetItem => ({
    key: keyOf(entity),
    mark: entity.seq === null ? '' : String(entity.seq),
    ...{ appeared: event, changed: null, vanished: 'cleared', returns: 'occasion' },
    from: typeof from === 'string' && from !== '' ? words(from) : null,
    created: entity.ts === null ? null : words(entity.ts),
    content: contentOf(entity),
    extra: { item: words(keyOf(entity)), ...extra, journal_seq: entity.seq },
  });

  return {
    workOf(projection) {
      const board = attentionItems(projection).map(({ why, entity }) => {
        const known = onBoard.get(entity);
        if (known?.why === why) return known.item;
        const made = { why, item: item(entity, 'new', entity.agent, { why }) };
        onBoard.set(entity, made);
        return made.item;
      });
      const agents = new Map<string, SetItem[]>();
      for (const { itemType, event, to, from, isOpen } of ADDRESSED) {
        for (const entity of projection.ofType(itemType).values()) {
          const name = entity.payload[to];
          if (typeof name !== 'string' || name === '' || name.length > MOST_NAME || !isOpen(statusOf(entity))) continue;
          const agent = inboxNameOf(name);
          let items = agents.get(agent);
          if (items === undefined) {
            if (agents.size >= MOST_AGENTS) continue;
            items = [];
            agents.set(agent, items);
          }
          const made =
            ofAgents.get(entity) ?? item(entity, event, from === null ? entity.agent : entity.payload[from], {});
          ofAgents.set(entity, made);
          items.push(made);
        }
      }
      return { board, agents };
    },
  };
}

/** An item as it is remembered: `item_type:item_id`. */
function keyOf({ item_type, item_id }: Entity): string {
  return `${item_type}:${item_id}`;
}

const MESSAGE = 'message:';
const CHANGED: Readonly<Record<AgentMessage['status'], SetItem['changed']>> = {
  ...{ pending: null, read: 'read', acknowledged: 'acked', archived: null },
};

/** A message as a thing of its agent's set. One that asks for nothing any more when it is first seen is not told. */
export function messageItem(message: AgentMessage, asks: boolean, withContent: boolean): SetItem {
  const { id, from, type, status, text, ref, requires_ack, created_at } = message;
  return {
    key: `${MESSAGE}${id}`,
    mark: status,
    ...{ appeared: asks ? 'new' : 'quiet', changed: CHANGED[status], vanished: null },
    ...{ from: words(from), created: words(created_at), content: withContent ? text : null },
    extra: { message_id: words(id), type, ref: ref === null ? null : words(ref), requires_ack },
  };
}

/** The id of a message that is remembered; null: it is something else. */
export function messageIdOf({ key }: Known): string | null {
  return key.startsWith(MESSAGE) ? key.slice(MESSAGE.length) : null;
}

/** A thing that can not be seen now and is taken to be as it was told last. */
export function asKnown({ key, seq, mark, vanished, extra }: Known): SetItem {
  const appeared = seq === null ? 'quiet' : 'new';
  return { key, mark, appeared, changed: null, vanished, from: null, created: null, content: null, extra };
}

/** A word of others, of a length that a line has room for. */
function words(text: string): string {
  return cut(cleaned(text), MOST_WORDS);
}
