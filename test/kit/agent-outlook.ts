import assert from 'node:assert/strict';
import type { Agent } from './agent.ts';
import { type ContextItem, createContext, formatFrame, type Output } from './hook-output.ts';
import type { Stage } from './two-agents.ts';
import { until } from './until.ts';

/** What an agent's next hooks are to show: filled by whoever pushes, emptied by `told`. */
export interface AgentOutlook {
  readonly agent: Agent;
  /** In its store now. */
  readonly here: ContextItem[];
  /** On its way, since the two do not reach each other. */
  readonly away: ContextItem[];
  /** Everything it was ever to have. */
  readonly all: ContextItem[];
  /** What it said to everyone, which it is never shown. */
  readonly own: string[];
}

export const awaits = (agent: Agent): AgentOutlook => ({ agent, here: [], away: [], all: [], own: [] });

/** Pushed by a command of its own machine. */
export function came(outlook: AgentOutlook, item: ContextItem): void {
  outlook.here.push(item);
  outlook.all.push(item);
}

export async function write(stage: Stage, from: AgentOutlook, to: AgentOutlook, item: ContextItem): Promise<void> {
  const output = await from.agent.asItself([
    ...['inbox', 'push', '--to', to.agent.persona, '--type', item.type, '--priority', `${item.priority}`],
    item.content,
  ]);
  assert.equal(output.length, 1);
  assert.match(output[0] ?? '', new RegExp(`^pushed \\d+ to ${to.agent.persona}$`));
  (stage.isOneStore ? to.here : to.away).push(item);
  to.all.push(item);
}

export async function writeAll(
  stage: Stage,
  from: AgentOutlook,
  other: AgentOutlook,
  item: ContextItem,
): Promise<void> {
  const output = await from.agent.asItself([
    ...['inbox', 'push', '--broadcast', '--type', item.type, '--priority', `${item.priority}`],
    item.content,
  ]);
  assert.equal(output.length, 1);
  assert.match(output[0] ?? '', /^pushed \d+ to everyone$/);
  const toAll = { ...item, toAll: true };
  (stage.isOneStore ? other.here : other.away).push(toAll);
  for (const agent of [from, other]) agent.all.push(toAll);
  from.own.push(item.content);
}

/** What is on its way to an agent is in its store. */
export async function arrived(outlook: AgentOutlook): Promise<void> {
  outlook.here.push(...outlook.away.splice(0));
  const { home, persona } = outlook.agent;
  await until(
    () => `${outlook.all.length} events of ${persona}, not ${JSON.stringify(home.events(persona))}`,
    () => home.mail(persona).length >= outlook.all.length,
    60_000,
  );
}

const byUrgency = (a: ContextItem, b: ContextItem): number => a.priority - b.priority;
const written = (item: ContextItem): ContextItem => ({ ...item, content: item.content.replaceAll('<', '&lt;') });

/** What waits for it up to this priority, in the order of a drain; from now on it waits no more. */
export function accepted(outlook: AgentOutlook, upTo: number): readonly ContextItem[] {
  const items = outlook.here.filter(({ priority }) => priority <= upTo).toSorted(byUrgency);
  const rest = outlook.here.filter(({ priority }) => priority > upTo);
  outlook.here.splice(0, outlook.here.length, ...rest);
  return items.map(written);
}

/** The moment shows what waits, all of it or after a tool what is urgent, and nothing else. */
export async function describeEvent(
  outlook: AgentOutlook,
  event: string,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const items = accepted(outlook, event === 'PostToolUse' ? 1 : 4);
  assert.notEqual(items.length, 0);
  const left = outlook.here.length;
  const { answer } = await moment(outlook, event, given);
  assert.deepEqual(answer, createContext(event, formatFrame(outlook.agent.persona, items, left)));
}

export async function silent(
  outlook: AgentOutlook,
  event: string,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { answer } = await moment(outlook, event, given);
  assert.equal(answer, null, event);
}

/** With what only its harness says. */
export function moment(
  { agent }: AgentOutlook,
  event: string,
  given: Readonly<Record<string, unknown>>,
): Promise<Output> {
  const more = agent.harness === 'codex' ? { turn_id: 'turn', model: 'm', permission_mode: 'default' } : {};
  return agent.at(event, { ...more, ...given });
}
