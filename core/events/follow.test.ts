import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Files, realFiles } from '../ports/index.ts';
import type { EventLinePosition, FollowStartPoint } from './event-files.ts';
import { createRecentIds, type EventFollower, type FollowerOpening, follow, openFollower } from './follower.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-follow-'));
  path = join(dir, 'events.ada.ndjson');
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const line = (id: number, content = ''): string =>
  `{"event": "new", "event_id": "ada:new:${id}", "content": "${content}"}\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index)).join('');

function open(from: FollowStartPoint = { is: 'oldest' }, files: Files = realFiles): FollowerOpening & { is: 'open' } {
  const opened = openFollower(files, path, from);
  assert.equal(opened.is, 'open');
  return opened;
}

/** The numbers of all events there are now, and `gap` where one was told. */
function ids(follower: EventFollower): (number | string)[] {
  const found: (number | string)[] = [];
  for (let next = follower.next(); next.is !== 'end'; next = follower.next()) {
    if (next.is === 'gap') found.push(`gap after ${next.after}`);
    else found.push(...next.lines.map(({ event }) => Number(event.event_id.split(':').at(-1))));
  }
  return found;
}

function rotate(keep = 5): void {
  if (fs.existsSync(`${path}.1`)) {
    for (let n = keep - 1; n >= 1; n -= 1)
      if (fs.existsSync(`${path}.${n}`)) fs.renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  }
  fs.renameSync(path, `${path}.1`);
  fs.writeFileSync(path, '');
}

describe('where a follower begins', () => {
  const three = (): void => {
    fs.writeFileSync(`${path}.2`, lines(1, 3));
    fs.writeFileSync(`${path}.1`, lines(4, 6));
    fs.writeFileSync(path, lines(7, 9));
  };

  test('with the oldest that is kept: archives first, the highest number first, also `.10` before `.9`', () => {
    three();
    fs.writeFileSync(`${path}.10`, line(0));
    fs.writeFileSync(`${path}.bak`, line(99));
    fs.writeFileSync(`${path}.01`, line(98));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('with the last so many, over several files, or none, or all when there are fewer', () => {
    three();
    for (const [events, expected] of [
      [0, []],
      [2, [8, 9]],
      [4, [6, 7, 8, 9]],
      [99, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ] as const) {
      using reader = open({ is: 'last', events }).follower;
      assert.deepEqual(ids(reader), expected);
    }
  });

  test('with the last ones of a file far larger than is looked at first', () => {
    const long = 'x'.repeat(100_000);
    fs.writeFileSync(path, Array.from({ length: 100 }, (_, index) => line(index + 1, long)).join(''));
    using reader = open({ is: 'last', events: 60 }).follower;
    const found = ids(reader);
    assert.deepEqual([found.length, found[0], found.at(-1)], [60, 41, 100]);
  });

  test('after the first of an event that stands twice: what lies between is not left out', () => {
    fs.writeFileSync(`${path}.1`, lines(1, 3));
    fs.writeFileSync(path, line(2));
    using reader = open({ is: 'after', eventId: 'ada:new:2', place: null }).follower;
    assert.deepEqual(ids(reader), [3]);
  });

  test('after an event, whichever file holds it', () => {
    three();
    for (const [id, expected] of [
      [2, [3, 4, 5, 6, 7, 8, 9]],
      [6, [7, 8, 9]],
      [9, []],
    ] as const) {
      using reader = open({ is: 'after', eventId: `ada:new:${id}`, place: null }).follower;
      assert.deepEqual(ids(reader), expected);
    }
  });

  test('not at all after an event that is not kept: the oldest one that is kept is named', () => {
    three();
    const after = (eventId: string) => openFollower(realFiles, path, { is: 'after', eventId, place: null });
    assert.deepEqual(after('ada:new:0'), { is: 'unknown', oldest: 'ada:new:1' });
    for (const name of [path, `${path}.1`, `${path}.2`]) fs.unlinkSync(name);
    assert.deepEqual(after('ada:new:5'), { is: 'unknown', oldest: null });
  });

  test('at the place it left, when the event still ends there; a place that holds another event is no place', () => {
    three();
    let place: EventLinePosition | null = null;
    {
      using reader = open().follower;
      const first = reader.next();
      assert.ok(first.is === 'lines');
      place = first.lines[1]?.place ?? null;
    }
    rotate();
    using again = open({ is: 'after', eventId: 'ada:new:2', place }).follower;
    assert.deepEqual(ids(again), [3, 4, 5, 6, 7, 8, 9]);
    using other = open({ is: 'after', eventId: 'ada:new:8', place }).follower;
    assert.deepEqual(ids(other), [9]);
  });

  test('in a directory that is not there yet, and finds the file once it is', () => {
    path = join(dir, 'events', 'events.ada.ndjson');
    const { follower, isEmpty } = open();
    using reader = follower;
    assert.ok(isEmpty);
    assert.deepEqual(ids(reader), []);
    fs.mkdirSync(join(dir, 'events'));
    fs.writeFileSync(path, line(1));
    assert.deepEqual(ids(reader), [1]);
  });

  test('a symlink or a directory of that name is refused, and no descriptor is left open', () => {
    fs.mkdirSync(path);
    assert.throws(() => open(), /is not a regular file/);
    fs.rmdirSync(path);
    fs.writeFileSync(join(dir, 'secret'), line(1));
    fs.symlinkSync(join(dir, 'secret'), path);
    assert.throws(() => open(), { code: 'ELOOP' });
  });
});

describe('a follower', () => {
  test('waits for the end of a line, cut at every byte', () => {
    const bytes = Buffer.from(line(2, 'é 😀'));
    for (let cut = 1; cut < bytes.length; cut += 1) {
      fs.writeFileSync(path, Buffer.concat([Buffer.from(line(1)), bytes.subarray(0, cut)]));
      using reader = open().follower;
      assert.deepEqual(ids(reader), [1], `cut at ${cut}`);
      fs.appendFileSync(path, bytes.subarray(cut));
      const next = reader.next();
      assert.ok(next.is === 'lines' && next.lines[0]?.text === bytes.toString().trimEnd(), `cut at ${cut}`);
    }
  });

  test('never joins the beginning of a line that was cut off with the line that came in its place', () => {
    fs.writeFileSync(path, line(1) + line(2, 'torn').slice(0, -10));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [1]);
    fs.truncateSync(path, line(1).length);
    fs.appendFileSync(path, line(3, 'longer than what was torn'));
    assert.deepEqual(ids(reader), [3]);
  });

  test('reads a deleted file to its end, then the new one of that name', () => {
    fs.writeFileSync(path, line(1));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [1]);
    fs.appendFileSync(path, line(2));
    fs.unlinkSync(path);
    assert.deepEqual(ids(reader), [2]);
    fs.writeFileSync(path, line(3));
    assert.deepEqual(ids(reader), [3]);
  });

  test('does not take older archives for new ones when the live file was deleted', () => {
    fs.writeFileSync(`${path}.2`, lines(1, 2));
    fs.writeFileSync(`${path}.1`, lines(3, 4));
    fs.writeFileSync(path, line(5));
    using reader = open({ is: 'last', events: 1 }).follower;
    assert.deepEqual(ids(reader), [5]);
    fs.unlinkSync(path);
    fs.writeFileSync(path, line(6));
    assert.deepEqual(ids(reader), [6]);
  });

  test('a file that was deleted is no gap while an older one is still kept', () => {
    fs.writeFileSync(`${path}.1`, line(1));
    fs.writeFileSync(path, line(2));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [1, 2]);
    fs.unlinkSync(path);
    fs.writeFileSync(path, line(3));
    rotate();
    fs.writeFileSync(path, line(4));
    assert.deepEqual(ids(reader), [3, 4]);
  });

  test('finds a file cut and written anew, also when it is longer than before', () => {
    fs.writeFileSync(path, lines(1, 3));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [1, 2, 3]);
    fs.truncateSync(path, 0);
    fs.appendFileSync(path, lines(3, 9));
    assert.deepEqual(ids(reader), [4, 5, 6, 7, 8, 9]);
  });

  test('goes over several rotations at once, and says when there were more than are kept', () => {
    fs.writeFileSync(path, line(1));
    using reader = open().follower;
    assert.deepEqual(ids(reader), [1]);
    for (let id = 2; id <= 4; id += 1) {
      rotate(3);
      fs.appendFileSync(path, line(id));
    }
    assert.deepEqual(ids(reader), [2, 3, 4]);
    for (let id = 5; id <= 9; id += 1) {
      rotate(3);
      fs.appendFileSync(path, line(id));
    }
    assert.deepEqual(ids(reader), ['gap after ada:new:4', 6, 7, 8, 9]);
  });

  test('leaves out lines that are no events, and counts them', () => {
    fs.writeFileSync(path, `${line(1)}not json\n\n{"event": "new"}\n${line(2)}`);
    using reader = open().follower;
    const next = reader.next();
    assert.ok(next.is === 'lines');
    assert.deepEqual([next.lines.length, next.foreign], [2, 3]);
  });

  // The writer may rotate between any two calls of the reader.
  test('loses and repeats nothing when a rotation comes before any one of its calls', () => {
    const names = ['open', 'read', 'fstat', 'lstat', 'readdir'] as const;
    let calls = 0;
    for (let at = 0; at === 0 || calls >= at; at += 1) {
      for (const name of fs.readdirSync(dir)) fs.unlinkSync(join(dir, name));
      fs.writeFileSync(`${path}.1`, lines(1, 2));
      fs.writeFileSync(path, lines(3, 4));
      calls = 0;
      const files: Files = { ...realFiles };
      for (const name of names) {
        const real = realFiles[name] as (...args: unknown[]) => unknown;
        Object.assign(files, {
          [name]: (...args: unknown[]) => {
            calls += 1;
            if (calls === at) {
              fs.appendFileSync(path, line(5));
              rotate();
              fs.appendFileSync(path, line(6));
            }
            return real(...args);
          },
        });
      }
      using reader = open({ is: 'oldest' }, files).follower;
      const found = ids(reader);
      assert.deepEqual(
        [...found, ...ids(reader)],
        at === 0 || calls < at ? [1, 2, 3, 4] : [1, 2, 3, 4, 5, 6],
        `at ${at}`,
      );
    }
    assert.ok(calls > 20, `only ${calls} calls were tried`);
  });

  test('closes all it opened', () => {
    const opened = new Set<number>();
    const files: Files = {
      ...realFiles,
      open: (...args) => {
        const fd = realFiles.open(...args);
        opened.add(fd);
        return fd;
      },
      close: (fd) => {
        assert.ok(opened.delete(fd), `${fd} is not open`);
        realFiles.close(fd);
      },
    };
    fs.writeFileSync(path, line(0));
    {
      using reader = open({ is: 'oldest' }, files).follower;
      for (let id = 1; id <= 40; id += 1) {
        rotate();
        fs.appendFileSync(path, line(id));
        ids(reader);
        if (id % 7 === 0) fs.unlinkSync(`${path}.1`);
        assert.ok(opened.size <= 10, `${opened.size} are open`);
      }
      openFollower(files, path, { is: 'after', eventId: 'nobody', place: null });
    }
    assert.equal(opened.size, 0);
  });
});

test('the ids that were seen are bounded, and the newest ones are always among them', () => {
  const seen = createRecentIds(3);
  for (let id = 1; id <= 7; id += 1) seen.add(String(id));
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].filter((id) => seen.has(String(id))),
    [4, 5, 6, 7],
  );
});

describe('following', () => {
  test('hands over what comes, over a rotation and a deletion, until it is stopped', async () => {
    path = join(dir, 'events', 'events.ada.ndjson');
    const stop = new AbortController();
    using reader = open().follower;
    const steps: (() => void)[] = [
      () => {
        fs.appendFileSync(path, line(2));
        rotate();
        fs.appendFileSync(path, line(3));
      },
      () => {},
      () => {
        fs.unlinkSync(path);
        fs.writeFileSync(path, line(4));
      },
      () => stop.abort(),
    ];
    setTimeout(() => {
      fs.mkdirSync(join(dir, 'events'));
      fs.writeFileSync(path, line(1));
    }, 50);
    const found: number[] = [];
    for await (const next of follow(reader, path, stop.signal)) {
      assert.ok(next.is === 'lines');
      for (const { event } of next.lines) {
        found.push(Number(event.event_id.split(':').at(-1)));
        steps.shift()?.();
      }
    }
    assert.deepEqual(found, [1, 2, 3, 4]);
  });

  test('ends at once when it is stopped while nothing comes', async () => {
    const stop = new AbortController();
    using reader = open().follower;
    setTimeout(() => stop.abort(), 20);
    const began = performance.now();
    for await (const _ of follow(reader, path, stop.signal)) assert.fail('there is nothing');
    assert.ok(performance.now() - began < 500);
  });
});
