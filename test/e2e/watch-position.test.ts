import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Cli, type CliOptions, type EventLine, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** The headless watch at least once: where it begins, whatever lies where its position should. */
const watch = (hive: FakeHive, files: Scratch, args: readonly string[] = [], options: CliOptions = {}): Cli =>
  startCli(
    [
      ...['watch', '--hive', hive.url, '--poll-seconds', '1', '--delivery', 'at-least-once'],
      ...['--state-file', files.at('hive.json'), ...args],
    ],
    options,
  );

const names = (cli: Cli): unknown[] => cli.events.map(({ event }) => event);
const count = (text: string, words: RegExp): number => text.match(new RegExp(words, 'g'))?.length ?? 0;

const position = (hive: FakeHive, more: Record<string, unknown> = {}, persona = 'ada'): string =>
  JSON.stringify({
    identity: ['http', '127.0.0.1', hive.port, '/api/inbox', [['persona', persona]]],
    cursor: 1,
    state: 'UP',
    consecutive_failures: 0,
    ...more,
  });

/** A hive that already holds three messages, all unread. */
async function hiveOfThree(personas: readonly string[] = ['ada']): Promise<FakeHive> {
  const hive = await fakeHive({ personas });
  for (let n = 0; n < 3; n += 1) hive.deliver(personas[0] ?? 'ada');
  return hive;
}

const fields = ({ armed_at, skipped, id_range, unread_held }: EventLine): unknown[] => [
  armed_at,
  skipped,
  id_range,
  unread_held,
];

