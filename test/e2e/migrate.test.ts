import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { skipUnless } from '../kit/desktop/index.ts';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { describeSnapshot, hasPython, holdByPython, identityAt, leaveState } from '../kit/old-monitor.ts';
import { startCli } from '../kit/process.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

const python = skipUnless(hasPython() ? null : 'python3 is missing: apt-get install python3');

const settings = (hive: FakeHive): object => ({
  primary: { is: 'kijito', base: hive.url },
  pollSeconds: 1,
  holdSeconds: 0,
});
const cache = (home: TrayHome): string => join(home.home, '.cache', 'kijito-inbox-monitor');
const newer = (home: TrayHome): string => join(home.home, '.local', 'state', 'kijito-inbox-monitor');

/** `ada` with this many messages. */
async function startHive(many: number): Promise<FakeHive> {
  const hive = await fakeHive({ personas: ['ada'] });
  for (let n = 0; n < many; n += 1) hive.deliver('ada');
  return hive;
}

describe('hivebar migrate, into the tray program', { concurrency: 3 }, () => {
  test('what the monitor told is not told again, what it did not is, and its files are as they were', async () => {
    await using hive = await startHive(9);
    using home = trayHome(settings(hive));
    const old = leaveState(cache(home), 'ada', hive.url, 4);
    const before = describeSnapshot(cache(home));
    const dry = await home.run(['migrate', '--dry-run']);
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(dry.stdout, /^ada: would go from no position to 4 /);
    assert.equal(existsSync(home.at('hivebar.sqlite')), false);
    const done = await home.run(['migrate']);
    assert.equal(done.code, 0, done.stderr);
    const file = home.at('events', 'events.ada.ndjson');
    assert.equal(
      done.stdout,
      `ada: went from no position to 4 (${old})\nagents can follow these files from now on:\n  tail -F ${file}\n`,
    );
    assert.equal(describeSnapshot(cache(home)), before);
    await using tray = await home.start();
    await tray.until('mail 9', () => home.mail('ada').includes(9));
    assert.deepEqual(home.mail('ada'), [5, 6, 7, 8, 9]);
  });

  test('twice changes nothing, and a newer position here is never set back', async () => {
    await using hive = await startHive(6);
    using home = trayHome(settings(hive));
    leaveState(cache(home), 'ada', hive.url, 2);
    await home.run(['migrate']);
    const again = await home.run(['migrate']);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /^ada: stays at 2, as in /);
    {
      await using tray = await home.start();
      await tray.until('mail 6', () => home.mail('ada').includes(6));
      await tray.stop();
    }
    const third = await home.run(['migrate']);
    assert.match(third.stdout, /^ada: stays at 6, newer than 2 in /);
    hive.deliver('ada');
    await using tray = await home.start();
    await tray.until('mail 7', () => home.mail('ada').includes(7));
    assert.deepEqual(home.mail('ada'), [3, 4, 5, 6, 7]);
  });

  test('of two old places the one that went further counts, also when it is found last', async () => {
    await using hive = await startHive(8);
    using home = trayHome(settings(hive));
    leaveState(cache(home), 'ada', hive.url, 3);
    leaveState(newer(home), 'ada', hive.url, 7);
    const { code, stdout } = await home.run(['migrate']);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /ada: went from no position to 7 .*\.local\/state.*\nada: stays at 7, newer than 3 in .*\.cache/,
    );
  });

  test('a further hive of the settings: under the name that its persona has there', async () => {
    await using hive = await startHive(3);
    using home = trayHome({ primary: { is: 'local' }, hives: [{ name: 'far', base: hive.url }], pollSeconds: 1 });
    leaveState(cache(home), 'ada', hive.url, 1);
    const { code, stdout } = await home.run(['migrate']);
    assert.equal(code, 0);
    assert.match(stdout, /^far-ada: went from no position to 1 /);
    await using tray = await home.start();
    await tray.until('mail 3', () => home.mail('far-ada').includes(3));
    assert.deepEqual(home.mail('far-ada'), [2, 3]);
  });

  test('refused while Hivebar runs, with nothing changed', async () => {
    await using hive = await startHive(3);
    using home = trayHome(settings(hive));
    leaveState(cache(home), 'ada', hive.url, 1);
    await using _tray = await home.start();
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr, stdout } = await home.run(['migrate', ...more]);
      assert.equal(code, 1);
      assert.match(stderr, /Hivebar is running.*quit it, then migrate again/);
      assert.equal(stdout, '');
    }
  });

  test('refused while a lock of the monitor is held, naming it and what to stop', { skip: python }, async () => {
    await using hive = await startHive(3);
    using home = trayHome(settings(hive));
    leaveState(cache(home), 'ada', hive.url, 1);
    const lock = `${leaveState(cache(home), 'bo', hive.url, 1)}.lock`;
    {
      await using _held = await holdByPython(lock);
      const { code, stderr } = await home.run(['migrate']);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`${lock} is locked: the monitor still runs`), stderr);
      assert.equal(existsSync(home.at('hivebar.sqlite')), false);
    }
    assert.equal((await home.run(['migrate'])).code, 0);
  });

  test('corrupt and foreign files are named and left, the others are taken over', async () => {
    await using hive = await startHive(3);
    using home = trayHome(settings(hive));
    const folder = cache(home);
    leaveState(folder, 'ada', hive.url, 2);
    leaveState(folder, 'cy', 'http://127.0.0.9:1', 5);
    leaveState(folder, 'dee', hive.url, null);
    leaveState(folder, 'eve', hive.url, 2, { pin_forced: 1 });
    leaveState(folder, 'fay', hive.url, 2, { cursor: true });
    writeFileSync(join(folder, 'hive.gil.json'), '{"identity": [');
    writeFileSync(join(folder, 'hive.hal.json'), '');
    symlinkSync(join(folder, 'hive.ada.json'), join(folder, 'hive.ivy.json'));
    const before = describeSnapshot(folder);
    const { code, stdout } = await home.run(['migrate']);
    assert.equal(code, 3);
    for (const words of [
      /^ada: went from no position to 2 /m,
      /^dee: has no position yet /m,
      /hive\.cy\.json belongs to http:\/\/127\.0\.0\.9:1, .*hivebar hive add http:\/\/127\.0\.0\.9:1,/,
      /hive\.eve\.json has an unusable pin_forced: 1$/m,
      /hive\.fay\.json has an unusable cursor: true$/m,
      /hive\.gil\.json is not valid JSON$/m,
      /hive\.hal\.json is empty$/m,
      /hive\.ivy\.json is a symlink/,
    ])
      assert.match(stdout, words);
    assert.equal(describeSnapshot(folder), before);
  });

  test('before the first start it is said how to name the hive whose personas have the bare names', async () => {
    await using hive = await startHive(1);
    using home = trayHome(null);
    leaveState(cache(home), 'ada', hive.url, 1);
    const { code, stdout } = await home.run(['migrate']);
    assert.equal(code, 3);
    const step = /run hivebar config set primary '(.*)', then/.exec(stdout)?.[1] ?? '';
    assert.equal((await home.run(['config', 'set', 'primary', step])).code, 0);
    const again = await home.run(['migrate']);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /^ada: went from no position to 1 /);
  });

  test('mail that was told above a pinned cursor is not told again', async () => {
    await using hive = await startHive(8);
    using home = trayHome(settings(hive));
    leaveState(cache(home), 'ada', hive.url, 3, { emitted_above: [5, 6, 8] });
    assert.equal((await home.run(['migrate'])).code, 0);
    await using tray = await home.start();
    await tray.until('mail 7', () => home.mail('ada').includes(7));
    assert.deepEqual(home.mail('ada'), [4, 7]);
  });

  test('nothing there is said, and is no failure', async () => {
    using home = trayHome();
    const { code, stdout } = await home.run(['migrate']);
    assert.equal(code, 0);
    assert.match(stdout, /^found no position of another monitor in .*\.cache\/kijito-inbox-monitor/);
  });
});

