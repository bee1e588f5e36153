import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { realFiles } from '../ports/index.ts';
import type { EventLinePosition } from './event-files.ts';
import { type EventFollower, openFollower } from './follower.ts';

type Op =
  | { readonly do: 'append'; readonly lines: number; readonly pad: string }
  | { readonly do: 'begin line' | 'end line' | 'cut begun line' | 'rotate' | 'read' }
  | { readonly do: 'delete' | 'truncate' | 'cut back'; readonly again: number }
  | { readonly do: 'restart'; readonly knowsPlace: boolean };

/** A file as the model sees it: the numbers of its whole lines, whatever its name is. */
interface ModelFile {
  numbers: number[];
  begun: number | null;
}

/** Deliberately dumb: what is in a file that has a name, or was open since the last read or start, is to be handed over once. */
class World {
  readonly path: string;
  readonly keep: number;
  readonly files: ModelFile[] = []; // in the order in which they were made
  live: ModelFile | null = null;
  archives: ModelFile[] = []; // newest first
  /** Open in the follower, whatever becomes of their names. */
  held: readonly ModelFile[] = [];
  readonly delivered: number[] = [];
  written = 0;
  lostToRotation = false;
  hasRead = false;
  /** A follower that was started again knows what is still in a file, and nothing of what was there before. */
  oldestKnown = 1;
  follower: EventFollower;
  last: { readonly id: string; readonly place: EventLinePosition } | null = null;

  constructor(path: string, keep: number) {
    this.path = path;
    this.keep = keep;
    this.follower = opened(path, null);
  }

  formatLine(number: number, pad = ''): string {
    return `{"event": "new", "event_id": "ada:new:${number}", "content": "${pad}"}\n`;
  }

  put(numbers: readonly number[], pad = ''): void {
    this.endLine();
    if (this.live === null) {
      this.live = { numbers: [], begun: null };
      this.files.push(this.live);
    }
    this.live.numbers.push(...numbers);
    fs.appendFileSync(this.path, numbers.map((number) => this.formatLine(number, pad)).join(''));
  }

  endLine(): void {
    const begun = this.live?.begun ?? null;
    if (this.live === null || begun === null) return;
    this.live.begun = null;
    this.live.numbers.push(begun);
    fs.appendFileSync(this.path, this.formatLine(begun, 'é😀').slice(20));
  }

  run(op: Op): void {
    switch (op.do) {
      case 'append':
        this.put(this.fresh(op.lines), op.pad);
        return;
      case 'begin line': {
        this.put([]);
        const [number = 0] = this.fresh(1);
        if (this.live !== null) this.live.begun = number;
        fs.appendFileSync(this.path, this.formatLine(number, 'é😀').slice(0, 20));
        return;
      }
      case 'end line':
        this.endLine();
        return;
      case 'cut begun line': {
        if (this.live?.begun == null) return;
        this.live.begun = null;
        fs.truncateSync(this.path, fs.statSync(this.path).size - 20);
        return;
      }
      case 'rotate':
        this.rotate();
        return;
      case 'delete':
        if (this.live === null) return;
        fs.unlinkSync(this.path);
        this.live = null;
        this.again(op.again);
        return;
      case 'truncate':
        if (this.live === null) return;
        fs.truncateSync(this.path, 0);
        this.live.numbers = [];
        this.live.begun = null;
        this.again(op.again);
        return;
      case 'cut back': {
        // A disk that was full: what was written of a batch is taken back, and written again later.
        this.endLine();
        const back = this.live?.numbers.splice(-op.again) ?? [];
        if (back.length === 0) return;
        const lines = fs.readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
        const stays = lines.slice(0, -back.length).map((line) => `${line}\n`);
        fs.truncateSync(this.path, Buffer.byteLength(stays.join('')));
        this.put(back);
        return;
      }
      case 'read':
        this.read();
        return;
      case 'restart':
        this.restart(op.knowsPlace);
        return;
    }
  }

  fresh(count: number): number[] {
    return Array.from({ length: count }, () => {
      this.written += 1;
      return this.written;
    });
  }

  /** The newest events once more, as a writer does that finds its file gone. */
  again(count: number): void {
    const known = Array.from({ length: this.written }, (_, index) => index + 1).filter((n) => n >= this.oldestKnown);
    if (count > 0) this.put(known.slice(-count));
  }

  rotate(): void {
    this.endLine();
    if (this.live === null) return;
    const gone = this.archives[this.keep - 1];
    if (gone !== undefined) {
      fs.unlinkSync(`${this.path}.${this.keep}`);
      if (!this.held.includes(gone) && gone.numbers.some((number) => !this.delivered.includes(number)))
        this.lostToRotation = true;
    }
    for (let n = Math.min(this.archives.length, this.keep - 1); n >= 1; n -= 1)
      fs.renameSync(`${this.path}.${n}`, `${this.path}.${n + 1}`);
    fs.renameSync(this.path, `${this.path}.1`);
    this.archives = [this.live, ...this.archives].slice(0, this.keep);
    this.live = null;
    this.put([]);
  }

