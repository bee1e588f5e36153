import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { realFiles } from '../../core/ports/index.ts';
import { type SimulationStory, STORY } from '../../core/sources/brainclaw/commands/simulated-items.ts';
import {
  type SimulatedProject,
  writeSimulatedProject,
} from '../../core/sources/brainclaw/commands/simulated-store.node.ts';
import { createJournalReader, toBoardSummary } from '../../core/sources/brainclaw/index.ts';
import type { Cost } from './brainclaw-reader.ts';
import { bench, ms, quantile } from './harness.ts';
import { temporary } from './rig.ts';

/** As many as the journal that was measured has (brainclaw contract 6). */
const RECORDS = 17_727;
const SEGMENT = 10 * 1024 * 1024;
const MB = 1024 * 1024;

export const benches = [
  bench('brainclaw: cold replay of 17,727 records to the first board, p50', '<= 350 ms', () => cold('board')),
  bench('brainclaw: cold replay, records a second', '>= 0.5 x a bare JSON.parse', () => cold('throughput')),
  bench('brainclaw: refresh with no change / with 100 new records, p50', '<= 1 / 10 ms', warm),
  bench('brainclaw: resident growth by 500 handoffs of 200 KB', '<= 60 MB', handoffs),
  bench('brainclaw: 1,000,000 records, time a record and memory, against 100,000', 'linear, bounded', long),
];

function made(story: Partial<SimulationStory>): SimulatedProject {
  return writeSimulatedProject(temporary(), { ...STORY, roll: SEGMENT, ...story });
}

async function read(how: 'journal' | 'parse', { store, written }: SimulatedProject): Promise<Cost> {
  const reader = join(import.meta.dirname, 'brainclaw-reader.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', reader, how, store.root]);
  const cost = JSON.parse(stdout) as Cost;
  const isRight = how === 'parse' || (cost.attention === written.attention.total && cost.entities === written.entities);
  if (cost.records !== written.records || !isRight)
    throw new Error(`${how} read ${stdout} of ${JSON.stringify(written)}`);
  return cost;
}

/** The observer and the bare pass take turns, each time in a fresh process. */
async function cold(asked: 'board' | 'throughput') {
  const simulated = made({ records: RECORDS });
  const [journal, parse]: [number[], number[]] = [[], []];
  for (let n = 0; n < 9; n += 1) {
    journal.push((await read('journal', simulated)).took);
    parse.push((await read('parse', simulated)).took);
  }
  const [journalMs, bare] = [quantile(journal, 0.5), quantile(parse, 0.5)];
  const size = `${(simulated.written.bytes / MB).toFixed(1)} MB`;
  if (asked === 'board') return { figure: ms(journalMs), floor: `${ms(bare)} bare, ${size}`, met: journalMs <= 350 };
  const perSecond = (took: number): string => `${Math.round((RECORDS * 1000) / took)} a second`;
  const share = bare / journalMs;
  return { figure: `${perSecond(journalMs)}, ${share.toFixed(2)} x`, floor: perSecond(bare), met: share >= 0.5 };
}

async function warm() {
  const { store, simulation } = made({ records: RECORDS });
  const journal = createJournalReader(realFiles, join(store.root, 'events'));
  const timed = (): number => {
    const from = performance.now();
    journal.refresh();
    if (journal.view === null) throw new Error('the journal is off');
    toBoardSummary(journal.view.replay.projection);
    return performance.now() - from;
  };
  timed();
  const [same, grown]: [number[], number[]] = [[], []];
  for (let n = 0; n < 100; n += 1) {
    const from = performance.now();
    if (journal.refresh().is !== 'same') throw new Error('something changed');
    same.push(performance.now() - from);
    store.append(simulation.more(100));
    grown.push(timed());
  }
  const [idle, fresh] = [quantile(same, 0.5), quantile(grown, 0.5)];
  return { figure: `${ms(idle)} / ${ms(fresh)}`, floor: 'none', met: idle <= 1 && fresh <= 10 };
}

async function handoffs() {
  const many = made({ records: 2000, handoffs: 500, handoffBytes: 200 * 1024 });
  const grew: number[] = [];
  for (let n = 0; n < 3; n += 1) grew.push((await read('journal', many)).grew / MB);
  const none = (await read('journal', made({ records: 2000, handoffs: 0 }))).grew / MB;
  const most = Math.max(...grew);
  const size = `${(many.written.bytes / MB).toFixed(0)} MB`;
  return { figure: `${most.toFixed(0)} MB of ${size}`, floor: `${none.toFixed(0)} MB without them`, met: most <= 60 };
}

/** Ten times as much takes ten times as long, and no more room: what is kept is what lives. */
async function long() {
  const [short, full] = [
    await read('journal', made({ records: 100_000 })),
    await read('journal', made({ records: 1_000_000 })),
  ];
  const each = ({ took, records }: Cost): number => (took * 1000) / records;
  const output = (cost: Cost): string =>
    `${each(cost).toFixed(1)} us, holds ${(cost.holds / MB).toFixed(1)} MB, resident + ${(cost.grew / MB).toFixed(0)} MB`;
  const met = each(full) <= 1.5 * each(short) && full.holds <= short.holds + MB;
  return { figure: `${output(full)}; ${full.entities} entities`, floor: `${output(short)} of 100,000`, met };
}
