import type { Io } from '../../../core/command/index.ts';
import {
  decideMove,
  type HookAnswer,
  type HookMoment,
  type HookMove,
  type HookTurn,
  type Pacing,
} from '../../../core/hooks/index.ts';
import type { Gates } from '../../../core/inbox/gates/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import {
  askDaemon,
  type DaemonConfig,
  findOwnDaemonPlaces,
  formatDrainCommand,
  formatInboxDrainCommand,
  formatWorkNotice,
  isListening,
  LOCAL,
  TURN_BOUNDARY_KINDS,
  type TurnBoundaryKind,
} from '../../../core/link/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import { findPersonaDaemons } from '../../hook/index.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { chooseAnswer, decideVerdict, formatItemCount, say, updatePacing } from './answer.ts';
import type { HookCall, TimeBudget } from './call.ts';
import type { WaitingEvents } from './events.ts';
import type { PacingStore } from './pacing-store.ts';
import { type AskGates, type HookDelivery, OPEN_WAY, wouldHold } from './pending.ts';
import { readSize } from './system.node.ts';

// This file is loaded only where persona daemons are installed, because an agent waits for each file that a hook loads.
export { createElsewhereCheck } from '../../hook/index.ts';

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

/** The state of a session at a turn boundary. */
interface TurnBoundaryContext {
  readonly pacingStore: PacingStore;
  readonly pacing: Pacing;
  readonly gates: Gates;
  readonly name: string;
  readonly items: Items;
  /** Events of another source, from the persona's event file. */
  readonly waiting: WaitingEvents;
}

const NOTHING: UncountedWork = { items: [0, 0, 0, 0, 0], events: 0 };

/** A new, urgent item, to ask whether the agent could be rung now. */
const RING_PROBE = { pending: [1, 0, 0, 0, 0], waiting: 'a doorbell' } as const;

/**
 * Handles a turn boundary of a persona whose daemon rings. Gates hold as usual, nothing is drained, and the answer is one line
 * (persona daemon, contract 4). The daemon is asked only where its answer would be printed. While gates hold the turn it is not
 * asked, because the turn goes on and its end is still to come. Work that the daemon does not count is rung for at the same
 * moments.
 */
export async function ringAtTurnBoundary(
  call: HookCall,
  { pacingStore, pacing, gates, name, items, waiting }: TurnBoundaryContext,
  bell: DaemonBell,
): Promise<void> {
  const { options, io, turn } = call;
  const { event, session, cwd } = turn;
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? getSurroundings().cwd, env: io.env };
  const kind = toTurnBoundaryKind(turn);
  const bellTarget: BellTarget = { config: bell.config, name, session };
  const otherWork: UncountedWork =
    kind === null ? NOTHING : { items: countUncounted(items, bellTarget), events: waiting.items.length };
  const [first, second, third, ...rest] = otherWork.items;
  const pending: HookMoment['pending'] = [first, second, third + otherWork.events, ...rest];
  const moment: HookMoment = {
    ...{ event, carries: options.harness.carries(turn), gates: OPEN_WAY, pending, waiting: pending.join() },
    ...{ pacing, now: realClock.now(), failure: turn.failure, isSubagent: turn.isSubagent },
    isContinued: turn.isContinued,
    ...{ delivery: 'doorbell', onStop: options.onStop },
  };
  const toDelivery = (hasRung: boolean): HookDelivery => ({
    text: formatBellLine(bellTarget, otherWork, hasRung),
    written: () => waiting.acknowledge(otherWork.events),
    lost: () => {},
  });
  const tryRing = async (): Promise<boolean> =>
    kind !== null && decideMove({ ...moment, ...RING_PROBE }).is === 'ring' && (await bell.at(kind, turn));
  const end = (move: HookMove, answer: HookAnswer, line: HookDelivery | null): Promise<void> =>
    say(call, pacingStore, updatePacing(pacing, move, answer, moment), answer, line);
  const ring = async (): Promise<void> => {
    const line = toDelivery(true);
    await end({ is: 'ring' }, { is: 'ring', text: line.text }, line);
  };
  // A Stop at which a doorbell rings does not happen. The gates are asked at the Stop that does.
  if (event === 'Stop' && !(await wouldHold(ask)) && (await tryRing())) return await ring();
  const verdict = await decideVerdict(moment, ask);
  call.progress.isDecided = true;
  const move = decideMove({ ...moment, gates: verdict });
  if (event !== 'Stop' && move.is !== 'block' && (await tryRing())) return await ring();
  const { answer, delivery: line } = chooseAnswer(move, verdict, event, () => null, toDelivery(false));
  await end(move, answer, line);
}

/** Work that waits for a session and that its daemon does not count. */
interface UncountedWork {
  /** Items in the local hive, by priority. */
  readonly items: HookMoment['pending'];
  /** Events of another source, from the event file. */
  readonly events: number;
}

interface BellTarget {
  readonly config: DaemonConfig;
  /** The persona's name in the local hive. */
  readonly name: string;
  readonly session: string | null;
}

/**
 * Counts the items of the local hive that the daemon does not count: those for this session alone. With an upstream elsewhere
 * it is all of them.
 */
function countUncounted(items: Items, { config, name, session }: BellTarget): HookMoment['pending'] {
  const pending = items.pending(name, session);
  if (config.upstream !== LOCAL) return pending;
  const own = items.pending(name, null);
  const countBeside = (priority: 0 | 1 | 2 | 3 | 4): number => Math.max(0, pending[priority] - own[priority]);
  return [countBeside(0), countBeside(1), countBeside(2), countBeside(3), countBeside(4)];
}

/** Formats the line for everything that waits. @param hasRung whether the daemon rings as well */
function formatBellLine(
  { config, name, session }: BellTarget,
  { items, events }: UncountedWork,
  hasRung: boolean,
): string {
  const isBeside = items.some((count) => count > 0);
  const isOne = hasRung && config.upstream === LOCAL;
  const commands = [
    ...(hasRung ? [formatDrainCommand(config, isBeside ? session : null)] : []),
    ...(isBeside && !isOne ? [formatInboxDrainCommand(name, session)] : []),
    ...(events === 0 ? [] : [`${formatItemCount(events)} in the inbox of its own system`]),
  ];
  return formatWorkNotice(config, commands);
}
