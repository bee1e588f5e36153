import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { commandLine } from '../../test/kit/command-line.ts';

let home: string;
let path: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hivebar-config-'));
  path = join(home, 'config', 'config.json');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const hivebar = (...args: string[]) => commandLine(args, { HIVEBAR_HOME: home });

const saved = (): unknown => JSON.parse(readFileSync(path, 'utf8'));
function write(text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
}

describe('hivebar config', () => {
  test('path, show and validate write nothing, whatever there is', async () => {
    assert.deepEqual(await hivebar('config', 'path'), { code: 0, out: `${path}\n`, err: '' });
    const { out } = await hivebar('config', 'show');
    assert.match(out, /^port +7475 {2}\(default\)$/m);
    assert.match(out, /^quietHours +not set$/m);
    assert.equal((await hivebar('config', 'validate')).code, 0);
    assert.ok(!existsSync(dirname(path)));
  });

  test('show says what the file says and what is a default; as JSON it is the settings', async () => {
    write('{"port": 7000}');
    assert.match((await hivebar('config', 'show')).out, /^port +7000$/m);
    const json = JSON.parse((await hivebar('config', 'show', '--json')).out) as Record<string, unknown>;
    assert.deepEqual([json.port, json.pollSeconds], [7000, 60]);
  });

  test('validate names every mistake with its line and column, and ends with 1', async () => {
    write('{\n  "port": "x",\n  "prot": 1\n}');
    const { code, err } = await hivebar('config', 'validate');
    assert.deepEqual([code, err], [1, `${path}:2:3: port: must be integer\n${path}:3:3: prot: unknown setting\n`]);
  });

  test('get prints one value as JSON, also a default, and names a setting that is close', async () => {
    write('{"port": 7000}');
    assert.deepEqual(await hivebar('config', 'get', 'port'), { code: 0, out: '7000\n', err: '' });
    assert.equal((await hivebar('config', 'get', 'pollSeconds')).out, '60\n');
    assert.equal((await hivebar('config', 'get', 'quietHours')).out, 'null\n');
    assert.deepEqual(await hivebar('config', 'get', 'prot'), {
      ...{ code: 1, out: '' },
      err: 'hivebar config: there is no setting prot: did you mean port?: see hivebar config show\n',
    });
  });

  test('edit saves what the editor left when it is valid, and keeps the file and the text when it is not', async () => {
    write('{"port": 7000}');
    const copy = join(home, 'config', 'config.edit.json');
    const edit = (text: string) => {
      const editor = `printf '%s' '${text}' >`;
      return commandLine(['config', 'edit'], { HIVEBAR_HOME: home, PATH: process.env.PATH ?? '', EDITOR: editor });
    };
    assert.deepEqual(await edit('{"port": 7001}'), {
      code: 0,
      out: `${path} is saved, from the next start of hivebar on\n`,
      err: '',
    });
    assert.deepEqual([saved(), existsSync(copy)], [{ port: 7001 }, false]);
    const { code, err } = await edit('{\n "prot": 1}');
    assert.equal(code, 1);
    assert.equal(
      err,
      `${copy}:2:2: prot: unknown setting\nhivebar config: ${path} is as it was; your text is in ${copy}\n`,
    );
    assert.deepEqual([saved(), readFileSync(copy, 'utf8')], [{ port: 7001 }, '{\n "prot": 1}']);
    const unchanged = await commandLine(['config', 'edit'], {
      HIVEBAR_HOME: home,
      PATH: process.env.PATH ?? '',
      EDITOR: 'true',
    });
    assert.deepEqual(unchanged, { code: 0, out: `${path} is as it was\n`, err: '' });
    const failed = await commandLine(['config', 'edit'], { HIVEBAR_HOME: home, EDITOR: 'false' });
    assert.equal(failed.code, 1);
    assert.match(failed.err, /false ended with 1: set VISUAL or EDITOR/);
  });

  test('set takes JSON or a word, keeps the other settings, and says when it holds; unset takes it out', async () => {
    write('{"port": 7000}');
    assert.equal((await hivebar('config', 'set', 'tray', 'none')).code, 0);
    assert.equal((await hivebar('config', 'set', 'opener', '{"is": "url", "template": "vscode://x"}')).code, 0);
    const { out } = await hivebar('config', 'set', 'sound', 'true');
    assert.match(out, /^sound is true, from the next start of hivebar on/);
    const opener = { is: 'url', template: 'vscode://x' };
    assert.deepEqual(saved(), { port: 7000, tray: 'none', opener, sound: true });
    await hivebar('config', 'unset', 'opener');
    assert.deepEqual(saved(), { port: 7000, tray: 'none', sound: true });
  });

  test('set of what does not fit, or does not exist, ends with 2 and writes nothing', async () => {
    for (const [args, words] of [
      [['port', 'x'], /port: must be integer/],
      [['opener', '{"is": "shell"}'], /opener: "is" has an unknown value/],
      [['prot', '1'], /there is no setting prot: did you mean port\?/],
      [['port'], /needs KEY VALUE/],
    ] as const) {
      const { code, err } = await hivebar('config', 'set', ...args);
      assert.equal(code, 2);
      assert.match(err, words);
    }
    assert.ok(!existsSync(path));
  });

  test('a file with a mistake is never written to, and the mistake is named', async () => {
    write('{"port": 7000,\n}');
    for (const args of [
      ['config', 'set', 'sound', 'true'],
      ['config', 'unset', 'port'],
      ['hive', 'add', 'http://10.0.0.1', '--name', 'x'],
    ]) {
      const { code, err } = await hivebar(...args);
      assert.equal(code, 1);
      assert.ok(err.includes(`${path}:2:1: invalid JSON: expected a key`), err);
      assert.equal(readFileSync(path, 'utf8'), '{"port": 7000,\n}');
    }
  });
});

