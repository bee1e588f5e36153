import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive, type HiveFault } from '../kit/fake-hive.ts';
import { type Cli, type CliOptions, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** What the world may put before a watch while it runs: it says so, loses nothing, and goes on by itself. */
const watch = (hive: FakeHive, args: readonly string[] = [], options: CliOptions = {}): Cli =>
  startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', ...args], options);

const names = (cli: Cli): unknown[] => cli.events.map(({ event }) => event);
const count = (text: string, words: RegExp): number => text.match(new RegExp(words, 'g'))?.length ?? 0;

const row = (id: unknown): Record<string, unknown> => ({ id, from: 'x', content: 'y', created: 'z', read: false });
const rows = (...ids: unknown[]): HiveFault => ({ is: 'body', body: JSON.stringify({ result: ids.map(row) }) });

describe('a bad answer in the middle of a run', { concurrency: 10 }, () => {
  const faults: readonly (readonly [name: string, fault: HiveFault | 'refused', message: RegExp])[] = [
    ['refused', 'refused', /connection refused/],
    ['hanging', { is: 'hang' }, /no complete answer within 5000 ms/],
    ['dripping', { is: 'drip' }, /no complete answer within 5000 ms/],
    ['truncated', { is: 'truncated' }, /broke off/],
    ['not JSON', { is: 'body', body: '<html>busy</html>' }, /the answer of \d+ bytes is not JSON/],
    ['empty', { is: 'body', body: '' }, /not JSON/],
    ['of the wrong shape', { is: 'body', body: '{"result":{}}' }, /"result" is an object, not a list/],
    ['a list', { is: 'body', body: '[]' }, /the answer is a list, not an object/],
    ['a redirect', { is: 'redirect', to: 'http://127.0.0.1:1/' }, /redirects \(302\)/],
    ['404', { is: 'status', status: 404 }, /answered 404/],
    ['500', { is: 'status', status: 500 }, /answered 500/],
    ['50 MB', { is: 'huge', bytes: 50e6 }, /larger than 16777216 bytes/],
    ['with an id that is no safe integer', rows(2 ** 53), /the id of row 0 is 9007199254740992/],
    ['with a fraction for an id', rows(3, 2.5), /the id of row 1 is 2\.5/],
    ['with a text for an id', rows('7'), /the id of row 0 is a string/],
    ['with true for an id', rows(true), /the id of row 0 is a boolean/],
    ['with an id that comes twice', rows(8, 9, 8), /the id 8 appears twice/],
  ];
  for (const [name, fault, message] of faults) {
    test(`${name}: one alert, then one recovered, the cursor stands, and no mail is lost`, async () => {
      using files = scratch();
      await using hive = await fakeHive({ personas: ['ada'] });
      hive.deliver('ada');
      await using cli = watch(hive, ['--alert-after', '2', '--no-fast-path', '--state-file', files.at('hive.json')]);
      await cli.event('armed');
      const delivered = hive.deliver('ada');
      await cli.event('new');
      if (fault === 'refused') await hive.refuse();
      else hive.fail(fault, { endpoint: 'inbox' });
      const missed = [hive.deliver('ada'), hive.deliver('ada')];
      const alert = await cli.event('alert', () => true, 30_000);
      assert.deepEqual([alert.consecutive_failures, alert.seconds], [2, 2]);
      await until('the edge is saved', () => files.json('hive.ada.json')?.state === 'DOWN');
      assert.equal(files.json('hive.ada.json')?.cursor, delivered);
      await cli.says(message);
      assert.equal(count(cli.stderr, message), 1, 'said once');
      await hive.heal();
      await cli.until('the mail is told', () => cli.mail().length === 3);
      assert.deepEqual(names(cli), ['armed', 'new', 'alert', 'recovered', 'new', 'new']);
      assert.deepEqual(cli.mail(), [delivered, ...missed]);
      assert.deepEqual(await cli.stop(), { code: 0, signal: null });
    });
  }

  test('rows out of order are told in order, each once', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--no-fast-path']);
    await cli.event('armed');
    hive.fail(rows(4, 2, 7, 1), { endpoint: 'inbox' });
    await cli.until('all are told', () => cli.mail().length === 4);
    hive.fail(rows(7, 9, 1), { endpoint: 'inbox' });
    await cli.until('the next is told', () => cli.mail().length === 5);
    assert.deepEqual(cli.mail(), [1, 2, 4, 7, 9]);
  });

  test('a pending list that is broken in any way costs requests, not mail', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    const broken: readonly HiveFault[] = [
      { is: 'status', status: 500 },
      { is: 'body', body: '{"result":[{"persona":"ada","unread":"many"}]}' },
      { is: 'body', body: 'null' },
      { is: 'reset' },
    ];
    for (const [n, fault] of broken.entries()) {
      hive.fail(fault, { endpoint: 'pending' });
      hive.deliver('ada');
      await cli.until(`mail ${n + 1} is told`, () => cli.mail().length === n + 1);
    }
    assert.deepEqual(new Set(names(cli)), new Set(['armed', 'new']));
  });
});

