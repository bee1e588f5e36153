import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, openSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Cli, type CliOptions, runCli, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** The headless watch at least once: what a sink refuses is held, in order, and never taken as told. */
const watch = (hive: FakeHive, args: readonly string[] = [], options: CliOptions = {}): Cli =>
  startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', '--delivery', 'at-least-once', ...args], options);

const count = (text: string, words: RegExp): number => text.match(new RegExp(words, 'g'))?.length ?? 0;

/** A command that notes every event it takes, and takes none of `kinds` while the file `broken` is there. */
function noting(files: Scratch, kinds = '*'): readonly string[] {
  const refuses = `case "$KIJITOMON_EVENT$KIJITOMON_ID" in ${kinds}) test ! -e ${files.at('broken')} || exit 3;; esac`;
  const notes = `echo "$KIJITOMON_EVENT $KIJITOMON_ID $KIJITOMON_EVENT_ID" >> ${files.at('log')}`;
  return ['--emit', 'exec-per-event', '--exec', `${refuses}; ${notes}`];
}

/** What the command took, as `new 3`, `alert`, ... */
const noted = (files: Scratch): string[] =>
  files
    .text('log')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').slice(0, 2).join(' ').trim());

const readState = (files: Scratch): Record<string, unknown> => files.json('hive.ada.json') ?? {};

describe('a command that fails', { concurrency: 4 }, () => {
  test('trap 1: its mail is not silently gone: the cursor stands, and it is run again, on a schedule of its own (D2)', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    // An interval and a hold that would not come around before the test is over.
    const args = [...noting(files), '--state-file', files.at('hive.json'), '--poll-seconds', '600', '--wait', '600'];
    await using cli = watch(hive, args);
    await until('it is armed', () => noted(files).includes('armed'));
    files.write('broken', '');
    const ids = [hive.deliver('ada'), hive.deliver('ada'), hive.deliver('ada')];
    await cli.says(/exit 3 for ada:new:1/);
    await until('it was looked at again and again', () => hive.asked('inbox').length >= 5);
    assert.equal(readState(files).cursor, 0, 'nothing was taken');
    assert.equal(count(cli.stderr, /exit 3 for/), 1, `trap 9: said once\n${cli.stderr}`);
    rmSync(files.at('broken'));
    await cli.until('all are told', () => noted(files).length === 4, 40_000);
    assert.deepEqual(noted(files), ['armed', ...ids.map((id) => `new ${id}`)]);
    await until('the cursor follows', () => readState(files).cursor === ids.at(-1));
    assert.equal(count(cli.stderr, /succeeds again/), 1);
    files.write('broken', '');
    hive.deliver('ada');
    await cli.until('trap 9: a new failure is said anew', () => count(cli.stderr, /exit 3 for/) === 2);
    assert.deepEqual(cli.lines, [], 'trap 9: never down the broken channel');
    assert.deepEqual(await cli.stop(), { code: 0, signal: null });
    assert.equal(readState(files).cursor, ids.at(-1), 'what is held at a stop stays above the cursor');
  });

  test('trap 2: no later message passes one that failed; trap 4: nor does the cursor', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    files.write('broken', '');
    await using cli = watch(hive, [...noting(files, 'new2'), '--state-file', files.at('hive.json')]);
    await until('it is armed', () => noted(files).includes('armed'));
    for (let n = 0; n < 4; n += 1) hive.deliver('ada');
    await cli.says(/exit 3 for ada:new:2/);
    await until('it was tried again', () => hive.asked('inbox').length >= 4);
    assert.deepEqual(noted(files), ['armed', 'new 1']);
    assert.equal(readState(files).cursor, 1);
    rmSync(files.at('broken'));
    await cli.until('the rest follows', () => noted(files).length === 5, 40_000);
    assert.deepEqual(noted(files), ['armed', 'new 1', 'new 2', 'new 3', 'new 4']);
  });

  test('trap 10: an alert that was refused is not latched, is said on stderr, and is told; trap 11: so is recovered', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = [...noting(files, 'alert*|recovered*'), '--state-file', files.at('hive.json'), '--alert-after', '1'];
    await using cli = watch(hive, [...args, '--wait', '0']); // a hold that stands would not see the outage
    await until('it is armed', () => noted(files).includes('armed'));
    files.write('broken', '');
    hive.fail({ is: 'status', status: 500 });
    await cli.says(/ada: alert \(unreachable\) cannot be delivered yet/);
    await until('it is saved as not told', () => Number(readState(files).consecutive_failures) >= 2);
    assert.equal(readState(files).state, 'UP');
    rmSync(files.at('broken'));
    await cli.until('the alert is told', () => noted(files).length === 2, 40_000);
    await until('and saved', () => readState(files).state === 'DOWN');
    files.write('broken', '');
    const id = hive.deliver('ada');
    await hive.heal();
    await cli.says(/ada: recovered cannot be delivered yet/, 40_000);
    rmSync(files.at('broken'));
    await cli.until('both are told', () => noted(files).length === 4, 40_000);
    assert.deepEqual(noted(files), ['armed', 'alert', 'recovered', `new ${id}`]);
    assert.equal(count(cli.stderr, /alert \(unreachable\) cannot be delivered/), 1);
  });

  test('trap 12: one persona whose sink fails holds back nobody else', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    symlinkSync('/dev/null', files.at('events.ada.ndjson'));
    const args = ['--events-file-template', files.at('events.{persona}.ndjson'), '--state-file', files.at('hive.json')];
    await using cli = watch(hive, args);
    await cli.until('bo is armed', () => files.events('events.bo.ndjson').length === 1);
    const ids = { ada: hive.deliver('ada'), bo: hive.deliver('bo') };
    await cli.until('bo is told', () => files.mail('events.bo.ndjson').length === 1);
    await until('and acknowledged', () => files.json('hive.bo.json')?.cursor === ids.bo);
    assert.ok(Number(readState(files).cursor ?? 0) < ids.ada);
    rmSync(files.at('events.ada.ndjson'));
    await cli.until('ada is told', () => files.mail('events.ada.ndjson').length === 1, 40_000);
    assert.deepEqual(files.mail('events.ada.ndjson'), [ids.ada]);
  });
});

