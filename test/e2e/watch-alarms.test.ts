import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Cli, runCli, startCli } from '../kit/process.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

const ONCE_MORE = ['--delivery', 'at-least-once', '--wait', '0', '--resync-every', '1'];
const watch = (hive: FakeHive, ...args: readonly string[]): Cli =>
  startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', ...args]);
const check = async (files: Scratch, persona: string, since: number, ...more: readonly string[]) => {
  const asked = ['--activity-file', files.at('seen.json'), '--check-activity', persona, '--since-id', String(since)];
  const { code, stdout } = await runCli(['watch', ...asked, ...more]);
  return { code, stdout };
};

/** The directory says that `empty` own nothing, and everybody else something. */
function emptyHanded(hive: FakeHive, ...empty: readonly string[]): void {
  const edit = ({ result }: Record<string, unknown>) => ({
    result: (result as { persona: string }[]).map((entry) => ({
      ...entry,
      memory_count: empty.includes(entry.persona) ? 0 : 9,
    })),
  });
  hive.fail({ is: 'edit', edit }, { endpoint: 'personas' });
}

const reasons = (files: Scratch, name: string): unknown[] =>
  files.events(`events.${name}.ndjson`).flatMap(({ event, reason }) => (event === 'alert' ? [reason] : []));

describe('alarms of a hive, headless', { concurrency: true }, () => {
  test('trap 46: stranded mail is told in the files of members, and to a command by name', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'adda', 'all'] });
    emptyHanded(hive, 'adda', 'all');
    const exec = `test -z "$KIJITOMON_STRANDED" || echo "$KIJITOMON_PERSONA $KIJITOMON_STRANDED" >> ${files.at('log')}`;
    await using delivered = watch(hive, ...ONCE_MORE, '--events-file-template', files.at('events.{persona}.ndjson'));
    await using run = watch(hive, ...ONCE_MORE, '--emit', 'exec-per-event', '--exec', exec);
    await until('both watch', () => /watching 3 of 3/.test(delivered.stderr) && /watching 3 of 3/.test(run.stderr));
    hive.deliver('adda');
    hive.deliver('all');
    await until('the alarm', () => reasons(files, 'ada').includes('stranded') && files.text('log') !== '');
    assert.deepEqual([reasons(files, 'adda'), reasons(files, 'all')], [[], []]);
    assert.equal(files.text('log'), 'ada adda,all\n');
    await delivered.says(/mail has no known reader: adda \(1 unread\), all \(1 unread\)/);
  });

  test('trap 10: a file that cannot be written leaves the alarm for later, and the log has it', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'adda'] });
    emptyHanded(hive, 'adda');
    const noting = `case "$KIJITOMON_REASON" in stranded) test -e ${files.at('open')} || exit 3; echo told >> ${files.at('log')};; esac`;
    await using cli = watch(hive, ...ONCE_MORE, '--emit', 'exec-per-event', '--exec', noting);
    await cli.says(/watching 2 of 2/);
    hive.deliver('adda');
    await cli.says(/mail has no known reader: adda/);
    await sleep(2000);
    assert.equal(files.text('log'), '');
    files.write('open', '');
    await until('it is told', () => files.text('log') !== '');
    await sleep(3000);
    assert.equal(files.text('log'), 'told\n');
  });

  test('as revision 6 there are none, and each has a flag', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'adda'] });
    emptyHanded(hive, 'adda');
    const into = (name: string) => ['--events-file-template', files.at(`events.${name}-{persona}.ndjson`)];
    await using old = watch(hive, '--resync-every', '1', ...into('old'));
    await using quiet = watch(hive, ...ONCE_MORE, '--no-stranded-alerts', ...into('quiet'));
    await until('both watch', () => /watching 2 of 2/.test(old.stderr) && /watching 2 of 2/.test(quiet.stderr));
    hive.deliver('adda');
    hive.deliver('ada', { from: 'bo', urgent: true });
    await until('the other alarm', () => reasons(files, 'quiet-ada').length > 0);
    await sleep(2000);
    assert.deepEqual(new Set(reasons(files, 'quiet-ada')), new Set(['urgent-unanswered']));
    assert.deepEqual(reasons(files, 'old-ada'), []);
    assert.doesNotMatch(old.stderr, /no known reader/);
  });
});

