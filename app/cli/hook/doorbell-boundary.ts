import { decideMove, type HookAnswer, type HookMoment, type HookMove, type Pacing } from '../../../core/hooks/index.ts';
import type { Gates } from '../../../core/inbox/gates/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { say } from './answer-output.ts';
import type { HookCall } from './call.ts';
import { type DaemonBell, toBoundaryKind } from './doorbell.ts';
import type { WaitingEvents } from './events.ts';
import { type AskGates, OPEN_WAY, wouldHold } from './gates.ts';
import type { HookDelivery } from './mail.ts';
import type { PacingStore } from './pacing-store.ts';
import { type BellTarget, countUncounted, formatBellLine, type UncountedWork } from './uncounted-work.ts';
import { chooseAnswer, decideVerdict, updatePacing } from './verdict.ts';

/** Where a session is. */
export interface BoundaryContext {
  readonly pacingStore: PacingStore;
  readonly pacing: Pacing;
  readonly gates: Gates;
  readonly name: string;
  readonly items: Items;
  /** In the event file of another source. */
  readonly waiting: WaitingEvents;
}

const NOTHING: UncountedWork = { items: [0, 0, 0, 0, 0], events: 0 };

/** Something that waits, for the question whether it could be rung for now: a new one, and urgent. */
const RING_PROBE = { pending: [1, 0, 0, 0, 0], waiting: 'a doorbell' } as const;

/**
 * The same where a daemon rings: gates hold as ever, nothing is drained, and what is told is one line (persona daemon,
 * contract 4). It is asked only where its answer would be printed, and not while gates hold the turn: that goes on then, and
 * its end is still to come. What the daemon does not count is rung for beside it, at the same moments and no others.
 */
export async function ringAtBoundary(
  call: HookCall,
  { pacingStore, pacing, gates, name, items, waiting }: BoundaryContext,
  bell: DaemonBell,
): Promise<void> {
  const { options, io, turn } = call;
  const { event, session, cwd } = turn;
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? getSurroundings().cwd, env: io.env };
  const kind = toBoundaryKind(turn);
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
  // A Stop that is rung at does not happen: the gates are asked about the one that does.
  if (event === 'Stop' && !(await wouldHold(ask)) && (await tryRing())) return await ring();
  const verdict = await decideVerdict(moment, ask);
  call.progress.isDecided = true;
  const move = decideMove({ ...moment, gates: verdict });
  if (event !== 'Stop' && move.is !== 'block' && (await tryRing())) return await ring();
  const { answer, delivery: line } = chooseAnswer(move, verdict, event, () => null, toDelivery(false));
  await end(move, answer, line);
}
