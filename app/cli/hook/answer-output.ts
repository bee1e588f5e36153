import type { HookAnswer, Pacing } from '../../../core/hooks/index.ts';
import { CONTINUED, noteActivity, noteChanged } from '../../hook/index.ts';
import { createLineOutput } from '../line-output.node.ts';
import type { HookCall } from './call.ts';
import type { HookDelivery } from './mail.ts';
import type { PacingStore } from './pacing-store.ts';

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
    log.warn(`nothing was marked: ${became === 'stopped' ? 'stdout takes nothing' : 'nobody reads stdout'}`);
    return;
  }
  delivery?.written();
  if (turn.event === 'Stop' && answer.is !== 'allow') noteActivity(run, persona, CONTINUED);
  if (delivery !== null) noteChanged(run);
}
