import { type Answer, type Moment, moveAt, type Pacing } from '../../../core/hooks/index.ts';
import type { Gates } from '../../../core/inbox/gates/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { surroundings } from '../session-surroundings.node.ts';
import type { Call } from './call.ts';
import { type Bell, boundaryAt } from './doorbell.ts';
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
}

const NO_MAIL: Told = { text: '', written: () => {}, lost: () => {} };
/** Something that waits, for the question whether it could be rung for now: a new one, and urgent. */
const RUNG_FOR = { pending: [1, 0, 0, 0, 0], waiting: 'a doorbell', delivery: 'doorbell' } as const;

/**
 * The same where a daemon rings: gates hold as ever, nothing is drained, and what is told is one line (persona daemon,
 * contract 4). It is asked only where its answer would be printed, and not while gates hold the turn: that goes on then, and
 * its end is still to come.
 */
export async function rungBoundary(call: Call, { kept, pacing, gates, name }: At, bell: Bell): Promise<void> {
  const { asked, io, turn } = call;
  const { event, cwd } = turn;
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? surroundings().cwd, env: io.env };
  const moment: Moment = {
    ...{ event, carries: asked.harness.carries(turn), gates: OPEN_WAY, pending: [0, 0, 0, 0, 0], waiting: '' },
    ...{ pacing, now: realClock.now(), failure: turn.failure, isSubagent: turn.isSubagent },
    ...{ delivery: asked.delivery, onStop: asked.onStop },
  };
  const kind = boundaryAt(turn);
  const ring = async (): Promise<Answer | null> => {
    if (kind === null || moveAt({ ...moment, ...RUNG_FOR }).is !== 'ring') return null;
    const text = await bell.at(kind, turn);
    return text === null ? null : { is: 'ring', text };
  };
  const end = async (answer: Answer): Promise<void> => {
    const goesOn = { ...pacedAfter(pacing, { is: 'allow' }, answer, moment), rung: pacing.rung };
    await say(call, kept, goesOn, answer, null);
  };
  // A Stop that is rung at does not happen: the gates are asked about the one that does.
  if (event === 'Stop' && !(await wouldHold(ask))) {
    const rung = await ring();
    if (rung !== null) return await end(rung);
  }
  const verdict = await verdictAt(moment, ask);
  const { answer } = answerOf(moveAt({ ...moment, gates: verdict }), verdict, event, () => null, NO_MAIL);
  const rung = answer.is === 'allow' && event !== 'Stop' ? await ring() : null;
  await end(rung ?? answer);
}
