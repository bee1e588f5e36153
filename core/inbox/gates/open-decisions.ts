import type { PersonaId } from '../../model/index.ts';
import { DECISION, type GateState } from './gate.ts';

/** A question of a persona that nobody has answered yet. */
export interface UnansweredDecision {
  readonly id: number;
  readonly prompt: string;
}

/** The open decisions of a persona, oldest first. */
export type OpenDecisionLookup = (persona: PersonaId) => readonly UnansweredDecision[];

/** No open decisions: for gates that are written and not checked. */
export const NO_OPEN_DECISIONS: OpenDecisionLookup = () => [];

/**
 * Removes gates that do not count now. The built-in gate `decision` holds a persona only while a decision of it is open; a
 * registered one always counts. In both cases its description says what is not answered.
 */
export function applyOpenDecisions(
  gateStates: readonly GateState[],
  openDecisions: readonly UnansweredDecision[],
): readonly GateState[] {
  return gateStates.flatMap((gateState) => {
    if (gateState.gate.id !== DECISION) return [gateState];
    const [first] = openDecisions;
    if (first === undefined) return gateState.isBuiltIn ? [] : [gateState];
    const unanswered = formatUnanswered(openDecisions, first);
    const description = gateState.isBuiltIn ? unanswered : `${gateState.gate.description}; ${unanswered}`;
    return [{ ...gateState, gate: { ...gateState.gate, description, hint: `hivebar decision wait ${first.id}` } }];
  });
}

const BEGINNING = 80;
const MOST_NAMED = 5;

function formatUnanswered(openDecisions: readonly UnansweredDecision[], { id, prompt }: UnansweredDecision): string {
  const otherIds = openDecisions.slice(1, MOST_NAMED).map((decision) => decision.id);
  const ending = openDecisions.length > MOST_NAMED ? ' and more' : '';
  const also = otherIds.length === 0 ? '' : `, nor ${otherIds.join(', ')}${ending}`;
  return `decision ${id} ("${shortenPrompt(prompt)}") is not answered${also}`;
}

/** Shortens a prompt to one line of whole code points. */
function shortenPrompt(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim();
  return line.length <= BEGINNING ? line : `${[...line.slice(0, BEGINNING)].slice(0, -1).join('')}...`;
}
