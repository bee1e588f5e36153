import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { standIn, type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const QUIET = ['--no-tray', '--no-notifications'];
/** A stop takes 0.3 s at most, which the benches hold it to; what is wrong here takes 5 s, or 50. */
const AT_ONCE_MS = 2000;

/** Every file under a folder, by its path below it. */
function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}

describe('the tray process', { concurrency: 4 }, () => {
  describe('first run', { concurrency: 1 }, () => {
    // one of them is a Kijito daemon to all others
    test('with nothing configured and no Kijito daemon the local hive greets, once, and the decision is written down', async () => {
      using home = trayHome(null);
      {
        await using tray = await home.start(QUIET);
        const { unread, state } = await tray.persona('hello', (hello) => hello.unread === 1);
        assert.deepEqual([unread, state], [1, 'UP']);
        assert.deepEqual(home.mail('hello'), [1]);
        const { stdout } = await home.run(['inbox', 'show', 'hello']);
        assert.match(stdout, /^#1 from hivebar, .*\n {2}Welcome\./);
        assert.ok(stdout.includes(home.at('events', 'events.hello.ndjson')), 'it says which file to follow');
        await tray.stop();
      }
      const config = readFileSync(home.at('config', 'config.json'), 'utf8');
      assert.deepEqual(JSON.parse(config).primary, { is: 'local' });
      await using tray = await home.start(QUIET);
      await tray.persona('hello', ({ state }) => state === 'UP');
      assert.equal((await tray.status()).totals.personas, 1);
      assert.deepEqual(home.mail('hello'), [1]);
      assert.equal(readFileSync(home.at('config', 'config.json'), 'utf8'), config);
    });

    test('mail that was sent before it is there; then nobody needs a greeting', async () => {
      using home = trayHome(null);
      assert.equal((await home.run(['send', '--to', 'ada', '--from', 'me', 'hi'])).code, 0);
      await using tray = await home.start(QUIET);
      await tray.persona('ada', ({ unread }) => unread === 1);
      assert.deepEqual(
        (await tray.status()).personas.map(({ id }) => id),
        ['ada'],
      );
    });

    test('a Kijito daemon that answers on 127.0.0.1:7474 becomes the primary hive, and stays it when it is gone', async (t) => {
      const hive = await fakeHive({ personas: ['ada'], port: 7474 }).catch(() => null);
      if (needs(t, hive === null ? 'port 7474 is in use: stop the Kijito daemon of this machine' : null)) return;
      using home = trayHome(null);
      {
        await using _ = hive;
        await using tray = await home.start(QUIET);
        await tray.persona('ada', ({ state, source }) => state === 'UP' && source === 'kijito');
      }
      const primary = { is: 'kijito', base: 'http://127.0.0.1:7474' };
      assert.deepEqual(JSON.parse(readFileSync(home.at('config', 'config.json'), 'utf8')).primary, primary);
      await using tray = await home.start(QUIET);
      const { hives } = await tray.until('the cause', ({ causes }) => causes.length > 0);
      assert.deepEqual(
        hives.map(({ source, state }) => [source, state]),
        [
          ['kijito', 'DOWN'],
          ['local', 'UP'],
        ],
      );
    });
  });

  describe('one instance', { concurrency: true }, () => {
    test('S10: a second one prints port and pid and exits 3; the first is untouched', async () => {
      using home = trayHome();
      await using tray = await home.start(QUIET);
      const before = (['port', 'token', 'hivebar.json'] as const).map((name) => home.ran(name));
      const second = await home.run(['--port', '0', ...QUIET]);
      assert.deepEqual(
        [second.code, second.stdout, second.stderr],
        [
          3,
          '',
          `hivebar is running already (port ${tray.port}, pid ${tray.pid}): stop it first, or give another HIVEBAR_HOME\n`,
        ],
      );
      assert.deepEqual(
        (['port', 'token', 'hivebar.json'] as const).map((name) => home.ran(name)),
        before,
      );
      assert.equal((await home.run(['status'])).code, 0);
    });

    test('S10: --open opens the page, and so does a second one with --open, which exits 0', async () => {
      using home = trayHome();
      const browser = standIn(home, 'xdg-open');
      await using tray = await home.start([...QUIET, '--open'], browser.env);
      await until('the page', () => browser.calls.length === 1);
      const second = await home.run(['--open']);
      assert.deepEqual(
        [second.code, second.stdout, second.stderr],
        [0, `hivebar is running already (port ${tray.port}, pid ${tray.pid}); its page is open\n`, ''],
      );
      for (const address of browser.calls) assert.match(address, /#once=[\w-]+$/);
      assert.ok(browser.calls.every((address) => address.startsWith(`${tray.url}/`)));
      assert.notEqual(browser.calls[0], browser.calls[1], 'a link is good once');
    });

    test('S10: what a dead one left behind is taken over, with a line that says why, whoever has its pid now', async () => {
      const sleeper = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
      try {
        const left = [
          [
            JSON.stringify({ id: 'a', pid: sleeper.pid, startedAt: 1, port: 7475 }),
            `pid ${sleeper.pid}, which wrote it`,
          ],
          ['{"id": "a", "pid": ', 'which Hivebar cannot read'],
          ['\0\u0001garbage', 'which Hivebar cannot read'],
          ['', 'which Hivebar cannot read'],
        ] as const;
        for (const [text, why] of left) {
          using home = trayHome();
          mkdirSync(home.at('run'), { recursive: true, mode: 0o700 });
          for (const name of ['hivebar.json', 'port', 'token'])
            writeFileSync(home.at('run', name), text, { mode: 0o600 });
          await using tray = await home.start(QUIET);
          const lines = tray.log.filter((line) => line.startsWith('taking over'));
          assert.equal(lines.length, 1, text);
          assert.ok(lines[0]?.includes(why), lines[0]);
          assert.equal(home.ran('port'), `${tray.port}\n`);
        }
      } finally {
        sleeper.kill();
      }
      assert.equal(sleeper.killed, true);
    });

    test('after kill -9 the next one starts at once, socket and all, and a stop leaves no run file behind', async () => {
      using home = trayHome();
      {
        await using tray = await home.start(QUIET);
        await tray.kill();
      }
      assert.deepEqual((await home.run(['status'])).code, 1, 'nobody answers');
      await using tray = await home.start(QUIET);
      assert.equal((await home.run(['poll'])).code, 0);
      assert.equal((await tray.stop()).code, 0);
      assert.deepEqual(filesUnder(home.at('run')), ['hivebar.json.lock']);
    });
  });

  describe('start', { concurrency: true }, () => {
    test('a port that is taken: a clear error with the next step; the same home starts on another', async () => {
      using home = trayHome();
      const other = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as { port: number };
      try {
        const { code, stdout, stderr } = await home.run(['run', '--port', String(port), ...QUIET]);
        const words = `hivebar run: port ${port} of 127.0.0.1 is in use: hivebar doctor names the program that listens there`;
        assert.deepEqual([code, stdout], [1, '']);
        assert.ok(stderr.includes(words), stderr);
      } finally {
        other.close();
      }
      assert.deepEqual(filesUnder(home.at('run')), ['hivebar.json.lock']);
      await using tray = await home.start(QUIET);
      assert.notEqual(tray.port, port);
    });

    test('the port comes from --port, else from HIVEBAR_PORT', async () => {
      using home = trayHome();
      await using free = await fakeHive();
      const { port } = free;
      await free.refuse();
      {
        // the kit's own `--port 0` wins over the variable
        await using tray = await home.start(QUIET, { HIVEBAR_PORT: String(port) });
        assert.notEqual(tray.port, port);
      }
      const env = { HIVEBAR_PORT: String(port) };
      const running = home.run(QUIET, { env });
      await until('the port file', () => home.ran('port') === `${port}\n`);
      assert.equal((await home.run(['status'])).code, 0);
      process.kill(JSON.parse(home.ran('hivebar.json') ?? '').pid, 'SIGTERM');
      assert.equal((await running).code, 0);
    });

    test('HIVEBAR_HOME moves everything: HOME and TMPDIR stay empty, but for what was compiled', async () => {
      using home = trayHome();
      const tmp = join(home.home, 'tmp');
      mkdirSync(tmp);
      const env = { XDG_CACHE_HOME: '', TMPDIR: tmp };
      {
        await using tray = await home.start([], env);
        await home.run(['send', '--to', 'ada', '--from', 'me', 'hi'], { env });
        await home.run(['demo'], { env });
        await home.run(['status'], { env });
        await home.run(['inbox', 'read', 'ada'], { env });
        await tray.persona('dora', ({ state }) => state === 'UP');
        await tray.stop();
      }
      const outside = filesUnder(home.home).filter((path) => !path.startsWith('.cache/hivebar/compile/'));
      assert.deepEqual(outside, []);
      const modes = ['.', 'run', 'config', 'events'].map((name) => statMode(home.at(name)));
      assert.deepEqual(modes, ['700', '700', '700', '700']);
      for (const path of filesUnder(home.dir)) assert.equal(statMode(home.at(path)), '600', path);
    });

    test('tokenEverywhere: the port asks for the token, the command line does not', async () => {
      using home = trayHome({ primary: { is: 'local' }, tokenEverywhere: true });
      await using tray = await home.start(QUIET);
      assert.equal((await fetch(`${tray.url}/status.json`)).status, 401);
      assert.equal((await fetch(`${tray.url}/api/notify/pending`)).status, 401);
      const headers = { authorization: `Bearer ${tray.token}` };
      assert.equal((await fetch(`${tray.url}/status.json`, { headers })).status, 200);
      assert.equal((await home.run(['send', '--to', 'ada', '--from', 'me', 'hi'])).code, 0);
      assert.equal((await home.run(['poll', 'ada'])).code, 0);
      const { code, stdout } = await home.run(['status', '--json']);
      assert.deepEqual([code, JSON.parse(stdout).personas[0]?.id], [0, 'ada']);
    });

    test('settings that are wrong: a clear error with the file, which stays as it is', async () => {
      using home = trayHome(null);
      mkdirSync(home.at('config'), { recursive: true, mode: 0o700 });
      const path = home.at('config', 'config.json');
      writeFileSync(path, '{"prot": 7475}', { mode: 0o600 });
      const { code, stdout, stderr } = await home.run(['run', '--port', '0', ...QUIET]);
      assert.deepEqual([code, stdout], [1, '']);
      assert.ok(stderr.startsWith(`hivebar run: ${path}:1:2: `), stderr);
      assert.match(stderr, /^[^\n]*prot[^\n]*\n$/);
      assert.equal(readFileSync(path, 'utf8'), '{"prot": 7475}');
      assert.deepEqual(filesUnder(home.at('run')), ['hivebar.json.lock']);
    });

    test('S9 S19: without display and bus: one line each for tray and notifications, also after 50 mails; all else runs', async () => {
      using home = trayHome();
      await using tray = await home.start();
      for (let i = 0; i < 50; i += 1)
        await tray.post('/api/send', { to: `p${i % 7}`, from: 'me', content: `mail ${i}` });
      const { tray: icon, notifications } = await tray.until('50 unread', ({ totals }) => totals.unread === 50);
      assert.match(icon.state, /^off \(.*bus/);
      assert.match(notifications.state, /^off \(.*bus/i);
      assert.equal([0, 1, 2, 3, 4, 5, 6].flatMap((i) => home.mail(`p${i}`)).length, 50);
      assert.equal((await fetch(`${tray.url}/`)).status, 200);
      const lines = tray.log.filter((line) => /tray|notification/i.test(line));
      assert.deepEqual(lines.map((line) => line.split(':')[0]).sort(), ['notifications', 'tray']);
    });

    test('S9 S19: a run on a bus without notification daemon and tray host is the same', async () => {
      using home = trayHome();
      await using tray = await home.start([], { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus', DISPLAY: ':99' });
      for (let i = 0; i < 50; i += 1) await tray.post('/api/send', { to: 'ada', from: 'me', content: `mail ${i}` });
      await tray.persona('ada', ({ unread }) => unread === 50);
      const lines = tray.log.filter((line) => /tray|notification/i.test(line));
      assert.ok(lines.length <= 3, lines.join('\n'));
    });
  });

  describe('mail by the command line', { concurrency: true }, () => {
    const sent = async (home: TrayHome, args: readonly string[], stdin?: string): Promise<string> => {
      const { code, stdout, stderr } = await home.run(['send', ...args], stdin === undefined ? {} : { stdin });
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    };

    test('sent while the tray is closed it is told at the next start, exactly once, and never after that', async () => {
      using home = trayHome();
      assert.equal(await sent(home, ['--to', 'ada', '--from', 'me', 'one']), 'sent 1 to ada\n');
      assert.equal(await sent(home, ['--to', 'ada', '--from', 'me', '--urgent', 'two', 'words']), 'sent 2 to ada\n');
      {
        await using tray = await home.start(QUIET);
        const { urgent } = await tray.persona('ada', ({ unread }) => unread === 2);
        assert.equal(urgent, 1);
        assert.deepEqual(home.mail('ada'), [1, 2]);
        await tray.stop();
      }
      await sent(home, ['--to', 'ada', '--from', 'me', 'three']);
      await home.run(['inbox', 'read', 'ada', '3']);
      {
        await using tray = await home.start(QUIET);
        const { lastMailAt } = await tray.persona('ada', ({ cursor }) => cursor === 3);
        await tray.stop();
        await using next = await home.start(QUIET);
        const ada = await next.persona('ada', ({ unread }) => unread === 2);
        assert.deepEqual([ada.lastMailAt !== null, ada.lastMailAt?.slice(0, 19)], [true, lastMailAt?.slice(0, 19)]);
        await next.stop();
      }
      await sent(home, ['--to', 'bo', '--from', 'me', 'four']);
      for (let starts = 0; starts < 2; starts += 1) {
        await using tray = await home.start(QUIET);
        await tray.persona('ada', ({ unread, cursor }) => unread === 2 && cursor === 3);
        await tray.persona('bo', ({ unread, cursor }) => unread === 1 && cursor === 4);
        assert.deepEqual([home.mail('ada'), home.mail('bo')], [[1, 2, 3], [4]]);
        starts === 0 ? await tray.stop() : await tray.kill();
      }
    });

    test('text comes from stdin too, of any kind, and arrives as it was', async () => {
      using home = trayHome();
      const text = `line one\nline "two" \\ \u2028 é 😀\t${'x'.repeat(300_000)}`;
      await sent(home, ['--to', 'ada', '--from', 'ci'], `${text}\n`);
      const { stdout } = await home.run(['inbox', 'show', 'ada', '--json']);
      assert.equal(JSON.parse(stdout)[0].content, text);
    });

    test('demo: four personas with mail, on a running tray', async () => {
      using home = trayHome();
      await using tray = await home.start(QUIET);
      assert.equal((await home.run(['demo'])).code, 0);
      const { personas } = await tray.until('7 mails', () =>
        ['ada', 'bo', 'cyrus', 'dora'].every((p) => delivered(home, p)),
      );
      assert.deepEqual(
        personas.map(({ id, unread, state }) => [id, unread, state]),
        [
          ['ada', 2, 'UP'],
          ['bo', 1, 'UP'],
          ['cyrus', 3, 'UP'],
          ['dora', 0, 'UP'],
        ],
      );
    });

    test('names that are no file names get distinct safe files of their own', async () => {
      using home = trayHome();
      const names = ['../../x', 'a/b', 'CON', 'Alice', 'alice', 'caf\u00e9', 'cafe\u0301', '..', 'local-x', '-', '%2e'];
      await using tray = await home.start(QUIET);
      for (const to of names) await tray.post('/api/send', { to, from: 'me', content: 'hi' });
      const { personas } = await tray.until('all of them', ({ totals }) => totals.unread === names.length);
      const files = personas.map(({ eventsFile }) => eventsFile ?? '');
      await until('their files', () => files.every(existsSync));
      assert.equal(new Set(files.map((file) => file.normalize('NFC').toLowerCase())).size, names.length);
      for (const { id, stem, eventsFile } of personas) {
        assert.equal(eventsFile, home.at('events', `events.${stem}.ndjson`));
        assert.match(stem, /^[a-z0-9._~-]+$/, id);
        assert.equal(home.mail(stem).length, 1, id);
      }
      assert.equal(readdirSync(home.at('events')).length, names.length);
      assert.deepEqual(
        names
          .flatMap((name) => home.events(personas.find(({ label }) => label === name)?.stem ?? '').slice(-1))
          .map((event) => event.id),
        names.map((_, i) => i + 1),
      );
    });
  });

  describe('the port', { concurrency: true }, () => {
    test('the headless watch on it: refused without the token, with it every mail is one line', async () => {
      using home = trayHome();
      await using tray = await home.start(QUIET);
      await home.run(['send', '--to', 'ada', '--from', 'me', 'old']);
      const args = ['watch', '--hive', tray.url, '--poll-seconds', '1'];
      {
        await using cli = startCli(args, { env: { ...home.env } });
        await cli.says(/401.*token/);
        assert.deepEqual(cli.mail(), []);
        await cli.stop();
      }
      await using cli = startCli(args, { env: { ...home.env, KIJITOMON_TOKEN: tray.token } });
      await cli.event('armed');
      const ids = [];
      for (let i = 0; i < 5; i += 1) {
        const { result } = (await tray.post('/api/send', { to: 'ada', from: 'me', content: `${i}` })) as SendAnswer;
        ids.push(result.id);
      }
      await cli.until('five lines', () => cli.mail('ada').length >= 5);
      assert.deepEqual(cli.mail('ada'), ids);
      assert.deepEqual(home.mail('ada').slice(1), ids);
      assert.equal((await tray.status()).totals.unread, 6, 'watching marks nothing');
    });

    test('SIGTERM ends it at once, also with a hold, a stream and an idle connection open', async () => {
      using home = trayHome();
      await using tray = await home.start(QUIET);
      const { cursor } = (await (await fetch(`${tray.url}/api/notify/pending?wait=1`)).json()) as { cursor: string };
      const hold = fetch(`${tray.url}/api/notify/pending?wait=50&cursor=${cursor}`).catch(() => null);
      const stream = await fetch(`${tray.url}/api/v1/stream`);
      const idle = connect(tray.port, '127.0.0.1');
      idle.on('error', () => {}); // cut is what it is for
      await sleep(300);
      const { code, ms } = await tray.stop();
      assert.equal(code, 0);
      assert.ok(ms < AT_ONCE_MS, `${ms} ms`);
      await hold;
      await stream.text().catch(() => null); // cut in the middle
      idle.destroy();
    });

    test('SIGTERM ends it at once while the session bus does not answer, at the start and later', async () => {
      using home = trayHome();
      const path = join(home.home, 'bus');
      const silent = createServer(() => {}).listen(path);
      await new Promise((resolve) => silent.once('listening', resolve));
      try {
        for (const after of [0, 6500]) {
          await using tray = await home.start([], { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` });
          await sleep(after); // 5 s for the first attempt, a second, and the next hangs as well
          const { code, ms } = await tray.stop();
          assert.equal(code, 0);
          assert.ok(ms < AT_ONCE_MS, `${ms} ms`);
        }
      } finally {
        silent.close();
      }
    });
  });

  describe('old mail and own mail', { concurrency: true }, () => {
    test('S17: 500 old mails of a far hive at the first start: a badge of 500, no news; three days later 40 new ones are news', async () => {
      await using hive = await fakeHive();
      for (let i = 0; i < 500; i += 1) hive.deliver('ada');
      using home = trayHome({ primary: { is: 'kijito', base: hive.url }, pollSeconds: 1 });
      {
        await using tray = await home.start(QUIET);
        await tray.persona('ada', ({ unread, cursor }) => unread === 500 && cursor === 500);
        assert.deepEqual(home.mail('ada'), []);
        await tray.stop();
      }
      const ids = Array.from({ length: 40 }, () => hive.deliver('ada'));
      await using tray = await home.start(QUIET);
      await tray.persona('ada', ({ unread, cursor }) => unread === 540 && cursor === 540);
      assert.deepEqual(home.mail('ada'), ids);
    });

    test('S16: mail to oneself is an event with self: true, and neither unread nor a banner', async () => {
      using home = trayHome();
      await using tray = await home.start(QUIET);
      await home.run(['send', '--to', 'ada', '--from', 'ADA', 'note to self']);
      const ada = await tray.persona('ada', ({ lastEventId }) => lastEventId === 'ada:new:1');
      assert.equal(ada.unread, 0);
      assert.deepEqual(
        home
          .events('ada')
          .map(({ event, self }) => [event, self])
          .at(-1),
        ['new', true],
      );
    });
  });
});

function statMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

interface SendAnswer {
  readonly result: { readonly id: number };
}

function delivered(home: TrayHome, stem: string): boolean {
  return home.mail(stem).length > 0;
}
