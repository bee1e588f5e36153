import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { describe, test } from 'node:test';
import { placesIn } from '../../test/kit/daemon-link.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { Fault } from '../model/index.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { createRealDisk } from '../state/index.ts';
import {
  type DaemonConfig,
  formatDaemonConfig,
  formatDoorbellLine,
  loadInstalledDaemons,
  parseDaemonConfig,
  readDaemonConfig,
  readDaemonToken,
  writeDaemonConfig,
  writeDaemonToken,
} from './index.ts';

const disk = createRealDisk(silentLog);
const FULL: DaemonConfig = {
  ...{ tenant: 'acme', identity: 'ada', address: 'Ada', project: '/p/x', surface: 'codex', autonomy: 'high' },
  ...{ upstream: 'https://upstream.example/base', wakeIdle: true, owner: 'tray', shim: { command: ['codex', 'shim'] } },
  ...{ installDeps: true, activateVenv: true, paused: true },
};
const LEAST = {
  ...{ tenant: 'acme', identity: 'ada', address: 'ada', project: 'x', surface: 'claude-code' },
  ...{ upstream: 'local', owner: 'launcher' },
};

const refusal = (text: string): string => {
  try {
    parseDaemonConfig(text, '/d.json');
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'daemon-config', String(error));
    return error.message;
  }
  return 'taken';
};

describe('what was installed', () => {
  test('is read as it was written, and what may be left out has its default', () => {
    assert.deepEqual(parseDaemonConfig(formatDaemonConfig(FULL), 'x'), FULL);
    assert.deepEqual(parseDaemonConfig(JSON.stringify(LEAST), 'x'), {
      ...LEAST,
      ...{ autonomy: null, wakeIdle: false, shim: null, installDeps: false, activateVenv: false, paused: false },
    });
  });

  test('a key that is wrong is named with its value and with what it must be', () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ tenant: 'A' }, /^\/d\.json: tenant is "A", must be of 1 to 32 letters/],
      [{ identity: '../x' }, /identity is "\.\.\/x"/],
      [{ address: '' }, /address is "", must be a name/],
      [{ address: 'a\0' }, /address is/],
      [{ project: undefined }, /project is missing/],
      [{ surface: 7 }, /surface is 7/],
      [{ surface: 'x'.repeat(1025) }, /surface is "xxx/],
      [{ autonomy: 1 }, /autonomy is 1, must be a text/],
      [{ upstream: 'ftp://x' }, /upstream is "ftp:\/\/x"/],
      [{ upstream: 'https://user@x' }, /upstream is/],
      [{ upstream: 'daemon' }, /upstream is/],
      [{ wakeIdle: 'yes' }, /wakeIdle is "yes", must be true or false/],
      [{ owner: 'root' }, /owner is "root", must be launcher or tray/],
      [{ shim: { command: [] } }, /shim is \{"command":\[\]\}/],
      [{ shim: { command: ['a', 7] } }, /shim is/],
      [{ shim: 'codex' }, /shim is "codex"/],
      [{ paused: 1 }, /paused is 1/],
    ];
    for (const [wrong, words] of cases) assert.match(refusal(JSON.stringify({ ...LEAST, ...wrong })), words);
    for (const text of ['', '[]', 'null', '{', '7']) assert.match(refusal(text), /does not contain a JSON object/);
    assert.match(refusal('{"__proto__": {"tenant": "a"}}'), /is missing/);
  });

  test('is kept 0600 in a directory 0700, with a token of its own', () => {
    using at = scratch();
    const places = placesIn(at.dir);
    assert.equal(readDaemonConfig(disk, places), null);
    assert.equal(readDaemonToken(disk, places.observeToken), null);
    writeDaemonConfig(disk, realRandom, places, FULL);
    const token = writeDaemonToken(disk, realRandom, places.observeToken);
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.deepEqual([readDaemonConfig(disk, places), readDaemonToken(disk, places.observeToken)], [FULL, token]);
    if (process.platform !== 'win32') {
      const modes = [places.dir, places.config, places.observeToken].map((path) => fs.statSync(path).mode & 0o777);
      assert.deepEqual(modes, [0o700, 0o600, 0o600]);
    }
    fs.writeFileSync(places.actToken, 'not one\n', { mode: 0o600 });
    assert.throws(() => readDaemonToken(disk, places.actToken), /act\.token: does not contain a token/);
    fs.writeFileSync(places.config, ' '.repeat(64 * 1024 + 1));
    assert.throws(() => readDaemonConfig(disk, places), /is longer than 65536 bytes/);
  });

  test('is found by name, also when it is damaged or lies under the name of another', () => {
    using at = scratch();
    assert.deepEqual(loadInstalledDaemons(disk, at.at('daemons')), []);
    const bo = { ...FULL, identity: 'bo' };
    writeDaemonConfig(disk, realRandom, placesIn(at.dir), FULL);
    writeDaemonConfig(disk, realRandom, placesIn(at.dir, 'acme', 'bo'), bo);
    writeDaemonConfig(disk, realRandom, placesIn(at.dir, 'acme', 'cy'), FULL);
    fs.mkdirSync(at.at('daemons/acme-not-yet'));
    fs.mkdirSync(at.at('daemons/acme-bad'));
    at.write('daemons/acme-bad/daemon.json', '{');
    at.write('daemons/a-file', '');
    const found = loadInstalledDaemons(disk, at.at('daemons'));
    assert.deepEqual(
      found.map(({ is, name }) => `${is} ${name}`),
      ['bad a-file', 'good acme-ada', 'bad acme-bad', 'good acme-bo', 'bad acme-cy'],
    );
    assert.match(
      found.map((result) => (result.is === 'bad' ? result.why : '')).join('\n'),
      /acme-cy holds the daemon acme-ada/,
    );
  });
});

describe('the one line of a doorbell', () => {
  test('names who it is for and the drain that fits its upstream', () => {
    assert.equal(
      formatDoorbellLine({ ...FULL, upstream: 'local' }),
      'hivebar: work waits for acme/ada; fetch it now: hivebar inbox drain Ada',
    );
    assert.equal(
      formatDoorbellLine(FULL),
      'hivebar: work waits for acme/ada; fetch it now: hivebar daemon drain --tenant acme --identity ada',
    );
  });

  test('holds no name that a shell or a model would act on', () => {
    const last = (address: string): string =>
      formatDoorbellLine({ ...FULL, upstream: 'local', address }).split('hivebar inbox drain ')[1] ?? '';
    assert.equal(last('Ada Lovelace'), "'Ada Lovelace'");
    assert.equal(last('Éve'), "'Éve'");
    for (const bad of ['-x', "a'b", 'a\nb', '$(x)', 'a;b', '', 'x'.repeat(65), 'a\u202eb', '<item>'])
      assert.equal(last(bad), 'PERSONA', bad);
    assert.equal(formatDoorbellLine({ ...FULL, address: 'a\nb' }).includes('\n'), false);
  });
});