describe('a position that is there', { concurrency: 4 }, () => {
  const corrupt: readonly (readonly [trap: string, what: string, text: (hive: FakeHive) => string, why: RegExp])[] = [
    ['trap 30', 'an empty file is no first launch', () => '', /the file is empty/],
    [
      'trap 30',
      'a half-written file is no first launch',
      (hive) => position(hive).slice(0, 40),
      /JSON|Expected|termin/,
    ],
    ['trap 31', 'pin_forced 1 is not read as false', (hive) => position(hive, { pin_forced: 1 }), /pin_forced is 1/],
    ['D15', 'cursor true is not 1', (hive) => position(hive, { cursor: true }), /cursor is true/],
  ];
  for (const [trap, label, text, why] of corrupt) {
    test(`${trap}: ${label}: it is said, and what is in sight is told again, once`, async () => {
      using files = scratch();
      await using hive = await hiveOfThree();
      files.write('hive.ada.json', text(hive));
      await using cli = watch(hive, files);
      await cli.until('all are told', () => cli.mail().length === 3);
      const output = await cli.event('state_corrupt');
      assert.match(String(output.reason), why);
      assert.equal(output.armed_at, 0);
      assert.deepEqual(names(cli), ['state_corrupt', 'armed', 'new', 'new', 'new']);
      await until('it is saved', () => files.json('hive.ada.json')?.cursor === 3);
      assert.deepEqual(Object.keys(files.json('hive.ada.json') ?? {}).length, 4, 'and no pin is left');
      await cli.stop();
      await using again = watch(hive, files);
      await again.event('armed');
      assert.deepEqual(names(again), ['armed']);
    });
  }

  test('trap 30: given up while the hive is away, and killed: it is still given up at the next start', async () => {
    using files = scratch();
    await using hive = await hiveOfThree();
    hive.fail({ is: 'status', status: 500 }, { endpoint: 'inbox' });
    files.write('hive.ada.json', '{"identity":');
    await using first = watch(hive, files, ['--alert-after', '1']);
    await until('a failed poll is saved', () => files.text('hive.ada.json').includes('"state":"DOWN"'));
    first.kill('SIGKILL');
    await first.ended();
    await hive.heal();
    await using second = watch(hive, files);
    await second.until('all are told', () => second.mail().length === 3);
    assert.deepEqual(names(second), ['recovered', 'state_corrupt', 'armed', 'new', 'new', 'new']);
  });

  test('D23: an unusable state over an empty inbox arms at 0, and trap 32: its pin is released', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    files.write('hive.ada.json', 'garbage');
    await using cli = watch(hive, files);
    assert.equal((await cli.event('armed')).cursor, 0);
    const id = hive.deliver('ada');
    assert.equal((await cli.event('new')).id, id);
    await until('it is saved', () => files.json('hive.ada.json')?.cursor === id);
    assert.equal('pin_release_at' in (files.json('hive.ada.json') ?? {}), false);
  });

  test('trap 34: a persona that is spelled in another case goes on from its cursor', async () => {
    using files = scratch();
    await using hive = await hiveOfThree(['Ada']);
    files.write('hive.ada.json', position(hive, {}, 'ada'));
    await using cli = watch(hive, files, ['--persona', 'Ada']);
    await cli.until('what it missed is told', () => cli.mail().length === 2);
    assert.deepEqual([names(cli), cli.mail()], [['armed', 'new', 'new'], [2, 3]]); // biome-ignore format: a pair
    await cli.says(/only the case differs, so Ada continues from there/);
    await until('under its new name', () => files.text('hive.ada.json').includes('"Ada"'));
  });

  test('trap 34: but not from that of another persona, whom the hive tells apart by case', async () => {
    using files = scratch();
    await using hive = await hiveOfThree(['ada', 'Ada']);
    files.write('hive.ada.json', position(hive, { cursor: 3 }, 'Ada'));
    await using cli = watch(hive, files);
    const skipped = await cli.event('baseline_skipped');
    assert.equal(skipped.persona, 'ada');
    assert.match(String(skipped.reason), /belongs to another inbox/);
  });

  test('a file of the name as spelled stays in use; a new one is in lower case', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['Ada', 'Bo'] });
    files.write('hive.Ada.json', position(hive, { cursor: 0 }, 'Ada'));
    const id = hive.deliver('Ada');
    await using cli = watch(hive, files, ['--events-file-template', files.at('events.{persona}.ndjson')]);
    await cli.until('it is told', () => files.mail('events.ada.ndjson').length === 1);
    assert.deepEqual(files.mail('events.ada.ndjson'), [id]);
    await until(
      'both are saved',
      () => files.json('hive.Ada.json')?.cursor === id && files.json('hive.bo.json') !== null,
    );
    assert.ok(!files.list().includes('hive.ada.json'));
  });

  test('a file of the later monitor is taken over: what it delivered above its cursor is not told again', async () => {
    using files = scratch();
    await using hive = await hiveOfThree();
    files.write('hive.ada.json', position(hive, { emitted_above: [3], gap_alerted: 1 }));
    await using cli = watch(hive, files);
    await cli.until('the hole is closed', () => files.json('hive.ada.json')?.cursor === 3);
    assert.deepEqual([names(cli), cli.mail()], [['armed', 'new'], [2]]); // biome-ignore format: a pair
    assert.equal(Object.keys(files.json('hive.ada.json') ?? {}).length, 4);
  });
});

describe('no position of this inbox', { concurrency: 4 }, () => {
  test('trap 36: a lost file skips no backlog in silence; D3: one over nothing unread is no news', async () => {
    using files = scratch();
    await using hive = await hiveOfThree(['ada', 'bo']);
    hive.deliver('bo');
    hive.markRead('bo');
    await using cli = watch(hive, files);
    await cli.until('both are armed', () => names(cli).filter((name) => name === 'armed').length === 2);
    const skipped = cli.events.filter(({ event }) => event === 'baseline_skipped');
    assert.deepEqual(skipped.map(fields), [[3, 3, [1, 3], 3]]);
    assert.equal(skipped[0]?.persona, 'ada');
    assert.match(String(skipped[0]?.reason), /no saved position/);
    assert.deepEqual(cli.mail(), []);
  });

  test('trap 36: nor does a file of another inbox, which is named', async () => {
    using files = scratch();
    await using hive = await hiveOfThree();
    files.write('hive.ada.json', position(hive, {}, 'somebody'));
    await using cli = watch(hive, files);
    const skipped = await cli.event('baseline_skipped');
    assert.match(String(skipped.reason), /hive\.ada\.json: identity mismatch: it belongs to another inbox .*somebody/);
    await cli.event('armed');
    assert.deepEqual(names(cli), ['baseline_skipped', 'armed']);
    await until('it is ours', () => files.json('hive.ada.json')?.cursor === 3);
  });
});