  read(): void {
    const expected: number[] = [];
    for (const file of this.files) {
      if (file !== this.live && !this.held.includes(file) && !this.archives.includes(file)) continue;
      for (const number of file.numbers)
        if (!this.delivered.includes(number) && !expected.includes(number)) expected.push(number);
    }
    const got: number[] = [];
    let gap = false;
    for (let found = this.follower.next(); found.is !== 'end'; found = this.follower.next()) {
      if (found.is === 'gap') {
        gap = true;
        continue;
      }
      assert.equal(found.foreign, 0, 'a line was mangled');
      for (const { event, text, place } of found.lines) {
        assert.ok(text.startsWith('{') && text.endsWith('}'));
        got.push(Number(event.event_id.slice('ada:new:'.length)));
        this.last = { id: event.event_id, place };
      }
    }
    assert.deepEqual(got, expected);
    this.delivered.push(...got);
    if (this.hasRead && this.lostToRotation) assert.ok(gap, 'what was rotated away unread must be told');
    const isListed = this.held.some((file) => file === this.live || this.archives.includes(file));
    if (isListed) assert.ok(!gap, 'nothing can be missing behind a file that is still there');
    this.lostToRotation = false;
    this.held = this.live === null ? [] : [this.live];
    // One that was made and deleted between two reads was never there for the follower.
    this.hasRead ||= this.live !== null || this.archives.length > 0;
  }

  restart(knowsPlace: boolean): void {
    if (this.last === null) return;
    this.follower[Symbol.dispose]();
    const place = knowsPlace ? this.last.place : null;
    const again = openFollower(realFiles, this.path, { is: 'after', eventId: this.last.id, place });
    const number = Number(this.last.id.slice('ada:new:'.length));
    const isStored = [this.live, ...this.archives].some((file) => file?.numbers.includes(number));
    assert.equal(again.is, isStored ? 'open' : 'unknown');
    if (again.is === 'open') {
      this.follower = again.follower;
      // It begins behind the event: what stands before it there is behind it too, also when it was written a second time.
      const saved = [...this.archives.toReversed(), this.live].flatMap((file) => file?.numbers ?? []);
      for (const before of saved.slice(0, saved.indexOf(number)))
        if (!this.delivered.includes(before)) this.delivered.push(before);
    } else {
      // A person begins anew, behind what there is.
      this.follower = opened(this.path, 0);
      this.delivered.push(...this.files.flatMap((file) => file.numbers));
      this.last = null;
    }
    this.oldestKnown = Math.min(
      this.written + 1,
      ...[this.live, ...this.archives].flatMap((file) => file?.numbers ?? []),
    );
    const present = [this.live, ...this.archives].filter((file) => file !== null);
    this.held = again.is === 'open' ? present : present.slice(0, 1);
    this.lostToRotation = false;
    this.hasRead = this.live !== null || this.archives.length > 0;
  }
}

function opened(path: string, events: number | null): EventFollower {
  const answer = openFollower(realFiles, path, events === null ? { is: 'oldest' } : { is: 'last', events });
  assert.equal(answer.is, 'open');
  return answer.follower;
}

let root: string;
before(() => {
  root = fs.mkdtempSync(join(tmpdir(), 'hivebar-follow-'));
});
after(() => fs.rmSync(root, { recursive: true, force: true }));

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      lines: fc.integer({ min: 1, max: 3 }),
      pad: fc.constantFrom('', 'x', 'é😀', 'y'.repeat(300)),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'read' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'rotate' as const }) },
  { weight: 3, arbitrary: fc.constantFrom({ do: 'begin line' as const }, { do: 'end line' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cut begun line' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('delete' as const, 'truncate' as const, 'cut back' as const),
      again: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), knowsPlace: fc.boolean() }) },
);

test('whatever its writer does, a follower hands over each event once and in order, and says where some may be missing', () => {
  let run = 0;
  fc.assert(
    fc.property(fc.array(op, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), (ops, keep) => {
      run += 1;
      const directory = join(root, String(run));
      fs.mkdirSync(directory);
      const world = new World(join(directory, 'events.ada.ndjson'), keep);
      try {
        for (const each of [...ops, { do: 'read' as const }]) world.run(each);
      } finally {
        world.follower[Symbol.dispose]();
        fs.rmSync(directory, { recursive: true });
      }
    }),
    {
      numRuns: 400,
      examples: [
        [
          [
            { do: 'begin line' },
            { do: 'delete', again: 0 },
            { do: 'read' },
            { do: 'append', lines: 1, pad: '' },
            { do: 'rotate' },
            { do: 'rotate' },
          ],
          1,
        ],
        [
          [
            { do: 'append', lines: 1, pad: '' },
            { do: 'delete', again: 0 },
            { do: 'append', lines: 1, pad: '' },
            { do: 'read' },
            { do: 'delete', again: 2 },
            { do: 'restart', knowsPlace: false },
          ],
          1,
        ],
      ],
    },
  );
});
