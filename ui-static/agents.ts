import { displayName } from '../core/format/index.ts';
import { arrange } from './arrange.ts';
import { cloneOf, fill, part, setAttribute, wear } from './dom.ts';
import { capped, cardOf, fragmentOf, numberOf } from './present.ts';
import { agentWords } from './sheet.ts';
import { nameOf, type OneAgent } from './sheet-agents.ts';

const NAME_CHARS = 100;

export function drawAgents(list: HTMLElement, agents: readonly OneAgent[], now: number): void {
  const there = new Map([...list.children].map((one) => [one.getAttribute('data-key'), one as HTMLElement]));
  const elements = agents.map((agent) => {
    const key = agent.persona?.id ?? nameOf(agent);
    const element = there.get(key) ?? cloneOf('agent');
    setAttribute(element, 'data-key', key);
    drawAgent(element, agent, now);
    return element;
  });
  arrange(list, elements);
  list.hidden = agents.length === 0;
}

function drawAgent(element: HTMLElement, agent: OneAgent, now: number): void {
  const { persona, sheet } = agent;
  const words = sheet === null ? null : agentWords(sheet);
  const link = part<HTMLAnchorElement>(element, 'a');
  if (persona === null) {
    wear(element, 'pending', '');
    link.removeAttribute('href');
  } else {
    const { look, flags } = cardOf(persona, now);
    wear(element, look, `${flags}${(sheet?.actionable ?? 0) > 0 ? ' asked' : ''}`.trim());
    setAttribute(link, 'href', `#persona=${fragmentOf(persona.id)}`);
  }
  const unread = persona === null ? '–' : numberOf(persona.unread, persona.unreadIs);
  fill(element, {
    agentName: capped(displayName(nameOf(agent)), NAME_CHARS),
    down: persona?.state === 'DOWN' ? 'Down' : null,
    pending: persona === null && words !== null ? words.pending : `${unread} unread`,
    actionable: words?.actionable ?? null,
    work: words?.work ?? null,
    skipped: words?.skipped ?? null,
  });
}
