import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fakeHive } from '../kit/fake-hive.ts';
import { runCli, startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** The argument matrix of the Kijito contract (c) at the real process: exit codes, what is said, and where. */
describe('a wrong command line ends with 2, names the value and the next step on stderr, and prints nothing', {
  concurrency: 4,
}, () => {
  const cases: readonly (readonly [line: string, message: RegExp])[] = [
    ['--poll-seconds 0', /--poll-seconds 0: must be at least 1/],
    ['--poll-seconds soon', /--poll-seconds soon: must be a number/],
    ['--alert-after 0', /--alert-after 0: must be at least 1/],
    ['--emit webhook', /'webhook' is invalid.*stdout-jsonl, exec-per-event/],
    ['--emit exec-per-event', /--emit exec-per-event: needs --exec COMMAND/],
    ['--content-chars -1', /--content-chars -1: must be at least 0/],
    ['--seed-at 5', /--seed-at 5: .*exactly one --persona, or --url/],
    ['--seed-at 5 --personas ada,bo', /--seed-at 5: .*exactly one --persona, or --url/],
    ['--seed-at five --persona ada', /--seed-at five: must be a whole number/],
    ['--max-replay -1', /--max-replay -1: must be at least 0/],
    ['--heartbeat 0', /--heartbeat 0: must be at least 1/],
    ['--events-file a --events-file-template b.{persona}', /use only one of --events-file and --events-file-template/],
    ['--events-file-template events.ndjson', /events\.ndjson: must contain \{persona\}, for example/],
    ['--keep-logs 0', /--keep-logs 0: must be at least 1/],
    ['--rediscover-every 0', /--rediscover-every 0: must be at least 1/],
    ['--resync-every 0', /--resync-every 0: must be at least 1/],
    ['--url http://h/ --persona ada', /--url names .*leave out --persona/],
    ['--url ftp://h/', /"ftp:\.\.\." is neither http nor https/],
    ['--url nonsense', /"nonsense" is not a URL/],
    ['--hive nonsense', /"nonsense" is not a URL/],
    ['--hive http://u:p@127.0.0.1:1', /user name or password/],
    ['--all-personas --persona ada', /use either --all-personas or --persona/],
    ['--frobnicate', /unknown option '--frobnicate'/],
    ['--wait -1', /--wait -1: must be at least 0/],
    ['--delivery twice', /--delivery.*at-most-once, at-least-once/],
    ['ada', /too many arguments/],
    ['--token-file /nowhere/token', /token file "\/nowhere\/token" cannot be read/],
  ];
  for (const [line, message] of cases) {
    test(line, async () => {
      const { code, stdout, stderr } = await runCli(['watch', ...line.split(' ')]);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, message);
      assert.match(stderr, /^hivebar watch: .*: [^:]*(see|give|check|use|allow)/);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
  }

  test('help ends with 0, on stdout, and needs no hive', async () => {
    for (const args of [
      ['watch', '--help'],
      ['help', 'watch'],
      ['watch', '--poll-seconds', '0', '-h'],
    ]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /--poll-seconds SECONDS .*default: 60/);
      assert.match(stdout, /--events-file-template/);
    }
  });
});

describe('what is wrong around it ends the start with 2 as well', { concurrency: 4 }, () => {
  const refused = async (args: readonly string[], message: RegExp, env = {}): Promise<void> => {
    const { code, stdout, stderr } = await runCli(['watch', ...args], { env });
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /\n\s+at /);
  };

  test('a hive that answers 404 to an inbox', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'status', status: 404 }, { endpoint: 'inbox' });
    await refused(['--hive', hive.url, '--persona', 'ada'], /api\/inbox.*answered 404.*may be switched off/);
  });

  test('a hive that answers 404 to the directory', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'status', status: 404 }, { endpoint: 'personas' });
    await refused(['--hive', hive.url], /api\/personas.*answered 404/);
  });

  test('a directory that is empty, of the wrong shape, or not to be had', async () => {
    await using hive = await fakeHive();
    await refused(['--hive', hive.url], /api\/personas.*lists no persona/);
    hive.fail({ is: 'body', body: '{"result": [{"name": "ada"}]}' });
    await refused(['--hive', hive.url], /entry 0: its persona is absent/);
    hive.fail({ is: 'status', status: 503 });
    await refused(['--hive', hive.url], /answered 503/);
    await hive.refuse();
    await refused(['--hive', hive.url], /connection refused.*check that the server is running/);
  });

  test('trap 44: a lock that another holds stops a start when it is the only persona; else the others are watched', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const args = ['--hive', hive.url, '--state-file', files.at('hive.json')];
    await using first = startCli(['watch', ...args, '--persona', 'ada']);
    await first.event('armed');
    await refused([...args, '--persona', 'ada'], /hive\.ada\.json is in use by another process.*state-file in use/);
    await using rest = startCli(['watch', ...args]);
    assert.equal((await rest.event('armed')).persona, 'bo');
    assert.match(rest.stderr, /ada is not watched: .*state-file in use/);
  });

  test('a state file that is a directory or a symlink, when it is the only persona', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    mkdirSync(files.at('a.ada.json'));
    await refused(
      ['--hive', hive.url, '--state-file', files.at('a.json')],
      /a\.ada\.json: is (a directory|not a regular)/,
    );
    symlinkSync(files.write('target', ''), files.at('b.ada.json'));
    await refused(['--hive', hive.url, '--state-file', files.at('b.json')], /b\.ada\.json: is a symlink/);
  });

  test('a token file that is a directory or empty; the token itself is never shown', async () => {
    using files = scratch();
    mkdirSync(files.at('dir'));
    await refused(['--token-file', files.at('dir')], /token file .*dir" is not a regular file/);
    await refused(['--token-file', files.write('empty', '\n')], /token file .*empty" holds no token/);
    await refused(['--auth-header', 'a:b'], /--auth-header "a:b" cannot carry a token: see --help/, {
      KIJITOMON_TOKEN: 's3cret',
    });
    await refused(['--hive', 'http://127.0.0.1:1'], /^(?!.*s3cret).*line break/, { KIJITOMON_TOKEN: 's3cret\ntoken' });
  });

  test('a name that does not resolve, under --url', async () => {
    const url = 'http://no-such-host.invalid/api/inbox';
    await using cli = startCli(['watch', '--url', url, '--poll-seconds', '1', '--alert-after', '1']);
    await until('a verdict', () => /did not resolve/.test(cli.stderr));
  });
});

