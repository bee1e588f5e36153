import type { PersonaWire } from '../app/status/wire.ts';
import type { SheetAgent } from './sheet.ts';

/** An agent of a project on the board: the state of its inbox from the status, and its work from the sheet. */
export interface ProjectAgent {
  /** Null when its inbox is not watched. */
  readonly persona: PersonaWire | null;
  /** Null when the sheet is not loaded yet, or does not have the agent. */
  readonly sheet: SheetAgent | null;
}

/**
 * Joins the agents of the sheet with their inboxes, and adds inboxes that the sheet does not have, sorted by name. Hidden
 * personas are left out.
 * @param board id of the project's board: an agent's inbox is named by it and the agent's name
 */
export function joinAgents(
  board: string,
  sheets: readonly SheetAgent[],
  personas: readonly PersonaWire[],
): readonly ProjectAgent[] {
  const rest = new Map(personas.map((persona) => [persona.id, persona]));
  const known = sheets.map((sheet) => {
    const id = `${board}-${sheet.agent}`;
    const persona = rest.get(id) ?? null;
    rest.delete(id);
    return { persona, sheet };
  });
  return [...known, ...[...rest.values()].map((persona) => ({ persona, sheet: null }))]
    .filter(({ persona }) => persona?.hidden !== true)
    .toSorted((a, b) => (getAgentName(a) < getAgentName(b) ? -1 : 1));
}

/** The agent's name in the sheet, or else that of its inbox. */
export const getAgentName = ({ persona, sheet }: ProjectAgent): string => sheet?.agent ?? persona?.label ?? '';
