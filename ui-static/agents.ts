import type { PersonaWire } from '../app/status/wire.ts';
import { arrange } from './arrange.ts';
import { cloneOf, fill, part, setAttribute, wear } from './dom.ts';
import { capped, cardOf, fragmentOf, numberOf } from './present.ts';
import { agentWords, type SheetAgent } from './sheet.ts';

const NAME_CHARS = 100;

/** An agent of a project as the board shows it: what the status says of its inbox, and what the board says of its work. */
export interface OneAgent {
  /** Null: its inbox is not watched. */
  readonly persona: PersonaWire | null;
  /** Null: the board is not read yet, or does not know it. */
  readonly sheet: SheetAgent | null;
}

/**
 * Those of the board with their inboxes, and inboxes the board does not know, by name; whoever is hidden is left out.
 * @param board id of the project's board: an agent's inbox is called by it and the agent's name
 */
export function agentsOf(
  board: string,
  sheets: readonly SheetAgent[],
  personas: readonly PersonaWire[],
): readonly OneAgent[] {
  const rest = new Map(personas.map((persona) => [persona.id, persona]));
  const known = sheets.map((sheet) => {
    const id = `${board}-${sheet.agent}`;
    const persona = rest.get(id) ?? null;
    rest.delete(id);
    return { persona, sheet };
  });
  return [...known, ...[...rest.values()].map((persona) => ({ persona, sheet: null }))]
    .filter(({ persona }) => persona?.hidden !== true)
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const nameOf = ({ persona, sheet }: OneAgent): string => sheet?.agent ?? persona?.label ?? '';

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
    agentName: capped(nameOf(agent), NAME_CHARS),
    down: persona?.state === 'DOWN' ? 'Down' : null,
    pending: persona === null && words !== null ? words.pending : `${unread} unread`,
    actionable: words?.actionable ?? null,
    work: words?.work ?? null,
    skipped: words?.skipped ?? null,
  });
}