describe('hivebar hive', () => {
  test('add writes a hive under the name given or its host has; list shows it; remove takes it out by name or address', async () => {
    const token = join(home, 'token');
    writeFileSync(token, 'secret\n', { mode: 0o600 });
    assert.match((await hivebar('hive', 'add', 'https://team.example.org/')).out, /its personas are team-NAME/);
    await hivebar('hive', 'add', 'http://10.0.0.5:7474', '--name', 'office', '--token-file', token);
    assert.deepEqual(saved(), {
      hives: [
        { name: 'team', base: 'https://team.example.org/' },
        { name: 'office', base: 'http://10.0.0.5:7474', tokenFile: token },
      ],
    });
    assert.match((await hivebar('hive', 'list')).out, /^office +http:\/\/10\.0\.0\.5:7474/m);
    await hivebar('hive', 'remove', 'https://team.example.org');
    await hivebar('hive', 'remove', 'office');
    assert.deepEqual(saved(), {});
    const gone = await hivebar('hive', 'remove', 'office');
    assert.equal(gone.code, 1);
  });

  test('add with a proxy keeps it, and list shows it', async () => {
    const token = join(home, 'token');
    writeFileSync(token, 'secret\n', { mode: 0o600 });
    const args = [
      'https://api.kijito.ai',
      '--name',
      'hosted',
      '--token-file',
      token,
      '--proxy',
      'http://127.0.0.1:3128',
    ];
    assert.deepEqual(await hivebar('hive', 'add', ...args), {
      code: 0,
      out: 'hosted is https://api.kijito.ai: its personas are hosted-NAME, from the next start of hivebar on\n',
      err: '',
    });
    const hosted = { name: 'hosted', base: 'https://api.kijito.ai', tokenFile: token, proxy: 'http://127.0.0.1:3128' };
    assert.deepEqual(saved(), { hives: [hosted] });
    const { out } = await hivebar('hive', 'list');
    assert.ok(out.includes(`hosted   https://api.kijito.ai  (token: ${token}, proxy: http://127.0.0.1:3128)`), out);
  });

  test('what cannot be a further hive is refused, and nothing is written', async () => {
    write(
      '{"primary": {"is": "kijito", "base": "http://127.0.0.1:7474"}, "hives": [{"name": "a", "base": "http://h"}]}',
    );
    const before = readFileSync(path, 'utf8');
    for (const [args, words] of [
      [['http://10.0.0.5'], /use --name NAME/],
      [['http://10.0.0.5', '--name', 'bc'], /reserved for another source/],
      [['http://10.0.0.5', '--name', 'a-b'], /must be 1 to 32 characters a-z and 0-9/],
      [['http://10.0.0.5', '--name', 'a'], /a is already http:\/\/h/],
      [['http://h/', '--name', 'b'], /a is already http:\/\/h/],
      [['http://127.0.0.1:7474/', '--name', 'b'], /is already the primary hive/],
      [['http://192.0.2.1', '--name', 'b'], /documentation address/],
      [['http://h/?q=1', '--name', 'b'], /neither query nor fragment/],
      [['ftp://h', '--name', 'b'], /neither http nor https/],
      [['http://i', '--name', 'b', '--token-file', '/nowhere'], /cannot be read/],
      [['http://i', '--name', 'b', '--proxy', 'socks5://p'], /neither http nor https/],
      [['http://i', '--name', 'b', '--proxy', 'http://me:pw@p'], /the URL of p contains a user name or password/],
      [['http://127.0.0.1:1', '--name', 'b', '--proxy', 'http://p'], /is this machine/],
    ] as const) {
      const { code, err } = await hivebar('hive', 'add', ...args);
      assert.ok(code > 0, args.join(' '));
      assert.match(err, words);
    }
    assert.equal(readFileSync(path, 'utf8'), before);
  });
});
