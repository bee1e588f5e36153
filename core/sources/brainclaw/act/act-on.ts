import { Fault } from '../../../model/index.ts';
import { errandFor, type Wish } from './aim.ts';
import { callText } from './call.ts';
import type { ActionClient } from './client.ts';
import { shellLine } from './shell-line.ts';

/** Brainclaw took the call. What became of it shows on the board, when its record is in the journal (observer protocol 7). */
export interface Acted {
  readonly accepted: true;
  readonly tool: string;
  /** Brainclaw's own words, cut. */
  readonly says: string;
}

const SAID = 2000;

/**
 * Has a wish done, by a person.
 * @param root the folder of the project
 * @throws Fault `usage` for what can not be done; `brainclaw-missing`, with the call for doing it by hand; `brainclaw-gone`, `brainclaw-refused`; and the reason of `signal`
 */
export async function actOn(
  client: ActionClient,
  root: string,
  wish: Wish,
  principal: string,
  signal: AbortSignal,
): Promise<Acted> {
  const errand = errandFor(wish, principal);
  try {
    const { text } = await client.call(errand.call, signal);
    return { accepted: true, tool: errand.call.tool, says: text.slice(0, SAID).toWellFormed() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'brainclaw-missing') throw error;
    const shell = errand.shell === null ? '' : `, or ${shellLine(root, errand.shell)}`;
    const what = `${error.message}; the call is ${callText(errand.call)}${shell}`;
    throw new Fault('brainclaw-missing', what, error.scope, { cause: error });
  }
}