test('unread mail that a baseline passes over is said on stderr, and none when there is none', async () => {
  await using hive = await fakeHive({ personas: ['ada', 'bo'] });
  for (let n = 0; n < 3; n += 1) hive.deliver('ada');
  hive.markRead('ada', [1]);
  await using cli = watch(hive);
  await cli.until('both are armed', () => cli.events.length === 2);
  await cli.says(/ada: starts after message 3; 2 unread before it get no event\. Use --seed-at to start earlier/);
  assert.doesNotMatch(cli.stderr, /bo:/);
});

describe('the text of a message', { concurrency: 4 }, () => {
  const texts = ['a\0b', 'lone \ud800 and \udc00', 'one\u2028two\u2029three\u0085four\r\nfive', '\u001b[2Jclear', ' '];
  const clean = ['ab', 'lone \ufffd and \ufffd', 'one\u2028two\u2029three\u0085four\r\nfive', '\u001b[2Jclear', ' '];

  test('S15: is one physical line, whatever it holds', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    for (const content of texts) hive.deliver('ada', { content, from: content });
    await cli.until('all are told', () => cli.mail().length === texts.length);
    const mail = cli.events.slice(1);
    assert.deepEqual(
      mail.map(({ content }) => content),
      clean,
    );
    assert.deepEqual(
      mail.map(({ from }) => from),
      clean,
    );
    for (const line of cli.lines) assert.doesNotMatch(line, /[\p{Cc}\u2028\u2029]/u);
  });

  test('S7: reaches a command unharmed, and no message wedges the next', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const command = `printf '%s\\0' "$KIJITOMON_EVENT" "$KIJITOMON_CONTENT" >> ${files.at('seen')}`;
    await using cli = watch(hive, ['--emit', 'exec-per-event', '--exec', command, '--content-chars', '2000000']);
    const seen = (): string[] => {
      const pieces = (files.list().includes('seen') ? readFileSync(files.at('seen'), 'utf8') : '').split('\0');
      return pieces.filter((_, n) => n % 2 === 1);
    };
    await cli.until('it is armed', () => seen().length === 1);
    for (const content of ['$(exit 3) `id` "\'', ...texts, 'x'.repeat(1_000_000), 'the last'])
      hive.deliver('ada', { content });
    await cli.until('all are told', () => seen().at(-1) === 'the last');
    assert.deepEqual(seen().slice(1, -2), ['$(exit 3) `id` "\'', ...clean]);
    assert.match(seen().at(-2) ?? '', /^x{50000,}$/);
    assert.doesNotMatch(cli.stderr, /exec/);
  });

  test('may be a megabyte: on stdout and in a file it is whole', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const big = 'é'.repeat(1_000_000);
    const args = ['--content-chars', '2000000'];
    await using cli = watch(hive, args);
    await using toFile = watch(hive, [...args, '--events-file', files.at('events.ndjson')]);
    await cli.event('armed');
    await toFile.until('it is armed', () => files.events('events.ndjson').length === 1);
    hive.deliver('ada', { content: big });
    hive.deliver('ada', { content: 'small' });
    await cli.until('both are told', () => cli.mail().length === 2);
    assert.deepEqual(
      cli.events.slice(1).map(({ content }) => content === big || content),
      [true, 'small'],
    );
    await toFile.until('both are written', () => files.mail('events.ndjson').length === 2);
    assert.equal(files.events('events.ndjson')[1]?.content, big);
  });
});