describe('hivebar migrate --headless', () => {
  test('the headless watch goes on where the monitor stood, in files of its own', async () => {
    await using hive = await startHive(6);
    using home = trayHome(null);
    leaveState(cache(home), 'ada', hive.url, 4, { state: 'DOWN', consecutive_failures: 3 });
    const before = describeSnapshot(cache(home));
    const flags = ['--', '--hive', hive.url, '--poll-seconds', '1'];
    const state = home.at('headless', 'hive.ada.json');
    const dry = await home.run(['migrate', '--headless', '--dry-run', ...flags]);
    assert.match(dry.stdout, /^ada: would go from no position to 4 /);
    assert.equal(existsSync(home.dir), false);
    const done = await home.run(['migrate', '--headless', ...flags]);
    assert.equal(done.code, 0, done.stderr);
    assert.ok(done.stdout.includes(`  tail -F ${home.at('headless', 'events.ada.ndjson')}\n`));
    assert.deepEqual(JSON.parse(readFileSync(state, 'utf8')), {
      identity: identityAt(hive.url, 'ada'),
      state: 'DOWN',
      consecutive_failures: 3,
      cursor: 4,
    });
    assert.match((await home.run(['migrate', '--headless', ...flags])).stdout, /^ada: stays at 4, as in /);
    const { stdout: unit } = await home.run(['service', 'print', '--headless', ...flags]);
    const line = unit.split('\n').find((text) => text.startsWith('ExecStart=')) ?? '';
    const words = [...line.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word).slice(2);
    await using cli = startCli(words, { env: home.env });
    const delivered = (): string =>
      existsSync(home.at('headless', 'events.ada.ndjson'))
        ? readFileSync(home.at('headless', 'events.ada.ndjson'), 'utf8')
        : '';
    await cli.until('mail 6', () => delivered().includes('"ada:new:6"'));
    const events = delivered()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { event: string; id?: number });
    assert.deepEqual(
      events.map(({ event, id }) => id ?? event),
      ['recovered', 'armed', 5, 6],
    );
    const running = await home.run(['migrate', '--headless', ...flags]);
    assert.match(running.stdout, /^ada: stays at /);
    const tray = await home.run(['migrate']);
    assert.match(tray.stderr, /hive\.ada\.json\.lock is locked: .*hivebar service uninstall --headless/);
    assert.equal(describeSnapshot(cache(home)), before);
  });

  test('E3 a position here of another inbox is an identity mismatch: it is named and left', async () => {
    await using hive = await startHive(3);
    using home = trayHome(null);
    leaveState(cache(home), 'ada', hive.url, 2);
    mkdirSync(home.at('headless'), { recursive: true, mode: 0o700 });
    const statePath = leaveState(home.at('headless'), 'ada', 'http://127.0.0.9:1', 7);
    const before = readFileSync(statePath, 'utf8');
    const { code, stdout } = await home.run(['migrate', '--headless', '--', '--hive', hive.url]);
    assert.equal(code, 3);
    assert.ok(stdout.includes(`identity mismatch: ${statePath} belongs to another inbox; move it away first`), stdout);
    assert.equal(readFileSync(statePath, 'utf8'), before);
  });

  test('refused while the headless watch runs; a file here that is not to be read is left, and named', async () => {
    await using hive = await startHive(3);
    using home = trayHome(null);
    leaveState(cache(home), 'ada', hive.url, 90);
    const flags = ['--hive', hive.url];
    await home.run(['service', 'print', '--headless']);
    const state = ['--state-file', home.at('headless', 'hive.json'), '--events-file', home.at('e.ndjson')];
    {
      await using cli = startCli(['watch', ...flags, ...state], { env: home.env });
      await cli.says(/watching 1 of 1/);
      for (const more of [[], ['--dry-run']]) {
        const { code, stderr } = await home.run(['migrate', '--headless', ...more, '--', ...flags]);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /hive\.ada\.json.* locked.*, then migrate again|in use by another process.*, then migrate again/,
        );
      }
    }
    const mine = home.at('headless', 'hive.ada.json');
    writeFileSync(mine, 'garbage');
    const { code, stdout } = await home.run(['migrate', '--headless', '--', ...flags]);
    assert.equal(code, 3);
    assert.ok(stdout.includes(`cannot be imported: ${mine} is not valid JSON`), stdout);
    assert.equal(readFileSync(mine, 'utf8'), 'garbage');
  });
});
