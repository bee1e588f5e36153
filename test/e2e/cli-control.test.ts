import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startCli } from '../kit/process.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const BARE = ['--no-tray', '--no-notifications'];

const readPid = (home: TrayHome): number => Number(/"pid":(\d+)/.exec(home.ran('hivebar.json') ?? '')?.[1] ?? 0);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
  return !/\) Z /.test(existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '');
}

/** Ends what a restart left in the background, also when the test failed. */
function background(home: TrayHome): Disposable {
  return {
    [Symbol.dispose]() {
      const pid = readPid(home);
      if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
    },
  };
}

describe('hivebar stop, restart and logs', { skip: process.platform === 'win32' }, () => {
  test('given nothing runs, stop says so and ends well, and logs says that there is none', async () => {
    using home = trayHome();
    const stopped = await home.run(['stop']);
    assert.deepEqual([stopped.code, stopped.stdout, stopped.stderr], [0, 'hivebar is not running\n', '']);
    const logs = await home.run(['logs']);
    assert.deepEqual(
      [logs.code, logs.stderr],
      [1, `hivebar logs: there is no ${home.at('hivebar.log')} yet: hivebar has not run here\n`],
    );
  });

  test('given a running program, stop ends it cleanly and returns when it is gone', async () => {
    using home = trayHome();
    await using tray = await home.start(BARE);
    const stopped = await home.run(['stop']);
    assert.deepEqual([stopped.code, stopped.stdout], [0, `hivebar has stopped (pid ${tray.pid})\n`]);
    assert.equal(home.ran('hivebar.json'), null);
    assert.deepEqual(await tray.cli.ended(), { code: 0, signal: null });
  });

  test('restart runs it in the background with its flags and its environment, and stop ends that one too', async () => {
    using home = trayHome();
    using _left = background(home);
    await using tray = await home.start(BARE, { LANG: 'de_DE.UTF-8' });
    const restarted = await home.run(['restart']);
    assert.equal(restarted.code, 0, restarted.stderr);
    const pid = readPid(home);
    const port = home.ran('port')?.trim();
    assert.equal(restarted.stdout, `hivebar runs in the background: http://127.0.0.1:${port} (pid ${pid})\n`);
    assert.deepEqual(await tray.cli.ended(), { code: 0, signal: null });
    assert.notEqual(pid, tray.pid);
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
    const { args } = JSON.parse(home.ran('hivebar.json') ?? '');
    assert.deepEqual(args, ['--port', '0', '--tray-driver', 'none', '--no-notifications']);
    if (process.platform === 'linux') {
      const given = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(-7, -1);
      assert.deepEqual(given, ['run', ...args]);
      assert.match(readFileSync(`/proc/${pid}/environ`, 'utf8'), /(^|\0)LANG=de_DE\.UTF-8\0/);
    }
    const stopped = await home.run(['stop']);
    assert.equal(stopped.stdout, `hivebar has stopped (pid ${pid})\n`);
    assert.equal(isAlive(pid), false);
  });

  test('given it did not run, restart starts it, and given it cannot start, says the reason', async () => {
    using home = trayHome();
    using _left = background(home);
    const started = await home.run(['restart'], { env: { HIVEBAR_PORT: '0' } });
    assert.equal(started.code, 0, started.stderr);
    assert.equal((await home.run(['stop'])).code, 0);
    writeFileSync(home.at('config', 'config.json'), '{"port": "none"}');
    const failed = await home.run(['restart']);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^hivebar restart: .*hivebar did not start: .*config\.json.*see hivebar logs/);
  });

  test('given a unit of systemd runs it, systemd is asked to stop and to start it', async () => {
    using home = trayHome();
    using _left = background(home);
    const systemd = standInSystemd(home);
    assert.equal((await home.run(['service', 'install'], { env: systemd.env })).code, 0);
    const started = await home.run(['restart'], { env: systemd.env });
    assert.equal(started.code, 0, started.stderr);
    assert.match(started.stdout, /^hivebar runs by hivebar\.service: http:/);
    const first = readPid(home);
    assert.match(
      (await home.run(['restart'], { env: systemd.env })).stdout,
      /^hivebar runs by hivebar\.service: http:/,
    );
    const second = readPid(home);
    assert.notEqual(second, first);
    assert.equal(isAlive(first), false);
    const stopped = await home.run(['stop'], { env: systemd.env });
    assert.equal(
      stopped.stdout,
      `hivebar has stopped (pid ${second}): hivebar.service starts it again at the next login\n`,
    );
    assert.equal(isAlive(second), false);
    assert.deepEqual(
      systemd.asked.filter((line) => /hivebar\.service/.test(line) && !/is-active|reenable/.test(line)),
      ['start', 'stop --no-block', 'start', 'stop --no-block'].map((verb) => `--user ${verb} hivebar.service`),
    );
  });

  test('logs prints the end of the log for a person, follows it over a rotation, and gives JSON to a program', async () => {
    using home = trayHome();
    await using tray = await home.start(BARE);
    assert.equal(statSync(home.at('hivebar.log')).mode & 0o777, 0o600);
    const { stdout } = await home.run(['logs']);
    assert.match(stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}info {3}hivebar \S+ is running: http:\S+ \(pid \d+\)$/m);
    const json = (await home.run(['logs', '--json'])).stdout.trimEnd().split('\n');
    assert.deepEqual(
      json.map((line) => JSON.parse(line).msg),
      tray.log.slice(0, json.length),
    );
    assert.equal((await home.run(['logs', '-n', '1'])).stdout.split('\n').length, 2);
    await using following = startCli(['logs', '-f', '-n', '1'], { env: home.env });
    await following.until('the last line so far', () => following.lines.length > 0);
    // The log is long by now: the next line moves it away, and the one after begins a new file.
    const filler = `${JSON.stringify({ level: 30, time: new Date().toISOString(), msg: 'x'.repeat(1024 * 1024) })}\n`;
    writeFileSync(home.at('hivebar.log'), filler, { flag: 'a' });
    await following.until('the long line', () => following.lines.some((line) => line.length > 1_000_000));
    assert.deepEqual((await tray.stop()).code, 0);
    assert.ok(existsSync(home.at('hivebar.log.1')) || statSync(home.at('hivebar.log')).size > 1_000_000);
    await using again = await home.start(BARE);
    await following.until('the line of the next start', () =>
      following.lines.some((line) => line.includes(`(pid ${again.pid})`)),
    );
    assert.ok(existsSync(home.at('hivebar.log.1')));
    following.kill('SIGINT');
    assert.deepEqual(await following.ended(), { code: 0, signal: null });
  });
});