describe('flags at work', { concurrency: 4 }, () => {
  test('E3 warnings go to stderr in the usual words and stop nothing', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = startCli(['watch', '--hive', hive.url, '--exec', 'true', '--allow-private']);
    await cli.event('armed');
    await cli.says(/--exec is ignored without --emit exec-per-event/);
    await cli.says(/--allow-private are ignored without --url/);
  });

  test('in exec mode an events file is warned of and not written', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--emit', 'exec-per-event', '--exec', `echo "$KIJITOMON_EVENT" >> ${files.at('ran')}`];
    await using cli = startCli(['watch', '--hive', hive.url, ...args, '--events-file', files.at('events')]);
    await cli.until('the command ran', () => files.list().includes('ran'));
    await cli.says(/--events-file .*are ignored with --emit exec-per-event/);
    assert.deepEqual(files.list(), ['ran']);
    assert.equal(cli.lines.length, 0);
  });

  test('trap 42: names that are repeated in another case are one, in the first spelling', async () => {
    await using hive = await fakeHive({ personas: ['Ada', 'bo'] });
    const args = ['--persona', 'Ada', '--persona', 'ada', '--personas', 'ADA,bo'];
    await using cli = startCli(['watch', '--hive', hive.url, ...args]);
    await cli.until('both are armed', () => cli.events.length === 2);
    assert.deepEqual(new Set(cli.events.map(({ persona }) => persona)), new Set(['Ada', 'bo']));
    await cli.says(/watching 2 of 2/);
  });

  test('trap 41: two spellings that the directory lists are two personas', async () => {
    await using hive = await fakeHive({ personas: ['Ada', 'ada'] });
    await using cli = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1']);
    await cli.until('both are armed', () => cli.events.length === 2);
    const id = hive.deliver('ada');
    assert.equal((await cli.event('new')).persona, 'ada');
    await sleep(1200);
    assert.deepEqual(cli.mail(), [id]);
  });

  test('content is cut to code points, to nothing, or left out', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada', { content: '😀é'.repeat(200) });
    const seeded = ['watch', '--hive', hive.url, '--persona', 'ada', '--seed-at', '0'];
    for (const [flags, expected] of [
      [[], '😀é'.repeat(110)],
      [['--content-chars', '3'], '😀é😀'],
      [['--content-chars', '0'], ''],
      [['--no-content'], undefined],
    ] as const) {
      await using cli = startCli([...seeded, ...flags]);
      const mail = await cli.event('new');
      assert.equal(mail.content, expected);
      assert.equal('content' in mail, expected !== undefined);
    }
  });

  test('the token goes as a bearer, or raw in a header of its own; the file wins over the variable', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const path = files.write('token', ' from-file \n');
    const sent = async (flags: readonly string[], env: Record<string, string>) => {
      await using cli = startCli(['watch', '--hive', hive.url, ...flags], { env });
      await cli.event('armed');
      const { authorization, 'x-token': own, 'user-agent': agent } = hive.requests.at(-1)?.headers ?? {};
      assert.match(agent ?? '', /^(kijito-inbox-monitor|hivebar)\//);
      return [authorization, own];
    };
    const env = { KIJITOMON_TOKEN: 'from-env' };
    assert.deepEqual(await sent([], {}), [undefined, undefined]);
    assert.deepEqual(await sent([], env), ['Bearer from-env', undefined]);
    assert.deepEqual(await sent(['--token-file', path], env), ['Bearer from-file', undefined]);
    assert.deepEqual(await sent(['--auth-header', 'X-Token'], env), [undefined, 'from-env']);
  });

  test('a token that is replaced while the watch runs is read from its file again, and nobody is told of an outage', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'first' });
    const path = files.write('token', 'first');
    const flags = ['--poll-seconds', '1', '--alert-after', '1', '--token-file', path];
    await using cli = startCli(['watch', '--hive', hive.url, ...flags]);
    await cli.event('armed');
    files.write('token', 'second');
    hive.setToken('second');
    const id = hive.deliver('ada');
    await cli.event('new', (event) => event.id === id);
    assert.deepEqual(
      cli.events.map(({ event }) => event),
      ['armed', 'new'],
    );
  });

  test('a heartbeat comes on the polls, from the start and in an outage, with a null cursor before the baseline', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'status', status: 500 }, { endpoint: 'inbox' });
    const args = ['--persona', 'ada', '--poll-seconds', '1', '--heartbeat', '1', '--alert-after', '2'];
    await using cli = startCli(['watch', '--hive', hive.url, ...args]);
    assert.equal((await cli.event('heartbeat')).cursor, null);
    await hive.heal();
    await cli.event('heartbeat', ({ cursor }) => cursor === 0);
    const order = cli.events.map(({ event }) => event);
    assert.ok(order.indexOf('armed') > order.indexOf('heartbeat'));
  });

  test('--resync-every: a pending list that always says zero costs so many polls, never the mail', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'edit', edit: () => ({ result: [] }) }, { endpoint: 'pending' });
    const args = ['--persona', 'ada', '--poll-seconds', '1', '--resync-every', '2'];
    await using cli = startCli(['watch', '--hive', hive.url, ...args]);
    await cli.event('armed');
    const id = hive.deliver('ada');
    const before = hive.asked('pending').length;
    assert.equal((await cli.event('new')).id, id);
    assert.ok(hive.asked('pending').length - before <= 4);
  });

  test('an interval of months is no interval of nothing', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--poll-seconds', '9999999', '--rediscover-every', '9999999'];
    await using cli = startCli(['watch', '--hive', hive.url, ...args]);
    await cli.event('armed');
    await sleep(500);
    assert.equal(hive.asked('pending').length, 1);
    assert.equal(hive.asked('personas').length, 1);
    assert.doesNotMatch(cli.stderr, /Warning/);
  });
});
