import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { listeningPorts, NO_LISTENING_PORTS } from '../kit/listening.ts';
import { type Cli, type CliOptions, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** The wake seam (Kijito spec 10) and the clean stop, at the real process. */
const watch = (hive: FakeHive, args: readonly string[] = [], options: CliOptions = {}): Cli =>
  startCli(['watch', '--hive', hive.url, ...args], options);

/** A stop takes some milliseconds; this is for machines that are busy. The bar of 0.3 s is measured by the benchmark. */
const STOP_MS = 1000;

async function stopsInTime(cli: Cli, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const began = performance.now();
  cli.kill(signal);
  assert.deepEqual(await cli.ended(), { code: 0, signal: null }, cli.stderr);
  const took = performance.now() - began;
  assert.ok(took < STOP_MS, `${Math.round(took)} ms`);
}

/** When nothing was asked of the hive for a while. */
async function quiet(hive: FakeHive): Promise<void> {
  for (let seen = -1; seen !== hive.requests.length; await sleep(400)) seen = hive.requests.length;
}

describe('SIGUSR1', { concurrency: 2 }, () => {
  test('polls at once, whatever the interval is', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    const id = hive.deliver('ada');
    cli.kill('SIGUSR1');
    assert.equal((await cli.event('new')).id, id);
  });

  test('fifty in a burst are one more poll, two at most', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    await quiet(hive);
    const before = hive.asked('pending').length;
    for (let n = 0; n < 50; n += 1) cli.kill('SIGUSR1');
    await quiet(hive);
    const more = hive.asked('pending').length - before;
    assert.ok(more === 1 || more === 2, `${more}`);
  });

  test('during a fetch it is exactly one more poll, after it', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--no-fast-path']);
    await cli.event('armed');
    await quiet(hive);
    hive.fail({ is: 'slow', ms: 700 }, { endpoint: 'inbox' });
    const before = hive.asked('inbox').length;
    cli.kill('SIGUSR1');
    await until('the fetch is under way', () => hive.asked('inbox').length === before + 1);
    for (let n = 0; n < 20; n += 1) cli.kill('SIGUSR1');
    await sleep(300);
    assert.equal(hive.asked('inbox').length, before + 1, 'not while it is under way');
    await until('one more', () => hive.asked('inbox').length === before + 2);
    await sleep(1500);
    assert.equal(hive.asked('inbox').length, before + 2);
  });

  test('counts in the liveness as any other poll does', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, ['--alert-after', '3', '--no-fast-path']);
    await cli.event('armed');
    await hive.refuse();
    for (let n = 1; n <= 3; n += 1) {
      cli.kill('SIGUSR1');
      await sleep(300);
    }
    assert.equal((await cli.event('alert')).consecutive_failures, 3);
    await hive.heal();
    cli.kill('SIGUSR1');
    await cli.event('recovered');
  });

  test('opens no port while it runs', async (t) => {
    if (needs(t, NO_LISTENING_PORTS)) return;
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive);
    await cli.event('armed');
    for (let n = 0; n < 5; n += 1) cli.kill('SIGUSR1');
    await quiet(hive);
    assert.deepEqual(listeningPorts(cli.pid), []);
  });
});

