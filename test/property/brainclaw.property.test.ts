import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { realFiles } from '../../core/ports/index.ts';
import {
  type Cursor,
  createJournalReader,
  type JournalReader,
  type JournalView,
} from '../../core/sources/brainclaw/read/index.ts';
import { DATA, describeView, stepAt, stepBytes, viewed } from '../kit/brainclaw-store.ts';
import { scratch } from '../kit/scratch.ts';

/** What a writer appends, in order. */
interface Write {
  readonly segment: string;
  readonly bytes: Buffer;
}

/** The last segment of the data, with all that follows it. */
const WRITES: readonly Write[] = [
  ...readdirSync(join(DATA, 'journal', '.brainclaw', 'events'))
    .filter((name) => /^seg-\d{8}\.jsonl$/.test(name))
    .sort()
    .map((segment) => ({ segment, bytes: readFileSync(join(DATA, 'journal', '.brainclaw', 'events', segment)) })),
  ...[1, 2, 3, 4].map((number) => ({ segment: stepAt(number).to, bytes: stepBytes(number) })),
];
const RUNS = 60;

/** Lines of all kinds, with what tears and wrong writers leave. */
const id = fc.constantFrom('a', 'b', 'c');
const arbitraryLine = fc.record(
  {
    v: fc.constantFrom(2, 2, 2, 2, 1),
    seq: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }) },
      fc.constantFrom(1.5, 50_000, 50_001, 2 ** 60),
    ),
    action: fc.constantFrom('create', 'update', 'delete', 'run_failed', 'run_progress', 'journal_note', 'novel'),
    item_type: fc.constantFrom('plan', 'state', 'agent_run', 'candidate'),
    item_id: id,
    payload: fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          status: fc.constantFrom('pending', 'failed', '한🌱'),
          kind: fc.constant('registry_genesis'),
        }),
      },
      fc.constant(['x']),
    ),
  },
  { requiredKeys: ['v', 'seq', 'action', 'item_type'] },
);
const written = fc.oneof(
  { weight: 8, arbitrary: arbitraryLine.map((record) => Buffer.from(`\n${JSON.stringify(record)}\n`)) },
  { weight: 1, arbitrary: arbitraryLine.map((record) => Buffer.from(JSON.stringify(record).slice(0, 25))) },
  { weight: 1, arbitrary: fc.constantFrom(Buffer.from('\n\n'), Buffer.of(0xed, 0x95, 0x0a), Buffer.from('no json\n')) },
);
const journals = fc.array(fc.tuple(written, fc.boolean()), { minLength: 1, maxLength: 40 }).map((writes) => {
  let number = 1;
  return writes.map(([bytes, rolls], index): Write => {
    if (rolls && index % 7 === 6) number += 20;
    return { segment: `seg-${String(number).padStart(8, '0')}.jsonl`, bytes };
  });
});

/** The same bytes cut elsewhere. @param cuts parts of the whole, from 0 to 1 */
function cutAnew(writes: readonly Write[], cuts: readonly number[]): readonly Write[] {
  const total = writes.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const at = [...new Set(cuts.map((cut) => Math.floor(cut * total)))].sort((a, b) => a - b);
  const parts: Write[] = [];
  let base = 0;
  for (const { segment, bytes } of writes) {
    const inner = at.filter((cut) => cut > base && cut < base + bytes.length).map((cut) => cut - base);
    const edges = [0, ...inner, bytes.length];
    for (const [index, edge] of edges.slice(1).entries())
      parts.push({ segment, bytes: bytes.subarray(edges[index], edge) });
    base += bytes.length;
  }
  return parts;
}

/** Reads after every append, and starts again where it is told to. Both give what one replay of it all gives. */
function holds(writes: readonly Write[], cuts: readonly number[], restarts: readonly boolean[]): void {
  using place = scratch();
  const open = (saved: Cursor | null = null): JournalReader => createJournalReader(realFiles, place.dir, { saved });
  const storedState = open();
  let other = open();
  const last = (journal: JournalReader): JournalView | null => {
    journal.refresh();
    return journal.view;
  };
  for (const [index, { segment, bytes }] of cutAnew(writes, cuts).entries()) {
    appendFileSync(place.at(segment), bytes);
    last(storedState);
    if (restarts[index % restarts.length]) {
      const saved = last(other)?.replay.cursor ?? null;
      other = open(saved);
      assert.equal(last(other)?.continuity, saved === null ? 'none' : 'same');
    }
  }
  const cold = describeView(viewed(open()));
  assert.deepEqual(describeView(viewed(storedState)), cold);
  assert.deepEqual(describeView(viewed(other)), cold);
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });
const restarts = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });

describe('brainclaw check 4: however the bytes of a journal come, and whenever a reader starts, the board is that of one replay', () => {
  test('with the journal of the data', () => {
    fc.assert(
      fc.property(cuts, restarts, (where, when) => holds(WRITES, where, when)),
      { numRuns: RUNS },
    );
  });

  test('with journals of all kinds', () => {
    fc.assert(
      fc.property(journals, cuts, restarts, (writes, where, when) => holds(writes, where, when)),
      { numRuns: 3 * RUNS },
    );
  });
});