describe('a file that is refused', { concurrency: 4 }, () => {
  const refused: readonly (readonly [trap: string, what: string, make: (path: string, files: Scratch) => void])[] = [
    ['trap 52', 'a symlink is not followed', (path, files) => symlinkSync(files.write('target', ''), path)],
    ['trap 53', 'a pipe without a reader blocks nothing', (path) => void execFileSync('mkfifo', [path])],
  ];
  for (const [trap, label, make] of refused) {
    test(`${trap}: ${label}; trap 54: nothing falls through to stdout; trap 56: it is used once the cause is gone`, async () => {
      using files = scratch();
      await using hive = await fakeHive({ personas: ['ada'] });
      make(files.at('events.ndjson'), files);
      const args = ['--events-file', files.at('events.ndjson'), '--state-file', files.at('hive.json')];
      await using cli = watch(hive, args);
      await cli.says(/events\.ndjson: is a (symlink|pipe)|events\.ndjson: is not a regular file/);
      await until('it stands at the start', () => readState(files).cursor === 0);
      const ids = [hive.deliver('ada'), hive.deliver('ada')];
      await until('it was tried again', () => hive.asked('inbox').length >= 4, 40_000);
      assert.deepEqual([cli.lines, files.text('target')], [[], '']);
      assert.ok(readState(files).cursor === 0, 'trap 3: a failed write is no delivery');
      rmSync(files.at('events.ndjson'));
      await cli.until('all are told', () => files.mail('events.ndjson').length === 2, 60_000);
      assert.deepEqual(files.mail('events.ndjson'), ids);
      assert.deepEqual(cli.lines, []);
    });
  }

  test('trap 57: a rotator from outside takes the file away: the next event is in a new one of the name', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--events-file', files.at('events.ndjson')]);
    await cli.until('it is armed', () => files.events('events.ndjson').length === 1);
    renameSync(files.at('events.ndjson'), files.at('taken.ndjson'));
    const id = hive.deliver('ada');
    await cli.until('it is told', () => files.mail('events.ndjson').length === 1);
    assert.deepEqual([files.mail('events.ndjson'), files.mail('taken.ndjson')], [[id], []]);
  });
});

