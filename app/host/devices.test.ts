import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Fault } from '../../core/model/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { describeBrowser, openDevices } from './devices.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const DAY_MS = 86_400_000;

function rig(t: TestContext) {
  const place = scratch();
  t.after(() => place[Symbol.dispose]());
  const { dir: directory } = place;
  const clock = fakeClock();
  const warned: string[] = [];
  const log = { info: () => {}, warn: (line: string) => void warned.push(line), error: () => {} };
  let broken = false;
  let writes = 0;
  const real = createRealDisk(log);
  const files = {
    ...real.files,
    rename: (from: string, to: string) => {
      writes += 1;
      if (broken) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      real.files.rename(from, to);
    },
  };
  const open = () => openDevices(directory, { disk: { ...real, files }, random: realRandom, clock, log });
  return {
    ...{ clock, warned, open, path: join(directory, 'devices.json') },
    breakDisk: (is: boolean) => {
      broken = is;
    },
    countWrites: () => writes,
  };
}

test('a device is known after a restart; its file is for its owner only and has no key', (t) => {
  const { open, path } = rig(t);
  const { key, device } = open().add(FIREFOX);
  assert.match(key, /^[0-9a-f]{64}$/);
  assert.deepEqual(open().find(key), device);
  assert.deepEqual(open().list(), [device]);
  assert.equal(device.name, 'Firefox on Linux');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(!readFileSync(path, 'utf8').includes(key));
});

test('what is no key finds nothing', (t) => {
  const devices = rig(t).open();
  const { key, device } = devices.add(FIREFOX);
  for (const wrong of ['', device.id, key.slice(1), `${key}0`, key.toUpperCase().replace(/\d/g, 'A')])
    assert.equal(devices.find(wrong), null);
});

test('a revoked device is gone at once and after a restart, and who follows is told; others stay', (t) => {
  const { open } = rig(t);
  const devices = open();
  const [first, second, third] = [devices.add(FIREFOX), devices.add(FIREFOX), devices.add(FIREFOX)];
  const heard: string[] = [];
  devices.onRevoked((id) => void heard.push(id));
  assert.deepEqual(devices.revoke([first.device.id]), [first.device]);
  assert.deepEqual(devices.revoke([first.device.id]), [], 'it is not there any more');
  for (const each of [devices, open()]) {
    assert.equal(each.find(first.key), null);
    assert.deepEqual(each.find(second.key), second.device);
  }
  devices.revoke('all');
  assert.deepEqual([open().find(second.key), open().find(third.key)], [null, null]);
  assert.deepEqual(heard, [first.device.id, second.device.id, third.device.id]);
});

test('the use of a device is written once a day', async (t) => {
  const { open, clock, countWrites } = rig(t);
  const devices = open();
  const { key, device } = devices.add(FIREFOX);
  const before = countWrites();
  for (let i = 0; i < 100; i += 1) devices.find(key);
  assert.equal(countWrites(), before);
  await clock.advance(DAY_MS);
  for (let i = 0; i < 100; i += 1) devices.find(key);
  assert.equal(countWrites(), before + 1);
  assert.equal(open().list()[0]?.lastUsedAt, device.lastUsedAt + DAY_MS);
});

test('fifty devices are kept; for a further one, that gives way which was not used for longest', async (t) => {
  const { open, clock } = rig(t);
  const devices = open();
  const first = devices.add(FIREFOX);
  await clock.advance(DAY_MS);
  const others = Array.from({ length: 49 }, () => devices.add(FIREFOX));
  await clock.advance(DAY_MS);
  assert.notEqual(devices.find(first.key), null);
  const heard: string[] = [];
  devices.onRevoked((id) => void heard.push(id));
  devices.add(FIREFOX);
  assert.deepEqual([devices.list().length, heard], [50, [others[0]?.device.id]]);
  assert.notEqual(devices.find(first.key), null, 'it was used since');
});

test('on a full disk a login holds for this run, and a revocation says that it is not stored', (t) => {
  const { open, breakDisk, warned } = rig(t);
  const devices = open();
  const old = devices.add(FIREFOX);
  breakDisk(true);
  const { key } = devices.add(FIREFOX);
  assert.notEqual(devices.find(key), null);
  assert.match(warned.join(), /until the next start only/);
  assert.throws(() => devices.revoke([old.device.id]), Fault);
  assert.equal(devices.find(old.key), null, 'refused all the same');
});

test('a file that is no list of devices logs out and is told; one that others can read is refused', (t) => {
  const { open, path, warned } = rig(t);
  const { key } = open().add(FIREFOX);
  const good = readFileSync(path);
  for (const text of ['', '{}', '[{"id":1}]', 'x'.repeat(300_000)]) {
    writeFileSync(path, text);
    assert.deepEqual(open().list(), [], text.slice(0, 20));
  }
  assert.match(warned.join('\n'), /no list of devices.*\n.*log in again/);
  writeFileSync(path, good);
  assert.notEqual(open().find(key), null);
});

test('a browser is described by what it says of itself; what is no browser is cut and made visible', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, name] of [
    [FIREFOX, 'Firefox on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0 Safari/537.36`, 'Chrome on Windows'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`, 'Edge on Windows'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15', 'Safari on macOS'],
    ['Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36', 'Chrome on Android'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['a\u202eb', 'a\\u202eb'],
    ['', 'a program that does not say its name'],
    ['x'.repeat(500), 'x'.repeat(60)],
  ] as const)
    assert.equal(describeBrowser(agent), name);
});
