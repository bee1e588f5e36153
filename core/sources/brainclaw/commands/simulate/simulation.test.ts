import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRecord } from '../../read/index.ts';
import { countLeastRecords, STORY } from './items.ts';
import { createSimulation } from './simulation.ts';

describe('a made-up journal', () => {
  test('has as many records as were asked for, each a record, with every seq once', () => {
    const told = createSimulation({ ...STORY, records: 777, roll: 20_000 });
    const seqs: number[] = [];
    for (let append = told.next(); append !== null; append = told.next()) {
      assert.ok(append.text.startsWith('\n') && append.text.endsWith('\n'));
      const first = seqs.length + 1;
      const lines = append.text.split('\n').filter((line) => line !== '');
      assert.equal(lines.length, append.records);
      for (const line of lines) {
        const read = parseRecord(line);
        assert.equal(read.is, 'record');
        if (read.is === 'record') seqs.push(read.record.seq);
      }
      assert.ok(Number(/^seg-(\d{8})\.jsonl$/.exec(append.segment)?.[1]) <= first);
    }
    assert.deepEqual(
      seqs,
      Array.from({ length: 777 }, (_, n) => n + 1),
    );
    assert.equal(told.next(), null);
  });

  test('holds at its end what was asked for, whatever its length', () => {
    for (const [attention, handoffs, more] of [
      [0, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [7, 5, 0],
      [7, 5, 1],
      [100, 300, 900],
      [4, 0, 10_000],
    ] as const) {
      const records = countLeastRecords({ attention, handoffs }) + more;
      const told = createSimulation({ ...STORY, attention, handoffs, records });
      while (told.next() !== null);
      const { written } = told;
      assert.deepEqual(
        [written.records, written.attention.total, written.openHandoffs, written.registryAuthoritative],
        [records, attention, handoffs, true],
      );
    }
  });

  test('goes on with records that ask nobody for anything', () => {
    const told = createSimulation({ ...STORY, records: 50 });
    while (told.next() !== null);
    const before = told.written;
    assert.equal(told.more(500).records, 500);
    assert.deepEqual([told.written.records, told.written.attention], [550, before.attention]);
    assert.match(told.meta(), /^\{"next_seq":551,"active_segment":"seg-00000001.jsonl","entity_revs":\{/);
  });
});
