import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Call, type FakeFiles, fakeFiles, type Mishap, UID } from '../../test/kit/fake-files.ts';
import { formatEventLine, type MailEvent, parseEventLine, toMailEventId } from '../events/index.ts';
import { createRotatingFile, type RotatingFile } from './file.ts';
import type { Ack } from './sink.ts';

const PATH = '/d/events.ada.ndjson';

function event(id: number, content = `mail ${id} 😀`): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '2026-06-20T10:00:00.000000+00:00',
    id,
    from: 'bo',
    created: '',
    content,
    event_id: toMailEventId('ada', id),
    wake_class: 'mail',
  };
}

const line = (id: number): string => formatEventLine(event(id));
const SIZE = Buffer.byteLength(line(1));

interface Bench {
  readonly files: FakeFiles;
  readonly file: RotatingFile;
  readonly output: string[];
}

function bench({ files = fakeFiles(), maxBytes = 0, keep = 5 } = {}): Bench {
  const output: string[] = [];
  const note = (text: string): void => void output.push(text);
  const disk = { files, log: { info: note, warn: note, error: note }, uid: UID };
  return { files, output, file: createRotatingFile({ disk, path: PATH, maxBytes, keep }) };
}

/** The ids in archives and live file, oldest first; every line must be whole, or closed where it was torn. */
function idsIn(files: FakeFiles): number[] {
  const ids: number[] = [];
  for (const name of [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => (n === 0 ? PATH : `${PATH}.${n}`))) {
    const text = files.text(name) ?? '';
    assert.ok(text === '' || text.endsWith('\n'), `${name} ends in a torn line: ${text.slice(-20)}`);
    for (const rawLine of text.split('\n').slice(0, -1)) {
      if (JSON.parse(rawLine).event === 'torn') continue;
      const found = parseEventLine(rawLine);
      assert.ok(found?.event === 'new', `${name} holds a line that is no event: ${rawLine}`);
      ids.push(found.id);
    }
  }
  return ids;
}

/** Offers lines as a watcher does: what was not taken is offered again, in order, until all is in. */
function deliver(file: RotatingFile, ids: readonly number[], between: (ack: Ack) => void = () => {}): void {
  let rest = ids;
  for (let round = 0; rest.length > 0; round += 1) {
    assert.ok(round < 20, 'never recovers');
    const ack = file.append(rest.map(line));
    between(ack);
    rest = ack.is === 'all' ? [] : rest.slice(ack.count);
  }
}

describe('appending', () => {
  test('a batch of lines is one write and one sync, the file is private', () => {
    const { files, file } = bench();
    file.append([1].map(line));
    files.mishaps(null);
    assert.deepEqual(file.append([2, 3, 4].map(line)), { is: 'all' });
    const count = (name: Call['name']): number => files.calls.filter((call) => call.name === name).length;
    assert.equal(count('write'), 1);
    assert.equal(count('fdatasync'), 1);
    assert.deepEqual(idsIn(files), [1, 2, 3, 4]);
    assert.equal(files.lstat(PATH)?.mode, 0o600);
  });

  test('the file appears with the first line, not before', () => {
    const { files, file } = bench();
    file.tighten();
    assert.deepEqual(file.tail(1000), []);
    file.append([]);
    assert.deepEqual(files.list('/d'), []);
  });

  test('trap 5, trap 6: what was acknowledged survives a power cut, its new or rotated name too, whatever call it comes before', () => {
    for (let nth = 0; ; nth += 1) {
      const { files, file } = bench({ maxBytes: SIZE * 3, keep: 9 });
      let cut = false;
      files.mishaps((_, index) => {
        cut ||= index >= nth;
        return cut ? { is: 'fails', code: 'EIO' } : null;
      });
      const acknowledged: number[] = [];
      for (const batch of [[1, 2], [3, 4, 5], [6]]) {
        const ack = file.append(batch.map(line));
        acknowledged.push(...batch.slice(0, ack.is === 'all' ? batch.length : ack.count));
        if (ack.is === 'stopped') break;
      }
      files.mishaps(null);
      files.powerCut();
      const after = bench({ files, maxBytes: SIZE * 3, keep: 9 });
      after.file.append([99].map(line));
      const saved = idsIn(files);
      for (const id of acknowledged) assert.ok(saved.includes(id), `mail ${id} is lost, power cut at call ${nth}`);
      assert.equal(saved.at(-1), 99);
      if (!cut) return;
    }
  });
});

