import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brainclaw, describeView, EXPECTED, getSeq, type Store, viewed } from '../../../../test/kit/brainclaw-store.ts';
import { realFiles } from '../../../ports/index.ts';
import { readBases } from './checkpoint.ts';
import type { JournalReader, JournalView } from './journal.ts';
import { parseConfig, readConfig } from './projects.ts';
import { toBoardSummary } from './sheet.ts';
import { findRemarks } from './sheet-rows.ts';

const MANIFEST = '000000000358.manifest.json';
const SNAPSHOT = '000000000358.snapshot.json';
const LAST = 'seg-00000259.jsonl';

/** The store with its older segments archived. */
function archived(): Store {
  const store = brainclaw();
  for (const name of ['seg-00000001.jsonl', 'seg-00000122.jsonl'])
    renameSync(store.event(name), store.event(join('archive', name)));
  return store;
}

const open = (store: Store, until: number | null = null): JournalReader => {
  const { projectId } = readConfig(realFiles, join(store.root, 'config.yaml'));
  const bases = (first: number) => readBases(realFiles, store.event('checkpoints'), projectId, first);
  return store.open({ bases, until });
};
const whys = (view: JournalView): readonly string[] => view.refusedBases.map(({ name, why }) => `${name} ${why}`);
const edit = (path: string, change: (fields: Record<string, unknown>) => unknown): void => {
  const value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify(change(value)));
};