describe('what cannot be a position', { concurrency: 4 }, () => {
  test('trap 35: a symlink is not followed, and a directory ends nothing: both are said, and nothing is saved', async () => {
    for (const make of [
      (files: Scratch) => symlinkSync(files.write('target', 'mine'), files.at('hive.ada.json')),
      (files: Scratch) => mkdirSync(files.at('hive.ada.json')),
    ]) {
      using files = scratch();
      await using hive = await hiveOfThree();
      make(files);
      const before = lstatSync(files.at('hive.ada.json')).mode;
      await using cli = watch(hive, files);
      await cli.until('what is in sight is told', () => cli.mail().length === 3);
      assert.deepEqual(names(cli), ['state_corrupt', 'armed', 'new', 'new', 'new']);
      assert.match(String(cli.events[0]?.reason), /is a (symlink|directory)|not a regular file/);
      const id = hive.deliver('ada');
      await cli.until('and what comes', () => cli.mail().includes(id));
      assert.equal(count(cli.stderr, /the position of ada is not saved/), 1, cli.stderr);
      assert.equal(lstatSync(files.at('hive.ada.json')).mode, before);
      if (existsSync(files.at('target'))) assert.equal(readFileSync(files.at('target'), 'utf8'), 'mine');
    }
  });

  test('trap 37: a directory that cannot be written to ends nothing: mail is told once, and that nothing is saved', async (t) => {
    if (needs(t, bound.missing)) return;
    using files = scratch();
    await using hive = await hiveOfThree();
    chmodSync(files.dir, 0o500);
    await using cli = watch(hive, files, ['--no-fast-path'], { wrap: bound.wrap });
    await cli.event('armed');
    const id = hive.deliver('ada');
    await cli.event('new');
    const before = hive.asked('inbox').length;
    await until('some polls', () => hive.asked('inbox').length >= before + 4);
    assert.deepEqual(cli.mail(), [id]);
    assert.equal(count(cli.stderr, /permission denied/), 1, cli.stderr);
    await cli.says(/ada is watched without a lock, and its position is not saved/);
    assert.deepEqual(await cli.stop(), { code: 0, signal: null });
    chmodSync(files.dir, 0o700);
  });

  test('trap 37: one that becomes so while it runs, with the position in it, is said once, and it is saved again', async (t) => {
    if (needs(t, bound.missing)) return;
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, files, ['--no-fast-path'], { wrap: bound.wrap });
    await until('it is saved', () => files.json('hive.ada.json')?.cursor === 0);
    chmodSync(files.dir, 0o500);
    const id = hive.deliver('ada');
    await cli.event('new');
    const before = hive.asked('inbox').length;
    await until('some polls', () => hive.asked('inbox').length >= before + 4);
    assert.equal(count(cli.stderr, /permission denied/), 1, cli.stderr);
    assert.deepEqual(cli.mail(), [id]);
    chmodSync(files.dir, 0o700);
    await until('it is saved again', () => files.json('hive.ada.json')?.cursor === id);
  });

  test('trap 40: the lock outlives every rename of the file: a second producer is refused', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, files);
    await cli.event('armed');
    const before = openSync(files.at('hive.ada.json'), 'r');
    const id = hive.deliver('ada');
    await until('it is replaced', () => files.json('hive.ada.json')?.cursor === id);
    assert.equal(fstatSync(before).nlink, 0, 'the file that was there has no name any more');
    closeSync(before);
    await using second = watch(hive, files);
    assert.deepEqual(await second.ended(), { code: 2, signal: null });
    assert.match(second.stderr, /in use by another process/);
  });

  test('a refused token at the first poll is fatal; at most once, and 403, are failures', async () => {
    const first = async (status: number, delivery: string): Promise<Cli & { readonly hive: FakeHive }> => {
      const hive = await fakeHive({ personas: ['ada'] });
      hive.fail({ is: 'status', status }, { endpoint: 'inbox' });
      const args = ['watch', '--hive', hive.url, '--persona', 'ada', '--poll-seconds', '1', '--alert-after', '1'];
      return Object.assign(startCli([...args, '--delivery', delivery]), { hive });
    };
    const fatal = await first(401, 'at-least-once');
    assert.deepEqual(await fatal.ended(), { code: 2, signal: null });
    assert.match(fatal.stderr, /answered 401/);
    const failures = [await first(401, 'at-most-once'), await first(403, 'at-least-once')];
    for (const cli of failures) {
      await cli.event('alert');
      await cli.hive.heal();
      await cli.event('recovered');
    }
    for (const cli of [fatal, ...failures]) {
      await cli[Symbol.asyncDispose]();
      await cli.hive[Symbol.asyncDispose]();
    }
  });
});

