import { Fault } from '../../../model/index.ts';
import type { ProjectActionRequest } from '../action-schema.ts';
import { toProjectActionCall } from './action-request.ts';
import type { ActionClient } from './client.ts';
import { formatShellLine } from './shell-line.ts';
import { formatToolCall } from './tool-call.ts';

/** Brainclaw accepted the call. The effect shows on the board when its record is in the journal (observer protocol 7). */
export interface ProjectActionResult {
  readonly accepted: true;
  readonly tool: string;
  /** Brainclaw's own answer, cut. */
  readonly says: string;
}

const MOST_ANSWER_CHARS = 2000;

/**
 * Carries out a request of a person.
 * @param root the folder of the project
 * @throws Fault `usage` for what cannot be done; `brainclaw-missing`, with the call for doing it by hand; `brainclaw-gone`,
 * `brainclaw-refused`; and the reason of `signal`
 */
export async function runProjectAction(
  client: ActionClient,
  root: string,
  request: ProjectActionRequest,
  principal: string,
  signal: AbortSignal,
): Promise<ProjectActionResult> {
  const actionCall = toProjectActionCall(request, principal);
  try {
    const { text } = await client.call(actionCall.call, signal);
    return { accepted: true, tool: actionCall.call.tool, says: text.slice(0, MOST_ANSWER_CHARS).toWellFormed() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'brainclaw-missing') throw error;
    const shell = actionCall.shell === null ? '' : `, or ${formatShellLine(root, actionCall.shell)}`;
    const message = `${error.message}; the call is ${formatToolCall(actionCall.call)}${shell}`;
    throw new Fault('brainclaw-missing', message, error.scope, { cause: error });
  }
}