describe('brainclaw check 10: a checkpoint', () => {
  test('stands for the segments that are gone, and the tail goes on from it', () => {
    using store = archived();
    const view = viewed(open(store));
    const { projection } = view.replay;
    const { coldFromCheckpoint: expected } = EXPECTED;
    const board = toBoardSummary(projection);
    assert.deepEqual(
      {
        ...{ entities: board.entities, attention_required: board.attention_required },
        cursor: { seq: getSeq(view), checkpoint_seq: view.base?.seq },
        registryGenesisSeenInTail: board.registryAuthoritative,
        missingVersusFullReplay: expected.missingVersusFullReplay.filter((key) => {
          const [itemType = '', id = ''] = key.split(':');
          return !projection.getByType(itemType).has(id);
        }),
      },
      expected,
    );
    assert.deepEqual([view.isComplete, view.base?.name, whys(view)], [true, MANIFEST, []]);
    assert.deepEqual(findRemarks(view), ['from-checkpoint', 'registry-partial', 'skipped=5']);
  });

  test('is not asked for while every segment is there', () => {
    using store = brainclaw();
    let asked = 0;
    const journal = store.open({
      bases: () => {
        asked += 1;
        return { bases: [], refused: [] };
      },
    });
    assert.equal(toBoardSummary(viewed(journal).replay.projection).entities, EXPECTED.observer.entities);
    assert.equal(asked, 0);
  });

  test('and what is appended: as a reader that starts then', () => {
    using store = archived();
    const journal = open(store);
    for (const number of [1, 2, 3, 4]) {
      store.step(number);
      const view = viewed(journal);
      assert.deepEqual(describeView(view), describeView(viewed(open(store))));
    }
    assert.equal(getSeq(viewed(journal)), 362);
    assert.equal(toBoardSummary(viewed(journal).replay.projection).attention_required.total, 19);
  });

  for (const [label, change, why] of [
    [
      'with one byte flipped in the snapshot',
      (at: string) => {
        const bytes = readFileSync(join(at, SNAPSHOT));
        const index = bytes.indexOf('todo');
        bytes[index] = (bytes[index] ?? 0) ^ 1;
        writeFileSync(join(at, SNAPSHOT), bytes);
      },
      /does not match its hash/,
    ],
    [
      'of another store',
      (at: string) => edit(join(at, MANIFEST), (all) => ({ ...all, store_id: 'prj_x' })),
      /belongs to store "prj_x"/,
    ],
    [
      'of another version',
      (at: string) => edit(join(at, MANIFEST), (all) => ({ ...all, schema_version: 2 })),
      /schema_version 2/,
    ],
    [
      'with another head than its name',
      (at: string) => edit(join(at, MANIFEST), (all) => ({ ...all, head_seq: 357 })),
      /differs from its name/,
    ],
    [
      'whose head is not in the journal',
      (at: string) => edit(join(at, MANIFEST), (all) => ({ ...all, head_identity: 'ab' })),
      /does not have the record/,
    ],
    [
      'with fewer items than it says',
      (at: string) => edit(join(at, MANIFEST), (all) => ({ ...all, entity_count: 145 })),
      /has 144 items, not 145/,
    ],
    ['without its snapshot', (at: string) => rmSync(join(at, SNAPSHOT)), /snapshot is missing/],
    ['that is no JSON', (at: string) => writeFileSync(join(at, MANIFEST), '{'), /not valid JSON/],
    ['that is a list', (at: string) => writeFileSync(join(at, MANIFEST), '[]'), /is not an object/],
  ] as const) {
    test(`${label} is refused, and the board is not complete`, () => {
      using store = archived();
      change(store.event('checkpoints'));
      const view = viewed(open(store));
      assert.deepEqual([view.base, view.isComplete, view.refusedBases.length], [null, false, 1]);
      assert.match(whys(view)[0] ?? '', why);
      assert.deepEqual(findRemarks(view), ['incomplete', 'registry-partial', 'skipped=5']);
      assert.deepEqual(view.replay.missing, [{ from: 1, to: 258 }]);
      assert.equal(getSeq(view), 359);
    });
  }

  test('from before the first segment leaves a hole, and one with wrong items is none', () => {
    using store = archived();
    const at = store.event('checkpoints');
    writeFileSync(join(at, 'ckpt-00000100.json'), '{"entities":[]}');
    writeFileSync(join(at, 'ckpt-00000300.json'), '{"entities":[{"item_type":"plan"}]}');
    writeFileSync(join(at, 'ckpt-x.json'), '{');
    const { bases, refused } = readBases(realFiles, at, 'prj_lab0001', 259);
    assert.deepEqual(
      bases.map(({ name, seq }) => [name, seq]),
      [[MANIFEST, 358]],
    );
    assert.deepEqual(
      refused.map(({ name }) => name),
      ['ckpt-00000100.json', 'ckpt-00000300.json'],
    );
    assert.deepEqual(readBases(realFiles, store.at('nowhere'), null, 1), { bases: [], refused: [] });
    assert.equal(readBases(realFiles, at, null, 259).bases.length, 0);
  });

  test('that is refused leaves the one before it', () => {
    using store = archived();
    const at = store.event('checkpoints');
    const old = JSON.stringify({ entities: [{ item_type: 'plan', item_id: 'pln_old', entity_rev: 1, payload: {} }] });
    const sha256 = createHash('sha256').update(old).digest('hex');
    const ref = { v: 2, seq: 259, action: 'checkpoint_ref', item_type: 'journal', payload: { sha256 } };
    writeFileSync(join(at, 'ckpt-00000258.json'), old);
    const file = store.event(LAST);
    writeFileSync(file, `\n${JSON.stringify(ref)}\n${readFileSync(file, 'utf8')}`);
    edit(join(at, MANIFEST), (all) => ({ ...all, head_identity: 'ab' }));
    const all = open(store);
    assert.equal(viewed(all).base, null); // 258 is before the first seq that the name of the segment says
    renameSync(join(at, 'ckpt-00000258.json'), join(at, 'ckpt-00000259.json'));
    appendFileSync(file, `\n\n${JSON.stringify({ ...ref, seq: 360 })}\n`);
    const view = viewed(open(store));
    assert.deepEqual([view.base?.name, view.base?.seq], ['ckpt-00000259.json', 259]);
    assert.deepEqual([...view.replay.projection.getByType('plan').keys()], ['pln_old']);
  });

  test('that ends after the seq that is asked for is not used', () => {
    using store = archived();
    const view = viewed(open(store, 300));
    assert.deepEqual([view.base, view.isComplete, getSeq(view)], [null, false, 300]);
  });
});

describe('brainclaw 1: the configuration of a store', () => {
  test('says who the project is and whether there is a journal', () => {
    using store = brainclaw();
    assert.deepEqual(readConfig(realFiles, join(store.root, 'config.yaml')), {
      projectId: 'prj_lab0001',
      journalMode: 'dual',
    });
    assert.deepEqual(readConfig(realFiles, store.at('none')), { projectId: null, journalMode: null });
    mkdirSync(store.at('config.yaml'));
    assert.deepEqual(readConfig(realFiles, store.at('config.yaml')), { projectId: null, journalMode: null });
  });

  test('is read with quotes, comments and other keys of the same name', () => {
    const text =
      'other:\n  project_id: no\nproject_id: "prj_x" # this\nstore:\n  journal: # here\n    fsync: never\n    mode: off # later\n  mode: x\n';
    assert.deepEqual(parseConfig(text), { projectId: 'prj_x', journalMode: 'off' });
  });
});
