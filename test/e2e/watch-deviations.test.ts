import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, watch as watchDirectory, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Cli, type CliOptions, runCli, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/**
 * The deviations of the Kijito contract (l), each with the right behaviour and the real process. D2, D3, D5 and D6 are of
 * the delivery and the long-poll that came after rev 6; they have no counterpart here.
 */
const watch = (hive: FakeHive, args: readonly string[] = [], options: CliOptions = {}): Cli =>
  startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', ...args], options);

const names = (cli: Cli): unknown[] => cli.events.map(({ event }) => event);

describe('deviations', { concurrency: 8 }, () => {
  test('D1: an answer that is cut, no HTTP, or wrongly chunked is a failed poll like any other', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--no-fast-path', '--alert-after', '1']);
    await cli.event('armed');
    const kinds = ['truncated', 'garbage', 'bad-chunk', 'reset'] as const;
    const ids: number[] = [];
    for (const [n, is] of kinds.entries()) {
      hive.fail({ is }, { endpoint: 'inbox' });
      ids.push(hive.deliver('ada'));
      await cli.until(`an alert for ${is}`, () => names(cli).filter((name) => name === 'alert').length === n + 1);
      await hive.heal();
      await cli.until(`the mail after ${is}`, () => cli.mail().length === n + 1);
    }
    assert.deepEqual(names(cli), ['armed', ...kinds.flatMap(() => ['alert', 'recovered', 'new'])]);
    assert.deepEqual(cli.mail(), ids);
  });

  test('D4: the first mail ever to a persona that is born during the run is new', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    const first = hive.deliver('bo');
    await cli.event('new');
    assert.deepEqual(
      cli.events.filter(({ persona }) => persona === 'bo').map(({ event, cursor, id }) => [event, cursor ?? id]),
      [
        ['persona_added', undefined],
        ['armed', 0],
        ['new', first],
      ],
    );
  });

  test('D4: so it is when the rescan of the directory finds it, and one that was there at the start is baselined', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    await using cli = watch(hive, ['--no-fast-path', '--rediscover-every', '1']);
    await cli.event('armed');
    const first = hive.deliver('bo');
    assert.equal((await cli.event('new')).persona, 'bo');
    assert.deepEqual(cli.mail(), [first]);
  });

  test('D7: a body that drips ends with the deadline of its request', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--no-fast-path', '--alert-after', '1']);
    await cli.event('armed');
    hive.fail({ is: 'drip' }, { endpoint: 'inbox' });
    const began = performance.now();
    await cli.event('alert');
    assert.ok(performance.now() - began < 9000);
    await cli.says(/no complete answer within 5000 ms/);
    const id = hive.deliver('ada');
    await hive.heal();
    assert.equal((await cli.event('new')).id, id);
  });

  test('D8: an inbox that hangs delays no other', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo', 'cy'] });
    hive.fail({ is: 'hang' }, { endpoint: 'inbox', persona: 'bo' });
    await using cli = watch(hive, ['--no-fast-path']);
    await cli.until('the others are armed', () => names(cli).filter((name) => name === 'armed').length === 2);
    for (let n = 1; n <= 3; n += 1) {
      const began = performance.now();
      hive.deliver('ada');
      hive.deliver('cy');
      await cli.until('both are told', () => cli.mail('ada').length === n && cli.mail('cy').length === n);
      assert.ok(performance.now() - began < 2500, 'a tick, not a time limit');
    }
  });

  test('E3 D9: at its time limit an exec command goes with all its children', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const command = `sleep 60 & echo $! > ${files.at('child')}; sleep 60`;
    await using cli = watch(hive, ['--emit', 'exec-per-event', '--exec', command]);
    await until('the command runs', () => files.list().includes('child'));
    const child = Number(readFileSync(files.at('child'), 'utf8'));
    assert.ok(isAlive(child));
    await cli.says(/timed out after 10 s/, 15_000);
    await until('its child is gone', () => !isAlive(child));
  });

  test('D10: an event file that is deleted is made again for the next event', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--events-file', files.at('events.ndjson')]);
    await cli.until('it is armed', () => files.events('events.ndjson').length === 1);
    rmSync(files.at('events.ndjson'));
    const id = hive.deliver('ada');
    await cli.until('the mail is told', () => files.mail('events.ndjson').length === 1);
    assert.deepEqual(files.mail('events.ndjson'), [id]);
  });

  test('D11: proxy variables are not read, and the token goes nowhere else', async () => {
    await using hive = await fakeHive({ personas: ['ada'], token: 'secret' });
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end();
    });
    proxy.on('connect', (request, socket) => {
      seen.push(request.url ?? '');
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const all = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
    const env = { ...Object.fromEntries(all.map((name) => [name, at])), NODE_USE_ENV_PROXY: '1' };
    try {
      await using cli = watch(hive, [], { env: { ...env, KIJITOMON_TOKEN: 'secret' } });
      await cli.event('armed');
      assert.deepEqual(seen, []);
    } finally {
      proxy.close();
    }
  });

  test('D12: the token of the environment reaches the hive and no command', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'secret' });
    const args = [
      '--emit',
      'exec-per-event',
      '--exec',
      `env > ${files.at('env.part')} && mv ${files.at('env.part')} ${files.at('env')}`,
    ];
    await using cli = watch(hive, args, { env: { KIJITOMON_TOKEN: 'secret', KIJITOMON_ID: 'inherited' } });
    await cli.until('the command ran', () => files.list().includes('env'));
    const text = readFileSync(files.at('env'), 'utf8');
    assert.match(text, /^KIJITOMON_EVENT=armed$/m);
    assert.match(text, /^KIJITOMON_CURSOR=0$/m);
    assert.doesNotMatch(text, /secret|KIJITOMON_TOKEN|KIJITOMON_ID=/);
  });

  test('D13: a hive without window fields is believed to send everything', async () => {
    await using hive = await fakeHive({ personas: ['ada'], window: 'legacy' });
    await using cli = watch(hive);
    await cli.event('armed');
    const ids = Array.from({ length: 150 }, () => hive.deliver('ada'));
    await cli.until('all are told', () => cli.mail().length === ids.length);
    assert.deepEqual(cli.mail(), ids);
    assert.deepEqual(new Set(names(cli)), new Set(['armed', 'new']));
  });

  test('D13: a bounded window is walked back to the cursor', async () => {
    await using hive = await fakeHive({ personas: ['ada'], window: 10 });
    await using cli = watch(hive);
    await cli.event('armed');
    const ids = Array.from({ length: 75 }, () => hive.deliver('ada'));
    await cli.until('all are told', () => cli.mail().length === ids.length);
    assert.deepEqual(cli.mail(), ids);
  });

  for (const [flags, url, why] of [
    [['--allow-private'], 'http://127.0.0.1:1/', 'loopback'],
    [['--allow-private'], 'http://[::1]:1/', 'loopback'],
    [['--allow-private'], 'http://169.254.169.254/', 'link-local'],
    [['--allow-loopback'], 'http://192.168.0.1/', 'private'],
    [['--allow-loopback'], 'http://[::ffff:10.0.0.1]/', 'private'],
    [['--allow-loopback', '--allow-private'], 'http://100.64.0.1/', 'shared'],
    [['--allow-private'], 'http://[2002:7f00:1::]/', 'loopback'],
    [['--allow-private'], 'http://[64:ff9b::7f00:1]/', 'loopback'],
    [['--allow-loopback'], 'http://[fec0::1]/', 'private'],
    [['--allow-loopback', '--allow-private'], 'http://0.0.0.0:1/', 'unspecified'],
    [['--allow-loopback'], 'http://user:pass@127.0.0.1:1/', 'user name or password'],
  ] as const) {
    test(`D14: ${flags.join(' ')} does not admit ${url}`, async () => {
      const { code, stdout, stderr } = await runCli(['watch', ...flags, '--url', url]);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(
        stderr,
        why === 'user name or password' ? /user name or password/ : new RegExp(`is a .*${why}.* address`),
      );
      assert.doesNotMatch(stderr, /pass@/);
    });
  }

  test('D15: a cursor that is no whole number is no cursor', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    for (let n = 0; n < 3; n += 1) hive.deliver('ada');
    const identity = ['http', '127.0.0.1', hive.port, '/api/inbox', [['persona', 'ada']]];
    files.write('hive.ada.json', JSON.stringify({ identity, cursor: true, state: 'UP', consecutive_failures: 0 }));
    await using cli = watch(hive, ['--state-file', files.at('hive.json')]);
    assert.equal((await cli.event('armed')).cursor, 3);
    await cli.says(/hive\.ada\.json: not usable \(cursor is true\)/);
    await until('a cursor is saved', () => files.json('hive.ada.json')?.cursor === 3);
    assert.deepEqual(cli.mail(), []);
  });

  test('D16: a self-test whose command fails has failed', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['watch', '--hive', hive.url, '--self-test', '--emit', 'exec-per-event', '--exec'];
    const failed = await runCli([...args, 'exit 3']);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /self-test ada: fetch ok.*\n.*self-test ada: emit FAILED: .*exit 3/);
    assert.equal((await runCli([...args, 'test "$KIJITOMON_ID" = 0'])).code, 0);
  });

  test('D17: when nobody reads stdout any more it says so once and ends with exit code 4', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const args = ['--state-file', files.at('hive.json')];
    await using cli = watch(hive, args);
    await cli.until('both are armed', () => cli.events.length === 2);
    cli.leave();
    const ids = [hive.deliver('ada'), hive.deliver('bo')];
    assert.deepEqual(await cli.ended(), { code: 4, signal: null });
    assert.equal(cli.stderr.match(/its reader is gone/g)?.length, 1, cli.stderr);
    await cli.says(/start again with a reader of stdout, or use --events-file/);
    assert.doesNotMatch(cli.stderr, /\n\s+at /);

    await using again = watch(hive, args);
    await again.until('what nobody read is told now', () => again.mail().length === 2);
    assert.deepEqual(again.mail().toSorted(), ids);
  });

  test('D18: content that is no text is its JSON, and null is the empty text', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    for (const content of [{ a: 1, b: ['é'] }, null, 7, true]) hive.deliver('ada', { content });
    await cli.until('all are told', () => cli.mail().length === 4);
    assert.deepEqual(
      cli.events.slice(1).map(({ content }) => content),
      ['{"a":1,"b":["é"]}', '', '7', 'true'],
    );
  });

  test('D19: 204 and 304 are failures with a plain reason', async () => {
    for (const [status, reason] of [
      [204, /answered 204, which has no content/],
      [304, /answered 304 \(not modified\)/],
    ] as const) {
      await using hive = await fakeHive({ personas: ['ada'] });
      hive.fail({ is: 'status', status }, { endpoint: 'inbox' });
      await using cli = watch(hive, ['--alert-after', '1']);
      await cli.event('alert');
      await cli.says(reason);
    }
  });

  test('D20: a byte-order mark is accepted; gzip that nobody asked for and ids below 1 are failures that say why', async () => {
    await using hive = await fakeHive({ personas: ['ada'], window: 'legacy' });
    const row = (id: number): string => `{"id":${id},"from":"x","content":"y","created":"z","read":false}`;
    const at = { endpoint: 'inbox' } as const;
    await using cli = watch(hive, ['--no-fast-path', '--alert-after', '1']);
    await cli.event('armed');
    hive.fail({ is: 'body', body: `\ufeff{"result":[${row(4)}]}` }, at);
    assert.equal((await cli.event('new')).id, 4);
    hive.fail({ is: 'body', body: gzipSync(`{"result":[${row(5)}]}`), headers: { 'content-encoding': 'gzip' } }, at);
    await cli.says(/answered in "gzip", though only identity was asked for/);
    for (const id of [0, -1]) {
      hive.fail({ is: 'body', body: `{"result":[${row(id)}]}` }, at);
      await cli.says(new RegExp(`the id of row 0 is ${id}, not a whole number from 1 on`));
    }
    assert.deepEqual(names(cli), ['armed', 'new', 'alert']);
    assert.match(hive.asked('inbox')[0]?.headers['accept-encoding'] ?? '', /^identity$/);
  });

  test('D21: two personas whose safe names are the same are both watched, each with files of its own', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['a b', 'a_b'] });
    const args = ['--state-file', files.at('hive.json'), '--events-file-template', files.at('events.{persona}.ndjson')];
    await using cli = watch(hive, args);
    const ids = { 'a b': hive.deliver('a b'), a_b: hive.deliver('a_b') };
    const logs = (): string[] => files.list().filter((name) => name.startsWith('events.'));
    await cli.until(
      'both have files',
      () => logs().length === 2 && logs().every((name) => files.events(name).length > 0),
    );
    const more = { 'a b': hive.deliver('a b'), a_b: hive.deliver('a_b') };
    await cli.until('both are told', () => logs().every((name) => files.mail(name).length > 0));
    for (const name of logs()) {
      const persona = files.events(name)[0]?.persona;
      assert.ok(persona === 'a b' || persona === 'a_b');
      assert.deepEqual(new Set(files.events(name).map((event) => event.persona)), new Set([persona]));
      assert.deepEqual(
        files.mail(name).filter((id) => id !== ids[persona]),
        [more[persona]],
      );
    }
    assert.ok(logs().includes('events.a_b.ndjson'));
    assert.equal(files.list().filter((name) => name.endsWith('.json')).length, 2);
    assert.doesNotMatch(cli.stderr, /not watched/);
  });

  test('D22: a token file that others may read is used, and warned of', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'secret' });
    const path = files.write('token', 'secret\n');
    chmodSync(path, 0o644);
    await using cli = watch(hive, ['--token-file', path]);
    await cli.event('armed');
    await cli.says(/token file .* is open to other users \(mode 644\): chmod 600 it/);
    assert.doesNotMatch(cli.stderr, /secret/);
  });

  test('D23: an unusable state and an empty inbox arm at 0', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    files.write('hive.ada.json', '{"identity":');
    await using cli = watch(hive, ['--state-file', files.at('hive.json')]);
    assert.equal((await cli.event('armed')).cursor, 0);
    const id = hive.deliver('ada');
    assert.equal((await cli.event('new')).id, id);
  });

  test('D24: an answer over 16 MiB is a failure that costs no memory', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'the memory of a process is told by /proc of Linux only'))
      return;
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--no-fast-path', '--alert-after', '2']);
    await cli.event('armed');
    const before = peakMiB(cli.pid);
    const id = hive.deliver('ada');
    hive.fail({ is: 'huge', bytes: 50e6 }, { endpoint: 'inbox' });
    await cli.event('alert');
    await cli.says(/the answer is larger than 16777216 bytes/);
    assert.ok(peakMiB(cli.pid) - before < 80, `from ${before} to ${peakMiB(cli.pid)} MiB`);
    await hive.heal();
    assert.equal((await cli.event('new')).id, id);
  });

  test('D25: what a kill -9 left of a save is gone after the next start', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    let temp: string | null = null;
    using _watching = disposable(
      watchDirectory(files.dir, (_, name) => {
        if (name?.endsWith('.tmp')) temp = name;
      }),
    );
    const args = ['--state-file', files.at('hive.json'), '--no-fast-path'];
    await using first = watch(hive, args);
    await first.until('a save is seen', () => temp !== null && files.list().includes('hive.ada.json'));
    first.kill('SIGKILL');
    await first.ended();
    const left = files.at(String(temp).replace(/[0-9a-f]{12}(?=\.tmp$)/, '0123456789ab'));
    const other = files.at('.kijmon-other-0123456789ab.tmp');
    for (const path of [left, other]) writeFileSync(path, '{"identity":', { mode: 0o600 });
    await using second = watch(hive, args);
    await second.event('armed');
    assert.ok(!files.list().includes(left.slice(files.dir.length + 1)));
    assert.ok(files.list().includes('.kijmon-other-0123456789ab.tmp'));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH is the answer asked for
  }
}

/** The most resident memory a process ever had. */
function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function disposable(watcher: { close(): void }): Disposable {
  return { [Symbol.dispose]: () => watcher.close() };
}
