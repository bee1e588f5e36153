import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  brainclaw,
  describeView,
  EXPECTED,
  ended,
  getSeq,
  LAST,
  line,
  NEXT,
  openCold,
  readOnlyFiles,
  stepAt,
  stepBytes,
  viewed,
} from '../../../../test/kit/brainclaw-store.ts';
import { createJournalReader, type JournalView, type RefreshResult } from './journal.ts';
import { MOST_LINE } from './replay.ts';
import { toBoardSummary } from './sheet.ts';

const why = (seen: RefreshResult): string => (seen.is === 'replayed' ? seen.why : seen.is);
const attention = ({ replay }: JournalView): number => toBoardSummary(replay.projection).attention_required.total;

describe('brainclaw check 3 and 4: what is appended', () => {
  test('changes the board step by step, and a reader that starts then has the same', () => {
    using store = brainclaw();
    const journal = store.open();
    viewed(journal);
    for (const number of [1, 2, 3, 4]) {
      const saved = journal.view?.replay.cursor ?? null;
      store.step(number);
      assert.equal(journal.refresh().is, 'grown');
      const view = journal.view as JournalView;
      const { after } = stepAt(number);
      const { projection, applied } = view.replay;
      const board = toBoardSummary(projection);
      const plan = projection.getByType('plan').get('pln_9001')?.payload.status;
      const action = projection.getByType('state').get('act_c0')?.payload.status;
      assert.deepEqual(
        {
          ...{ applied, cursor: getSeq(view), entities: board.entities, attention_required: board.attention_required },
          ...{ counts: board.counts, pln_9001: plan, hnd_last: projection.getByType('handoff').has('hnd_last') },
          ...(number > 1 && { act_c0: action }),
        },
        after,
      );
      const cold = openCold(store, saved);
      assert.deepEqual(describeView(cold), describeView(view));
      assert.equal(cold.continuity, 'same');
      assert.deepEqual(journal.refresh(), { is: 'same' });
    }
  });

  test('says which sections have changed', () => {
    using store = brainclaw();
    const journal = store.open();
    const sections = (number: number): readonly string[] => {
      store.step(number);
      const seen = journal.refresh();
      return seen.is === 'grown' ? [...seen.sections].sort() : [seen.is];
    };
    assert.deepEqual(why(journal.refresh()), 'first');
    assert.deepEqual(sections(1), ['attention', 'backlog', 'in-progress', 'sprints', 'system']);
    assert.deepEqual(sections(2), ['actions', 'attention']);
    assert.deepEqual(sections(3), ['activity', 'handoffs', 'system']);
    appendFileSync(
      store.event(NEXT),
      line(363, { action: 'run_progress', item_type: 'agent_run', payload: undefined }),
    );
    assert.deepEqual(journal.refresh(), { is: 'grown', records: 1, sections: new Set(['activity']) });
  });

  test('brainclaw check 5: byte by byte is told once, never early, with its text whole', () => {
    using store = ended(brainclaw());
    const journal = store.open();
    const before = attention(viewed(journal));
    const bytes = stepBytes(2);
    for (const [index, byte] of bytes.entries()) {
      appendFileSync(store.event(LAST), Buffer.of(byte));
      assert.equal(attention(viewed(journal)), index === bytes.length - 1 ? before + 1 : before, `byte ${index}`);
    }
    const { prompt } = journal.view?.replay.projection.getByType('state').get('act_c0')?.payload ?? {};
    assert.equal(prompt, 'Merge now? — 지금 병합 🌱');
  });

  test('a record that parses is not there without its newline', () => {
    using store = ended(brainclaw());
    const journal = store.open();
    const before = describeView(viewed(journal));
    const record = line(361).slice(0, -1);
    appendFileSync(store.event(LAST), record);
    const view = viewed(journal);
    assert.equal(view.segments.at(-1)?.unfinished, record.length - 1);
    assert.deepEqual({ ...describeView(view), segments: 0 }, { ...before, segments: 0 });
    appendFileSync(store.event(LAST), '\n');
    assert.equal(getSeq(viewed(journal)), 361);
  });

  test('the torn tail changes nothing', () => {
    using store = brainclaw();
    const view = viewed(store.open());
    assert.deepEqual([view.segments.at(-1)?.name, getSeq(view)], [EXPECTED.tornTail.segment, 359]);
    truncateSync(store.event(LAST), view.segments.at(-1)?.offset);
    assert.deepEqual({ ...describeView(viewed(store.open())), segments: 0 }, { ...describeView(view), segments: 0 });
  });
});