describe('a state file', { concurrency: 8 }, () => {
  const valid = (hive: FakeHive): Record<string, unknown> => ({
    identity: ['http', '127.0.0.1', hive.port, '/api/inbox', [['persona', 'ada']]],
    cursor: 1,
    state: 'UP',
    consecutive_failures: 0,
  });
  const unusable: readonly (readonly [name: string, text: (hive: FakeHive) => string | Buffer, message: RegExp])[] = [
    ['empty', () => '', /the file is empty/],
    ['cut', (hive) => JSON.stringify(valid(hive)).slice(0, 40), /not usable/],
    ['no UTF-8', () => Buffer.from([0xff, 0xfe, 0]), /not usable/],
    ['of another program', () => '{"name":"x","version":1}', /identity is missing/],
    ['a list', () => '[]', /not hold a JSON object/],
    ['with a state of its own', (hive) => JSON.stringify({ ...valid(hive), state: 'SIDEWAYS' }), /state is "SIDEWAYS"/],
    ['of another persona', (hive) => JSON.stringify({ ...valid(hive), identity: ['x'] }), /belongs to another inbox/],
  ];
  for (const [name, text, message] of unusable) {
    test(`that is ${name} is said once, starts anew, and is replaced`, async () => {
      using files = scratch();
      await using hive = await fakeHive({ personas: ['ada'] });
      for (let n = 0; n < 3; n += 1) hive.deliver('ada');
      files.write('hive.ada.json', text(hive));
      await using cli = watch(hive, ['--state-file', files.at('hive.json')]);
      assert.equal((await cli.event('armed')).cursor, 3);
      assert.equal(count(cli.stderr, message), 1, cli.stderr);
      await until('it is replaced', () => count(readFileSync(files.at('hive.ada.json'), 'utf8'), /"cursor":3/) === 1);
      assert.deepEqual(names(cli), ['armed']);
    });
  }

  test('that is a directory stops that persona only', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    mkdirSync(files.at('hive.ada.json'));
    await using cli = watch(hive, ['--state-file', files.at('hive.json')]);
    assert.equal((await cli.event('armed')).persona, 'bo');
    await cli.says(/ada is not watched: .*hive\.ada\.json: is (a directory|not a regular file)/);
  });

  test('whose directory does not exist is made, and is private', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--state-file', files.at('deep', 'er', 'hive.json')]);
    await cli.event('armed');
    await until('it is saved', () => readdirSync(files.at('deep', 'er')).includes('hive.ada.json'));
    const mode = (...path: string[]): number => lstatSync(files.at(...path)).mode & 0o777;
    assert.deepEqual(
      [mode('deep'), mode('deep', 'er'), mode('deep', 'er', 'hive.ada.json'), mode('deep', 'er', 'hive.ada.json.lock')],
      [0o700, 0o700, 0o600, 0o600],
    );
  });

  test('whose directory becomes read-only is said once, the saved cursor stands, and it is saved again afterwards', async (t) => {
    if (needs(t, bound.missing)) return;
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--state-file', files.at('hive.json'), '--no-fast-path'], { wrap: bound.wrap });
    await cli.event('armed');
    const cursor = (): unknown => files.json('hive.ada.json')?.cursor;
    await until('it is saved', () => cursor() === 0);
    for (let outage = 1; outage <= 2; outage += 1) {
      const before = cursor();
      chmodSync(files.dir, 0o500);
      const id = hive.deliver('ada');
      await cli.until('the mail is told all the same', () => cli.mail().includes(id));
      await cli.until('it is said', () => count(cli.stderr, /hive\.ada\.json: permission denied/) === outage);
      await polls(hive, 3);
      assert.equal(count(cli.stderr, /permission denied/), outage, cli.stderr);
      assert.equal(cursor(), before);
      chmodSync(files.dir, 0o700);
      await until('it is saved again', () => cursor() === id);
      await cli.until('that is said too', () => count(cli.stderr, /hive\.ada\.json: saved again/) === outage);
    }
    assert.deepEqual(names(cli), ['armed', 'new', 'new']);
  });

  test('in a directory that is read-only from the start is refused with its path', async (t) => {
    if (needs(t, bound.missing)) return;
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    chmodSync(files.dir, 0o500);
    await using cli = watch(hive, ['--state-file', files.at('hive.json')], { wrap: bound.wrap });
    assert.deepEqual(await cli.ended(), { code: 2, signal: null });
    await cli.says(/hive\.ada\.json\.lock: permission denied: check the owner and mode/);
    chmodSync(files.dir, 0o700);
  });
});

