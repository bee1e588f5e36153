import type { Answer, Pacing } from '../../../core/hooks/index.ts';
import { CONTINUED, noteActivity, noteChanged } from '../../hook/index.ts';
import { lineOutput } from '../line-output.node.ts';
import type { Call } from './call.ts';
import type { Kept } from './kept.ts';
import type { Told } from './mail.ts';

/** What writing leaves for marking what was written. */
const MARK_MS = 150;

/** Says it to the harness, and marks what was told once its bytes were written. @throws Fault, and what stdout says */
export async function say(call: Call, kept: Kept, pacing: Pacing, answer: Answer, told: Told | null): Promise<void> {
  const { asked, log, turn, persona, run, budget } = call;
  try {
    // Before it is said: a block that can not be counted would have no end.
    kept.save(pacing);
  } catch (error) {
    told?.lost();
    throw error;
  }
  const { stdout } = asked.harness.reply(turn, answer);
  if (stdout === '') return told?.lost();
  const writing = budget.part(budget.left() - MARK_MS);
  let became: 'written' | 'reader gone' | 'stopped';
  try {
    became = await lineOutput().write(stdout, {
      get aborted() {
        return writing.left() === 0;
      },
    });
  } catch (error) {
    told?.lost();
    throw error;
  }
  if (became !== 'written') {
    told?.lost();
    log.warn(`nothing was marked: ${became === 'stopped' ? 'stdout takes nothing' : 'nobody reads stdout'}`);
    return;
  }
  told?.written();
  if (turn.event === 'Stop' && answer.is !== 'allow') noteActivity(run, persona, CONTINUED);
  if (told !== null) noteChanged(run);
}
