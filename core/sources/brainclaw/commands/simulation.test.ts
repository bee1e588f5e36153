import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRecord } from '../read/index.ts';
import { countLeastRecords, STORY } from './simulated-items.ts';
import { createSimulation } from './simulation.ts';

describe('a made-up journal', () => {
  test('has as many records as were asked for, each a record, with every seq once', () => {
    const reported = createSimulation({ ...STORY, records: 777, roll: 20_000 });
    const seqs: number[] = [];
    for (let append = reported.next(); append !== null; append = reported.next()) {
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
    assert.equal(reported.next(), null);
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
      const reported = createSimulation({ ...STORY, attention, handoffs, records });
      while (reported.next() !== null);
      const { written } = reported;
      assert.deepEqual(
        [written.records, written.attention.total, written.openHandoffs, written.registryAuthoritative],
        [records, attention, handoffs, true],
      );
    }
  });

  test('goes on with records that ask nobody for anything', () => {
    const reported = createSimulation({ ...STORY, records: 50 });
    while (reported.next() !== null);
    const before = reported.written;
    assert.equal(reported.more(500).records, 500);
    assert.deepEqual([reported.written.records, reported.written.attention], [550, before.attention]);
    assert.match(reported.meta(), /^\{"next_seq":551,"active_segment":"seg-00000001.jsonl","entity_revs":\{/);
  });
});