describe('one mishap at any call', () => {
  const mishaps: readonly Mishap[] = ['ENOSPC', 'EIO', 'EACCES'].map((code) => ({ is: 'fails', code }));

  for (const mishap of mishaps) {
    test(`${mishap.is === 'fails' ? mishap.code : ''}: every line is in once, in order and whole, after it is offered again`, () => {
      let failed = true;
      for (let nth = 0; failed; nth += 1) {
        const { files, file } = bench({ maxBytes: SIZE * 2, keep: 9 });
        failed = false;
        files.mishaps((_, index) => {
          if (index !== nth) return null;
          failed = true;
          return mishap;
        });
        deliver(file, [1, 2, 3]);
        deliver(file, [4, 5]);
        deliver(file, [6]);
        assert.deepEqual(idsIn(files), [1, 2, 3, 4, 5, 6], `at call ${nth}`);
        file[Symbol.dispose]();
        assert.equal(files.openDescriptors, 0, `a descriptor leaks at call ${nth}`);
      }
    });
  }

  test('the disk is full at any byte of a write: whole lines before it are taken, the torn one is cut back', () => {
    for (let full = 0; full <= SIZE * 3; full += 1) {
      const { files, file } = bench();
      file.append([1].map(line));
      let wrote = false;
      files.mishaps((call) => {
        if (call.name !== 'write') return null;
        if (wrote) return { is: 'fails', code: 'ENOSPC' };
        wrote = true;
        return { is: 'writes', bytes: full };
      });
      const ack = file.append([2, 3, 4].map(line));
      const whole = Math.floor(full / SIZE);
      if (full === SIZE * 3) assert.deepEqual(ack, { is: 'all' });
      else {
        assert.equal(ack.is, 'stopped');
        if (ack.is === 'stopped') {
          assert.equal(ack.count, whole, `at byte ${full}`);
          if (full > 0) assert.equal(ack.fault.code, 'no-space');
        }
      }
      assert.deepEqual(idsIn(files), [1, 2, 3, 4].slice(0, 1 + whole), `at byte ${full}`);
      files.mishaps(null);
      deliver(file, [2, 3, 4].slice(whole));
      assert.deepEqual(idsIn(files), [1, 2, 3, 4]);
    }
  });

  test('a torn line that cannot be cut back is repaired before anything is written behind it', () => {
    const { files, file } = bench();
    file.append([1].map(line));
    let wrote = false;
    files.mishaps((call) => {
      if (call.name === 'ftruncate') return { is: 'fails', code: 'EIO' };
      if (call.name !== 'write') return null;
      if (wrote) return { is: 'fails', code: 'ENOSPC' };
      wrote = true;
      return { is: 'writes', bytes: 20 };
    });
    assert.equal(file.append([2].map(line)).is, 'stopped');
    assert.equal(file.append([2].map(line)).is, 'stopped', 'still torn: nothing goes behind it');
    files.mishaps(null);
    assert.deepEqual(file.append([2].map(line)), { is: 'all' });
    assert.deepEqual(idsIn(files), [1, 2]);
  });

  test('trap 3: lines whose sync failed are not acknowledged and come once when they are offered again', () => {
    const { files, file } = bench();
    file.append([1].map(line));
    files.mishaps((call) => (call.name === 'fdatasync' ? { is: 'fails', code: 'EIO' } : null));
    const ack = file.append([2, 3].map(line));
    assert.ok(ack.is === 'stopped' && ack.count === 0);
    files.mishaps(null);
    deliver(file, [2, 3]);
    assert.deepEqual(idsIn(files), [1, 2, 3]);
  });
});

describe('rotation (Kijito contract e)', () => {
  test('after the line that reaches the limit: .1 is the newest, KEEP archives stay, no line is split', () => {
    const { files, file } = bench({ maxBytes: SIZE * 2 - 1, keep: 3 });
    for (let id = 1; id <= 9; id += 1) file.append([id].map(line));
    assert.deepEqual(
      files.list('/d'),
      ['', '.1', '.2', '.3'].map((n) => PATH + n),
    );
    assert.equal(files.text(PATH), line(9));
    assert.equal(files.text(`${PATH}.1`), line(7) + line(8));
    assert.equal(files.text(`${PATH}.3`), line(3) + line(4));
  });

  test('a batch is split where single lines would have been', () => {
    const single = bench({ maxBytes: SIZE * 2 + 1, keep: 9 });
    for (let id = 1; id <= 9; id += 1) single.file.append([id].map(line));
    const batch = bench({ maxBytes: SIZE * 2 + 1, keep: 9 });
    batch.file.append([1, 2, 3, 4, 5, 6, 7, 8, 9].map(line));
    for (const path of single.files.list('/d')) assert.equal(batch.files.text(path), single.files.text(path), path);
    assert.deepEqual(batch.files.list('/d'), single.files.list('/d'));
  });

  test('the file is there again at once, and empty', () => {
    const { files, file } = bench({ maxBytes: SIZE });
    file.append([1].map(line));
    assert.equal(files.text(PATH), '');
    assert.equal(files.text(`${PATH}.1`), line(1));
  });

  test('a limit of 0 or less never rotates', () => {
    for (const maxBytes of [0, -1]) {
      const { files, file } = bench({ maxBytes });
      for (let id = 1; id <= 50; id += 1) file.append([id].map(line));
      assert.deepEqual(files.list('/d'), [PATH]);
    }
  });

  test('keep 1 holds one archive', () => {
    const { files, file } = bench({ maxBytes: SIZE, keep: 1 });
    file.append([1, 2, 3].map(line));
    assert.deepEqual(files.list('/d'), [PATH, `${PATH}.1`]);
    assert.equal(files.text(`${PATH}.1`), line(3));
  });

  test('trap 55: a rotation that keeps failing throws nothing, costs no line and no archive, is said once, and is made up for later', () => {
    const { files, file, output } = bench({ maxBytes: SIZE, keep: 3 });
    file.append([1, 2, 3].map(line));
    files.mishaps((call) => (call.name === 'rename' && call.path === PATH ? { is: 'fails', code: 'EPERM' } : null));
    for (const id of [4, 5, 6, 7]) assert.deepEqual(file.append([id].map(line)), { is: 'all' });
    assert.deepEqual(idsIn(files), [2, 3, 4, 5, 6, 7]);
    assert.equal(output.filter((text) => /cannot be rotated/.test(text)).length, 1);
    files.mishaps(null);
    file.append([8].map(line));
    assert.deepEqual(idsIn(files), [2, 3, 4, 5, 6, 7, 8]);
    assert.equal(files.text(PATH), '');
    assert.ok(output.some((text) => /is rotated again/.test(text)));
  });
});

