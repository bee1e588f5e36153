import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { startMetricsFile } from './files.node.ts';

function keeping(path: string, clock: FakeClock) {
  let n = 0;
  const troubles: (string | null)[] = [];
  const file = startMetricsFile({
    path,
    text: () => `daemon_up ${++n}\n`,
    clock,
    trouble: (error) => troubles.push(error?.message ?? null),
  });
  return { file, troubles, written: () => n };
}

describe('the metrics file (persona daemon, contract 6)', () => {
  test('it is written at once, every 10 s and at the end; whole, private, and with nothing beside it', async () => {
    using dir = scratch();
    const clock = fakeClock();
    const { file } = keeping(dir.at('metrics.prom'), clock);
    await until('the first', () => dir.text('metrics.prom') === 'daemon_up 1\n');
    for (const n of [2, 3]) {
      await until('its timer', () => clock.waiting === 1);
      await clock.advance(9999);
      assert.equal(dir.text('metrics.prom'), `daemon_up ${n - 1}\n`);
      await clock.advance(1);
      await until(`number ${n}`, () => dir.text('metrics.prom') === `daemon_up ${n}\n`);
    }
    await file[Symbol.asyncDispose]();
    assert.equal(dir.text('metrics.prom'), 'daemon_up 4\n');
    assert.equal(statSync(dir.at('metrics.prom')).mode & 0o777, 0o600);
    assert.deepEqual([dir.list(), clock.waiting], [['metrics.prom'], 0]);
  });

  test('what a kill left beside it does no harm', async () => {
    using dir = scratch();
    writeFileSync(dir.at('metrics.prom.tmp'), 'a longer text, of which nothing may stay\n');
    const { file } = keeping(dir.at('metrics.prom'), fakeClock());
    await file[Symbol.asyncDispose]();
    assert.deepEqual([dir.list(), dir.text('metrics.prom')], [['metrics.prom'], 'daemon_up 2\n']);
  });

  test('a failure is told once for as long as it lasts, and so is its end; the old text stays', async () => {
    using dir = scratch();
    mkdirSync(dir.at('run'));
    const clock = fakeClock();
    const { file, troubles, written } = keeping(dir.at('run', 'metrics.prom'), clock);
    const beat = async (): Promise<void> => {
      await until('its timer', () => clock.waiting === 1);
      await clock.advance(10_000);
    };
    await until('its timer', () => clock.waiting === 1);
    rmSync(dir.at('run'), { recursive: true });
    await beat();
    await beat();
    await until('its timer', () => clock.waiting === 1);
    assert.equal(written(), 3);
    assert.equal(troubles.length, 1);
    assert.match(String(troubles[0]), /ENOENT/);
    mkdirSync(dir.at('run'));
    chmodSync(dir.at('run'), 0o700);
    await beat();
    await file[Symbol.asyncDispose]();
    assert.deepEqual(troubles.slice(1), [null]);
    assert.equal(dir.text('run/metrics.prom'), 'daemon_up 5\n');
  });
});
