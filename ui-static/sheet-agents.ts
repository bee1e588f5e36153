import type { PersonaWire } from '../app/status/wire.ts';
import type { SheetAgent } from './sheet.ts';

/** An agent of a project as the board shows it: what the status says of its inbox, and what the board says of its work. */
export interface ProjectAgent {
  /** Null: its inbox is not watched. */
  readonly persona: PersonaWire | null;
  /** Null: the board is not read yet, or does not know it. */
  readonly sheet: SheetAgent | null;
}

/**
 * Those of the board with their inboxes, and inboxes the board does not know, by name; whoever is hidden is left out.
 * @param board id of the project's board: an agent's inbox is called by it and the agent's name
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

/** How it is called: by the board, else by its inbox. */
export const getAgentName = ({ persona, sheet }: ProjectAgent): string => sheet?.agent ?? persona?.label ?? '';
