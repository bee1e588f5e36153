import { listAgents, type SimulationStory } from './story.ts';
import { formatTimestamp } from './timestamp.ts';

export interface SimulatedMessage {
  /** Name of the agent's folder in `coordination/inbox`. */
  readonly agent: string;
  readonly name: string;
  readonly text: string;
}

export interface SimulatedMail {
  readonly messages: readonly SimulatedMessage[];
  /** The counts that an inbox must show, by agent. */
  readonly inboxes: Readonly<Record<string, { readonly pending: number; readonly actionable: number }>>;
}

/** Gives every agent one to three unread messages, one read message that it owes an answer, and one archived message. */
export function simulateMail(story: SimulationStory): SimulatedMail {
  const agents = listAgents(story);
  const inboxes = agents.map((agent, index) => {
    const pending = 1 + ((index + story.seed) % 3);
    const statuses = [...Array.from({ length: pending }, () => 'pending'), 'read', 'archived'];
    const messages = statuses.map((status, number): SimulatedMessage => {
      const id = `msg_${String(index * 10 + number).padStart(16, '0')}`;
      const at = formatTimestamp(index * 10 + number + 1);
      const message = {
        ...{ schema_version: 2, id, from: agents[(index + 1) % agents.length] ?? agent, to: agent, type: 'info' },
        ...{ text: `message ${number} to ${agent} — 안녕 🌱`, requires_ack: status === 'read', status },
        ...{ created_at: at, updated_at: at, author: 'user', tags: ['simulated'] },
      };
      return { agent, name: `${id}.json`, text: `${JSON.stringify(message, null, 2)}\n` };
    });
    return { agent, pending, messages };
  });
  return {
    messages: inboxes.flatMap(({ messages }) => messages),
    inboxes: Object.fromEntries(inboxes.map(({ agent, pending }) => [agent, { pending, actionable: pending + 1 }])),
  };
}
