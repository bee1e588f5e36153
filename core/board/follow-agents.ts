import { AGENT_STATE_NOT_REPORTED, type PersonaId } from '../model/index.ts';
import type { Board } from './board.ts';
import type { Fact } from './fact.ts';
import { findPlace } from './fold.ts';
import type { PersonaView, Snapshot } from './snapshot.ts';

/**
 * Calls `listener` with each persona of which somebody reported what its agent does, once the board has chosen among the reports
 * (docs/contract/agent-state.md): at the end of a turn in which the board changed, and at first with every persona. The state may be
 * the same as before. Polls that report nothing, which come by the thousand, cost nothing.
 */
export function followAgents(board: Board, listener: (persona: PersonaView) => void): Disposable {
  const reported = new Set<PersonaId>(board.snapshot().personas.map(({ id }) => id));
  let asking: readonly PersonaId[] = board
    .snapshot()
    .personas.flatMap(({ id, agentState }) => (typeof agentState.decision === 'number' ? [id] : []));
  const facts = board.facts((fact) => {
    if (fact.is === 'decisions') {
      const now = fact.decisions.flatMap(({ persona, blocking }) => (blocking ? [persona] : []));
      for (const persona of [...asking, ...now]) reported.add(persona);
      asking = now;
      return;
    }
    const persona = findReportedPersona(fact);
    if (persona !== null) reported.add(persona);
  });
  const changes = board.changes((snapshot) => {
    if (reported.size === 0) return;
    const ids = [...reported];
    reported.clear();
    for (const id of ids) {
      const view = findPersona(snapshot, id);
      if (view !== null) listener(view);
    }
  });
  return {
    [Symbol.dispose]() {
      facts[Symbol.dispose]();
      changes[Symbol.dispose]();
    },
  };
}

function findReportedPersona(fact: Fact): PersonaId | null {
  switch (fact.is) {
    case 'agent':
    case 'joined':
      return fact.persona;
    case 'polled':
      return fact.agentState === AGENT_STATE_NOT_REPORTED ? null : fact.persona;
    default:
      return null;
  }
}

function findPersona({ personas }: Snapshot, id: PersonaId): PersonaView | null {
  const { index, found } = findPlace(personas, id, (persona) => persona.id);
  return found ? (personas[index] ?? null) : null;
}
