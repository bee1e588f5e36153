import { decideMove, type HookAnswer, type HookMoment, type HookMove, type Pacing } from '../../../core/hooks/index.ts';
import type { Gates } from '../../../core/inbox/gates/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { say } from './answer-output.ts';
import type { HookCall } from './call.ts';
import { type DaemonBell, toTurnBoundaryKind } from './doorbell.ts';
import type { WaitingEvents } from './events.ts';
import { type AskGates, OPEN_WAY, wouldHold } from './gates.ts';
import type { HookDelivery } from './mail.ts';
import type { PacingStore } from './pacing-store.ts';
import { type BellTarget, countUncounted, formatBellLine, type UncountedWork } from './uncounted-work.ts';
import { chooseAnswer, decideVerdict, updatePacing } from './verdict.ts';

/** The state of a session at a turn boundary. */
export interface TurnBoundaryContext {
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
