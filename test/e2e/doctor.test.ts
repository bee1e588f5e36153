import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type DoctorRun, doctor } from '../kit/doctor.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

describe('hivebar doctor, where Hivebar does not run', () => {
  test('a first look: nothing fails, it says to start it, and nothing is made', async () => {
    using home = trayHome(null);
    const { code, findCheck, text } = await doctor(home);
    assert.equal(code, 0, text);
    assert.deepEqual([findCheck('hivebar').is, findCheck('hivebar').next], ['warn', 'start it: hivebar']);
    assert.equal(existsSync(home.dir), false);
  });

  test('wrong settings are named with line and column', async () => {
    using home = trayHome();
    const path = home.at('config', 'config.json');
    writeFileSync(path, '{\n  "port": "many"\n}\n');
    const { code, findCheck } = await doctor(home);
    assert.equal(code, 1);
    assert.match(findCheck('settings').seen, /config\.json:2:3: port/);
  });

  test('modes, owners and symlinks are looked at, and left as they are', async () => {
    using home = trayHome();
    chmodSync(home.dir, 0o755);
    chmodSync(home.at('config', 'config.json'), 0o644);
    mkdirSync(home.at('elsewhere'), { mode: 0o700 });
    symlinkSync(home.at('elsewhere'), home.at('run'));
    const before = listTree(home.dir);
    const { code, findCheck } = await doctor(home);
    assert.equal(code, 1);
    assert.match(findCheck('state directory').seen, /mode 0755 instead of 0700/);
    assert.match(findCheck('private files').seen, /config\.json has mode 0644/);
    assert.match(findCheck('run directory').seen, /symlink/);
    assert.deepEqual(listTree(home.dir), before);
  });

  test('a damaged database is named, and not touched', async () => {
    using home = trayHome();
    await home.run(['demo']);
    const path = home.at('hivebar.sqlite');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 4096, bytes.length), { mode: 0o600 });
    const { code, findCheck } = await doctor(home);
    assert.equal(code, 1);
    assert.equal(findCheck('database').is, 'fail');
    assert.deepEqual(readFileSync(path), bytes);
  });

  test('A4 given a damaged entry of an index, doctor says so', async () => {
    using home = trayHome();
    await home.run(['demo']);
    const path = home.at('hivebar.sqlite');
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const db = new DatabaseSync(path);
    const index = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'inbox_pending'").get();
    const name = String(db.prepare('SELECT persona FROM inbox WHERE read_at IS NULL').get()?.persona);
    db.close();
    const bytes = readFileSync(path);
    const start = (Number(index?.rootpage) - 1) * 4096;
    const at = bytes.indexOf(name, start + 100);
    assert.ok(at > start && at < start + 4096, `${name} is in the index`);
    bytes.write('~'.repeat(name.length), at);
    writeFileSync(path, bytes, { mode: 0o600 });
    const { code, findCheck } = await doctor(home);
    assert.deepEqual([code, findCheck('database').is], [1, 'fail']);
    assert.match(findCheck('database').seen, /inbox_pending/);
  });

  test('S10: the file of a dead Hivebar, of a pid that others have now, and garbage are told apart', async () => {
    using home = trayHome();
    mkdirSync(home.at('run'), { mode: 0o700 });
    const say = (text: string): void => writeFileSync(home.at('run', 'hivebar.json'), text, { mode: 0o600 });
    const running = (pid: number, startedAt: number): string => JSON.stringify({ id: 'a', pid, startedAt, port: 7475 });
    for (const [text, words] of [
      ['', /empty or invalid/],
      ['{"pid": 0', /empty or invalid/],
      [running(2 ** 22 + 1, 1), /left behind by pid 4194305, which is gone/],
      [running(process.pid, 1_000_000_000_000), /now belongs to another program/],
    ] as const) {
      say(text);
      const { code, findCheck } = await doctor(home);
      assert.match(findCheck('hivebar').seen, words);
      assert.deepEqual([code, findCheck('hivebar').is], [0, 'warn']);
    }
    say(running(process.pid, Date.now()));
    assert.match((await doctor(home)).findCheck('hivebar').seen, /runs but does not answer/);
  });

  test('mail of the local hive is counted, and the database is left without a trace', async () => {
    using home = trayHome();
    await home.run(['demo']);
    const before = listTree(home.dir);
    assert.match((await doctor(home)).findCheck('local hive').seen, /^4 personas, 7 messages, \d unread$/);
    assert.deepEqual(listTree(home.dir), before);
  });

  test('an event file that was cut is named, and so is the way to mend it', async () => {
    using home = trayHome();
    await home.run(['send', '--to', 'ada', '--from', 'me', 'hi']);
    {
      await using tray = await home.start();
      await tray.persona('ada', ({ cursor }) => cursor === 1);
      await tray.stop();
    }
    assert.equal((await doctor(home)).findCheck('event files').is, 'ok');
    const path = home.at('events', 'events.ada.ndjson');
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, -10));
    assert.match((await doctor(home)).findCheck('event files').seen, /ends in the middle of a line/);
    writeFileSync(path, whole.subarray(0, whole.lastIndexOf(10, -2) + 1));
    const behind = (await doctor(home)).findCheck('event files');
    assert.match(`${behind.seen} ${behind.next}`, /is behind.*start Hivebar/);
    rmSync(path);
    assert.match((await doctor(home)).findCheck('event files').seen, /does not exist/);
  });

  test('no secret is in the report, in either form', async () => {
    using home = trayHome({ primary: { is: 'kijito', base: 'http://127.0.0.1:9/' }, tokenFile: '/nowhere' });
    mkdirSync(home.at('run'), { mode: 0o700 });
    writeFileSync(home.at('run', 'token'), 's3cret-run\n', { mode: 0o600 });
    const env = {
      KIJITOMON_TOKEN: 's3cret-env',
      HTTPS_PROXY: 'http://me:s3cret-proxy@127.0.0.1:1',
      all_proxy: 's3cret',
    };
    const { text, findCheck } = await doctor(home, env);
    const { stdout } = await home.run(['doctor'], { env });
    assert.doesNotMatch(text + stdout, /s3cret/);
    assert.match(findCheck('proxy').seen, /^HTTPS_PROXY, all_proxy are set but ignored/);
  });

  test('text of others does nothing to a terminal', async () => {
    using home = trayHome({ '\u001b[31m\u202e': 1 });
    const { stdout } = await home.run(['doctor']);
    assert.match(stdout, /fail +settings .*\[31m/);
    for (const char of ['\u001b', '\u202e']) assert.ok(!stdout.includes(char));
  });
});

