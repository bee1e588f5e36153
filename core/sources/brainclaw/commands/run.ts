import { resolve } from 'node:path';
import { type Io, toUsageFault } from '../../../command/index.ts';
import { realClock } from '../../../ports/index.ts';
import { findWorkFolder } from '../../../state/index.ts';
import type { CommandHost } from '../../module.ts';
import { type BrainclawArgs, parseBrainclawArgs, parseWholeNumber } from './args.ts';
import { showActivity, showAttention, showBoard, showInbox } from './board.ts';
import { createContext, printJson } from './brainclaw-context.ts';
import { examine } from './doctor.ts';
import { countLeastRecords, type SimulationStory, STORY, simulateMail } from './simulated-items.ts';
import { type SimulatedProject, writeSimulatedProject } from './simulated-store.node.ts';
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

const MOST_RATE = 1000;
/** The most appends per second. At higher rates one append has several records. */
const MOST_APPENDS = 50;

/** Writes a made-up store for trials and tests. It never changes a store that was not made this way. */
async function simulate({ flags }: BrainclawArgs, io: Io, host: CommandHost): Promise<number> {
  const story = parseStory(flags);
  const rate = parseWholeNumber(flags, 'follow-rate', 1);
  if (rate !== null && rate > MOST_RATE)
    throw toUsageFault(new Error(`--follow-rate ${rate}: must be at most ${MOST_RATE}`));
  const folder = resolve(findWorkFolder(), flags.to ?? '');
  const simulated = writeSimulatedProject(folder, story);
  const { written, store } = simulated;
  if (flags.json === true) printJson({ io }, { store: store.root, written, inboxes: simulateMail(story).inboxes });
  else {
    const { records, bytes, segments, attention } = written;
    io.out(`${store.root}: ${records} records, ${bytes} bytes, ${segments} segments, attention ${attention.total}\n`);
  }
  if (rate !== null) await appendContinuously(simulated, rate, host.createStopSignal());
  return 0;
}

function parseStory(flags: BrainclawArgs['flags']): SimulationStory {
  const story: SimulationStory = {
    records: parseWholeNumber(flags, 'records', 2) ?? STORY.records,
    agents: parseWholeNumber(flags, 'agents', 1) ?? STORY.agents,
    attention: parseWholeNumber(flags, 'attention', 0) ?? STORY.attention,
    handoffs: parseWholeNumber(flags, 'handoffs', 0) ?? STORY.handoffs,
    handoffBytes: parseWholeNumber(flags, 'handoff-bytes', 0) ?? STORY.handoffBytes,
    seed: parseWholeNumber(flags, 'seed', 0) ?? STORY.seed,
    roll: parseWholeNumber(flags, 'roll', 1) ?? STORY.roll,
  };
  const least = countLeastRecords(story);
  if (story.records < least)
    throw toUsageFault(new Error(`--records ${story.records}: this simulation needs at least ${least}`));
  return story;
}

/** Appends records until it is asked to stop. */
async function appendContinuously(
  { store, simulation }: SimulatedProject,
  rate: number,
  stop: AbortSignal,
): Promise<void> {
  const appends = Math.min(rate, MOST_APPENDS);
  let owed = 0;
  while (!stop.aborted) {
    await realClock.sleep(1000 / appends, stop);
    owed += rate / appends;
    if (stop.aborted || owed < 1) continue;
    store.append(simulation.more(Math.floor(owed)));
    store.writeMeta(simulation);
    owed -= Math.floor(owed);
  }
}
