import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Mishaps } from '../../../test/kit/fake-files.ts';
import { type FakeMachine, fakeMachine, fakeStore, lines } from '../../../test/kit/queue-rig.ts';
import { O } from '../../ports/index.ts';
import { append, parseEntry } from './entry.ts';
import { formatCopy, takeOver } from './take-over.ts';

const PATH = '/d/s1.jsonl';
const QUEUE = { path: PATH, persona: 'ada' };
const BEFORE = ['a', 'b', 'a', 'c'];

const dead: Mishaps = () => ({ is: 'fails', code: 'EIO' });
const from =
  (first: number, mishap: ReturnType<Mishaps>): Mishaps =>
  (call, index) => {
    if (index < first) return null;
    return index === first
      ? mishap?.is === 'writes' && call.name !== 'write'
        ? dead(call, index)
        : mishap
      : dead(call, index);
  };

/** How many calls a take-over of these lines makes. */
function callsOfOne(): number {
  const machine = fakeMachine();
  machine.files.put(PATH, lines(...BEFORE));
  machine.files.mishaps(() => null);
  takeOver(machine, QUEUE, fakeStore().insert, 0);
  return machine.files.calls.length;
}

function appendAgain(machine: FakeMachine): void {
  // The very same bytes as before: nothing but its place tells such a line from the one that was taken.
  for (const content of BEFORE) {
    const fd = machine.files.open(PATH, O.WRONLY | O.APPEND, 0o600);
    machine.files.write(fd, Buffer.from(lines(content)));
    machine.files.close(fd);
  }
}

describe('a take-over that dies, at each call it makes', () => {
  const calls = callsOfOne();
  const deaths: readonly [string, ReturnType<Mishaps>][] = [
    ['before the call', { is: 'fails', code: 'EIO' }],
    ['after 0 bytes of a write', { is: 'writes', bytes: 0 }],
    ['after 20 bytes of a write', { is: 'writes', bytes: 20 }],
    ['after 150 bytes of a write', { is: 'writes', bytes: 150 }],
    ['after a whole write', { is: 'writes', bytes: 1e9 }],
  ];
  for (const [how, mishap] of deaths) {
    for (const isPowerCut of [false, true]) {
      test(`${how}${isPowerCut ? ', with the power' : ''}: every line is taken once, and so are the same lines again`, () => {
        assert.ok(calls > 20);
        for (let point = 0; point < calls; point += 1) {
          const machine = fakeMachine();
          const store = fakeStore();
          machine.files.put(PATH, lines(...BEFORE));
          machine.files.mishaps(from(point, mishap));
          let died = false;
          try {
            takeOver(machine, QUEUE, store.insert, 0);
          } catch {
            died = true; // as it should
          }
          machine.files.mishaps(null);
          if (isPowerCut) machine.files.powerCut();
          if (died && point % 2 === 0) appendAgain(machine);
          const expected = died && point % 2 === 0 ? [...BEFORE, ...BEFORE] : BEFORE;
          takeOver(machine, QUEUE, store.insert, 0);
          assert.deepEqual([...store.contents].sort(), [...expected].sort(), `died at call ${point}`);
          appendAgain(machine);
          takeOver(machine, QUEUE, store.insert, 0);
          takeOver(machine, QUEUE, store.insert, 0);
          assert.deepEqual([...store.contents].sort(), [...expected, ...BEFORE].sort(), `died at call ${point}`);
          assert.equal(machine.files.text(PATH), '');
          assert.equal(machine.files.text(`${PATH}.draining`), '');
        }
      });
    }
  }
});

describe('a take-over that finds what an earlier one left, and dies as well', () => {
  const lefts: readonly [string, (machine: FakeMachine) => readonly string[]][] = [
    [
      'a whole copy',
      (machine) => {
        machine.files.put(PATH, lines('left', 'left'));
        const failing = () => {
          throw new Error('the store is gone');
        };
        assert.throws(() => takeOver(machine, QUEUE, failing, 0));
        return ['left', 'left'];
      },
    ],
    [
      'half a copy',
      (machine) => {
        const copy = formatCopy('0'.repeat(32), Buffer.from(lines(...BEFORE)));
        machine.files.put(`${PATH}.draining`, Buffer.from(copy).toString().slice(0, 150));
        return [];
      },
    ],
  ];
  for (const [label, leave] of lefts) {
    for (const isPowerCut of [false, true]) {
      test(`${label}, at each call it makes${isPowerCut ? ', with the power' : ''}: every line is taken once`, () => {
        let isAlive = false;
        for (let point = 0; !isAlive; point += 1) {
          const machine = fakeMachine();
          const store = fakeStore();
          const left = leave(machine);
          machine.files.put(PATH, lines(...BEFORE));
          machine.files.mishaps((call, index) => (index < point ? null : dead(call, index)));
          try {
            takeOver(machine, QUEUE, store.insert, 0);
            isAlive = true; // every call was one at which it died
            assert.ok(point > 20);
          } catch (error) {
            assert.equal((error as { code?: string }).code, 'unwritable', `died at call ${point}: ${error}`);
          }
          machine.files.mishaps(null);
          if (isPowerCut) machine.files.powerCut();
          takeOver(machine, QUEUE, store.insert, 0);
          assert.deepEqual([...store.contents].sort(), [...BEFORE, ...left].sort(), `died at call ${point}`);
        }
      });
    }
  }
});