describe('the port', () => {
  /** A listener at 127.0.0.1 that does `talk` with each connection, and what doctor says of it. */
  async function portWith(talk: (socket: Socket) => void, http?: Server): Promise<DoctorRun> {
    using home = trayHome();
    const sockets = new Set<Socket>();
    const server = http ?? createServer(talk);
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      return await doctor(home, { HIVEBAR_PORT: String(port) });
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  }
  const json = (value: object): Server =>
    createHttp((_, answer) => {
      const text = JSON.stringify(value);
      answer.setHeader('content-length', text.length);
      answer.end(text);
    });

  for (const [label, listen, words] of [
    [
      'a web server',
      () =>
        portWith(
          () => {},
          createHttp((_, answer) => answer.writeHead(404, { server: 'other/1' }).end()),
        ),
      /another program \(.*pid \d+\) listens: a web server, other\/1, which answers 404/,
    ],
    [
      'a program that speaks no HTTP',
      () => portWith((socket) => socket.end('220 mail ready\r\n')),
      /another program .*does not speak HTTP: "220 mail ready/,
    ],
    ['a socket that hangs', () => portWith(() => {}), /accepts connections and never answers/],
    ['a program that closes', () => portWith((socket) => socket.end()), /accepts connections and closes them/],
    [
      'an older Hivebar',
      () => portWith(() => {}, json({ ok: true, name: 'hivebar', version: '0.0.9', id: 'x', pid: 1 })),
      /an older Hivebar \(version 0\.0\.9\) listens/,
    ],
    ['a Hivebar that says nothing', () => portWith(() => {}, json({ ok: true })), /another Hivebar listens/],
  ] as const) {
    test(`taken by ${label}: a failure that says so, and names the way out`, {
      skip: process.platform !== 'linux',
    }, async () => {
      const { code, findCheck, text } = await listen();
      assert.match(findCheck('port').seen, words);
      assert.match(findCheck('port').next ?? '', /hivebar config set port/);
      assert.deepEqual([code, findCheck('port').is], [1, 'fail'], text);
    });
  }
});

