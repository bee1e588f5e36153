import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  brainclaw,
  describeView,
  ended,
  getCursor,
  getSeq,
  LAST,
  line,
  NEXT,
  openCold,
  readOnlyFiles,
  type Store,
  viewed,
} from '../../../../test/kit/brainclaw-store.ts';
import { parseCursor } from './checkpoint.ts';
import { createJournalReader, type JournalReader, type JournalView, type RefreshResult } from './journal.ts';
import { findRemarks } from './sheet-rows.ts';

const why = (seen: RefreshResult): string => (seen.is === 'replayed' ? seen.why : seen.is);

describe('brainclaw 2: a journal that is not what it was', () => {
  const restarted = (
    change: (store: Store, journal: JournalReader) => void,
  ): { seen: RefreshResult; journal: JournalReader; cold: JournalView } => {
    using store = ended(brainclaw());
    const journal = store.open();
    viewed(journal);
    change(store, journal);
    const saved = journal.view?.replay.cursor ?? null;
    const seen = journal.refresh();
    const cold = openCold(store, saved);
    assert.deepEqual(describeView(journal.view as JournalView), describeView(cold));
    assert.equal(journal.view?.continuity, cold.continuity);
    return { seen, journal, cold };
  };

  test('parked and begun again with seq 1: cold, and not the same', () => {
    const { seen, cold } = restarted(({ journal: events, root }) => {
      renameSync(events, join(root, 'events.parked'));
      cpSync(join(root, 'events.parked', 'checkpoints'), join(events, 'checkpoints'), { recursive: true });
      writeFileSync(join(events, 'seg-00000001.jsonl'), line(1));
    });
    assert.deepEqual([why(seen), cold.continuity, getSeq(cold)], ['segment-replaced', 'other', 1]);
  });

  test('replaced by another file of its name', () => {
    const { seen, cold } = restarted((store) => {
      const bytes = readFileSync(store.event(LAST));
      writeFileSync(store.event('copy'), bytes);
      renameSync(store.event('copy'), store.event(LAST));
    });
    assert.deepEqual([why(seen), cold.continuity], ['segment-replaced', 'same']);
  });

  test('shorter than it was', () => {
    const { seen, cold } = restarted((store) => truncateSync(store.event(LAST), 20_000));
    assert.deepEqual([why(seen), cold.continuity], ['segment-shorter', 'other']);
  });

  test('written over in place with as much and more', () => {
    const { seen, cold } = restarted((store) => {
      const bytes = readFileSync(store.event(LAST), 'utf8').replaceAll('w_70004-', 'w_70005-');
      writeFileSync(store.event(LAST), bytes + line(361));
    });
    assert.deepEqual([why(seen), cold.continuity], ['head-changed', 'other']);
  });

  test('an old segment that a slow writer still appends to', () => {
    const { seen, cold } = restarted((store, journal) => {
      store.step(2);
      store.step(3);
      viewed(journal);
      appendFileSync(store.event(LAST), line(363));
    });
    assert.deepEqual([why(seen), cold.continuity], ['old-segment-changed', 'same']);
  });

  test('an old segment that was appended to while it was read is as it was read', () => {
    using store = ended(brainclaw());
    store.step(2);
    store.step(3);
    const { files } = readOnlyFiles();
    let waits = true;
    const racing = new Proxy(files, {
      get: (target, name) =>
        name !== 'read'
          ? Reflect.get(target, name)
          : (fd: number, into: Uint8Array, position: number) => {
              if (waits && position > 40_000 && position < 60_000) {
                waits = false;
                appendFileSync(store.event(LAST), line(363));
              }
              return target.read(fd, into, position);
            },
    });
    const journal = createJournalReader(racing, store.journal);
    assert.equal(getSeq(viewed(journal)), 363);
    assert.deepEqual(journal.refresh(), { is: 'grown', records: 0, sections: new Set() });
    assert.deepEqual(describeView(viewed(journal)), describeView(openCold(store)));
  });

  test('a segment before those that are known', () => {
    const { seen } = restarted((store) => writeFileSync(store.event('seg-00000100.jsonl'), line(100)));
    assert.equal(why(seen), 'segment-before');
  });

  test('a segment that is gone', () => {
    const { seen, cold } = restarted((store) => rmSync(store.event('seg-00000001.jsonl')));
    assert.deepEqual([why(seen), cold.isComplete], ['segment-gone', false]);
  });

  test('a mode that changes is no change', () => {
    using store = brainclaw();
    const journal = store.open();
    viewed(journal);
    writeFileSync(store.event(LAST), readFileSync(store.event(LAST)));
    assert.deepEqual(journal.refresh(), { is: 'grown', records: 0, sections: new Set() });
    assert.deepEqual(journal.refresh(), { is: 'same' });
  });

  test('off, on and off again', () => {
    using store = brainclaw();
    const journal = store.open();
    const before = describeView(viewed(journal));
    renameSync(store.journal, `${store.journal}.away`);
    assert.deepEqual([journal.refresh(), journal.view], [{ is: 'off' }, null]);
    assert.deepEqual(findRemarks(journal.view), ['journal-off']);
    renameSync(`${store.journal}.away`, store.journal);
    const view = viewed(journal);
    assert.deepEqual([describeView(view), view.continuity], [before, 'same']);
  });

  test('a cursor is of this journal or it is none', () => {
    using store = brainclaw();
    const saved = getCursor(viewed(store.open()));
    assert.deepEqual(parseCursor(JSON.parse(JSON.stringify(saved))), saved);
    for (const [change, continuity] of [
      [{}, 'same'],
      [{ head_identity: 'x' }, 'other'],
      [{ offset: saved.offset - 1 }, 'other'],
      [{ segment: NEXT }, 'other'],
      [{ seq: 400 }, 'other'],
    ] as const)
      assert.equal(openCold(store, { ...saved, ...change }).continuity, continuity);
    assert.equal(openCold(store).continuity, 'none');
    for (const bad of [null, [], 5, {}, { ...saved, seq: 1.5 }, { ...saved, offset: '1' }])
      assert.equal(parseCursor(bad), null);
  });
});