describe('SIGUSR1 in the first moments', { concurrency: 3 }, () => {
  /*
   * Before any line of ours runs, Node owns the signal: for some milliseconds it ends the process (the default of the
   * system), then it opens the inspector. The first is left to the supervisor, which starts it again; the second is
   * undone as soon as the command begins. Once there is a line on stderr, or an event, a poke is a poke.
   */
  for (let delay = 0; delay <= 150; delay += 15) {
    test(`after ${delay} ms: it ends by the signal, or it arms and no inspector stays open`, async (t) => {
      if (needs(t, NO_LISTENING_PORTS)) return;
      await using hive = await fakeHive({ personas: ['ada'] });
      await using cli = watch(hive);
      await sleep(delay);
      cli.kill('SIGUSR1');
      const isOver = await ended(cli);
      if (isOver) {
        assert.deepEqual(await cli.ended(), { code: null, signal: 'SIGUSR1' });
        assert.equal(cli.stderr, '', 'before anything of ours ran');
        return;
      }
      await sleep(300);
      assert.deepEqual(listeningPorts(cli.pid), [], cli.stderr);
      const id = hive.deliver('ada');
      cli.kill('SIGUSR1');
      assert.equal((await cli.event('new')).id, id);
      assert.deepEqual(listeningPorts(cli.pid), []);
    });
  }

  /** True when it has ended, false when it is armed. */
  async function ended(cli: Cli): Promise<boolean> {
    return await Promise.race([
      cli.ended().then(() => true),
      cli.event('armed').then(
        () => false,
        () => true,
      ),
    ]);
  }

  test('an inspector that was asked for stays', async (t) => {
    if (needs(t, NO_LISTENING_PORTS)) return;
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, [], { env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
    await cli.event('armed');
    assert.equal(listeningPorts(cli.pid).length, 1);
    await stopsInTime(cli);
  });
});

describe('SIGTERM ends it with 0 at once', { concurrency: 2 }, () => {
  test('when nothing happens, and so do SIGINT and SIGHUP', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      await using cli = watch(hive);
      await cli.event('armed');
      await stopsInTime(cli, signal);
    }
  });

  for (let delay = 100; delay <= 1000; delay += 100) {
    test(`about ${delay} ms after its start, with mail on its way`, async () => {
      using files = scratch();
      await using hive = await fakeHive({ personas: ['ada', 'bo', 'cy'] });
      for (let n = 0; n < 30; n += 1) hive.deliver('ada');
      const args = ['--state-file', files.at('hive.json'), '--poll-seconds', '1'];
      await using cli = watch(hive, args);
      await sleep(delay + Math.random() * 100);
      hive.deliver('bo');
      const began = performance.now();
      cli.kill('SIGTERM');
      const { code, signal } = await cli.ended();
      assert.ok(performance.now() - began < STOP_MS, `${performance.now() - began} ms`);
      if (signal === null) assert.equal(code, 0, cli.stderr);
      else assert.deepEqual([signal, cli.stderr, cli.lines.length], ['SIGTERM', '', 0], 'before anything of ours ran');
      assert.doesNotMatch(cli.stderr, /unreachable|abort|Error/);
    });
  }

  for (const endpoint of ['personas', 'pending', 'inbox'] as const) {
    test(`while the ${endpoint} request hangs`, async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      hive.fail({ is: 'hang' }, { endpoint });
      await using cli = watch(hive);
      await until('the request hangs', () => hive.asked(endpoint).length === 1);
      await sleep(100);
      await stopsInTime(cli);
      assert.deepEqual(
        cli.events.filter(({ event }) => event === 'alert'),
        [],
      );
    });
  }

  test('while it waits for a body that drips', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.fail({ is: 'drip' }, { endpoint: 'inbox' });
    await using cli = watch(hive);
    await until('the body drips', () => hive.asked('inbox').length === 1);
    await sleep(300);
    await stopsInTime(cli);
  });

  test('while a command runs, which goes with it, and whose event is told again', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const seen = files.at('seen');
    const command = `echo "$KIJITOMON_EVENT $KIJITOMON_ID $$" >> ${seen}; test "$KIJITOMON_EVENT" = armed || exec sleep 60`;
    const lines = (): string[] => files.text('seen').trim().split('\n');
    const args = ['--poll-seconds', '1', '--state-file', files.at('hive.json'), '--emit', 'exec-per-event', '--exec'];
    await using cli = watch(hive, [...args, command]);
    await until('it is armed', () => files.text('seen') !== '');
    const id = hive.deliver('ada');
    await until('the command runs', () => lines().length === 2);
    await stopsInTime(cli);
    const child = Number(lines()[1]?.split(' ')[2]);
    assert.throws(() => process.kill(child, 0), { code: 'ESRCH' });
    await using again = watch(hive, [...args, `echo "$KIJITOMON_EVENT $KIJITOMON_ID again" >> ${seen}`]);
    await again.until('it is told again', () => lines().at(-1) === `new ${id} again`);
  });

  test('while nobody reads stdout; what did not go out is told after the restart, once', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--poll-seconds', '1', '--content-chars', '100000', '--state-file', files.at('hive.json')];
    await using cli = watch(hive, args, { reads: false });
    await until('it is armed', () => files.json('hive.ada.json')?.cursor === 0);
    const ids = Array.from({ length: 20 }, () => hive.deliver('ada', { content: 'x'.repeat(90_000) }));
    const before = hive.asked('inbox').length;
    await until('the mail was fetched', () => hive.asked('inbox').length > before);
    await sleep(500);
    await stopsInTime(cli);
    cli.read();
    await sleep(200);
    const delivered = cli.mail();
    assert.ok(delivered.length < ids.length, 'the pipe was full');
    await using again = watch(hive, args);
    await again.until('the rest is told', () => again.mail().length === ids.length - delivered.length);
    assert.deepEqual([...delivered, ...again.mail()], ids);
  });
});
