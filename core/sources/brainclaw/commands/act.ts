import { joinWithOr, toUsageFault } from '../../../command/index.ts';
import { displayJson, displayName } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import { realClock } from '../../../ports/index.ts';
import {
  createActionClient,
  createActionsOffFault,
  formatShellLine,
  formatToolCall,
  getActionClientOptions,
  isProjectAction,
  PROJECT_ACTION_NAMES,
  type ProjectActionRequest,
  runProjectAction,
  toProjectActionCall,
} from '../index.ts';
import type { BrainclawArgs } from './args.ts';
import { type BrainclawContext, complain, NAME, printJson, readSettings } from './brainclaw-context.ts';

/** Exit code: brainclaw is not installed here, and the call that it would get was printed. */
const NOT_INSTALLED = 3;

/**
 * Has brainclaw act on an item. The command starts its own brainclaw server, which ends with it, so a running tray program
 * makes no difference (brainclaw contract 9).
 */
export async function act({ words, flags }: BrainclawArgs, context: BrainclawContext): Promise<number> {
  const { host, io, project } = context;
  const wish = parseWish(words, flags);
  const clientOptions = getActionClientOptions(io.env, host.version);
  const { call, shell } = toProjectActionCall(wish, clientOptions.principal);
  if ((await readSettings(host, io)).brainclaw.actions !== true) throw createActionsOffFault(project.id);
  const { root } = project;
  const stop = host.createStopSignal();
  await using client = createActionClient({ ...clientOptions, root, clock: realClock, log: host.createLog(io, NAME) });
  try {
    const { says, tool } = await runProjectAction(client, root, wish, clientOptions.principal, stop);
    if (context.asJson) printJson(context, { accepted: true, project: project.id, ...wish, tool, says });
    else io.out(`brainclaw accepted ${wish.do} ${wish.item}; the board shows it when the journal has it\n`);
    return 0;
  } catch (error) {
    if (stop.aborted) {
      complain(context, 'stopped: the board shows whether it was done');
      return 1;
    }
    if (!(error instanceof Fault) || error.code !== 'brainclaw-missing') throw error;
    const line = shell === null ? null : formatShellLine(root, shell);
    const plannedCall = {
      accepted: false,
      project: project.id,
      root,
      tool: call.tool,
      arguments: call.arguments,
      shell: line,
    };
    if (context.asJson) io.out(`${displayJson(JSON.stringify(plannedCall))}\n`);
    else
      io.out([formatToolCall(call), ...(line === null ? [] : [line])].map((text) => `${displayName(text)}\n`).join(''));
    complain(context, `brainclaw is not installed here, so nothing was done. The call to make in ${root}`);
    return NOT_INSTALLED;
  }
}

/** @throws Fault `usage` */
function parseWish([action, item]: readonly string[], { text, step }: BrainclawArgs['flags']): ProjectActionRequest {
  if (action === undefined || !isProjectAction(action))
    throw toUsageFault(new Error(`brainclaw act: expected ${joinWithOr(PROJECT_ACTION_NAMES)}`));
  if (item === undefined)
    throw toUsageFault(new Error(`brainclaw act ${action}: ITEM is missing: use its id, for example cnd_12`));
  return { do: action, item, text: text ?? null, step: step ?? null };
}
