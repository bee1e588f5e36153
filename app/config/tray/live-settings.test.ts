import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLiveSettings } from './live-settings.ts';
import type { Settings } from './settings.ts';

function rig(start: Partial<Settings>) {
  let file = { pollSeconds: 60, port: 7475, ...start } as Settings;
  const live = createLiveSettings(file, () => file);
  const heard: string[] = [];
  live.onChange((changed) => void heard.push([...changed].join()));
  return {
    ...{ live, heard },
    write: (change: Partial<Settings>) => {
      file = { ...file, ...change };
    },
  };
}

test('what applies at once is read at once and told; what needs a start keeps its value and is named', async () => {
  const { live, heard, write } = rig({});
  write({ pollSeconds: 5, port: 8000, quietHours: { from: '22:00', to: '07:00' } });
  assert.equal(live.now.pollSeconds, 60, 'nobody has asked yet');
  assert.deepEqual(await live.reload(), { applied: ['pollSeconds', 'quietHours'], atNextStart: ['port'] });
  assert.deepEqual([live.now.pollSeconds, live.now.port, live.now.quietHours?.from], [5, 7475, '22:00']);
  assert.deepEqual(heard, ['pollSeconds,quietHours']);
  assert.deepEqual(await live.reload(), { applied: [], atNextStart: ['port'] }, 'it still does');
  write({ port: 7475 });
  assert.deepEqual(await live.reload(), { applied: [], atNextStart: [] });
  assert.equal(heard.length, 1);
});

test('changes are applied one after the other, and a listener that fails stops no other', async () => {
  const { live, heard, write } = rig({});
  let release = (): void => {};
  const waits = new Promise<void>((resolve) => {
    release = resolve;
  });
  live.onChange(async (changed) => {
    await waits;
    heard.push(`slow ${[...changed].join()}`);
    throw new Error('cannot');
  });
  live.onChange((changed) => void heard.push(`last ${[...changed].join()}`));
  write({ pollSeconds: 5 });
  const first = assert.rejects(live.reload(), /cannot/);
  await setImmediate();
  write({ sound: true });
  const second = assert.rejects(live.reload(), /cannot/);
  release();
  await Promise.all([first, second]);
  const rounds = ['pollSeconds', 'sound'].flatMap((name) => [name, `slow ${name}`, `last ${name}`]);
  assert.deepEqual(heard, rounds);
});
