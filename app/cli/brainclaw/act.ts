import { Fault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import {
  actionClient,
  actOn,
  callText,
  DEED_NAMES,
  errandFor,
  isDeed,
  shellLine,
  type Wish,
} from '../../../core/sources/brainclaw/index.ts';
import { ownDirs } from '../../../core/state/dirs.node.ts';
import { brainclawHere } from '../../compose/brainclaw-here.node.ts';
import { actionsOff } from '../../compose/keep-acts.ts';
import { openSettings } from '../../config/tray/index.ts';
import { printable, printableJson } from '../../printable.ts';
import { usage } from '../outcome.ts';
import { stderrLog } from '../stderr-log.ts';
import { stopSignal } from '../stop-signal.node.ts';
import type { BrainclawArgs } from './args.ts';
import { complain, type Ground, NAME, sayJson } from './ground.ts';

/** An exit code: brainclaw is not installed here, and what it would be asked was printed. */
const NOT_INSTALLED = 3;

/**
 * Has brainclaw act on an item, by a server of this command's own, which ends with it: whether a tray program runs makes no
 * difference (brainclaw contract 9).
 */
export async function act({ words, flags }: BrainclawArgs, ground: Ground): Promise<number> {
  const { io, project } = ground;
  const wish = wishOf(words, flags);
  const here = brainclawHere(io.env);
  const { call, shell } = errandFor(wish, here.principal);
  if (openSettings(ownDirs({ ...io.env }).config).settings.brainclaw.actions !== true) throw actionsOff(project.id);
  const { root } = project;
  const stop = stopSignal();
  await using client = actionClient({ ...here, root, clock: realClock, log: stderrLog(io, NAME) });
  try {
    const { says, tool } = await actOn(client, root, wish, here.principal, stop);
    if (ground.asJson) sayJson(ground, { accepted: true, project: project.id, ...wish, tool, says });
    else io.out(`brainclaw took ${wish.do} ${wish.item}; the board shows it once its journal does\n`);
    return 0;
  } catch (error) {
    if (stop.aborted) {
      complain(ground, 'stopped: whether it was done shows on the board');
      return 1;
    }
    if (!(error instanceof Fault) || error.code !== 'brainclaw-missing') throw error;
    const line = shell === null ? null : shellLine(root, shell);
    const told = {
      accepted: false,
      project: project.id,
      root,
      tool: call.tool,
      arguments: call.arguments,
      shell: line,
    };
    if (ground.asJson) io.out(`${printableJson(JSON.stringify(told))}\n`);
    else io.out([callText(call), ...(line === null ? [] : [line])].map((text) => `${printable(text)}\n`).join(''));
    complain(ground, `brainclaw is not installed here, so nothing was done: that is the call, in ${root}`);
    return NOT_INSTALLED;
  }
}

/** @throws Fault `usage` */
function wishOf([what, item]: readonly string[], { text, step }: BrainclawArgs['flags']): Wish {
  if (what === undefined || !isDeed(what)) throw usage(new Error(`brainclaw act: say ${DEED_NAMES.join(', ')}`));
  if (item === undefined) throw usage(new Error(`brainclaw act ${what}: say which item, by its id: cnd_12`));
  return { do: what, item, text: text ?? null, step: step ?? null };
}