describe('a configured hive', () => {
  const withHive = async (base: string, more: object = {}): Promise<DoctorRun> => {
    using home = trayHome({ primary: { is: 'kijito', base }, ...more });
    return await doctor(home);
  };

  test('that answers is ok, with what it has and where it lies', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada', { content: 'x' });
    const { findCheck, text } = await withHive(hive.url);
    assert.match(findCheck('hive kijito').seen, /\(loopback\): 1 personas, 1 unread, answered in \d+ ms$/, text);
  });

  test('S13: localhost is tried in both families, and what refuses is named', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    const { port } = new URL(hive.url);
    assert.match(
      (await withHive(`http://localhost:${port}`)).findCheck('hive kijito').seen,
      /127\.0\.0\.1 connects, ::1 refuses/,
    );
    const none = await withHive('http://localhost:9');
    assert.match(none.findCheck('hive kijito').next ?? '', /neither at 127\.0\.0\.1 nor at ::1/);
    assert.equal(none.code, 1);
  });

  test('that is no hive, or never answers, or wants a token', async () => {
    const answers = async (listener: Parameters<typeof createHttp>[1]): Promise<DoctorRun> => {
      const server = createHttp(listener as never);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        return await withHive(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    };
    const strange = await answers(((_: unknown, answer: { end(text: string): void }) => answer.end('<html>')) as never);
    assert.match(strange.findCheck('hive kijito').next ?? '', /address is that of a hive/);
    const hangs = await answers((() => {}) as never);
    assert.match(hangs.findCheck('hive kijito').seen, /127\.0\.0\.1 connects/);
    assert.equal(hangs.findCheck('hive kijito').is, 'fail');
    const closed = await answers(((_: unknown, answer: { writeHead(n: number): { end(): void } }) =>
      answer.writeHead(401).end()) as never);
    assert.match(closed.findCheck('hive kijito').next ?? '', /config set tokenFile/);
  });

  test('whose token file is open to others, or missing', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ primary: { is: 'kijito', base: hive.url }, tokenFile: '/nowhere/token' });
    assert.match((await doctor(home)).findCheck('hive kijito').seen, /token file "\/nowhere\/token" cannot be read/);
    const file = join(home.home, 'token');
    writeFileSync(file, 's3cret', { mode: 0o600 });
    chmodSync(file, 0o644);
    writeFileSync(
      home.at('config', 'config.json'),
      JSON.stringify({ primary: { is: 'kijito', base: hive.url }, tokenFile: file }),
    );
    const { findCheck, text } = await doctor(home);
    assert.match(findCheck('hive kijito').seen, /is open to other users/);
    assert.doesNotMatch(text, /s3cret/);
  });
});

describe('hivebar doctor, while Hivebar runs', { concurrency: 3 }, () => {
  test('all of it is ok or a warning about the desktop that is not there; nothing is changed', async () => {
    using home = trayHome();
    await home.run(['send', '--to', 'ada', '--from', 'me', 'hi']);
    await using tray = await home.start();
    await tray.persona('ada', ({ cursor }) => cursor === 1);
    const names = treeNames(home);
    const { code, findCheck, text } = await doctor(home);
    assert.equal(code, 0, text);
    assert.match(findCheck('hivebar').seen, new RegExp(`is running: pid ${tray.pid}, port ${tray.port}`));
    assert.match(findCheck('port').seen, /is this Hivebar/);
    for (const name of [
      'hivebar',
      'port',
      'owner socket',
      'token file',
      'private files',
      'database',
      'event files',
      'inboxes',
      'silence',
    ])
      assert.equal(findCheck(name).is, 'ok', `${name}\n${text}`);
    assert.deepEqual(treeNames(home), names);
  });

  test('what a person paused or muted is said', async () => {
    using home = trayHome();
    await home.run(['send', '--to', 'ada', '--from', 'me', 'hi']);
    await using tray = await home.start();
    await tray.persona('ada');
    await tray.post('/api/v1/actions/mute', { persona: 'ada' });
    assert.match((await doctor(home)).findCheck('silence').seen, /muted: ada/);
    await tray.post('/api/v1/actions/pause', {});
    assert.match((await doctor(home)).findCheck('silence').seen, /notifications are paused until you resume/);
  });

  test('a Hivebar that hangs (stopped) is a failure, within the time', async () => {
    using home = trayHome();
    await using tray = await home.start();
    tray.cli.kill('SIGSTOP');
    try {
      const from = performance.now();
      const { code, findCheck, text } = await doctor(home);
      assert.equal(code, 1, text);
      assert.equal(findCheck('hivebar').is, 'fail', text);
      assert.ok(performance.now() - from < 8000);
    } finally {
      tray.cli.kill('SIGCONT');
    }
  });
});

/** Path, kind, mode and bytes of everything below a folder. */
function listTree(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = lstatSync(join(folder, name));
      const text = stat.isFile() ? readFileSync(join(folder, name), 'hex') : '';
      return `${name} ${stat.mode.toString(8)} ${stat.mtimeMs} ${text}`;
    })
    .concat(`. ${statSync(folder).mode.toString(8)}`);
}

function treeNames({ dir }: TrayHome): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
}