describe('a kill -9', { concurrency: 3 }, () => {
  test('trap 5: between an event and its mark repeats that event under its own id, and loses none', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const [, , , exec = ''] = noting(files);
    // Takes the event, and then the watch that waits for its exit status.
    const kills = `${exec}; if [ "$KIJITOMON_EVENT" = new ]; then kill -9 $PPID; fi`;
    const args = ['--emit', 'exec-per-event', '--state-file', files.at('hive.json'), '--exec'];
    await using first = watch(hive, [...args, kills]);
    await until('it is armed', () => noted(files).includes('armed'));
    const ids = [hive.deliver('ada'), hive.deliver('ada'), hive.deliver('ada')];
    assert.deepEqual(await first.ended(), { code: null, signal: 'SIGKILL' });
    assert.equal(readState(files).cursor, 0, 'the mark is never before the event');
    await using second = watch(hive, [...args, exec]);
    await second.until('all are told', () => noted(files).includes(`new ${ids[2]}`));
    const mail = files
      .text('log')
      .split('\n')
      .filter((line) => line.startsWith('new'));
    assert.deepEqual(mail, ['new 1 ada:new:1', ...ids.map((id) => `new ${id} ada:new:${id}`)]);
  });

  test('trap 5: an event file that is ahead of the mark is believed: nothing is told twice', async (t) => {
    if (needs(t, bound.missing)) return;
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const events = scratch();
    using _ = events;
    const args = ['--events-file', events.at('events.ndjson'), '--state-file', files.at('hive.json')];
    await using first = watch(hive, args, { wrap: bound.wrap });
    await until('it is saved', () => readState(files).cursor === 0);
    chmodSync(files.dir, 0o500);
    const ids = [hive.deliver('ada'), hive.deliver('ada')];
    await first.until('both are told', () => events.mail('events.ndjson').length === 2);
    first.kill('SIGKILL');
    await first.ended();
    chmodSync(files.dir, 0o700);
    assert.equal(readState(files).cursor, 0, 'the mark could not be saved');
    ids.push(hive.deliver('ada'));
    await using second = watch(hive, args);
    await second.until('the third is told', () => events.mail('events.ndjson').length >= 3);
    await until('the cursor follows', () => readState(files).cursor === ids[2]);
    assert.deepEqual(events.mail('events.ndjson'), ids);
  });
});

describe('acknowledgement', { concurrency: 4 }, () => {
  test('trap 7: mail of a suppressed author is acknowledged, and pins nothing', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--suppress-author', 'ci', '--state-file', files.at('hive.json'), '--no-fast-path'];
    await using cli = watch(hive, args);
    await cli.event('armed');
    const id = hive.deliver('ada', { from: 'CI' });
    await until('the cursor moves', () => readState(files).cursor === id);
    const next = hive.deliver('ada');
    assert.equal((await cli.event('new')).id, next);
    assert.deepEqual(Object.keys(readState(files)), ['identity', 'cursor', 'state', 'consecutive_failures']);
  });

  test('trap 13: an outage is one alert with its fields, its end one recovered', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--alert-after', '2']);
    await cli.event('armed');
    await hive.refuse();
    const { reason, consecutive_failures, seconds } = await cli.event('alert');
    assert.deepEqual([reason, consecutive_failures, seconds], ['unreachable', 2, 2]);
    const id = hive.deliver('ada');
    await hive.heal();
    assert.equal((await cli.event('new', () => true, 60_000)).id, id);
    assert.deepEqual(
      cli.events.map(({ event }) => event),
      ['armed', 'alert', 'recovered', 'new'],
    );
  });

  test('trap 67: a self-test whose line could not be written has failed', async (t) => {
    if (needs(t, existsSync('/dev/full') ? null : 'there is no /dev/full here')) return;
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['watch', '--hive', hive.url, '--self-test', '--delivery', 'at-least-once'];
    const { code, stderr } = await runCli(args, { stdout: openSync('/dev/full', 'w') });
    assert.equal(code, 1);
    assert.match(stderr, /self-test ada: fetch ok.*\n.*self-test ada: emit FAILED: .*no space left/);
  });

  test('D16: a self-test whose command fails has failed', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = [
      'watch',
      '--hive',
      hive.url,
      '--self-test',
      '--delivery',
      'at-least-once',
      '--emit',
      'exec-per-event',
    ];
    assert.equal((await runCli([...args, '--exec', 'exit 3'])).code, 1);
    assert.equal((await runCli([...args, '--exec', 'true'])).code, 0);
  });

  test('D17: when the reader of stdout goes away it says so once and ends with 4; what nobody read is told again', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--state-file', files.at('hive.json')];
    await using cli = watch(hive, args);
    await cli.event('armed');
    void cli.leave();
    const id = hive.deliver('ada');
    assert.deepEqual(await cli.ended(), { code: 4, signal: null });
    assert.equal(count(cli.stderr, /its reader is gone/), 1, cli.stderr);
    await using again = watch(hive, args);
    assert.equal((await again.event('new')).id, id);
  });
});