describe('what a file holds already', () => {
  test('is found in the live file and its archives, to the given number of bytes', () => {
    const { file } = bench({ maxBytes: SIZE * 2, keep: 9 });
    file.append([1, 2, 3, 4, 5].map(line));
    const ids = (bytes: number): number[] => file.tail(bytes).map((e) => (e.event === 'new' ? e.id : -1));
    assert.deepEqual(ids(1_000_000), [1, 2, 3, 4, 5]);
    assert.deepEqual(ids(SIZE * 3), [3, 4, 5]);
    assert.deepEqual(ids(SIZE), [5]);
  });

  test('is found in .1 after a kill between the two steps of a rotation', () => {
    const { files, file } = bench();
    file.append([1, 2].map(line));
    files.rename(PATH, `${PATH}.1`);
    assert.equal(file.tail(1_000_000).length, 2);
  });
});

describe('a refused file', () => {
  test('trap 9: is said once while it lasts, and that it is over', () => {
    const { files, file, output } = bench();
    files.symlink(PATH, '/d/elsewhere');
    for (let n = 0; n < 3; n += 1) {
      const ack = file.append([1].map(line));
      assert.ok(ack.is === 'stopped' && ack.count === 0 && ack.fault.code === 'unwritable');
      assert.match(ack.fault.message, /symlink/);
    }
    assert.equal(output.length, 1);
    files.unlink(PATH);
    assert.deepEqual(file.append([1].map(line)), { is: 'all' });
    assert.equal(output.length, 2);
    assert.match(output[1] ?? '', /accepts events again/);
    assert.equal(files.text('/d/elsewhere'), null);
  });

  test('belongs to somebody else: nothing is written', () => {
    const { files, file } = bench();
    files.put(PATH, 'theirs\n', { uid: UID + 1 });
    assert.equal(file.append([1].map(line)).is, 'stopped');
    assert.equal(files.text(PATH), 'theirs\n');
  });
});

test('trap 57, D10: a live file that was rotated away, deleted or replaced is opened again by its name', () => {
  const { files, file } = bench();
  file.append([1].map(line));
  files.unlink(PATH);
  file.append([2].map(line));
  assert.equal(files.text(PATH), line(2));
  files.put(PATH, 'somebody else wrote this\n{"torn');
  file.append([3].map(line));
  assert.equal(files.text(PATH), `somebody else wrote this\n{"torn": 0, "event": "torn"}\n${line(3)}`);
  file[Symbol.dispose]();
  assert.equal(files.openDescriptors, 0);
});

test('trap 51: the modes of all archives are mended, also of those beyond keep, and of nothing else', () => {
  const { files, file, output } = bench({ keep: 2 });
  for (const name of ['', '.1', '.2', '.7', '.12', '.bak', '.lock', '2']) files.put(PATH + name, '', { mode: 0o644 });
  files.put(`/d/xevents.ada.ndjson`, '', { mode: 0o644 });
  file.tighten();
  for (const name of ['', '.1', '.2', '.7', '.12']) assert.equal(files.lstat(PATH + name)?.mode, 0o600, name);
  for (const name of ['.bak', '.lock', '2']) assert.equal(files.lstat(PATH + name)?.mode, 0o644, name);
  assert.equal(output.length, 5);
  assert.equal(files.openDescriptors, 0);
});
