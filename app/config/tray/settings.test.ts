import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Fault } from '../../../core/model/index.ts';
import { openSettings } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-settings-'));
const path = join(folder, 'config.json');
after(() => rmSync(folder, { recursive: true, force: true }));

test('settings that are wrong are an error that names file, line, column and fault; the file stays as it is', () => {
  for (const [text, words] of [
    ['{"port": 7475,', '1:15: invalid JSON: expected a key in double quotes, but the text ends here'],
    ['', '1:1: invalid JSON: expected a value, but the text ends here'],
    ['{"port": 7475,\n "sound": True}', '2:11: invalid JSON: expected a value, but found "T"'],
    ['{"port": 7475\n "sound": true}', '2:2: invalid JSON: expected a comma or }, but found "\\""'],
    ['[]', '1:1: the settings must be an object such as {"port": 7475}, not []'],
    ['null', '1:1: the settings must be an object such as {"port": 7475}, not null'],
    ['7475', '1:1: the settings must be an object such as {"port": 7475}, not 7475'],
    ['{\n  "sound": true,\n  "port": "7475"\n}', '3:3: port: must be integer'],
    ['{"port": 65536}', '1:2: port: must be <= 65535'],
    ['{"prot": 7475}', '1:2: prot: unknown setting'],
    ['{"port": 1, "port": 2}', '1:13: port: appears twice'],
    ['{"tray": "big"}', '1:2: tray: must be one of auto, sni, systray2, none'],
    ['{"primary": {"is": "far"}}', '1:2: primary: "is" has an unknown value'],
    ['{"primary": {"is": "kijito"}}', "1:2: primary: must have required property 'base'"],
    ['{"opener": {"is": "command", "argv": []}}', '1:30: opener.argv: must NOT have fewer than 1 items'],
    ['{"opener": {"is": "auto", "argv": ["x"]}}', '1:27: opener.argv: unknown key'],
    ['{"notify": [{"persona": "ada", "only": ["news"]}]}', /^1:\d+: notify\.0\.only\.0: must be one of mail, urgent, /],
    [
      '{"notify": [{"persona": "a*a"}]}',
      /^1:\d+: notify\.0\.persona: must be an id, or the beginning of ids and a \*, not "a\*a"/,
    ],
    ['{"notify": [{"only": []}]}', /^1:\d+: notify\.0: must have required property 'persona'/],
    ['{"quietHours": {"from": "24:00", "to": "7:00"}}', /^1:17: quietHours\.from: must match .* \(and 1 more\)$/],
    ['{"hives": [{"name": "bc", "base": "http://127.0.0.1:1"}]}', /^1:13: hives\.0\.name: must be none of local, /],
    ['{"hives": [{"name": "a-b", "base": "http://127.0.0.1:1"}]}', /^1:13: hives\.0\.name: must match/],
    ['{"hives": [{"name": "a", "base": "http://h/?x=1"}]}', /^1:26: hives\.0\.base: .*neither query nor fragment/],
    ['{"hives": [{"name": "a", "base": "ftp://h"}]}', /^1:26: hives\.0\.base: .*neither http nor https/],
    ['{"hives": [{"name": "a", "base": "http://192.0.2.1"}]}', /^1:26: hives\.0\.base: .*documentation address/],
    ['{"primary": {"is": "kijito", "base": "h:1"}}', /^1:30: primary\.base: .*neither http nor https/],
    [
      '{"primary": {"is": "kijito", "base": "http://h", "proxy": "socks5://p:1"}}',
      /^1:50: primary\.proxy: .*neither http nor https/,
    ],
    [
      '{"hives": [{"name": "a", "base": "http://h", "proxy": "http://me:secret@p:1"}]}',
      '1:46: hives.0.proxy: the URL of p:1 contains a user name or password',
    ],
    [
      '{"hives": [{"name": "a", "base": "http://127.0.0.1:7474", "proxy": "http://p:1"}]}',
      '1:59: hives.0.proxy: 127.0.0.1:7474 is this machine, which no proxy can reach',
    ],
    ['{"brainclaw": {}}', "1:2: brainclaw: must have required property 'is'"],
    ['{"brainclaw": {"is": "auto"}}', '1:16: brainclaw.is: must be one of on, off'],
    ['{"brainclaw": {"is": "on", "roots": [""]}}', /^1:38: brainclaw\.roots\.0: must NOT have fewer than 1 char/],
    ['{"brainclaw": {"is": "on", "depth": 9}}', '1:28: brainclaw.depth: must be <= 8'],
    ['{"brainclaw": {"is": "on", "root": []}}', '1:28: brainclaw.root: unknown key'],
    ['{"nats": {}}', "1:2: nats: must have required property 'url'"],
    ['{"nats": {"url": "http://h"}}', /^1:11: nats\.url: "http:\/\/h" is not nats:\/\/HOST:PORT or tls:/],
    [
      '{"nats": {"url": "nats://me:secret@h"}}',
      /^1:11: nats\.url: the URL of a NATS server contains a user name or token/,
    ],
    ['{"nats": {"url": "nats://192.0.2.1:4222"}}', /^1:11: nats\.url: .*documentation address/],
    ['{"hives": [{"name": "nats", "base": "http://h"}]}', /^1:13: hives\.0\.name: must be none of local, .*nats/],
    [
      '{"hives": [{"name": "a", "base": "http://h"},\n{"name": "a", "base": "http://i"}]}',
      '2:2: hives.1.name: a is already the name of hives.0',
    ],
  ] as const) {
    writeFileSync(path, text);
    assert.throws(
      () => openSettings(folder),
      (error) => {
        assert.ok(error instanceof Fault, text);
        assert.equal(error.code, 'settings');
        assert.ok(error.message.startsWith(`${path}:`), error.message);
        const message = error.message.slice(path.length + 1);
        if (typeof words === 'string') assert.equal(message, words);
        else assert.match(message, words);
        return true;
      },
    );
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});

test('a missing file means the defaults; the first decision writes it, for its owner alone', () => {
  rmSync(path);
  const file = openSettings(folder);
  assert.ok(!existsSync(path));
  assert.deepEqual([file.settings.port, file.settings.pollSeconds, file.settings.primary], [7475, 60, undefined]);
  file.decide({ is: 'local' });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(openSettings(folder).settings.primary, { is: 'local' });
});

test("a person's own settings stay theirs: the decision is added, and nothing they did not write", () => {
  writeFileSync(path, '{"port": 7000}');
  const file = openSettings(folder);
  assert.equal(file.settings.port, 7000);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { port: 7000 });
  file.decide({ is: 'local' });
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { port: 7000, primary: { is: 'local' } });
  assert.ok(existsSync(path));
});

