/**
 * Reads the journal of a store in a process of its own, so that nothing is compiled or in memory yet, and says on stdout
 * what that cost: `journal` as the observer does it, `parse` the least that must be done: the lines are
 * read, and each is parsed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realFiles } from '../../core/ports/index.ts';
import { createJournalReader, toBoardSummary } from '../../core/sources/brainclaw/index.ts';

/** What a reader says: milliseconds, bytes. */
export interface Cost {
  readonly took: number;
  readonly records: number;
  readonly attention: number;
  readonly entities: number;
  /** By how much the resident set grew until it was done. */
  readonly grew: number;
  /** What of the heap is in use for what was read, once all garbage is gone. */
  readonly holds: number;
}

const NEWLINE = 0x0a;
const [how = '', store = ''] = process.argv.slice(2);
const events = join(store, 'events');
const empty = inUse();
const before = process.memoryUsage.rss();
const from = performance.now();
const read = how === 'journal' ? byJournal() : byParse();
const took = performance.now() - from;
const grew = process.memoryUsage.rss() - before;
const { subject, ...found } = read;
const cost: Cost = { took, ...found, grew, holds: inUse() - empty };
if (subject === null && how === 'journal') throw new Error('the journal was let go before it was measured');
process.stdout.write(`${JSON.stringify(cost)}\n`);

function byJournal() {
  const journal = createJournalReader(realFiles, events);
  journal.refresh();
  const { view } = journal;
  if (view === null) throw new Error(`${events} is off`);
  const { attention_required, entities } = toBoardSummary(view.replay.projection);
  return { records: view.replay.applied, attention: attention_required.total, entities, subject: journal };
}

function byParse() {
  let records = 0;
  for (const name of readdirSync(events).sort()) {
    if (!name.endsWith('.jsonl')) continue;
    const bytes = readFileSync(join(events, name));
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (end > start) {
        JSON.parse(bytes.toString('utf8', start, end));
        records += 1;
      }
      start = end + 1;
    }
  }
  return { records, attention: 0, entities: 0, subject: null };
}

function inUse(): number {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
