import {
  computeTurnHash,
  decideMove,
  type GateSummary,
  type HookAnswer,
  type HookMoment,
  type HookMove,
  type HookTurn,
  type Pacing,
  recordBlock,
  recordContinue,
} from '../../../core/hooks/index.ts';
import { type AskGates, askGates, OPEN_WAY, wouldHold } from './gates.ts';
import type { HookDelivery } from './mail.ts';
import { BEFORE_STOP, formatHold, formatNote } from './texts.ts';

/**
 * Decides what the gates say. When mail prevents a Stop anyway, they are asked only if they would hold it. Passing them uses up
 * the mark of a decision, which is meant for the Stop that happens. In a loop they are not asked.
 */
export async function decideVerdict(moment: HookMoment, ask: AskGates): Promise<GateSummary> {
  const { event, pacing, pending, carries } = moment;
  if (!carries.block) return OPEN_WAY;
  if (event === 'Stop') {
    if (decideMove({ ...moment, gates: { lacks: 'any', warnings: [] } }).is === 'allow') return OPEN_WAY;
    if (decideMove(moment).is !== 'allow' && !(await wouldHold(ask))) return OPEN_WAY;
  }
  return askGates(ask, computeTurnHash(pacing, pending, ask.turn.lastMessage));
}

/** Chooses the text of a move, with the delivery that depends on whether it is written. */
export function chooseAnswer(
  move: HookMove,
  verdict: GateSummary,
  event: HookTurn['event'],
  mail: (upTo: 1 | 4, usedChars: number) => HookDelivery | null,
  ring: HookDelivery,
): { readonly answer: HookAnswer; readonly delivery: HookDelivery | null } {
  const allow = { answer: { is: 'allow', note: formatNote(verdict) }, delivery: null } as const;
  const before = event === 'Stop' ? `${BEFORE_STOP}\n` : '';
  switch (move.is) {
    case 'allow':
      return allow;
    case 'inject': {
      const delivery = mail(move.upTo <= 1 ? 1 : 4, before.length);
      return delivery === null ? allow : { answer: { is: 'inject', text: `${before}${delivery.text}` }, delivery };
    }
    case 'ring':
      return { answer: { is: 'ring', text: `${before}${ring.text}` }, delivery: ring };
    case 'block': {
      const reason = formatHold(verdict, event);
      const delivery = move.tells === null ? null : move.tells === 'ring' ? ring : mail(4, reason.length + 1);
      return { answer: { is: 'block', reason: delivery === null ? reason : `${reason}\n${delivery.text}` }, delivery };
    }
  }
}

/** Returns the pacing to store with that answer. */
export function updatePacing(pacing: Pacing, move: HookMove, answer: HookAnswer, moment: HookMoment): Pacing {
  const { event, now, waiting } = moment;
  const rung = answer.is === 'ring' || (move.is === 'block' && move.tells === 'ring') ? waiting : pacing.rung;
  if (event !== 'Stop' || answer.is === 'allow') return { ...pacing, rung };
  if (answer.is === 'block') return { ...recordBlock(pacing, now), rung };
  return { ...recordContinue(pacing, now), rung };
}
