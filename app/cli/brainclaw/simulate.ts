import { resolve } from 'node:path';
import { realClock } from '../../../core/ports/index.ts';
import type { Io } from '../command.ts';
import { usage } from '../outcome.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { stopSignal } from '../stop-signal.node.ts';
import { type BrainclawArgs, wholeOf } from './args.ts';
import { sayJson } from './ground.ts';
import { leastRecords, mailOf, type Simulated, STORY, type Story, writeSimulated } from './simulate/index.ts';

const MOST_RATE = 1000;
/** So many appends a second at the most; what is faster is appended several at a time. */
const MOST_APPENDS = 50;

/** A made-up store, for tries and tests. It never touches one that was not made so. */
export async function simulate({ flags }: BrainclawArgs, io: Io): Promise<number> {
  const story = storyOf(flags);
  const rate = wholeOf(flags, 'follow-rate', 1);
  if (rate !== null && rate > MOST_RATE) throw usage(new Error(`--follow-rate ${rate}: ${MOST_RATE} at the most`));
  const folder = resolve(surroundings().cwd, flags.to ?? '');
  const simulated = writeSimulated(folder, story);
  const { written, store } = simulated;
  if (flags.json === true) sayJson({ io }, { store: store.root, written, inboxes: mailOf(story).inboxes });
  else {
    const { records, bytes, segments, attention } = written;
    io.out(`${store.root}: ${records} records, ${bytes} bytes, ${segments} segments, attention ${attention.total}\n`);
  }
  if (rate !== null) await goOn(simulated, rate);
  return 0;
}

function storyOf(flags: BrainclawArgs['flags']): Story {
  const story: Story = {
    records: wholeOf(flags, 'records', 2) ?? STORY.records,
    agents: wholeOf(flags, 'agents', 1) ?? STORY.agents,
    attention: wholeOf(flags, 'attention', 0) ?? STORY.attention,
    handoffs: wholeOf(flags, 'handoffs', 0) ?? STORY.handoffs,
    handoffBytes: wholeOf(flags, 'handoff-bytes', 0) ?? STORY.handoffBytes,
    seed: wholeOf(flags, 'seed', 0) ?? STORY.seed,
    roll: wholeOf(flags, 'roll', 1) ?? STORY.roll,
  };
  const least = leastRecords(story);
  if (story.records < least)
    throw usage(new Error(`--records ${story.records}: what is asked for takes ${least} or more`));
  return story;
}

/** Until it is asked to stop. */
async function goOn({ store, simulation }: Simulated, rate: number): Promise<void> {
  const stop = stopSignal();
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