describe('brainclaw 9: the store', () => {
  test('brainclaw check 8: is only read, and of it the segments alone', () => {
    using store = brainclaw();
    const { files, opened } = readOnlyFiles();
    const journal = createJournalReader(files, store.journal);
    viewed(journal);
    for (const number of [1, 2, 3, 4]) {
      store.step(number);
      viewed(journal);
    }
    const names = readdirSync(store.journal).filter((name) => /^seg-\d{8}\.jsonl$/.test(name));
    assert.deepEqual([...new Set(opened)].sort(), names.map((name) => store.event(name)).sort());
  });

  test('leaves no file open, whatever fails', () => {
    using store = brainclaw();
    const { files } = readOnlyFiles();
    let open = 0;
    let calls = 0;
    let failAt = 0;
    const counting = new Proxy(files, {
      get: (target, name) => {
        const call = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => {
          calls += 1;
          if (calls === failAt && name !== 'close') throw Object.assign(new Error('EIO'), { code: 'EIO' });
          const answer = call(...given);
          if (name === 'open') open += 1;
          if (name === 'close') open -= 1;
          return answer;
        };
      },
    });
    viewed(createJournalReader(counting, store.journal));
    const all = calls;
    assert.ok(all > 10);
    for (failAt = 1; failAt <= all; failAt += 1) {
      calls = 0;
      const journal = createJournalReader(counting, store.journal);
      try {
        journal.refresh();
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'unreadable');
      }
      assert.equal(open, 0);
      assert.deepEqual(describeView(viewed(journal)), describeView(openCold(store)));
    }
  });

  test('is read on where the disk failed', () => {
    using store = brainclaw();
    const { files } = readOnlyFiles();
    let left = 1;
    const failing = new Proxy(files, {
      get: (target, name) =>
        name !== 'read'
          ? Reflect.get(target, name)
          : (fd: number, into: Uint8Array, position: number) => {
              left -= 1;
              if (left < 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
              return target.read(fd, into.subarray(0, 5000), position);
            },
    });
    const journal = createJournalReader(failing, store.journal);
    assert.throws(() => journal.refresh(), { code: 'unreadable' });
    left = 1e6;
    viewed(journal);
    for (const number of [1, 2]) {
      store.step(number);
      left = number;
      assert.throws(() => journal.refresh(), { code: 'unreadable', message: /input\/output/ });
      left = 1e6;
      assert.deepEqual(describeView(viewed(journal)), describeView(openCold(store)));
    }
  });
});
