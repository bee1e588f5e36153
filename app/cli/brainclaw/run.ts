import type { Io } from '../command.ts';
import { showActivity } from './activity.ts';
import { type BrainclawArgs, brainclawArgs } from './args.ts';
import { showAttention } from './attention.ts';
import { showBoard } from './board.ts';
import { examine } from './doctor/index.ts';
import { groundOf } from './ground.ts';
import { showInbox } from './inbox.ts';
import { simulate } from './simulate.ts';
import { tail } from './tail.ts';

/** @throws Fault `usage`, or what is about the project and the disk */
export async function runBrainclaw(args: readonly string[], io: Io): Promise<number> {
  const asked = brainclawArgs(args);
  switch (asked.verb) {
    case 'simulate':
      return await simulate(asked, io);
    case 'doctor':
      return await examine(asked, io);
    default:
      return await look(asked, io);
  }
}

async function look(asked: BrainclawArgs, io: Io): Promise<number> {
  const ground = await groundOf(asked, io);
  switch (asked.verb) {
    case 'board':
      return showBoard(asked, ground);
    case 'attention':
      return showAttention(asked, ground);
    case 'activity':
      return showActivity(asked, ground);
    case 'inbox':
      return showInbox(asked, ground);
    case 'act':
      return await (await import('./act.ts')).act(asked, ground); // with the settings, which nothing else asks for
    default:
      return await tail(asked, ground);
  }
}