describe('the hold', { concurrency: 3 }, () => {
  test('mail that comes while the first look hands over is looked for at once, and not when the hold ends', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'slow', ms: 1000 }, { endpoint: 'pending' }); // so that the list comes while the command runs
    const slow = 'test "$KIJITOMON_EVENT" = armed && sleep 3; true';
    const args = ['--emit', 'exec-per-event', '--exec', slow, '--state-file', files.at('hive.json')];
    await using _ = watch(hive, [...args, '--poll-seconds', '600', '--wait', '600']);
    await until('its first look is answered', () => readState(files).cursor === 0);
    await hive.heal();
    const id = hive.deliver('ada');
    await until('it is told', () => readState(files).cursor === id, 30_000);
  });

  test('trap 60: a look that fails while the list is held is tried again at the interval, and not when the hold ends', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--wait', '600', '--alert-after', '2']);
    await cli.event('armed');
    await until('the list is held', () => hive.asked('pending').some(({ url }) => url.includes('wait=600')));
    hive.fail({ is: 'hang' }, { endpoint: 'inbox' }); // so that the list is held again before it fails
    const id = hive.deliver('ada');
    await cli.event('alert', () => true, 40_000);
    await hive.heal();
    assert.equal((await cli.event('new', () => true, 40_000)).id, id);
    assert.deepEqual(
      cli.events.map(({ event }) => event),
      ['armed', 'alert', 'recovered', 'new'],
    );
  });

  test('trap 70: mail comes at once under an hour of interval, and SIGTERM does not wait for the hold', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--poll-seconds', '3600']);
    await cli.event('armed');
    await until('the list is held', () => hive.asked('pending').some(({ url }) => /wait=50&|wait=50$/.test(url)));
    const id = hive.deliver('ada');
    assert.equal((await cli.event('new')).id, id);
    assert.deepEqual(await cli.stop(10_000), { code: 0, signal: null });
  });

  test('without --delivery, and with --wait 0, nothing is held', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using off = watch(hive, ['--wait', '0']);
    await using rev6 = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1']);
    await Promise.all([off.event('armed'), rev6.event('armed')]);
    await until('some polls', () => hive.asked('pending').length >= 6);
    assert.deepEqual(
      hive.asked('pending').filter(({ url }) => url.includes('wait')),
      [],
    );
  });
});

/** How to run a process that obeys the modes of directories, which root does not. */
const bound = ((): { readonly missing: string | null; readonly wrap: readonly string[] } => {
  if (process.getuid?.() !== 0) return { missing: null, wrap: [] };
  const wrap = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'];
  const works = spawnSync(wrap[0] ?? '', [...wrap.slice(1), 'true']).status === 0;
  return { missing: works ? null : 'root obeys no modes: run as a user, or apt-get install util-linux', wrap };
})();