describe('a disk that is full for one call', () => {
  test('at whichever call: nothing is lost, nothing is doubled, and no descriptor is left', () => {
    for (let point = 0; point < callsOfOne(); point += 1) {
      for (const mishap of [{ is: 'fails', code: 'ENOSPC' } as const, { is: 'writes', bytes: 0 } as const]) {
        const machine = fakeMachine();
        const store = fakeStore();
        machine.files.put(PATH, lines(...BEFORE));
        machine.files.mishaps((call, index) =>
          index === point && (mishap.is === 'fails' || call.name === 'write') ? mishap : null,
        );
        try {
          takeOver(machine, QUEUE, store.insert, 0);
        } catch (error) {
          if (mishap.is === 'fails')
            assert.equal((error as { code?: string }).code, 'no-space', `call ${point}: ${error}`);
        }
        machine.files.mishaps(null);
        assert.equal(machine.files.openDescriptors, 0, `call ${point}`);
        appendAgain(machine);
        takeOver(machine, QUEUE, store.insert, 0);
        assert.deepEqual([...store.contents].sort(), [...BEFORE, ...BEFORE].sort(), `call ${point}`);
      }
    }
  });

  test('a queue that cannot be copied is left as it was, without a mark that grows with each try', () => {
    const machine = fakeMachine();
    machine.files.put(PATH, lines(...BEFORE));
    machine.files.mishaps(
      (call) => (call.name === 'write' ? { is: 'fails', code: 'ENOSPC' } : null),
      `${PATH}.draining`,
    );
    for (let tries = 0; tries < 3; tries += 1) {
      assert.throws(() => takeOver(machine, QUEUE, fakeStore().insert, 0), { code: 'no-space' });
      assert.equal(machine.files.text(PATH), lines(...BEFORE));
    }
    // A whole copy whose mark is gone counts as taken: so it must be gone for good before the mark goes.
    const after = machine.files.calls.map(({ name, path }) => `${name} ${path}`).join(', ');
    const copy = `${PATH}.draining`;
    assert.ok(after.endsWith(`ftruncate ${copy}, fsync ${copy}, close ${copy}`), after);
  });

  test('an append that finds room for half a line takes it back', () => {
    for (const mishap of [{ is: 'writes', bytes: 30 } as const, { is: 'fails', code: 'ENOSPC' } as const]) {
      const machine = fakeMachine();
      machine.files.put(PATH, lines('a'));
      machine.files.mishaps((call) => (call.name === 'write' ? mishap : null));
      const read = parseEntry('{"content":"b"}', 0);
      assert.ok(read.is === 'entry');
      assert.throws(() => append(machine, PATH, read.entry), { code: 'no-space' });
      assert.equal(machine.files.text(PATH), lines('a'));
      assert.equal(machine.files.openDescriptors, 0);
    }
  });
});

describe('a store that fails', () => {
  test('the lines wait in the copy, and are inserted before those that came after', () => {
    const machine = fakeMachine();
    const store = fakeStore();
    machine.files.put(PATH, lines('a'));
    assert.throws(() =>
      takeOver(
        machine,
        QUEUE,
        () => {
          throw new Error('locked');
        },
        0,
      ),
    );
    assert.equal(machine.files.text(PATH), '');
    appendAgain(machine);
    assert.deepEqual(takeOver(machine, QUEUE, store.insert, 0), { items: 5, bad: 0, isHeld: false });
    assert.deepEqual(store.contents, ['a', ...BEFORE]);
  });

  test('it failed after its commit: the same lines have the same keys', () => {
    const machine = fakeMachine();
    const store = fakeStore();
    machine.files.put(PATH, lines('a', 'a'));
    assert.throws(() =>
      takeOver(
        machine,
        QUEUE,
        (items) => {
          store.insert(items);
          throw new Error('gone');
        },
        0,
      ),
    );
    takeOver(machine, QUEUE, store.insert, 0);
    assert.deepEqual(store.contents, ['a', 'a']);
  });

  test('one item that it will not have is put aside, and the others are taken', () => {
    const machine = fakeMachine();
    const store = fakeStore(({ content }) => content === 'poison');
    machine.files.put(PATH, lines('a', 'poison', 'b'));
    assert.deepEqual(takeOver(machine, QUEUE, store.insert, 0), { items: 2, bad: 1, isHeld: false });
    assert.deepEqual(store.contents, ['a', 'b']);
    assert.equal(machine.files.text(`${PATH}.bad`), lines('poison'));
  });
});