describe('a full disk', { concurrency: 2 }, () => {
  test('under the state file: the saved cursor stands, it is said once, and it is saved when there is space', async (t) => {
    using files = scratch();
    using disk = tinyDisk(files);
    if (needs(t, disk.missing)) return;
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--state-file', join(disk.dir, 'hive.json'), '--no-fast-path']);
    await cli.event('armed');
    const cursor = (): unknown =>
      (JSON.parse(readFileSync(join(disk.dir, 'hive.ada.json'), 'utf8')) as { cursor: unknown }).cursor;
    await until('it is saved', () => readdirSync(disk.dir).includes('hive.ada.json'));
    disk.fill();
    const ids = [hive.deliver('ada')];
    await cli.event('new');
    await cli.says(/hive\.ada\.json: no space left on the disk: free space/);
    await polls(hive, 3);
    assert.equal(count(cli.stderr, /no space left/), 1, cli.stderr);
    assert.equal(cursor(), 0);
    disk.free();
    await until('it is saved again', () => cursor() === ids[0]);
    assert.deepEqual(
      readdirSync(disk.dir).filter((name) => name.endsWith('.tmp')),
      [],
    );
    assert.deepEqual(cli.mail(), ids);
  });

  test('under the event file: at most once, so what it refuses is named and skipped, and it goes on by itself', async (t) => {
    using files = scratch();
    using disk = tinyDisk(files);
    if (needs(t, disk.missing)) return;
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const events = (persona: string): string => join(basename(disk.dir), `events.${persona}.ndjson`);
    await using cli = watch(hive, [
      ...['--events-file-template', files.at(events('{persona}')), '--persona', 'ada', '--persona', 'bo'],
      ...['--content-chars', '30000'],
    ]);
    await cli.until('both are armed', () => ['ada', 'bo'].every((p) => files.events(events(p)).length === 1));
    disk.fill();
    const skipped = hive.deliver('ada', { content: 'x'.repeat(20_000) });
    await cli.says(/events\.ada\.ndjson: no space left on the disk: free space/);
    await cli.says(new RegExp(`ada: no event was delivered for mail ${skipped}`));
    assert.equal(count(cli.stderr, /no space left/), 1, cli.stderr);
    disk.free();
    const ids = [hive.deliver('ada'), hive.deliver('bo')];
    await cli.until(
      'both are told',
      () => files.mail(events('ada')).length === 1 && files.mail(events('bo')).length === 1,
    );
    assert.deepEqual([...files.mail(events('ada')), ...files.mail(events('bo'))], ids);
    await cli.says(/events\.ada\.ndjson accepts events again/);
  });
});

describe('names of personas', { concurrency: 2 }, () => {
  test('any name gets files of its own inside the directory, and only its own mail', async () => {
    using files = scratch();
    const personas = [
      '../../x',
      'a/b',
      'a_b',
      'CON',
      'Alice',
      'alice',
      'caf\u00e9',
      'cafe\u0301',
      '..',
      '.',
      ' ',
      '-x',
      '💥',
    ];
    await using hive = await fakeHive({ personas });
    const inner = files.at('deep', 'er');
    const args = [
      '--state-file',
      join(inner, 'hive.json'),
      '--events-file-template',
      join(inner, 'events.{persona}.ndjson'),
    ];
    const start = (): Cli => watch(hive, args);
    const logs = (): string[] => readdirSync(inner).filter((name) => name.startsWith('events.'));
    const eventsIn = (log: string) => files.events(join('deep', 'er', log));
    await using cli = start();
    await cli.until(
      'each has its files',
      () => safely(logs).filter((log) => eventsIn(log).length > 0).length === personas.length,
    );
    const ids = new Map(personas.map((persona) => [persona, hive.deliver(persona)]));
    await cli.until('each is told', () => logs().every((log) => eventsIn(log).some(({ event }) => event === 'new')));
    const owners = logs().map((log) => {
      const [first] = eventsIn(log);
      const persona = String(first?.persona);
      for (const event of eventsIn(log)) assert.equal(event.persona, persona);
      assert.deepEqual(files.mail(join('deep', 'er', log)), [ids.get(persona)]);
      return persona;
    });
    assert.deepEqual(owners.toSorted(), personas.toSorted());
    assert.equal(readdirSync(inner).filter((name) => name.endsWith('.json')).length, personas.length);
    assert.deepEqual(files.list(), ['deep']);
    assert.deepEqual(readdirSync(files.at('deep')), ['er']);
    const folded = readdirSync(inner).map((name) => name.normalize('NFC').toLowerCase());
    assert.equal(new Set(folded).size, folded.length, 'on a disk that is blind to case or composition too');
    assert.doesNotMatch(cli.stderr, /not watched/);

    await until('all are saved', () => positions(inner).every((cursor) => Number(cursor) > 0));
    await cli.stop();
    const before = new Map(logs().map((log) => [log, eventsIn(log).length]));
    const last = personas.map((persona) => hive.deliver(persona));
    await using again = start();
    await again.until(
      'each is told again',
      () => logs().flatMap((log) => files.mail(join('deep', 'er', log))).length === 2 * personas.length,
    );
    assert.deepEqual([...before.keys()].toSorted(), logs().toSorted());
    assert.deepEqual(
      logs()
        .flatMap((log) => files.mail(join('deep', 'er', log)).slice(1))
        .toSorted(),
      last.toSorted(),
    );
  });
});

