import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Cli, runCli, startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

/** The list DONE-WHEN of the Kijito spec (12, and 14.5 for m1 to m5), each against the real process and a real socket. */
const watch = (hive: FakeHive, ...args: string[]): Cli =>
  startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', ...args]);

const inboxUrl = (hive: FakeHive, persona: string): string => `${hive.url}/api/inbox?persona=${persona}`;

/** Long enough for two more polls of a second each. */
const twoPolls = (): Promise<void> => sleep(2300);

describe('DONE-WHEN', { concurrency: 6 }, () => {
  test('1: --self-test passes on a healthy hive, prints reachability, and fails on one that is off', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    const args = ['watch', '--hive', hive.url, '--persona', 'ada', '--self-test'];
    const healthy = await runCli(args);
    assert.equal(healthy.code, 0, healthy.stderr);
    assert.match(healthy.stderr, /self-test ada: fetch ok: reachable/);
    assert.match(healthy.stderr, /self-test ada: emit ok/);
    const [line, ...more] = healthy.stdout.trim().split('\n');
    assert.equal(more.length, 0);
    const { event, id, from, content, persona } = JSON.parse(line ?? '') as Record<string, unknown>;
    assert.deepEqual([event, id, from, content, persona], ['new', 0, 'self-test', 'synthetic emit OK', 'ada']);

    hive.fail({ is: 'status', status: 404 }, { endpoint: 'inbox' });
    const switchedOff = await runCli(args);
    assert.equal(switchedOff.code, 1);
    assert.match(switchedOff.stderr, /fetch FAILED: .*404/);

    await hive.refuse();
    const unreachable = await runCli(args);
    assert.equal(unreachable.code, 1);
    assert.match(unreachable.stderr, /fetch FAILED: .*refused/);
    assert.match(unreachable.stderr, /emit ok/);
  });

  test('2: a message above the armed cursor is exactly one new; none at or below it is any', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    for (let n = 0; n < 3; n += 1) hive.deliver('ada');
    await using cli = watch(hive, '--persona', 'ada');
    const armed = await cli.event('armed');
    assert.equal(armed.cursor, 3);
    const id = hive.deliver('ada', { from: 'river', content: 'héllo' });
    const mail = await cli.event('new');
    assert.deepEqual([mail.id, mail.from, mail.content, mail.persona], [id, 'river', 'héllo', 'ada']);
    assert.match(cli.lines.at(-1) ?? '', /^\{"event": "new", "source": "kijito-inbox", "ts": "/);
    await twoPolls();
    assert.deepEqual(cli.mail(), [id]);
  });

  test('3: an outage is one alert, its end is one recovered, and nothing in between', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    await hive.refuse();
    const args = ['--url', inboxUrl(hive, 'ada'), '--allow-loopback', '--poll-seconds', '1'];
    await using cli = startCli(['watch', ...args, '--alert-after', '3', '--state-file', files.at('hive.json')]);
    const alert = await cli.event('alert');
    assert.deepEqual([alert.reason, alert.consecutive_failures, alert.seconds], ['unreachable', 3, 3]);
    await until('the edge is saved', () => files.json('hive.json')?.state === 'DOWN');
    await twoPolls();
    assert.deepEqual(cli.events, [alert]);
    await hive.heal();
    const recovered = await cli.event('recovered');
    const armed = await cli.event('armed');
    assert.deepEqual([recovered.cursor, armed.cursor], [1, 1]);
    await twoPolls();
    assert.deepEqual(cli.events, [alert, recovered, armed]);
    assert.deepEqual([files.json('hive.json')?.state, files.json('hive.json')?.consecutive_failures], ['UP', 0]);
  });

  test('3: a restart in an outage neither repeats its alert nor forgets its recovered', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['--persona', 'ada', '--alert-after', '1', '--state-file', files.at('hive.json')];
    await hive.refuse();
    await using first = watch(hive, ...args);
    await first.event('alert');
    await first.stop();
    await using second = watch(hive, ...args);
    await until('a failed poll is saved', () => Number(files.json('hive.ada.json')?.consecutive_failures) >= 3);
    await hive.heal();
    await second.event('armed');
    assert.deepEqual(
      second.events.map(({ event }) => event),
      ['recovered', 'armed'],
    );
  });

  test('4: what came while it was stopped is told once after the restart, by state file and by --seed-at', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    const state = ['--persona', 'ada', '--state-file', files.at('hive.json')];
    await using first = watch(hive, ...state);
    await first.event('armed');
    const before = hive.deliver('ada');
    await first.event('new');
    assert.deepEqual(await first.stop(), { code: 0, signal: null });
    assert.equal(files.json('hive.ada.json')?.cursor, before);

    const missed = hive.deliver('ada');
    await using second = watch(hive, ...state);
    assert.equal((await second.event('armed')).cursor, before);
    await second.event('new');
    await twoPolls();
    assert.deepEqual(second.mail(), [missed]);
    assert.equal(files.json('hive.ada.json')?.cursor, missed);

    await using seeded = watch(hive, '--persona', 'ada', '--seed-at', String(before));
    assert.equal((await seeded.event('armed')).cursor, before);
    await seeded.event('new');
    assert.deepEqual(seeded.mail(), [missed]);
  });

  test('5: neither polls nor the self-test change what is read', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    for (let n = 0; n < 3; n += 1) hive.deliver('ada');
    hive.markRead('ada', [2]);
    const read = (): readonly boolean[] => hive.listRows('ada').map((row) => row.read);
    await runCli(['watch', '--hive', hive.url, '--self-test', '--persona', 'ada']);
    await using cli = watch(hive, '--no-fast-path');
    await cli.event('armed');
    await cli.until('some polls', () => hive.asked('inbox').length >= 4);
    assert.deepEqual(read(), [false, true, false]);
    for (const { url } of hive.asked('inbox')) assert.match(url, /mark_read=false/);
  });

  test('6: --url is guarded: inner addresses and redirects are fatal, a request has a time limit', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    const url = inboxUrl(hive, 'ada');
    for (const refused of [
      ['--url', url],
      ['--url', url, '--allow-private'],
      ['--url', 'http://10.0.0.1/api/inbox', '--allow-loopback'],
      ['--url', 'http://169.254.169.254/api/inbox', '--allow-loopback', '--allow-private'],
    ]) {
      const { code, stdout, stderr } = await runCli(['watch', ...refused]);
      assert.deepEqual([code, stdout], [2, ''], refused.join(' '));
      assert.match(stderr, /(127\.0\.0\.1|10\.0\.0\.1|169\.254\.169\.254) is a (loopback|private|link-local) address/);
    }
    assert.equal(hive.requests.length, 0);

    hive.fail({ is: 'redirect', to: `${hive.url}/api/inbox?persona=bo` });
    const both = ['--allow-loopback', '--allow-private'];
    const redirected = await runCli(['watch', '--url', url, ...both]);
    assert.deepEqual([redirected.code, redirected.stdout], [2, '']);
    assert.match(redirected.stderr, /redirects \(302\).*never followed/);
    assert.deepEqual(
      hive.requests.map(({ persona }) => persona),
      ['ada'],
    );

    await hive.heal();
    hive.fail({ is: 'hang' });
    const began = performance.now();
    await using cli = startCli([
      'watch',
      '--url',
      url,
      '--allow-loopback',
      '--poll-seconds',
      '1',
      '--alert-after',
      '1',
    ]);
    await cli.event('alert', () => true, 15_000);
    assert.ok(performance.now() - began > 4500);
    await hive.heal();
    await cli.event('recovered');
  });

  test('7: a backlog of --max-replay is replayed, one more is counted and skipped', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    for (let n = 0; n < 4; n += 1) hive.deliver('ada');
    await using whole = watch(hive, '--persona', 'ada', '--seed-at', '1', '--max-replay', '3');
    await whole.until('the replay', () => whole.mail().length === 3);
    assert.deepEqual(
      whole.events.map(({ event }) => event),
      ['armed', 'new', 'new', 'new'],
    );
    await using capped = watch(hive, '--persona', 'ada', '--seed-at', '1', '--max-replay', '2');
    await capped.event('armed');
    const fresh = hive.deliver('ada');
    await capped.event('new');
    assert.deepEqual(
      capped.events.map(({ event, cursor, capped_to, dropped, id }) => [event, cursor ?? capped_to ?? id, dropped]),
      [
        ['replay_capped', 4, 3],
        ['armed', 4, undefined],
        ['new', fresh, undefined],
      ],
    );
  });

  test('7: a cursor ahead of the inbox is said and kept', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    await using cli = watch(hive, '--persona', 'ada', '--seed-at', '600');
    await cli.event('armed');
    assert.deepEqual(
      cli.events.map(({ event, seeded, current_max, cursor }) => [event, seeded, current_max, cursor]),
      [
        ['seed_ahead', 600, 1, undefined],
        ['armed', undefined, undefined, 600],
      ],
    );
  });

  test('8: an empty inbox is healthy; what is no answer of an inbox is a failure, never "no mail"', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(hive, '--persona', 'ada', '--alert-after', '1', '--no-fast-path');
    assert.equal((await cli.event('armed')).cursor, 0);
    const faults = [
      { is: 'status', status: 500 },
      { is: 'body', body: '<html>' },
      { is: 'body', body: '{"result": {}}' },
    ] as const;
    for (const [index, fault] of faults.entries()) {
      const edges = (name: string): number => cli.events.filter(({ event }) => event === name).length;
      hive.fail(fault, { endpoint: 'inbox' });
      await cli.until(`alert ${index + 1}`, () => edges('alert') === index + 1);
      await hive.heal();
      await cli.until(`recovered ${index + 1}`, () => edges('recovered') === index + 1);
    }
    assert.deepEqual(
      cli.events.map(({ event }) => event),
      ['armed', ...faults.flatMap(() => ['alert', 'recovered'])],
    );
  });

  test('E3 9: a state file of another inbox is not resumed; a second watcher on the same one is refused', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    for (let n = 0; n < 5; n += 1) hive.deliver('bo');
    const path = files.at('hive.json');
    const foreign = (persona: string): string =>
      files.write(
        'hive.json',
        JSON.stringify({
          identity: ['http', '127.0.0.1', hive.port, '/api/inbox', [['persona', persona]]],
          cursor: 2,
          state: 'DOWN',
          consecutive_failures: 7,
        }),
      );
    foreign('ada');
    const args = ['watch', '--url', inboxUrl(hive, 'bo'), '--allow-loopback', '--poll-seconds', '1'];
    await using cli = startCli([...args, '--state-file', path]);
    assert.equal((await cli.event('armed')).cursor, 5);
    assert.equal(cli.events.length, 1);
    await cli.says(/identity mismatch: it belongs to another inbox/);

    const second = await runCli([...args, '--state-file', path]);
    assert.deepEqual([second.code, second.stdout], [2, '']);
    assert.match(second.stderr, /state-file in use/);
    await cli.stop();

    foreign('bo');
    await using resumed = startCli([...args, '--state-file', path]);
    assert.equal((await resumed.event('recovered')).cursor, 2);
    await resumed.until('the replay', () => resumed.mail().length === 3);
  });

  test('m1: bare, it watches every persona, each with files of its own, and a restart floods nothing', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo', 'cy'] });
    for (const persona of ['ada', 'bo', 'cy']) for (let n = 0; n < 3; n += 1) hive.deliver(persona);
    const start = (): Cli => watch(hive, '--state-file', files.at('hive.json'));
    const armed = (cli: Cli): unknown[] =>
      cli.events.filter(({ event }) => event === 'armed').map(({ persona, cursor }) => [persona, cursor]);
    await using first = start();
    await first.until('all are armed', () => armed(first).length === 3);
    assert.deepEqual(
      new Set(armed(first)),
      new Set([
        ['ada', 3],
        ['bo', 6],
        ['cy', 9],
      ]),
    );
    let names: readonly string[] = [];
    await first.until('all are saved, and none is being saved', () => {
      names = files.list();
      return (
        names.filter((name) => name.endsWith('.json')).length === 3 && !names.some((name) => name.endsWith('.tmp'))
      );
    });
    assert.deepEqual(names, [
      'hive.ada.json',
      'hive.ada.json.lock',
      'hive.bo.json',
      'hive.bo.json.lock',
      'hive.cy.json',
      'hive.cy.json.lock',
    ]);
    assert.deepEqual(await first.stop(), { code: 0, signal: null });
    await using second = start();
    await second.until('all are armed', () => armed(second).length === 3);
    await twoPolls();
    assert.deepEqual(
      second.events.filter(({ event }) => event !== 'armed'),
      [],
    );
  });

  test('m2: one pending request a tick, however many personas; a rise fetches that inbox only', async () => {
    const personas = Array.from({ length: 30 }, (_, n) => `p${n}`);
    await using hive = await fakeHive({ personas });
    await using cli = watch(hive);
    await cli.until('all are armed', () => cli.events.length === personas.length);
    const [pendings, inboxes] = [hive.asked('pending').length, hive.asked('inbox').length];
    assert.equal(inboxes, personas.length);
    await cli.until('three more ticks', () => hive.asked('pending').length >= pendings + 3);
    assert.equal(hive.asked('inbox').length, inboxes);
    hive.deliver('p7');
    await cli.event('new');
    assert.deepEqual(
      hive
        .asked('inbox')
        .slice(inboxes)
        .map(({ persona }) => persona),
      ['p7'],
    );
    const gaps = hive
      .asked('pending')
      .slice(1)
      .map(({ at }, n) => at - (hive.asked('pending')[n]?.at ?? 0));
    assert.ok(
      gaps.every((ms) => ms > 700),
      `a tick a second: ${gaps}`,
    );
  });

  test('m3: each persona has a file with its own mail only, which rotates and is followed by name', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    const template = files.at('events.{persona}.ndjson');
    await using cli = watch(hive, '--events-file-template', template, '--max-bytes', '2000', '--keep-logs', '5');
    await cli.until('both are armed', () =>
      ['ada', 'bo'].every((persona) => files.events(`events.${persona}.ndjson`).length === 1),
    );
    const sent = { ada: [] as number[], bo: [] as number[] };
    for (let n = 0; n < 12; n += 1) {
      sent.ada.push(hive.deliver('ada', { content: 'x'.repeat(200) }));
      if (n % 4 === 0) sent.bo.push(hive.deliver('bo'));
    }
    const all = (persona: string): readonly unknown[] =>
      ['.5', '.4', '.3', '.2', '.1', ''].flatMap((n) => files.mail(`events.${persona}.ndjson${n}`));
    await cli.until('all are told', () => all('ada').length === 12 && all('bo').length === 3);
    assert.deepEqual(all('ada'), sent.ada);
    assert.deepEqual(all('bo'), sent.bo);
    assert.ok(files.list().includes('events.ada.ndjson.1') && files.list().includes('events.ada.ndjson'));
    assert.equal(cli.lines.length, 0);
  });

  test('m4: mail of a suppressed author makes no event and moves the cursor; liveness still flows', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = watch(
      hive,
      ...['--all-personas', '--suppress-author', 'ada', '--suppress-author', 'Bot', '--alert-after', '1'],
      ...['--state-file', files.at('hive.json'), '--no-fast-path'],
    );
    await cli.event('armed');
    hive.deliver('ada', { from: 'ada' });
    const dropped = hive.deliver('ada', { from: 'bot' });
    await until('the cursor moves', () => files.json('hive.ada.json')?.cursor === dropped);
    await hive.refuse();
    await cli.event('alert');
    await hive.heal();
    await cli.event('recovered');
    const reported = hive.deliver('ada', { from: 'bo' });
    await cli.event('new');
    assert.deepEqual(
      cli.events.map(({ event, id }) => [event, id]),
      [
        ['armed', undefined],
        ['alert', undefined],
        ['recovered', undefined],
        ['new', reported],
      ],
    );
  });

  test('m5: under a supervisor kill -9 is made good: one producer, cursors resume, nothing is repeated', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    for (let n = 0; n < 60; n += 1) hive.deliver('ada'); // more than --max-replay: a lost cursor would show
    const args = ['--state-file', files.at('hive.json'), '--events-file-template', files.at('events.{persona}.ndjson')];
    await using producer = supervised(() => watch(hive, ...args));
    const reported = (persona: string): readonly unknown[] => files.mail(`events.${persona}.ndjson`);
    const armed = (persona: string): number =>
      files.events(`events.${persona}.ndjson`).filter(({ event }) => event === 'armed').length;
    await until('both are armed', () => armed('ada') === 1 && armed('bo') === 1);
    const sent = { ada: [] as number[], bo: [] as number[] };
    for (let kill = 1; kill <= 3; kill += 1) {
      sent.ada.push(hive.deliver('ada'));
      sent.bo.push(hive.deliver('bo'));
      await until('some are told', () => reported('ada').length > kill - 1);
      sent.ada.push(hive.deliver('ada')); // in the arms of the kill
      const { pid } = producer.current;
      producer.current.kill('SIGKILL');
      await until('another runs', () => producer.current.pid !== pid);
      await until('it is armed', () => armed('ada') === kill + 1 && armed('bo') === kill + 1);
    }
    await until(
      'all are told',
      () => reported('ada').length >= sent.ada.length && reported('bo').length >= sent.bo.length,
    );
    assert.deepEqual(reported('ada'), sent.ada);
    assert.deepEqual(reported('bo'), sent.bo);
    const names = ['ada', 'bo'].flatMap((p) => files.events(`events.${p}.ndjson`).map(({ event }) => event));
    assert.deepEqual(new Set(names), new Set(['armed', 'new']));
    assert.equal(producer.starts, 4);

    const rival = await runCli(['watch', '--hive', hive.url, ...args]);
    assert.deepEqual([rival.code, rival.stdout], [2, '']);
    assert.match(rival.stderr, /state-file in use/);
  });

  test('the monitor is installed under its own name too, with the same flags', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using cli = startCli(['--hive', hive.url, '--persona', 'ada'], { as: 'kijito-inbox-monitor' });
    await cli.event('armed');
    assert.deepEqual(await cli.stop(), { code: 0, signal: null });
    const refused = await runCli(['--poll-seconds', '0'], { as: 'kijito-inbox-monitor' });
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
  });
});

interface Supervisor extends AsyncDisposable {
  readonly current: Cli;
  readonly starts: number;
}

/** Starts it again whenever it ends, as launchd and systemd do. */
function supervised(start: () => Cli): Supervisor {
  let current = start();
  let starts = 1;
  let isOver = false;
  const loop = (async () => {
    for (;;) {
      await current.ended(120_000);
      if (isOver) return;
      current = start();
      starts += 1;
    }
  })();
  return {
    get current() {
      return current;
    },
    get starts() {
      return starts;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await current[Symbol.asyncDispose]();
      await loop;
    },
  };
}