describe('brainclaw 2: what is wrong in a journal', () => {
  test('is counted with its reason and place', () => {
    using store = brainclaw();
    const { replay, decoys } = viewed(store.open());
    const { diagnosis } = replay;
    assert.deepEqual(diagnosis.skippedBy, { 'not-json': 2, version: 1, seq: 1, payload: 1 });
    assert.deepEqual([diagnosis.skipped, diagnosis.adjudicated, diagnosis.seqRepairs], [5, 2, 1]);
    assert.deepEqual([diagnosis.duplicates, diagnosis.gaps, diagnosis.violations], [1, [], {}]);
    assert.deepEqual(diagnosis.unknownActions, { some_future_verb: 1, mystery_signal: 1 });
    assert.deepEqual(decoys, ['seg-00000001.jsonl.bak', 'seg-2.jsonl']);
    assert.deepEqual(diagnosis.lastSkipped[0], {
      ...{ segment: LAST, byte: 44399, why: 'not-json', adjudicated: true },
    });
  });

  test('never ends the reading', () => {
    using store = ended(brainclaw());
    const before = viewed(store.open());
    const file = store.event(LAST);
    appendFileSync(
      file,
      Buffer.concat([Buffer.from('\n{"v":2,"seq":361,"summary":"'), Buffer.of(0xed, 0x95), Buffer.from('"}\n')]),
    );
    appendFileSync(file, Buffer.alloc(500, 0));
    appendFileSync(file, '\n[]\n"x"\n\r\n');
    for (const bad of [line(1e300), line(-1), line('9'), line(361.5), line(2 ** 60), line(361, { payload: [] })])
      appendFileSync(file, bad);
    appendFileSync(file, line(361, { action: 'no_such_verb', item_type: 'odd' }));
    const view = viewed(store.open());
    assert.equal(view.replay.applied, before.replay.applied + 1);
    assert.equal(view.replay.projection.getByType('odd').size, 1);
    assert.deepEqual(view.replay.diagnosis.skippedBy, {
      ...{ 'not-json': 4, version: 1, seq: 6, payload: 2, 'not-utf8': 1, 'not-an-object': 2 },
    });
  });

  test('a line that is far too long is passed over, however it comes', () => {
    using store = ended(brainclaw());
    const journal = store.open();
    viewed(journal);
    const file = store.event(LAST);
    const half = Buffer.alloc(MOST_LINE * 0.6, 'x');
    for (const bytes of [half, half, half, Buffer.from(`\n${line(361)}`)]) {
      assert.equal(getSeq(viewed(journal)), 360);
      appendFileSync(file, bytes);
    }
    const view = viewed(journal);
    assert.equal(getSeq(view), 361);
    assert.deepEqual(view.replay.diagnosis.skippedBy['too-long'], 1);
    assert.deepEqual(describeView(openCold(store)), describeView(view));
  });

  test('a seq that is far ahead does not move the cursor', () => {
    using store = ended(brainclaw());
    const journal = store.open();
    viewed(journal);
    appendFileSync(store.event(LAST), line(4_000_000) + line(361));
    const view = viewed(journal);
    assert.equal(getSeq(view), 361);
    assert.equal(view.replay.projection.getByType('plan').has('pln_4000000'), false);
    assert.equal(view.replay.diagnosis.skippedBy['seq-too-far'], 1);
    assert.deepEqual(describeView(openCold(store)), describeView(view));
  });

  test('a seq that the name of its segment says is not far ahead', () => {
    using store = ended(brainclaw());
    const name = 'seg-05000000.jsonl';
    writeFileSync(store.event(name), line(5_000_000) + line(5_020_000));
    const view = viewed(store.open());
    assert.deepEqual([getSeq(view), view.replay.diagnosis.skippedBy['seq-too-far']], [5_000_000, 1]);
    assert.deepEqual(view.replay.missing, [{ from: 361, to: 4_999_999 }]);
  });

  test('unless the next record goes on from it: the writer has it so', () => {
    using store = ended(brainclaw());
    const journal = store.open();
    viewed(journal);
    appendFileSync(store.event(LAST), line(4_000_000));
    assert.equal(getSeq(viewed(journal)), 360);
    appendFileSync(store.event(LAST), line(4_000_001));
    const view = viewed(journal);
    assert.equal(getSeq(view), 4_000_001);
    assert.equal(view.replay.projection.getByType('plan').has('pln_4000000'), true);
    assert.deepEqual(view.replay.diagnosis.gaps, [{ from: 361, to: 3_999_999 }]);
    assert.equal(view.replay.diagnosis.skippedBy['seq-too-far'], undefined);
    assert.deepEqual(describeView(openCold(store)), describeView(view));
  });

  test('records that come late are no duplicates, and those without are', () => {
    using store = ended(brainclaw());
    appendFileSync(store.event(LAST), line(365) + line(362) + line(362) + line(361, { entity_rev: undefined }));
    const { diagnosis } = viewed(store.open()).replay;
    assert.deepEqual([diagnosis.duplicates, diagnosis.gaps, diagnosis.missingSeqs], [2, [{ from: 363, to: 364 }], 2]);
    assert.deepEqual(diagnosis.violations, { 'no-revision': 1 });
  });

  test('brainclaw check 6: meta.json says nothing', () => {
    using store = brainclaw();
    const all = describeView(viewed(store.open()));
    for (const meta of ['{"next_seq":12,"active_segment":"seg-00000001.jsonl","entity_revs":{}}', 'not json', null]) {
      if (meta === null) rmSync(store.event('meta.json'));
      else writeFileSync(store.event('meta.json'), meta);
      assert.deepEqual(describeView(viewed(store.open())), all);
    }
  });

  test('a symlink is no segment, and what lies behind it is not read', () => {
    using store = brainclaw();
    symlinkSync(store.write('elsewhere', line(362)), store.event(NEXT));
    const view = viewed(store.open());
    assert.deepEqual([getSeq(view), view.decoys], [359, [NEXT, 'seg-00000001.jsonl.bak', 'seg-2.jsonl'].sort()]);
  });

  test('a segment that goes while it is read is missed, and no more', () => {
    for (const name of ['seg-00000122.jsonl', LAST]) {
      using store = brainclaw();
      const { files } = readOnlyFiles();
      const vanishing = new Proxy(files, {
        get: (target, call) =>
          call !== 'open'
            ? Reflect.get(target, call)
            : (path: string, flags: number, mode: number) => {
                if (path === store.event(name)) rmSync(path, { force: true });
                return target.open(path, flags, mode);
              },
      });
      const journal = createJournalReader(vanishing, store.journal);
      const view = viewed(journal);
      assert.equal(view.isComplete, name === LAST);
      assert.deepEqual(describeView(view), describeView(openCold(store)));
    }
  });

  test('a segment that cannot be read is missed, until it can', () => {
    using store = brainclaw();
    const { files } = readOnlyFiles();
    let isClosed = true;
    const guarded = new Proxy(files, {
      get: (target, call) =>
        call !== 'open'
          ? Reflect.get(target, call)
          : (path: string, flags: number, mode: number) => {
              if (isClosed && path === store.event('seg-00000122.jsonl'))
                throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
              return target.open(path, flags, mode);
            },
    });
    const journal = createJournalReader(guarded, store.journal);
    const view = viewed(journal);
    assert.deepEqual([view.isComplete, view.segments[1]?.unreadable], [false, 'permission denied']);
    isClosed = false;
    chmodSync(store.event('seg-00000122.jsonl'), 0o640);
    assert.deepEqual(describeView(viewed(journal)), describeView(openCold(store)));
  });

  test('a segment in the middle that is gone is missed', () => {
    using store = brainclaw();
    rmSync(store.event('seg-00000122.jsonl'));
    const view = viewed(store.open());
    assert.deepEqual([view.isComplete, view.replay.missing], [false, [{ from: 122, to: 258 }]]);
  });
});