function positions(dir: string): unknown[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.json'))
    .map((name) => (JSON.parse(readFileSync(join(dir, name), 'utf8')) as { cursor: unknown }).cursor);
}

function safely(list: () => string[]): string[] {
  try {
    return list();
  } catch {
    return []; // not made yet
  }
}

async function polls(hive: FakeHive, more: number): Promise<void> {
  const before = hive.asked('inbox').length;
  await until('some more polls', () => hive.asked('inbox').length >= before + more);
}

/** How to run a process that obeys the modes of directories, which root does not. */
const bound = ((): { readonly missing: string | null; readonly wrap: readonly string[] } => {
  if (process.getuid?.() !== 0) return { missing: null, wrap: [] };
  const wrap = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'];
  const works = spawnSync(wrap[0] ?? '', [...wrap.slice(1), 'true']).status === 0;
  return { missing: works ? null : 'root obeys no modes: run as a user, or apt-get install util-linux', wrap };
})();

interface TinyDisk extends Disposable {
  readonly missing: string | null;
  readonly dir: string;
  fill(): void;
  free(): void;
}

/** A file system of 64 KiB. */
function tinyDisk(files: Scratch): TinyDisk {
  const dir = files.at('tiny');
  mkdirSync(dir);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', dir]).status === 0;
  const ballast = join(dir, 'ballast');
  return {
    missing: mounted ? null : 'a tmpfs cannot be mounted here: run as root',
    dir,
    fill: () => {
      try {
        writeFileSync(ballast, Buffer.alloc(64 * 1024));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC'); // which is what was wanted
      }
    },
    free: () => rmSync(ballast),
    [Symbol.dispose]: () => {
      if (mounted) spawnSync('umount', ['-l', dir]);
    },
  };
}

test('F7 a record that cannot be rendered is told with a placeholder, and no record behind it waits', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'], pending: 'absent' });
  await using cli = watch(hive, ['--state-file', files.at('hive.json')]);
  await cli.event('armed');
  const deep = '['.repeat(5000) + ']'.repeat(5000);
  const row = (id: number, content: string): string =>
    `{"id":${id},"from":"river","created":"c","read":false,"content":${content}}`;
  const result = [row(1, '"before"'), row(2, deep), row(3, `{"a":${deep}}`), row(4, '"behind"')];
  hive.fail({ is: 'body', body: `{"result":[${result.join()}]}` }, { endpoint: 'inbox' });
  await cli.event('new', ({ id }) => id === 4);
  const placeholder = '(a value that is nested too deeply to be shown)';
  const delivered = cli.events.flatMap(({ event, content }) => (event === 'new' ? [content] : []));
  assert.deepEqual(delivered, ['before', placeholder, placeholder, 'behind']);
  assert.ok(!names(cli).includes('alert'));
});

for (const args of [[], ['--delivery', 'at-least-once']]) {
  test(`F7 the same, first of an inbox and with ${args[1] ?? 'the default delivery'}: it is up from the start`, async () => {
    await using hive = await fakeHive({ personas: ['ada'], pending: 'absent' });
    const deep = `{"id":1,"from":"river","created":"c","read":false,"content":${'['.repeat(5000) + ']'.repeat(5000)}}`;
    hive.fail({ is: 'body', body: `{"result":[${deep}]}` }, { endpoint: 'inbox' });
    await using cli = watch(hive, ['--persona', 'ada', '--seed-at', '0', ...args]);
    const delivered = await cli.event('new');
    assert.deepEqual([delivered.id, names(cli)], [1, ['armed', 'new']]);
  });
}

test('A5 a command that fails for one mail of a batch is tried for each: only that one is lost, and named', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'] });
  const exec = `echo "$KIJITOMON_EVENT$KIJITOMON_ID" >> ${files.at('log')}; test "$KIJITOMON_EVENT$KIJITOMON_ID" != new1`;
  const args = ['--emit', 'exec-per-event', '--exec', exec, '--state-file', files.at('hive.json')];
  await using cli = watch(hive, [...args, '--seed-at', '0', '--persona', 'ada']);
  for (let mail = 0; mail < 3; mail += 1) hive.deliver('ada');
  await cli.until('each is tried', () => files.text('log').includes('new3'));
  assert.deepEqual(files.text('log').match(/new\d/g), ['new1', 'new2', 'new3']);
  await cli.says(/no event was delivered for mail/);
  assert.deepEqual(cli.stderr.match(/no event was delivered for mail.*/g), ['no event was delivered for mail 1']);
  await until('the cursor is behind all', () => files.json('hive.ada.json')?.cursor === 3);
});
