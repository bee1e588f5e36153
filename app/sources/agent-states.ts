import { type Board, type Fact, findPlace, type PersonaView, type Snapshot } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, type PersonaId } from '../../core/model/index.ts';
import type { HiveWatchers } from './hive-watchers.ts';

interface AgentStatesOptions {
  readonly board: Board;
  /** The watchers of all hives, which come and go. */
  readonly watchers: readonly Pick<HiveWatchers, 'hearAgent'>[];
}

/**
 * Hands what each agent does to the watcher of its persona, which makes events of it. The board alone chooses among the reports
 * (docs/contract/agent-state.md), so events say what a person sees. Works until it is disposed.
 */
export function followAgentStates({ board, watchers }: AgentStatesOptions): Disposable {
  /** Personas of which something was reported since the last change of the board. */
  const reported = new Set<PersonaId>(board.snapshot().personas.map(({ id }) => id));
  const facts = board.facts((fact) => {
    const persona = findReportedPersona(fact);
    if (persona !== null) reported.add(persona);
  });
  const changes = board.changes((snapshot) => {
    for (const id of reported) {
      const view = findPersona(snapshot, id);
      if (view !== null) watchers.some((hive) => hive.hearAgent(id, view.agentState));
    }
    reported.clear();
  });
  return {
    [Symbol.dispose]() {
      facts[Symbol.dispose]();
      changes[Symbol.dispose]();
    },
  };
}

/** Polls of hives report nothing, and come by the thousand. */
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
