import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { O, realFiles } from '../ports/index.ts';
import { type MailEvent, toMailEventId } from './event.ts';
import { formatEventLine, parseEventLine } from './line.ts';
import { readTail, repairTail } from './tail.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-tail-'));
  path = join(dir, 'events.ada.ndjson');
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

function mail(id: number, content: string): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '2026-06-20T10:00:00.000000+00:00',
    id,
    from: 'bo',
    created: '2026-06-20T10:00:00Z',
    persona: 'ada',
    content,
    event_id: toMailEventId('ada', id),
    wake_class: 'mail',
  };
}

const line = (id: number, content = `mail ${id}`): string => formatEventLine(mail(id, content));
const ids = (maxBytes: number): number[] => readTail(realFiles, path, maxBytes).map((e) => ('id' in e ? e.id : -1));

/** Repairs the file as a sink does when it opens it; returns by how much it grew. */
function repaired(): number {
  const fd = realFiles.open(path, O.RDWR | O.APPEND, 0);
  try {
    return repairTail(realFiles, fd);
  } finally {
    realFiles.close(fd);
  }
}

describe('the tail of an event file', () => {
  test('a file that is missing or empty has none', () => {
    assert.deepEqual(ids(1000), []);
    fs.writeFileSync(path, '');
    assert.deepEqual(ids(1000), []);
  });

  test('is every whole line that lies in the last bytes, oldest first, exactly to the byte', () => {
    const lines = [1, 2, 3].map((id) => line(id));
    fs.writeFileSync(path, lines.join(''));
    const last = Buffer.byteLength(lines[2] ?? '');
    const two = last + Buffer.byteLength(lines[1] ?? '');
    assert.deepEqual(ids(1_000_000), [1, 2, 3]);
    assert.deepEqual(ids(two), [2, 3]);
    assert.deepEqual(ids(two - 1), [3]);
    assert.deepEqual(ids(last), [3]);
  });

  test('is at least the last line, also when it alone is longer than asked for, or than a chunk', () => {
    fs.writeFileSync(path, line(1) + line(2, 'x'.repeat(200_000)));
    assert.deepEqual(ids(100), [2]);
    assert.deepEqual(ids(70_000), [2]);
    fs.appendFileSync(path, line(3));
    assert.deepEqual(ids(100_000), [3]);
  });

  test('leaves out a last line without its newline, and lines that are no events', () => {
    fs.writeFileSync(path, `${line(1)}not json\n{"event": "new"}\n${line(2)}${line(3).trimEnd()}`);
    assert.deepEqual(ids(1_000_000), [1, 2]);
  });

  test('a symlink, a pipe or a directory is not read as if it were empty', () => {
    fs.mkdirSync(path);
    assert.throws(() => ids(100), /not a regular file/);
    fs.rmdirSync(path);
    fs.symlinkSync('/etc/hostname', path);
    assert.throws(() => ids(100), { code: 'ELOOP' });
  });
});

describe('S11: repairing the tail', () => {
  test('torn at every byte of the last record, it is closed: what was read of it stays, and the new line stands on its own', () => {
    const old = line(1, 'é') + line(2, 'two 👩‍👩‍👧');
    const last = Buffer.from(line(3, 'torn 😀 here'));
    assert.ok(last.includes(Buffer.from('😀')));
    for (let cut = 0; cut <= last.length; cut += 1) {
      fs.writeFileSync(path, Buffer.concat([Buffer.from(old), last.subarray(0, cut)]));
      const whole = cut >= last.length - 1;
      const grew = repaired();
      assert.ok(cut === 0 || cut === last.length ? grew === 0 : grew > 0, `cut at ${cut}`);
      fs.appendFileSync(path, line(4));
      const text = fs.readFileSync(path);
      new TextDecoder('utf-8', { fatal: true }).decode(text);
      const found = text
        .toString('utf8')
        .split('\n')
        .slice(0, -1)
        .flatMap((l) => (JSON.parse(l).event === 'torn' ? [] : [parseEventLine(l)]));
      assert.deepEqual(
        found.map((event) => (event !== null && 'id' in event ? event.id : null)),
        whole ? [1, 2, 3, 4] : [1, 2, 4],
        `cut at ${cut}`,
      );
      assert.deepEqual(readTail(realFiles, path, 1e6), found, 'nobody takes the torn one for an event');
    }
  });

  test('a run of NUL bytes, as a power cut leaves it, goes', () => {
    for (const nuls of [1, 4096, 200_000]) {
      fs.writeFileSync(path, Buffer.concat([Buffer.from(line(1)), Buffer.from('{"eve'), Buffer.alloc(nuls)]));
      assert.equal(repaired(), -(nuls + 5));
      assert.equal(fs.readFileSync(path, 'utf8'), line(1));
    }
  });

  test('a file without any whole line becomes empty; an empty one and a whole one are left alone', () => {
    fs.writeFileSync(path, Buffer.alloc(70_000));
    assert.equal(repaired(), -70_000);
    assert.equal(repaired(), 0);
    fs.writeFileSync(path, line(1));
    assert.equal(repaired(), 0);
    assert.equal(fs.readFileSync(path, 'utf8'), line(1));
  });
});
