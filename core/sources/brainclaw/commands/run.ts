import type { Io } from '../../../command/index.ts';
import type { CommandHost } from '../../module.ts';
import { type BrainclawArgs, parseBrainclawArgs } from './args.ts';
import { showActivity, showAttention, showBoard, showInbox } from './board.ts';
import { createContext } from './brainclaw-context.ts';
import { examine } from './doctor/index.ts';
import { simulate } from './simulate.ts';
import { tail } from './tail.ts';

/** @throws Fault `usage`, or a Fault about the project or the disk */
export async function runBrainclaw(args: readonly string[], io: Io, host: CommandHost): Promise<number> {
  const options = parseBrainclawArgs(args);
  switch (options.verb) {
    case 'simulate':
      return await simulate(options, io, host);
    case 'doctor':
      return await examine(options, io, host);
    default:
      return await runOnProject(options, io, host);
  }
}

async function runOnProject(options: BrainclawArgs, io: Io, host: CommandHost): Promise<number> {
  const context = await createContext(options, io, host);
  switch (options.verb) {
    case 'board':
      return showBoard(options, context);
    case 'attention':
      return showAttention(options, context);
    case 'activity':
      return showActivity(options, context);
    case 'inbox':
      return showInbox(options, context);
    case 'act':
      return await (await import('./act.ts')).act(options, context); // it loads the settings, which no other verb needs
    default:
      return await tail(options, context);
  }
}
