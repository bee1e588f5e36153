import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { needs } from '../../test/kit/require.ts';
import { type ClockCalls, createClocks, type GetTime } from './clock.node.ts';
import { loadKoffi, realClocks } from './index.ts';

/** Every clock says its own id as seconds, and a nanosecond less than the next microsecond. */
const each: GetTime = (id) => [id, 500_000_999];
const calls: ClockCalls = { now: () => 77, hrtime: () => [900, 250_000_001], getTime: () => each };

test('trap 66: the clocks of Darwin are read by what they mean, not by what they are called, and named', () => {
  assert.deepEqual(createClocks('darwin', calls).read(), {
    wall: 77,
    monotonic: { seconds: 8.5, src: 'CLOCK_UPTIME_RAW' },
    boottime: { seconds: 4.5, src: 'CLOCK_MONOTONIC_RAW' },
  });
});

test("Linux: Node's own clock is the one that stops in a sleep; the other one is asked of the system", () => {
  assert.deepEqual(createClocks('linux', calls).read(), {
    wall: 77,
    monotonic: { seconds: 900.25, src: 'CLOCK_MONOTONIC' },
    boottime: { seconds: 7.5, src: 'CLOCK_BOOTTIME' },
  });
});

test('a clock that the machine does not have, or that cannot be asked for, is not there', () => {
  const nothing = { wall: 77, monotonic: null, boottime: null };
  assert.deepEqual(createClocks('win32', calls).read(), nothing);
  assert.deepEqual(createClocks('darwin', { ...calls, getTime: () => null }).read(), nothing);
  const { monotonic, boottime } = createClocks('linux', { ...calls, getTime: () => null }).read();
  assert.deepEqual([monotonic?.seconds, boottime], [900.25, null]);
  assert.equal(
    createClocks('darwin', { ...calls, getTime: () => (id) => (id === 4 ? null : [id, 0]) }).read().boottime,
    null,
  );
});

test('the clock of sleep is read last: on a sound machine it is never behind the other', () => {
  let turn = 0;
  const counting = { now: () => ++turn, hrtime: () => [++turn, 0] as const, getTime: () => () => [++turn, 0] as const };
  for (const os of ['linux', 'darwin'] as const) {
    const { wall, monotonic, boottime } = createClocks(os, counting).read();
    assert.ok(wall < (monotonic?.seconds ?? 0) && (monotonic?.seconds ?? 0) < (boottime?.seconds ?? 0), os);
  }
});

test('seconds have six decimals, whatever the clock gives', () => {
  const at = (seconds: number, nanos: number) =>
    createClocks('linux', { ...calls, hrtime: () => [seconds, nanos] }).read();
  for (let micros = 0; micros < 1_000_000; micros += 7919) {
    const text = String(at(31_536_000, micros * 1000 + 999).monotonic?.seconds);
    assert.equal(Number(text).toFixed(6), `31536000.${String(micros).padStart(6, '0')}`);
    assert.match(text, /^\d+(\.\d{1,6})?$/);
  }
});

test('real clocks of Linux, once there is a way to call them: the names say what was read', (t) => {
  if (needs(t, process.platform === 'linux' ? null : 'only Linux tells its clocks in /proc')) return;
  const { load, out, pointer, struct } = loadKoffi();
  const timespec = pointer(struct({ sec: 'long', nsec: 'long' }));
  const getTime = load(null).func('clock_gettime', 'int', ['int', out(timespec)]);
  const monotonicNow = (): number => {
    const time = { sec: 0, nsec: 0 };
    getTime(1, time);
    return time.sec + time.nsec / 1e9;
  };
  const before = monotonicNow();
  const { wall, monotonic, boottime } = realClocks.read();
  const after = monotonicNow();
  assert.ok(Math.abs(wall - Date.now()) < 60_000);
  assert.equal(monotonic?.src, 'CLOCK_MONOTONIC');
  const seconds = monotonic?.seconds ?? 0;
  assert.ok(before - 1e-6 <= seconds && seconds <= after, `${before} <= ${seconds} <= ${after}`);
  assert.equal(boottime?.src, 'CLOCK_BOOTTIME');
  assert.ok((boottime?.seconds ?? 0) >= seconds);
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  assert.ok(Math.abs((boottime?.seconds ?? 0) - uptime) < 60);
});

test('reading the clocks loads nothing: a process that locks no file starts as fast as before', (t) => {
  if (needs(t, process.platform === 'linux' ? null : 'only Linux has a clock of its own without a call')) return;
  const script = `
    const { realClocks, loadKoffi } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
    const first = realClocks.read();
    const loaded = Object.keys((await import('node:module')).default._cache).some((path) => path.includes('loadKoffi'));
    loadKoffi();
    console.log(JSON.stringify([loaded, first.boottime, realClocks.read().boottime.src]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(stdout.trim(), '[false,null,"CLOCK_BOOTTIME"]', stderr);
});
