import {
  type Answer,
  afterBlock,
  afterContinue,
  type Moment,
  type Move,
  moveAt,
  type Pacing,
  stateOf,
  type Turn,
  type Verdict,
} from '../../../core/hooks/index.ts';
import { type AskGates, askGates, OPEN_WAY, wouldHold } from './gates.ts';
import type { Told } from './mail.ts';
import { BEFORE_STOP, formatHold, noteOf } from './texts.ts';

/**
 * The gates' word. At a Stop that mail will not let happen anyway they are asked only when they would hold it: to pass them
 * uses up the mark of a decision, which is for the stop that happens. In a loop they are not asked.
 */
export async function verdictAt(moment: Moment, ask: AskGates): Promise<Verdict> {
  const { event, pacing, pending, carries } = moment;
  if (!carries.block) return OPEN_WAY;
  if (event === 'Stop') {
    if (moveAt({ ...moment, gates: { lacks: 'any', warnings: [] } }).is === 'allow') return OPEN_WAY;
    if (moveAt(moment).is !== 'allow' && !(await wouldHold(ask))) return OPEN_WAY;
  }
  return askGates(ask, stateOf(pacing, pending, ask.turn.lastMessage));
}

/** What a move is in words, with what follows from whether they were written. */
export function answerOf(
  move: Move,
  verdict: Verdict,
  event: Turn['event'],
  mail: (upTo: 1 | 4, taken: number) => Told | null,
  ring: Told,
): { readonly answer: Answer; readonly told: Told | null } {
  const allow = { answer: { is: 'allow', note: noteOf(verdict) }, told: null } as const;
  const before = event === 'Stop' ? `${BEFORE_STOP}\n` : '';
  switch (move.is) {
    case 'allow':
      return allow;
    case 'inject': {
      const told = mail(move.upTo <= 1 ? 1 : 4, before.length);
      return told === null ? allow : { answer: { is: 'inject', text: `${before}${told.text}` }, told };
    }
    case 'ring':
      return { answer: { is: 'ring', text: `${before}${ring.text}` }, told: ring };
    case 'block': {
      const reason = formatHold(verdict, event);
      const told = move.tells === null ? null : move.tells === 'ring' ? ring : mail(4, reason.length + 1);
      return { answer: { is: 'block', reason: told === null ? reason : `${reason}\n${told.text}` }, told };
    }
  }
}

/** What is kept of the pacing once that is said. */
export function pacedAfter(pacing: Pacing, move: Move, answer: Answer, moment: Moment): Pacing {
  const { event, now, waiting } = moment;
  const rung = answer.is === 'ring' || (move.is === 'block' && move.tells === 'ring') ? waiting : pacing.rung;
  if (event !== 'Stop' || answer.is === 'allow') return { ...pacing, rung };
  if (answer.is === 'block') return { ...afterBlock(pacing, now), rung };
  return { ...afterContinue(pacing, now), rung };
}