test('what nobody wrote has its default; what is optional stays out', () => {
  rmSync(path);
  const { settings, explicitSettings: given } = openSettings(join(folder, 'no', 'such'));
  assert.ok(!existsSync(join(folder, 'no')), 'to look writes nothing');
  assert.deepEqual(given, {});
  assert.deepEqual(
    [
      settings.brainclaw,
      settings.hives,
      settings.sound,
      settings.opener,
      settings.urlSchemes,
      settings.iconTheme,
      settings.historyDays,
    ],
    [{ is: 'off' }, [], false, { is: 'auto' }, ['https', 'http', 'vscode', 'cursor'], 'auto', 30],
  );
  assert.equal(settings.quietHours, undefined);
});

test('one setting is written beside the others, also beside those that somebody wrote meanwhile', () => {
  writeFileSync(path, '{"sound": true}');
  const file = openSettings(folder);
  writeFileSync(path, '{"sound": true, "port": 7000}');
  file.set('quietHours', { from: '22:00', to: '07:00' });
  const quietHours = { from: '22:00', to: '07:00' };
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { sound: true, port: 7000, quietHours });
  openSettings(folder).unset('sound');
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { port: 7000, quietHours });
});

test('a value that does not fit is not written, nor is any into a file that became wrong', () => {
  const good = '{"port": 7000}';
  writeFileSync(path, good);
  const file = openSettings(folder);
  assert.throws(() => file.set('port', '7001'), { code: 'usage', message: 'port: must be integer' });
  assert.equal(readFileSync(path, 'utf8'), good);
  writeFileSync(path, '{"port": 7000,}');
  for (const write of [() => file.set('port', 1), () => file.unset('port'), () => file.decide({ is: 'local' })]) {
    assert.throws(write, { code: 'settings' });
    assert.equal(readFileSync(path, 'utf8'), '{"port": 7000,}');
  }
});

test('F10 given a link to a file that is not there yet, a change makes the file and the link stays', () => {
  rmSync(path);
  const elsewhere = join(folder, 'dotfiles');
  symlinkSync(join('dotfiles', 'deep', 'config.json'), path);
  openSettings(folder).set('port', 7000);
  assert.ok(lstatSync(path).isSymbolicLink());
  assert.deepEqual(JSON.parse(readFileSync(join(elsewhere, 'deep', 'config.json'), 'utf8')), { port: 7000 });
  openSettings(folder).set('sound', true);
  assert.ok(lstatSync(path).isSymbolicLink());
  assert.deepEqual(openSettings(folder).explicitSettings, { port: 7000, sound: true });
  rmSync(path);
});

test('F9 given a link below /proc, a change ends with an error that names the file', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, () => {
  symlinkSync('/proc/hivebar/config.json', path);
  assert.throws(() => openSettings(folder).set('port', 7000), { code: 'unwritable', message: /config\.json: / });
  rmSync(path);
});

test('F10 given the environment of a Snap, a change still replaces the file whole', () => {
  writeFileSync(path, '{"port": 7000}');
  const { ino } = statSync(path);
  process.env.SNAP = '/snap/editor/1';
  try {
    openSettings(folder).set('sound', true);
    assert.equal(process.env.SNAP, '/snap/editor/1');
  } finally {
    delete process.env.SNAP;
  }
  assert.notEqual(statSync(path).ino, ino);
});

test('F10 given a file that stops being UTF-8 while the program runs, no change rewrites it', () => {
  writeFileSync(path, '{"port": 7000}');
  const file = openSettings(folder);
  const bytes = Buffer.from('{"tokenFile": "/home/jos\u00e9/token"}', 'latin1');
  writeFileSync(path, bytes);
  for (const write of [() => file.set('port', 1), () => file.unset('port'), () => file.decide({ is: 'local' })])
    assert.throws(write, { code: 'settings', message: /config\.json:1:25: the byte 0xe9 is not UTF-8/ });
  assert.deepEqual(readFileSync(path), bytes);
});

test('B9 given a directory where the file belongs, a change is refused before anything is written', () => {
  rmSync(path, { force: true });
  const file = openSettings(folder);
  mkdirSync(path);
  assert.throws(() => file.set('port', 1), { code: 'unreadable', message: /not a regular file but a directory/ });
  rmSync(path, { recursive: true });
});