describe('a window that cannot be walked', { concurrency: 3 }, () => {
  /** Says nothing of older rows on the newest page, so that nobody can know whether there are any. */
  const silent = (answer: Record<string, unknown>, url: URL): unknown =>
    url.searchParams.has('before_id') ? answer : { ...answer, next_before_id: undefined };

  test('trap 14: the gap is told once and pins the cursor, also over a restart, and no mail is told twice or never', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], window: 3 });
    await using first = watch(hive, files, ['--no-unread-alerts']);
    await first.event('armed');
    hive.fail({ is: 'edit', edit: silent }, { endpoint: 'inbox' });
    const ids = Array.from({ length: 8 }, () => hive.deliver('ada'));
    const gap = await first.event('alert', ({ reason }) => reason === 'gap');
    assert.deepEqual([gap.cursor_at, gap.pinned], [0, true]);
    await until('the pin is saved', () => files.json('hive.ada.json')?.gap_alerted === 0);
    const saved = files.json('hive.ada.json') ?? {};
    assert.equal(saved.cursor, 0);
    assert.ok(Array.isArray(saved.delivered_above) && Array.isArray(saved.emitted_above), JSON.stringify(saved));
    await first.stop();

    await using second = watch(hive, files, ['--max-replay', '0', '--no-unread-alerts']);
    await second.event('armed');
    const asked = hive.asked('inbox').length;
    await until('it looked again', () => hive.asked('inbox').length >= asked + 2);
    assert.deepEqual(names(second), ['armed'], 'trap 25, trap 27: nothing is told again, and no cap jumps the hole');
    await hive.heal();
    const delivered = (): unknown[] => [...first.mail(), ...second.mail()];
    await second.until('what lay in the hole is told', () => delivered().length === ids.length, 60_000);
    assert.deepEqual(
      delivered().toSorted((a, b) => Number(a) - Number(b)),
      ids,
    );
    await until('the pin is gone', () => files.json('hive.ada.json')?.cursor === ids.at(-1));
    assert.equal(Object.keys(files.json('hive.ada.json') ?? {}).length, 4);
  });

  test('trap 49: --no-gap-alerts silences that alert, and the cursor is pinned all the same', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], window: 3 });
    await using cli = watch(hive, files, ['--no-gap-alerts', '--no-unread-alerts']);
    await cli.event('armed');
    hive.fail({ is: 'edit', edit: silent }, { endpoint: 'inbox' });
    for (let n = 0; n < 8; n += 1) hive.deliver('ada');
    await until('the pin is saved', () => files.json('hive.ada.json')?.delivered_above !== undefined);
    assert.deepEqual(names(cli).filter((name) => name === 'alert'), []); // biome-ignore format: short
    assert.equal(files.json('hive.ada.json')?.cursor, 0);
  });
});

/** How to run a process that obeys the modes of directories, which root does not. */
const bound = ((): { readonly missing: string | null; readonly wrap: readonly string[] } => {
  if (process.getuid?.() !== 0) return { missing: null, wrap: [] };
  const wrap = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'];
  const works = spawnSync(wrap[0] ?? '', [...wrap.slice(1), 'true']).status === 0;
  return { missing: works ? null : 'root obeys no modes: run as a user, or apt-get install util-linux', wrap };
})();
