import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { silentLog } from '../../core/ports/index.ts';
import { createRealDisk, lockFile } from '../../core/state/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { leaveState } from '../kit/old-monitor.ts';
import { runCli, startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { supervise } from '../kit/supervisor.ts';
import { readLogLines, type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const UNIT = '.config/systemd/user/kijito-inbox-monitor.service';

/** The only systemctl and loginctl there are; written down is what systemctl is asked. */
function withSystemd(home: TrayHome): Readonly<Record<string, string>> {
  const bin = join(home.home, 'bin');
  mkdirSync(bin);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('systemctl', `echo "$*" >>'${home.home}/said'; [ "$2" = is-active ] && exit 3; exit 0`);
  program('loginctl', 'echo Linger=no');
  return { PATH: `${bin}:/bin:/usr/bin` };
}

describe('hivebar service --headless', () => {
  test('print says the unit and its place, and writes nothing', async () => {
    using home = trayHome(null);
    const printed = await home.run(['service', 'print', '--headless', '--', '--no-content', '--poll-seconds', '5']);
    assert.equal(printed.code, 0);
    assert.match(
      printed.stdout,
      /"--state-file" "[^"]*\/headless\/hive.json" .*"--heartbeat" "120" "--no-content" "--poll-seconds" "5"\n/,
    );
    assert.equal(printed.stderr, `install would write ${join(home.home, UNIT)}\n`);
    assert.deepEqual([existsSync(home.dir), existsSync(join(home.home, '.config'))], [false, false]);
  });

  test('trap 38: without HIVEBAR_HOME its files are in the place for state, and a cache is refused', async () => {
    using home = trayHome(null);
    const env = { HIVEBAR_HOME: '' };
    const { stdout } = await home.run(['service', 'print', '--headless'], { env });
    assert.ok(stdout.includes(`"${home.home}/.local/state/hivebar/headless/events.{persona}.ndjson"`), stdout);
    const bad = await home.run([
      'service',
      'print',
      '--headless',
      '--',
      '--state-file',
      `${home.home}/.cache/k/hive.json`,
    ]);
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /is in a cache/);
  });

  test('flags are checked as those of hivebar watch, and what a service cannot have is refused', async () => {
    using home = trayHome(null);
    for (const [flags, words] of [
      [['--poll-seconds', '0'], /--poll-seconds 0: must be at least 1/],
      [['--persona', 'a', '--seed-at', '3'], /every restart would start there again/],
      [['--self-test'], /ends by itself/],
      [['--activity-file', '/a', '--check-activity', 'ada', '--since-id', '3'], /answers and ends/],
      [['--delivery', 'at-least-once', '--activity-file', 'a.json'], /a\.json: must be an absolute path/],
      [['--token-file', 'token'], /token: must be an absolute path/],
    ] as const) {
      const ran = await home.run(['service', 'install', '--headless', '--', ...flags]);
      assert.equal(ran.code, 2, flags.join(' '));
      assert.match(ran.stderr, words);
    }
    assert.equal(existsSync(home.dir), false);
  });

  test('D22: a token file that others can read is refused, and no token is ever in the unit', async () => {
    using home = trayHome();
    const env = { ...withSystemd(home), KIJITOMON_TOKEN: 'secret-of-env' };
    const token = join(home.home, 'token');
    writeFileSync(token, 'secret-of-file\n', { mode: 0o644 });
    const install = ['service', 'install', '--headless'];
    const loose = await home.run([...install, '--', '--token-file', token], { env });
    assert.equal(loose.code, 1);
    assert.match(loose.stderr, /has mode 0644, .*chmod 600/);
    assert.equal(existsSync(join(home.home, UNIT)), false);
    chmodSync(token, 0o600);
    const done = await home.run([...install, '--', '--token-file', token], { env });
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      done.stdout,
      /runs as a service, by .*\n.*tail -F .*events\.\{persona\}\.ndjson\n.*loginctl enable-linger/,
    );
    assert.doesNotMatch(readFileSync(join(home.home, UNIT), 'utf8'), /secret/);
    const without = await home.run(install, { env });
    assert.match(without.stderr, /KIJITOMON_TOKEN is not written into the unit/);
    assert.doesNotMatch(readFileSync(join(home.home, UNIT), 'utf8'), /secret/);
  });

  test('one of the two services at a time, and it is said which goes first', async () => {
    using home = trayHome();
    const env = withSystemd(home);
    assert.equal((await home.run(['service', 'install', '--headless'], { env })).code, 0);
    const tray = await home.run(['service', 'install'], { env });
    assert.equal(tray.code, 1);
    assert.match(tray.stderr, /run `hivebar service uninstall --headless` first/);
    assert.equal((await home.run(['service', 'uninstall', '--headless'], { env })).code, 0);
    assert.equal((await home.run(['service', 'install'], { env })).code, 0);
    const headless = await home.run(['service', 'install', '--headless'], { env });
    assert.equal(headless.code, 1);
    assert.match(headless.stderr, /run `hivebar service uninstall` first/);
    assert.equal(existsSync(join(home.home, UNIT)), false);
  });

  test('G10 given a unit whose Node is gone, both looks at the service say so and end with 1', async () => {
    using home = trayHome();
    const env = withSystemd(home);
    const install = ['service', 'install', '--headless'];
    assert.equal((await home.run(install, { env })).code, 0);
    const unit = join(home.home, UNIT);
    const right = readFileSync(unit, 'utf8');
    writeFileSync(unit, right.replace(process.execPath, '/gone/bin/node'));
    for (const probe of [
      ['service', 'status', '--headless'],
      ['service', 'status'],
    ]) {
      const { code, stdout } = await home.run(probe, { env });
      assert.equal(code, 1, stdout);
      assert.match(stdout, /kijito-inbox-monitor\.service exists, but it starts \/gone\/bin\/node/);
    }
    assert.equal((await home.run(install, { env })).code, 0);
    assert.equal((await home.run(['service', 'status', '--headless'], { env })).code, 0);
  });

  test('the monitor that was there is stopped and taken over first', async () => {
    using home = trayHome(null);
    const env = withSystemd(home);
    const old = join(home.home, '.cache', 'kijito-inbox-monitor');
    const state = leaveState(old, 'ada', 'http://127.0.0.1:7474', 5);
    const install = ['service', 'install', '--headless'];
    const fresh = await home.run(install, { env });
    assert.equal(fresh.code, 1);
    assert.ok(fresh.stderr.includes(`${state} holds the position of another monitor`), fresh.stderr);
    assert.equal(existsSync(join(home.home, UNIT)), false);
    assert.equal((await home.run(['migrate', '--headless'])).code, 0);
    assert.equal((await home.run(install, { env })).code, 0);
    await home.run(['service', 'uninstall', '--headless'], { env });
    using _lock = lockFile(createRealDisk(silentLog), state);
    const running = await home.run(install, { env });
    assert.equal(running.code, 1);
    assert.ok(running.stderr.includes(`${state}.lock is locked: another monitor runs`), running.stderr);
  });

  test('uninstall --purge says what it removes, and leaves events and what is not its own', async () => {
    using home = trayHome();
    const env = withSystemd(home);
    const at = (name: string): string => home.at('headless', name);
    await home.run(['service', 'install', '--headless'], { env });
    for (const name of [
      'hive.ada.json',
      'hive.ada.json.lock',
      'watch.err',
      'watch.err.1',
      'events.ada.ndjson',
      'notes.txt',
    ])
      writeFileSync(at(name), name);
    symlinkSync(at('notes.txt'), at('hive.bo.json'));
    const plain = await home.run(['service', 'uninstall', '--headless'], { env });
    assert.equal(plain.code, 0);
    assert.ok(existsSync(at('hive.ada.json')));
    const { code, stdout } = await home.run(['service', 'uninstall', '--headless', '--purge'], { env });
    assert.equal(code, 0);
    for (const name of ['hive.ada.json', 'hive.ada.json.lock', 'watch.err', 'watch.err.1']) {
      assert.ok(stdout.includes(`removes ${at(name)}\n`), stdout);
      assert.equal(existsSync(at(name)), false);
    }
    for (const name of ['events.ada.ndjson', 'notes.txt', 'hive.bo.json']) {
      assert.ok(stdout.includes(`kept, because it may hold unread events: ${at(name)}\n`), stdout);
      assert.ok(existsSync(at(name)));
    }
  });
});

