import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Files, O, silentLog } from '../../core/ports/index.ts';
import {
  computeGardenPlaces,
  type DrainedMessage,
  drain,
  enqueue,
  formatRecord,
  type WriteContext,
} from '../../core/sources/garden/index.ts';
import { type FakeFiles, fakeFiles, UID } from '../kit/fake-files.ts';

const ID = '20260614T100151-bedab4';
const places = computeGardenPlaces({ store: '/d/agent', env: {}, home: '/d', cwd: '/d' });
const BOX = join(places.mailbox, ID);
const signal = new AbortController().signal;

/** What others do at some moment: ring, send at once, take the next step of a slow sender, read one as another program. */
type Other = 'ring' | 'send' | 'write on' | 'read one';

/** A box in which others act whenever they are due: before any call to the disk, or while a drain waits. */
class World {
  readonly files: FakeFiles = fakeFiles();
  readonly hand: WriteContext;
  /** Every body by its stem, as it was meant. */
  readonly sent = new Map<string, string>();
  readonly read: { stem: string; body: string }[] = [];
  readonly #due: Other[];
  #quiet = false;
  #sends = 0;
  #drawn = 0;
  #slow: { path: string; rest: string[]; time: string } | null = null;

  constructor(due: readonly Other[]) {
    this.#due = [...due];
    const watched = Object.fromEntries(
      Object.entries(this.files).map(([name, value]) => [
        name,
        typeof value !== 'function'
          ? value
          : (...given: unknown[]): unknown => {
              this.#others();
              const answer = (value as (...all: unknown[]) => unknown).apply(this.files, given);
              // Files of a moment ago: one that is empty may still be written to.
              return name.endsWith('stat') && answer !== null
                ? { ...(answer as object), ctimeMs: this.#now() }
                : answer;
            },
      ]),
    ) as unknown as Files;
    const sleep = async (): Promise<void> => {
      if (this.#slow !== null) this.#alone(() => this.#writeOn()); // who writes goes on within a tick
      this.#others();
    };
    const random = {
      hex: (bytes: number) => {
        this.#drawn += 1;
        return this.#drawn.toString(16).padStart(bytes * 2, '0');
      },
    };
    const clock = { now: () => this.#now(), sleep };
    const disk = { files: watched, log: silentLog, uid: UID };
    this.hand = { disk, random, clock, formatLocalStamp: () => '' };
    this.#alone(() => {
      for (const directory of [places.sessions, BOX]) this.files.mkdirAll(directory, 0o700);
      const text = formatRecord({
        ...{ schemaVersion: 3, gardenId: ID, backend: 'claude-code', nativeSessionId: 'n', cwd: '/c' },
        ...{ model: null, transcriptPath: null, createdAt: 't', recordUpdatedAt: 't' },
      });
      this.files.put(join(places.sessions, `${ID}.meta.json`), text);
    });
  }

  send(): void {
    this.#sends += 1;
    const body = `body ${this.#sends} `.repeat(3);
    const { stem } = enqueue(this.hand, places, ID, body);
    this.sent.set(stem, body);
  }

  async drain(): Promise<void> {
    const { messages } = await drain(this.hand, places, ID, signal);
    this.read.push(...messages.map(({ stem, body }: DrainedMessage) => ({ stem, body })));
  }

  /** Nobody else is there any more, and who was writing has ended. */
  waitUntilQuiet(): void {
    this.#due.length = 0;
    while (this.#slow !== null) this.#writeOn();
  }

  #now(): number {
    return Date.UTC(2026, 5, 14) + this.#sends;
  }

  #others(): void {
    if (this.#quiet) return;
    const other = this.#due.shift();
    if (other !== undefined) this.#alone(() => this.#do(other));
  }

  #do(other: Other): void {
    switch (other) {
      case 'ring':
        for (const name of this.#names('.msg')) this.files.rename(join(BOX, name), join(BOX, `${name}.delivered`));
        break;
      case 'send':
        this.send();
        break;
      case 'write on':
        this.#writeOn();
        break;
      case 'read one': {
        const [name] = [...this.#names('.msg'), ...this.#names('.delivered')];
        const body = name === undefined ? null : this.files.text(join(BOX, name));
        if (name === undefined || body !== this.sent.get(toStem(name))) return; // it does not read half a body either
        this.files.rename(join(BOX, name), join(BOX, `${name}.read`));
        this.read.push({ stem: toStem(name), body: body ?? '' });
        break;
      }
    }
  }

  /** One who writes a body in pieces under its final name, as the other library does, and touches the signal last. */
  #writeOn(): void {
    if (this.#slow === null) {
      this.#sends += 1;
      const time = new Date(Date.UTC(2026, 5, 14) + 1_000_000 + this.#sends).toISOString(); // after any signal
      const stem = `${time.replaceAll(/[:.]/g, '-')}-${this.#sends.toString(16).padStart(6, '0')}`;
      const rest = ['slow ', 'and ', `whole ${this.#sends}`];
      this.sent.set(stem, rest.join(''));
      this.#slow = { path: join(BOX, `${stem}.msg`), rest, time };
      this.files.close(this.files.open(this.#slow.path, O.WRONLY | O.CREAT | O.EXCL, 0o600));
      return;
    }
    const { path, rest, time } = this.#slow;
    const piece = rest.shift();
    if (piece === undefined) {
      this.files.put(join(BOX, 'inbox.signal'), `${time}\n`);
      this.#slow = null;
      return;
    }
    const now = ['', '.delivered', '.read', '.delivered.read'].map((end) => path + end);
    const current = now.find((candidate) => this.files.text(candidate) !== null) ?? path;
    const fd = this.files.open(current, O.WRONLY, 0); // the file it has open, whatever it is called by now
    this.files.write(fd, Buffer.from(piece));
    this.files.close(fd);
  }

  #names(end: string): readonly string[] {
    return this.files
      .list(BOX)
      .map((path) => path.slice(BOX.length + 1))
      .filter((name) => name.endsWith(end));
  }

  #alone(run: () => void): void {
    const before = this.#quiet;
    this.#quiet = true;
    try {
      run();
    } finally {
      this.#quiet = before;
    }
  }
}

const toStem = (name: string): string => name.slice(0, name.indexOf('.msg'));

test('whoever rings, sends, writes slowly or reads between any two calls of a drain: each message is read once, and whole', async () => {
  const other = fc.constantFrom<Other | null>('ring', 'send', 'write on', 'read one', null, null, null);
  const due = fc.array(other, { maxLength: 120 });
  const steps = fc.array(fc.constantFrom('send', 'drain'), { minLength: 1, maxLength: 8 });
  let met = 0;
  await fc.assert(
    fc.asyncProperty(due, steps, async (others, own) => {
      const world = new World(others.map((act) => act ?? ('pause' as Other)));
      for (const step of own) {
        if (step === 'send') world.send();
        else await world.drain();
      }
      world.waitUntilQuiet();
      await world.drain();
      const stems = world.read.map(({ stem }) => stem);
      assert.equal(new Set(stems).size, stems.length, 'read twice');
      assert.deepEqual(new Map(world.read.map(({ stem, body }) => [stem, body])), world.sent);
      met += world.read.length;
      const names = world.files.list(BOX);
      assert.ok(!names.some((name) => /\.msg(\.delivered)?$/.test(name)));
    }),
    { numRuns: 300 },
  );
  assert.ok(met > 500, `only ${met} messages`);
});
