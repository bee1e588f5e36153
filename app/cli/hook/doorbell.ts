import type { Io } from '../../../core/command/index.ts';
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
import { readSize } from './age.node.ts';
import type { TimeBudget } from './budget.ts';

/** The bell of a persona with a live daemon. The hook rings and delivers none of what waits. */
export interface DaemonBell {
  readonly config: DaemonConfig;
  /** Tells the daemon about this turn boundary, and returns whether it rings now. Never rejects. */
  at(kind: TurnBoundaryKind, turn: HookTurn): Promise<boolean>;
}

/** The limit of the contract (persona daemon, 4): without an answer by then nothing is printed. */
const WITHIN_MS = 200;
const LONGEST_TURN = 500;

/**
 * Creates the bell of a persona. Null: no daemon of the persona is installed or running, so the hook delivers as usual.
 * @throws Fault when the installed daemons cannot be read
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

/** Returns the turn boundary of an event; both have the same name. */
export function toTurnBoundaryKind({ event }: HookTurn): TurnBoundaryKind | null {
  return TURN_BOUNDARY_KINDS.find((kind) => kind === event) ?? null;
}

/**
 * Identifies a turn within its session, equally for two hooks of one event. It is the harness's id of the turn, else the length
 * of the transcript, which grows with every turn.
 */
function formatTurn(id: string | null, transcript: string | null): string | null {
  const size = id === null && transcript !== null ? readSize(transcript) : 0;
  return id?.slice(0, LONGEST_TURN) ?? (size === 0 ? null : `at ${size}`);
}
