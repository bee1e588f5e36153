import { displayName } from '../core/format/index.ts';
import { arrange } from './arrange.ts';
import { cloneTemplate, fillSlots, getPart, setAttribute, showLook } from './dom.ts';
import { formatNumber, toCard, toFragment, truncate } from './present.ts';
import { describeAgent } from './sheet.ts';
import { getAgentName, type ProjectAgent } from './sheet-agents.ts';

const NAME_CHARS = 100;

export function drawAgents(list: HTMLElement, agents: readonly ProjectAgent[], now: number): void {
  const existing = new Map([...list.children].map((child) => [child.getAttribute('data-key'), child as HTMLElement]));
  const elements = agents.map((agent) => {
    const key = agent.persona?.id ?? getAgentName(agent);
    const element = existing.get(key) ?? cloneTemplate('agent');
    setAttribute(element, 'data-key', key);
    drawAgent(element, agent, now);
    return element;
  });
  arrange(list, elements);
  list.hidden = agents.length === 0;
}

function drawAgent(element: HTMLElement, agent: ProjectAgent, now: number): void {
  const { persona, sheet } = agent;
  const words = sheet === null ? null : describeAgent(sheet);
  const link = getPart<HTMLAnchorElement>(element, 'a');
  if (persona === null) {
    showLook(element, 'pending', '');
    link.removeAttribute('href');
  } else {
    const { look, flags } = toCard(persona, now);
    showLook(element, look, `${flags}${(sheet?.actionable ?? 0) > 0 ? ' asked' : ''}`.trim());
    setAttribute(link, 'href', `#persona=${toFragment(persona.id)}`);
  }
  const unread = persona === null ? '–' : formatNumber(persona.unread, persona.unreadIs);
  fillSlots(element, {
    agentName: truncate(displayName(getAgentName(agent)), NAME_CHARS),
    down: persona?.state === 'DOWN' ? 'Down' : null,
    pending: persona === null && words !== null ? words.pending : `${unread} unread`,
    actionable: words?.actionable ?? null,
    work: words?.work ?? null,
    skipped: words?.skipped ?? null,
  });
}
