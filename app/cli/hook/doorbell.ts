import type { Turn } from '../../../core/hooks/index.ts';
import {
  askLink,
  BOUNDARY_KINDS,
  type BoundaryKind,
  type DaemonConfig,
  isThere,
  ownDaemonPlaces,
} from '../../../core/link/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import { daemonsOf } from '../../hook/index.ts';
import type { Io } from '../command.ts';
import { sizeOf } from './age.node.ts';
import type { Budget } from './budget.ts';

/** A persona with a daemon that lives: it is rung for, and is told nothing of what waits. */
export interface Bell {
  readonly config: DaemonConfig;
  /** Tells the daemon of this boundary. Whether it rings now. Never rejects. */
  at(kind: BoundaryKind, turn: Turn): Promise<boolean>;
}

/** The bound of the contract (persona daemon, 4): without an answer by then nothing is printed. */
const WITHIN_MS = 200;
const LONGEST_TURN = 500;

/**
 * The bell of a persona; null: no daemon of it was installed, or none runs, so the hook tells what waits as ever.
 * @throws Fault when the daemons that were installed can not be looked through
 */
export async function bellOf(
  who: { readonly persona: string; readonly name: string },
  {
    disk,
    state,
    env,
    budget,
  }: { readonly disk: Disk; readonly state: string; readonly env: Io['env']; readonly budget: Budget },
): Promise<Bell | null> {
  const wait = budget.part(WITHIN_MS);
  for (const config of daemonsOf(disk, state, who.persona, who.name)) {
    const places = ownDaemonPlaces(config, env);
    if (!(await isThere(places, wait.left()))) continue;
    return {
      config,
      async at(kind, { session, id, transcript }) {
        const boundary = { kind, session: session ?? '', turn: turnOf(id, transcript) };
        const left = budget.part(WITHIN_MS).left();
        const asked = await askLink(places, { verb: 'notify_surface', boundary }, { timeoutMs: left });
        return asked.is === 'answered' && asked.answer.emitted;
      },
    };
  }
  return null;
}

/** The events that are boundaries bear their names. */
export function boundaryAt({ event }: Turn): BoundaryKind | null {
  return BOUNDARY_KINDS.find((kind) => kind === event) ?? null;
}

/**
 * What tells this turn from the session's others and is the same for two hooks of one event: the harness's name for it, else
 * how long its transcript is, which every turn makes longer.
 */
function turnOf(id: string | null, transcript: string | null): string | null {
  const size = id === null && transcript !== null ? sizeOf(transcript) : 0;
  return id?.slice(0, LONGEST_TURN) ?? (size === 0 ? null : `at ${size}`);
}
