import assert from 'node:assert/strict';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  brainclaw,
  EXPECTED,
  ended,
  LAST,
  line,
  NEXT,
  type Store,
  viewed,
} from '../../../../test/kit/brainclaw-store.ts';
import { realFiles } from '../../../ports/index.ts';
import { findAttentionItems, findAttentionReason } from './attention.ts';
import { readBases } from './checkpoint.ts';
import { startInspection } from './inspection.ts';
import type { JournalReader, JournalReaderOptions } from './journal.ts';
import type { JournalListener } from './ledger.ts';
import { readMeta } from './record.ts';

/** What was heard, a word each. */
function heard(
  store: Store,
  options: JournalReaderOptions = {},
): { readonly journal: JournalReader; readonly words: string[] } {
  const words: string[] = [];
  const listener: JournalListener = {
    begin: (projection) => words.push(`begin ${projection.size}`),
    applied: ({ record, segment }, effect) => words.push(`${record.seq} ${segment} ${effect.is}`),
    skipped: ({ segment, byte, why }) => words.push(`${why} ${segment} ${byte}`),
  };
  return { journal: store.open({ ...options, listener }), words };
}

describe('who reads a journal', () => {
  test('hears of every record once, in replay order, with what the board made of it', () => {
    using store = brainclaw();
    const { journal, words } = heard(store);
    viewed(journal);
    assert.equal(words[0], 'begin 0');
    const applied = words.slice(1).filter((word) => /^\d+ seg/.test(word));
    assert.equal(applied.length, EXPECTED.observer.applied);
    assert.deepEqual(applied.slice(-2), [`358 ${LAST} changed`, `359 ${LAST} changed`]);
    assert.equal(words.filter((word) => /^[a-z-]+ seg/.test(word)).length, 5);
    words.length = 0;
    journal.refresh();
    assert.deepEqual(words, []);
    store.step(1);
    journal.refresh();
    assert.deepEqual(words, [`360 ${LAST} changed`]);
  });

  test('hears that all begins again, and then of all of it', () => {
    using store = ended(brainclaw());
    const { journal, words } = heard(store);
    viewed(journal);
    const first = words.length;
    rmSync(store.event('seg-00000122.jsonl'));
    viewed(journal);
    assert.equal(words[first], 'begin 0');
    assert.ok(words.length < 2 * first);
  });

  test('hears of nothing that lies behind the seq that is asked for', () => {
    using store = brainclaw();
    const { journal, words } = heard(store, { until: 3 });
    viewed(journal);
    assert.deepEqual(
      words.slice(1).map((word) => word.split(' ')[0]),
      ['1', '2', '3'],
    );
  });

  test('hears of what is believed only with the next record: first as skipped, then as applied', () => {
    using store = ended(brainclaw());
    const { journal, words } = heard(store);
    viewed(journal);
    words.length = 0;
    appendFileSync(store.event(LAST), line(4_000_000) + line(4_000_001));
    viewed(journal);
    const byte = words[0]?.split(' ')[2];
    assert.deepEqual(words, [`seq-too-far ${LAST} ${byte}`, `4000000 ${LAST} changed`, `4000001 ${LAST} changed`]);
  });

  test('has the items of a checkpoint from the beginning', () => {
    using store = brainclaw();
    for (const name of ['seg-00000001.jsonl', 'seg-00000122.jsonl'])
      renameSync(store.event(name), store.event(join('archive', name)));
    const bases = (first: number) => readBases(realFiles, store.event('checkpoints'), 'prj_lab0001', first);
    const { journal, words } = heard(store, { bases });
    viewed(journal);
    assert.deepEqual([words[0], words.filter((word) => /^\d+ seg/.test(word))], ['begin 144', [`359 ${LAST} changed`]]);
  });
});

describe('why an item asks for a person', () => {
  test('is the same for one item as for all', () => {
    using store = brainclaw();
    const { projection } = viewed(store.open()).replay;
    const all = projection.types.flatMap((itemType) => [...projection.getByType(itemType).values()]);
    const asking = all.flatMap((entity) => {
      const why = findAttentionReason(entity);
      return why === null ? [] : [`${why} ${entity.item_id}`];
    });
    assert.deepEqual(
      asking.sort(),
      findAttentionItems(projection)
        .map(({ why, entity }) => `${why} ${entity.item_id}`)
        .sort(),
    );
  });
});

describe('an inspection', () => {
  test('forgets what it saw when the journal is read from its start again', () => {
    using store = ended(brainclaw());
    const inspection = startInspection();
    const journal = store.open({ listener: inspection });
    viewed(journal);
    const before = inspection.inspected.otherAgain.count;
    writeFileSync(store.event(NEXT), line(362));
    viewed(journal);
    rmSync(store.event(NEXT));
    viewed(journal);
    assert.deepEqual([before, inspection.inspected.otherAgain.count], [1, 1]);
  });

  test('follows the revisions of an item from those of a checkpoint', () => {
    using store = brainclaw();
    for (const name of ['seg-00000001.jsonl', 'seg-00000122.jsonl']) rmSync(store.event(name));
    const bases = (first: number) => readBases(realFiles, store.event('checkpoints'), 'prj_lab0001', first);
    store.step(1);
    appendFileSync(store.event(LAST), line(361, { item_id: 'pln_0002', entity_rev: 40 }));
    const inspection = startInspection();
    viewed(store.open({ bases, listener: inspection }));
    const { revisionGaps, beginsLater } = inspection.inspected;
    assert.deepEqual([revisionGaps.count, beginsLater.count], [1, 0]);
    assert.deepEqual(revisionGaps.last[0]?.item, 'plan:pln_0002');
  });

  test('keeps the last cases and counts all of them', () => {
    using store = ended(brainclaw());
    const again = Array.from({ length: 100 }, () => line(361, { item_id: 'x' })).join('');
    appendFileSync(store.event(LAST), again);
    const inspection = startInspection();
    viewed(store.open({ listener: inspection }));
    const { sameAgain, revisionsBack } = inspection.inspected;
    assert.deepEqual([sameAgain.count, sameAgain.last.length], [99, 32]);
    assert.deepEqual([revisionsBack.count, revisionsBack.last.length], [100, 32]); // one of them is of the data
  });
});

describe('brainclaw 1: what a writer notes of its journal', () => {
  test('is read where it is there, and refused with its reason', () => {
    using store = brainclaw();
    const read = readMeta(realFiles, store.journal);
    assert.equal(read.is, 'meta');
    if (read.is !== 'meta') return;
    const { nextSeq, activeSegment, revisions } = read.meta;
    assert.deepEqual([nextSeq, activeSegment, revisions.get('pln_0001'), revisions.size], [360, LAST, 3, 159]);
    for (const [text, why] of [
      ['{', /not valid JSON/],
      ['[]', /is not an object/],
      ['{"next_seq":0}', /next_seq 0/],
    ] as const) {
      writeFileSync(store.event('meta.json'), text);
      const refused = readMeta(realFiles, store.journal);
      assert.match(refused.is === 'refused' ? refused.why : refused.is, why);
    }
    rmSync(store.event('meta.json'));
    assert.deepEqual(readMeta(realFiles, store.journal), { is: 'absent' });
  });
});
