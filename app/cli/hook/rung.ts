import { type Answer, type Moment, type Move, moveAt, type Pacing } from '../../../core/hooks/index.ts';
import type { Gates } from '../../../core/inbox/gates/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { type Beside, lineFor, uncounted, type Whose } from './beside.ts';
import type { Call } from './call.ts';
import { type Bell, boundaryAt } from './doorbell.ts';
import type { Waiting } from './events.ts';
import { type AskGates, OPEN_WAY, wouldHold } from './gates.ts';
import type { Kept } from './kept.ts';
import type { Told } from './mail.ts';
import { say } from './say.ts';
import { answerOf, pacedAfter, verdictAt } from './verdict.ts';

/** Where a session is. */
export interface At {
  readonly kept: Kept;
  readonly pacing: Pacing;
  readonly gates: Gates;
  readonly name: string;
  readonly items: Items;
  /** In the event file of another source. */
  readonly waiting: Waiting;
}

const NOTHING: Beside = { items: [0, 0, 0, 0, 0], events: 0 };

/** Something that waits, for the question whether it could be rung for now: a new one, and urgent. */
const RUNG_FOR = { pending: [1, 0, 0, 0, 0], waiting: 'a doorbell' } as const;

/**
 * The same where a daemon rings: gates hold as ever, nothing is drained, and what is told is one line (persona daemon,
 * contract 4). It is asked only where its answer would be printed, and not while gates hold the turn: that goes on then, and
 * its end is still to come. What the daemon does not count is rung for beside it, at the same moments and no others.
 */
export async function rungBoundary(
  call: Call,
  { kept, pacing, gates, name, items, waiting }: At,
  bell: Bell,
): Promise<void> {
  const { asked, io, turn } = call;
  const { event, session, cwd } = turn;
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? surroundings().cwd, env: io.env };
  const kind = boundaryAt(turn);
  const whose: Whose = { config: bell.config, name, session };
  const beside: Beside = kind === null ? NOTHING : { items: uncounted(items, whose), events: waiting.items.length };
  const [first, second, third, ...rest] = beside.items;
  const pending: Moment['pending'] = [first, second, third + beside.events, ...rest];
  const moment: Moment = {
    ...{ event, carries: asked.harness.carries(turn), gates: OPEN_WAY, pending, waiting: pending.join() },
    ...{ pacing, now: realClock.now(), failure: turn.failure, isSubagent: turn.isSubagent },
    ...{ delivery: 'doorbell', onStop: asked.onStop },
  };
  const told = (isRung: boolean): Told => ({
    text: lineFor(whose, beside, isRung),
    written: () => waiting.told(beside.events),
    lost: () => {},
  });
  const isRung = async (): Promise<boolean> =>
    kind !== null && moveAt({ ...moment, ...RUNG_FOR }).is === 'ring' && (await bell.at(kind, turn));
  const end = (move: Move, answer: Answer, line: Told | null): Promise<void> =>
    say(call, kept, pacedAfter(pacing, move, answer, moment), answer, line);
  const ring = async (): Promise<void> => {
    const line = told(true);
    await end({ is: 'ring' }, { is: 'ring', text: line.text }, line);
  };
  // A Stop that is rung at does not happen: the gates are asked about the one that does.
  if (event === 'Stop' && !(await wouldHold(ask)) && (await isRung())) return await ring();
  const verdict = await verdictAt(moment, ask);
  call.progress.isDecided = true;
  const move = moveAt({ ...moment, gates: verdict });
  if (event !== 'Stop' && move.is !== 'block' && (await isRung())) return await ring();
  const { answer, told: line } = answerOf(move, verdict, event, () => null, told(false));
  await end(move, answer, line);
}
