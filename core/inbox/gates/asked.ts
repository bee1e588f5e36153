import type { PersonaId } from '../../model/index.ts';
import { DECISION, type Standing } from './gate.ts';

/** A question of a persona that nobody has answered yet. */
export interface Asked {
  readonly id: number;
  readonly prompt: string;
}

/** The open decisions of a persona, oldest first. */
export type LookAtAsked = (persona: PersonaId) => readonly Asked[];

/** Nobody asked anything: for gates that are written to and not asked about. */
export const NOTHING_ASKED: LookAtAsked = () => [];

/**
 * The gates that stand in somebody's way now. The gate `decision` that every persona has holds only who asked and has no answer
 * yet; one that was registered is there always. Either way it says what is not answered.
 */
export function standingNow(standings: readonly Standing[], asked: readonly Asked[]): readonly Standing[] {
  return standings.flatMap((standing) => {
    if (standing.gate.id !== DECISION) return [standing];
    const [first] = asked;
    if (first === undefined) return standing.isBuiltIn ? [] : [standing];
    const words = wordsOf(asked, first);
    const description = standing.isBuiltIn ? words : `${standing.gate.description}; ${words}`;
    return [{ ...standing, gate: { ...standing.gate, description, hint: `hivebar decision wait ${first.id}` } }];
  });
}

const BEGINNING = 80;
const MOST_NAMED = 5;

function wordsOf(asked: readonly Asked[], { id, prompt }: Asked): string {
  const others = asked.slice(1, MOST_NAMED).map((one) => one.id);
  const more = asked.length > MOST_NAMED ? ' and more' : '';
  const also = others.length === 0 ? '' : `, nor ${others.join(', ')}${more}`;
  return `decision ${id} ("${beginningOf(prompt)}") is not answered${also}`;
}

/** In one line and whole code points. */
function beginningOf(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim();
  return line.length <= BEGINNING ? line : `${[...line.slice(0, BEGINNING)].slice(0, -1).join('')}...`;
}