test('given a running program, persona remove takes it off the board with its event file, also after a restart', async () => {
  using home = trayHome();
  using _left = background(home);
  await using tray = await home.start(BARE);
  for (const to of ['ada', 'bo']) await home.run(['send', '--to', to, '--from', 'me', 'hello']);
  await tray.persona('ada', ({ unread }) => unread === 1);
  await tray.persona('bo', ({ unread }) => unread === 1);
  await tray.cli.until('the event files', () => home.mail('ada').length === 1 && home.mail('bo').length === 1);
  const removed = await home.run(['persona', 'remove', 'bo', '--yes']);
  assert.deepEqual([removed.code, removed.stdout], [0, 'removed bo\n'], removed.stderr);
  const read = async () => JSON.parse((await home.run(['status', '--json'])).stdout) as { personas: { id: string }[] };
  assert.deepEqual(
    (await read()).personas.map(({ id }) => id),
    ['ada'],
  );
  assert.equal(existsSync(home.at('events', 'events.bo.ndjson')), false);
  assert.deepEqual(home.mail('ada'), [1]);
  // It comes again as somebody new, and everybody still hears of new mail.
  for (const to of ['ada', 'bo']) await home.run(['send', '--to', to, '--from', 'me', 'again', '--create']);
  await until('mail after it', () => home.mail('ada').length === 2 && home.mail('bo').length === 1);
  assert.deepEqual([home.mail('ada'), home.mail('bo')], [[1, 3], [4]]);
  assert.equal((await home.run(['restart'])).code, 0);
  await until('the board', async () => (await read()).personas.length === 2);
  assert.deepEqual([home.mail('ada'), home.mail('bo')], [[1, 3], [4]], 'nothing is delivered twice');
  assert.equal((await home.run(['stop'])).code, 0);
});

/** A systemctl that really starts and stops what the unit says. */
function standInSystemd(home: TrayHome): {
  readonly env: Readonly<Record<string, string>>;
  readonly asked: readonly string[];
} {
  const bin = join(home.home, 'bin');
  const unit = join(home.home, '.config/systemd/user/hivebar.service');
  mkdirSync(bin);
  writeFileSync(join(bin, 'asked'), '');
  writeFileSync(
    join(bin, 'systemctl'),
    `#!/bin/sh
echo "$*" >>'${bin}/asked'
case "$2" in
is-active)
  for name; do :; done
  [ "$name" = graphical-session.target ] && exit 3
  [ -s '${bin}/pid' ] && kill -0 "$(cat '${bin}/pid')" 2>/dev/null; exit;;
reenable)
  mkdir -p '${unit}'/../default.target.wants 2>/dev/null
  mkdir -p "$(dirname '${unit}')/default.target.wants"
  ln -sf '${unit}' "$(dirname '${unit}')/default.target.wants/hivebar.service";;
start)
  eval "set -- $(sed -n 's/^ExecStart=//p' '${unit}') --port 0 --no-tray --no-notifications"
  setsid "$@" >/dev/null 2>&1 </dev/null &
  echo $! >'${bin}/pid';;
stop)
  kill -TERM "$(cat '${bin}/pid')";;
esac
exit 0
`,
  );
  chmodSync(join(bin, 'systemctl'), 0o755);
  return {
    env: { PATH: `${bin}:/bin:/usr/bin` },
    get asked() {
      return readFileSync(join(bin, 'asked'), 'utf8').split('\n').slice(0, -1);
    },
  };
}