describe('the unit under a supervisor', { concurrency: 3 }, () => {
  for (const delivery of ['at-most-once', 'at-least-once'])
    test(`kill -9 again and again, ${delivery}: nothing is lost, at most one repeat a kill`, {
      timeout: 240_000,
    }, async () => {
      await using hive = await fakeHive({ personas: ['ada', 'bo'] });
      using home = trayHome();
      const flags = ['--hive', hive.url, '--poll-seconds', '1', '--delivery', delivery];
      const { stdout: unit } = await home.run(['service', 'print', '--headless', '--', ...flags]);
      await using supervisor = supervise(unit, home.env);
      const delivered = (persona: string): readonly number[] =>
        readLogLines(home.at('headless'), `events.${persona}.ndjson`)
          .map((line) => JSON.parse(line) as { event: string; id: number })
          .flatMap(({ event, id }) => (event === 'new' ? [id] : []));
      const armed = (): number =>
        ['ada', 'bo'].reduce(
          (sum, name) =>
            sum +
            readLogLines(home.at('headless'), `events.${name}.ndjson`).filter((l) => l.includes('"armed"')).length,
          0,
        );
      await until('both are armed', () => armed() === 2);
      const sent = { ada: [] as number[], bo: [] as number[] };
      const kills = 8;
      for (let kill = 1; kill <= kills; kill += 1) {
        for (const name of ['ada', 'bo'] as const) for (let n = 0; n < 3; n += 1) sent[name].push(hive.deliver(name));
        // Killed with the first line of a batch on the disk, or with mail that nobody has looked at, in turns.
        const last = sent.ada.at(-3) ?? 0;
        if (kill % 2 === 1) await until(`mail ${last} is told`, () => delivered('ada').includes(last));
        supervisor.kill();
        await until(`start ${kill + 1}`, () => supervisor.starts === kill + 1);
        if (kill % 2 === 0) await until('it is up', () => delivered('ada').includes(last), 30_000);
      }
      for (const name of ['ada', 'bo'] as const) {
        await until(`all mail of ${name}`, () => sent[name].every((id) => delivered(name).includes(id)), 60_000);
        const ids = delivered(name);
        assert.deepEqual([...new Set(ids)], sent[name]);
        assert.ok(ids.length - sent[name].length <= kills, `${ids.length - sent[name].length} repeats`);
      }
      assert.equal(supervisor.downFor, null);
    });

  test('trap 37: a place that cannot be written to ends it with 2, and it is not started again', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome();
    const file = join(home.home, 'file');
    writeFileSync(file, '');
    const flags = ['--hive', hive.url, '--state-file', join(file, 'hive.json')];
    const { stdout: unit } = await home.run(['service', 'print', '--headless', '--', ...flags]);
    await using supervisor = supervise(unit, home.env);
    await until('it is down', () => supervisor.downFor !== null);
    assert.deepEqual([supervisor.downFor, supervisor.starts], [2, 1]);
  });

  test('a lock that another watch holds ends it with 2, where launchd would start it again with 0', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome();
    const flags = [
      '--hive',
      hive.url,
      '--state-file',
      home.at('headless', 'hive.json'),
      '--events-file',
      home.at('e.ndjson'),
    ];
    await using first = startCli(['watch', ...flags], { env: home.env });
    await first.says(/watching 1 of 1/);
    const { stdout: unit } = await home.run(['service', 'print', '--headless', '--', ...flags]);
    await using supervisor = supervise(unit, home.env);
    await until('it is down', () => supervisor.downFor !== null);
    assert.deepEqual([supervisor.downFor, supervisor.starts], [2, 1]);
    assert.match(supervisor.stderr, /state-file in use/);
    const calm = await runCli(['service', 'run', '--headless', '--stays-down', '--', ...flags], { env: home.env });
    assert.equal(calm.code, 0);
    const purge = await home.run(['service', 'uninstall', '--headless', '--purge']);
    assert.equal(purge.code, 1);
    assert.match(purge.stderr, /hive\.ada\.json\.lock is locked/);
    assert.ok(existsSync(home.at('headless', 'hive.ada.json.lock')));
    assert.match(calm.stderr, /state-file in use/);
  });

  test('a hive that is there later than the service is waited for, a wrong address is not', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    const flags = ['--hive', hive.url, '--events-file', dir.at('e.ndjson'), '--state-file', dir.at('hive.json')];
    await hive.refuse();
    await using cli = startCli(['service', 'run', '--headless', '--', ...flags]);
    await cli.says(/asked again every 5 s until it answers/);
    await hive.heal();
    await cli.says(/watching 1 of 1/);
    assert.equal((await cli.stop()).code, 0);
    hive.fail({ is: 'status', status: 404 });
    const wrong = await runCli(['service', 'run', '--headless', '--', ...flags]);
    assert.equal(wrong.code, 2);
  });
});
