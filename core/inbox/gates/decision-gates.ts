import { join } from 'node:path';
import type { PersonaId } from '../../model/index.ts';
import { type Disk, getErrno, toIoFault } from '../../state/index.ts';
import { DECISION, DECISION_WAITING } from './gate.ts';
import type { Gates } from './gates.ts';

/**
 * What decisions do to the gates of the persona that asked: `DecisionGates` of that room. The decision tells the persona, not the
 * gate.
 */
export interface GatesForDecisions {
  open(persona: PersonaId): void;
  close(persona: PersonaId): void;
  waiting(persona: PersonaId, isWaiting: boolean): void;
}

/**
 * A decision belongs to a persona and not to a session, so its marks hold for all sessions. Each method throws what `Gates`
 * throws.
 */
export function createGatesForDecisions(
  gates: Pick<Gates, 'find' | 'mark' | 'clear' | 'noteOpen' | 'remove'>,
): GatesForDecisions {
  const mark = (persona: PersonaId, id: string): void => {
    gates.mark(persona, id, { by: 'decision', session: null, terminal: null, tells: false });
  };
  return {
    open(persona) {
      gates.clear(persona, ({ id }) => id === DECISION);
      gates.noteOpen(persona, DECISION);
    },
    close(persona) {
      // A built-in gate holds nothing that needs the mark, and the mark would satisfy a gate that is registered later.
      if (gates.find(persona, DECISION)?.isBuiltIn === false) mark(persona, DECISION);
      else gates.remove(persona, DECISION);
    },
    waiting(persona, isWaiting) {
      if (isWaiting) mark(persona, DECISION_WAITING);
      else gates.clear(persona, ({ id }) => id === DECISION_WAITING);
    },
  };
}

/**
 * The stems of all personas that ever had a gate file. Reads one directory instead of one per persona. @throws Fault `unreadable`
 */
export function readGateOwners(disk: Disk, state: string): ReadonlySet<string> {
  const directory = join(state, 'gates');
  try {
    return new Set(disk.files.readdir(directory));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return new Set();
    throw toIoFault(error, directory, 'unreadable');
  }
}
