import type { HookTurn } from '../../../core/hooks/index.ts';
import {
  askDaemon,
  type DaemonConfig,
  findOwnDaemonPlaces,
  isListening,
  TURN_BOUNDARY_KINDS,
  type TurnBoundaryKind,
} from '../../../core/link/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import { findPersonaDaemons } from '../../hook/index.ts';
import type { Io } from '../command.ts';
import { readSize } from './age.node.ts';
import type { TimeBudget } from './budget.ts';

/** A persona with a daemon that lives: it is rung for, and is told nothing of what waits. */
export interface DaemonBell {
  readonly config: DaemonConfig;
  /** Tells the daemon of this boundary. Whether it rings now. Never rejects. */
  at(kind: TurnBoundaryKind, turn: HookTurn): Promise<boolean>;
}

/** The bound of the contract (persona daemon, 4): without an answer by then nothing is printed. */
const WITHIN_MS = 200;
const LONGEST_TURN = 500;

/**
 * The bell of a persona; null: no daemon of it was installed, or none runs, so the hook tells what waits as ever.
 * @throws Fault when the daemons that were installed cannot be looked through
 */
export async function createBell(
  agent: { readonly persona: string; readonly name: string },
  {
    disk,
    state,
    env,
    budget,
  }: { readonly disk: Disk; readonly state: string; readonly env: Io['env']; readonly budget: TimeBudget },
): Promise<DaemonBell | null> {
  const wait = budget.part(WITHIN_MS);
  for (const config of findPersonaDaemons(disk, state, agent.persona, agent.name)) {
    const places = findOwnDaemonPlaces(config, env);
    if (!(await isListening(places, wait.left()))) continue;
    return {
      config,
      async at(kind, { session, id, transcript }) {
        const turnBoundary = { kind, session: session ?? '', turn: formatTurn(id, transcript) };
        const left = budget.part(WITHIN_MS).left();
        const response = await askDaemon(
          places,
          { verb: 'notify_surface', boundary: turnBoundary },
          { timeoutMs: left },
        );
        return response.is === 'answered' && response.answer.emitted;
      },
    };
  }
  return null;
}

/** The events that are boundaries bear their names. */
export function toBoundaryKind({ event }: HookTurn): TurnBoundaryKind | null {
  return TURN_BOUNDARY_KINDS.find((kind) => kind === event) ?? null;
}

/**
 * What tells this turn from the session's others and is the same for two hooks of one event: the harness's name for it, else
 * how long its transcript is, which every turn makes longer.
 */
function formatTurn(id: string | null, transcript: string | null): string | null {
  const size = id === null && transcript !== null ? readSize(transcript) : 0;
  return id?.slice(0, LONGEST_TURN) ?? (size === 0 ? null : `at ${size}`);
}