describe('--activity-file and --check-activity', { concurrency: 3 }, () => {
  test('trap 50: active by what it sent or read, silent where all was watched, and else not observable', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const first = hive.deliver('ada');
    assert.equal((await check(files, 'ada', first)).code, 2, 'there is no report');
    const cli = watch(hive, ...ONCE_MORE, '--activity-file', files.at('seen.json'));
    await using _ = cli;
    const upTo = (id: number) =>
      until(`all was looked at since ${id}`, () => Number(files.json('seen.json')?.observed_to_id ?? -1) >= id);
    await upTo(first);
    assert.equal(statSync(files.at('seen.json')).mode & 0o777, 0o600);
    assert.equal((await check(files, 'ada', first - 1)).code, 2, 'before the watch began');

    const asked = hive.deliver('ada', { from: 'bo' });
    await upTo(asked);
    const silent = await check(files, 'ada', asked, '--waits', '1');
    assert.match(
      silent.stdout,
      /^ada: nothing was seen of it since message 2 after 1 wait; nothing was seen of it before\n$/,
    );
    assert.equal(silent.code, 1);
    assert.equal((await check(files, 'nobody', asked)).code, 2);
    assert.equal((await check(files, 'bo', first)).code, 0, 'bo sent the message after it');

    hive.markRead('ada');
    await until('the read', () => /"read":\{"after_id"/.test(files.text('seen.json')));
    assert.equal((await check(files, 'ada', asked)).code, 0);
    const answer = hive.deliver('bo', { from: 'ada' });
    await upTo(answer);
    assert.match((await check(files, 'ada', asked)).stdout, /^ada: sent message 3, /);

    await hive.refuse();
    await until('nothing is covered', () => files.json('seen.json')?.observed_to_id === null);
    assert.equal((await check(files, 'bo', answer)).code, 2, 'an outage is no silence');
    await cli.stop();
    files.write('seen.json', '{"schema": 1');
    assert.equal((await check(files, 'bo', answer)).code, 2, 'a torn report says nothing');
  });

  test('what was seen once stays seen: a report outlives its process, but not its hive', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const observing = [...ONCE_MORE, '--activity-file', files.at('seen.json'), '--state-file', files.at('state.json')];
    const first = hive.deliver('ada');
    const covers = (id: number) =>
      until(`all was looked at since ${id}`, () => Number(files.json('seen.json')?.observed_to_id ?? -1) >= id);
    const before = watch(hive, ...observing);
    await using _ = before;
    await covers(first);
    const sent = hive.deliver('ada', { from: 'bo' });
    await until('it is seen', () => /"bo":\{"watched":true,"sent":\{"id":2/.test(files.text('seen.json')));
    await before.stop();
    const since = files.json('seen.json')?.observed_since;

    const after = watch(hive, ...observing);
    await using __ = after;
    await until(
      'a new report',
      () =>
        Number(files.json('seen.json')?.observed_to_id ?? -1) >= sent &&
        files.json('seen.json')?.observed_since !== since,
    );
    assert.match((await check(files, 'bo', first)).stdout, /^bo: sent message 2, seen /);
    assert.equal((await check(files, 'ada', sent)).code, 1, 'of the new span it is known what was watched');
    await after.stop();
    assert.doesNotMatch(after.stderr, /starts over/);

    await using other = await fakeHive({ personas: ['ada', 'bo'] });
    await using third = startCli([
      'watch',
      '--hive',
      other.url,
      '--poll-seconds',
      '1',
      ...ONCE_MORE,
      '--activity-file',
      files.at('seen.json'),
    ]);
    await third.says(
      /seen\.json: it belongs to another hive; the activity recorded before is lost, and recording starts over/,
    );
    await until('its own report', () => /"bo":\{"watched":true,"sent":null/.test(files.text('seen.json')));
    assert.equal((await check(files, 'bo', first)).code, 2);
  });

  test('trap 50: an inbox that cannot be read mutes the alarm of urgent mail, and both places say which', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const first = hive.deliver('ada');
    await using cli = watch(
      hive,
      ...ONCE_MORE,
      '--activity-file',
      files.at('seen.json'),
      '--events-file-template',
      files.at('events.{persona}.ndjson'),
    );
    await until('all is looked at', () => Number(files.json('seen.json')?.observed_to_id ?? -1) >= first);
    hive.fail({ is: 'status', status: 500 }, { endpoint: 'inbox', persona: 'bo' });
    const asked = hive.deliver('ada', { from: 'bo', urgent: true });
    await cli.says(/urgent mail is unread \(ada\), and the activity of its readers is unknown: bo was not read/);
    const { code, stdout } = await check(files, 'ada', asked);
    assert.deepEqual(
      [code, stdout],
      [2, 'ada: it may have written to inboxes that cannot be polled now: bo was not read: not observable\n'],
    );
    assert.ok(!reasons(files, 'ada').includes('urgent-unanswered'));
    await hive.heal();
    await cli.says(/every inbox can be polled again, so silent readers are noticed again/);
    await until('the alarm', () => reasons(files, 'ada').includes('urgent-unanswered'));
    assert.equal(cli.stderr.match(/is unknown/g)?.length, 1);
  });
});
