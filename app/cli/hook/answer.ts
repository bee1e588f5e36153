import {
  computeTurnHash,
  decideMove,
  type GateSummary,
  type HookAnswer,
  type HookEvent,
  type HookMoment,
  type HookMove,
  type HookTurn,
  type Pacing,
  recordBlock,
  recordContinue,
  STOP_TEXTS,
} from '../../../core/hooks/index.ts';
import { formatPendingCommand, toHarmlessName } from '../../../core/inbox/drain/index.ts';
import { MOST_COUNTED } from '../../../core/inbox/index.ts';
import { CONTINUED, noteActivity, noteChanged } from '../../hook/index.ts';
import { createLineOutput } from '../nonblocking-io.node.ts';
import type { HookCall } from './call.ts';
import type { PacingStore } from './pacing-store.ts';
import { type AskGates, askGates, type HookDelivery, OPEN_WAY, wouldHold } from './pending.ts';

/**
 * Decides what the gates say. When mail prevents a Stop anyway, they are asked only if they would hold it. Passing them uses up
 * the mark of a decision, which is meant for the Stop that happens. In a loop they are not asked.
 */
export async function decideVerdict(moment: HookMoment, ask: AskGates): Promise<GateSummary> {
  const { event, pacing, pending, carries } = moment;
  if (!carries.block || moment.isContinued === true) return OPEN_WAY;
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
  const before = event === 'Stop' ? `${STOP_TEXTS.mail}\n` : '';
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

const MAX_NAME = 40;
/** The most characters that gates may add beside a frame. */
const MAX_GATES = 3000;

/** Says that something waits, without any of its text. */
export function formatBell(name: string, pending: readonly number[], events: number): string {
  const whose = toHarmlessName(name, MAX_NAME);
  const items = pending.reduce((sum, count) => sum + count, 0);
  const urgent = (pending[0] ?? 0) + (pending[1] ?? 0);
  const parts = [
    ...(items === 0 ? [] : [`${formatItemCount(items)} (${urgent} urgent): ${formatPendingCommand(name)}`]),
    ...(events === 0 ? [] : [`${formatItemCount(events)} in the inbox of its own system`]),
  ];
  return `hivebar: waiting for "${whose}": ${parts.join('; ')}`;
}

const HELD: Readonly<Partial<Record<HookEvent, string>>> = {
  UserPromptSubmit: 'This prompt',
  PreToolUse: 'This tool call',
  PreCompact: 'This compaction',
};

/** Formats why something does not happen yet. The harness puts words such as "Stop hook error:" before it. */
function formatHold({ lacks, warnings }: GateSummary, event: HookEvent): string {
  const soft = warnings.length === 0 ? '' : `\nAlso: ${warnings.join('; ')}`;
  const held = HELD[event];
  const start = held === undefined ? STOP_TEXTS.held : `${held} is held by Hivebar: `;
  return clipText(`${start}${lacks ?? ''}${soft}`, MAX_GATES);
}

/** Formats the warnings of soft gates for the person. */
function formatNote({ warnings }: GateSummary): string | null {
  return warnings.length === 0 ? null : clipText(`hivebar: ${warnings.join('; ')}`, MAX_GATES);
}

/** Formats a count of items for a reader. */
export const formatItemCount = (count: number): string =>
  count === 1 ? '1 item' : `${count}${count >= MOST_COUNTED ? ' or more' : ''} items`;

/** Cuts in whole code points. */
function clipText(text: string, most: number): string {
  return text.length <= most ? text : `${[...text.slice(0, most)].slice(0, -1).join('')} [cut]`;
}

/** Time that writing must leave for marking what was written. */
const ACK_MS = 150;

/**
 * Writes the answer to stdout for the harness, and marks its items once the bytes were written. @throws Fault, or the error of
 * stdout
 */
export async function say(
  call: HookCall,
  pacingStore: PacingStore,
  pacing: Pacing,
  answer: HookAnswer,
  delivery: HookDelivery | null,
): Promise<void> {
  const { options, log, turn, persona, run, budget } = call;
  try {
    // The pacing is saved first, because a block that cannot be counted would repeat without end.
    pacingStore.save(pacing);
  } catch (error) {
    delivery?.lost();
    throw error;
  }
  const { stdout } = options.harness.formatReply(turn, answer);
  if (stdout === '') return delivery?.lost();
  const writing = budget.part(budget.left() - ACK_MS);
  let became: 'written' | 'reader gone' | 'stopped';
  try {
    became = await createLineOutput().write(stdout, {
      get aborted() {
        return writing.left() === 0;
      },
    });
  } catch (error) {
    delivery?.lost();
    throw error;
  }
  if (became !== 'written') {
    delivery?.lost();
    log.warn(
      `nothing was marked as delivered: ${became === 'stopped' ? 'the reader of stdout does not read' : 'the reader of stdout is gone'}`,
    );
    return;
  }
  delivery?.written();
  if (turn.event === 'Stop' && answer.is !== 'allow') noteActivity(run, persona, CONTINUED);
  if (delivery !== null) noteChanged(run);
}
