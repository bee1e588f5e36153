import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hour, PER_HOUR } from './hour.ts';
import { trayOnAFakeClock } from './tray-on-a-fake-clock.ts';

const PERSONAS = Array.from({ length: 20 }, (_, i) => `p${String(i).padStart(2, '0')}`);
const HOURS = 3;

test('three bad hours: every mail told once, every outage told once and over, and nothing gathers', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS });
  await hour(tray, PERSONAS, 0);
  const { heapMib: heapBefore, ...before } = tray.burden();
  for (let n = 1; n < HOURS; n++) await hour(tray, PERSONAS, n);
  const { heapMib: heapAfter, ...after } = tray.burden();

  assert.deepEqual(after, before);
  assert.ok(heapAfter - heapBefore < 5, `the heap grew from ${heapBefore} to ${heapAfter} MiB`);
  assert.equal(tray.hive.resets, HOURS * PER_HOUR.gaps);
  for (const persona of PERSONAS) {
    const events = tray.events(persona);
    assert.equal(events.filter((event) => event === 'new').length, tray.hive.delivered.get(persona), persona);
    assert.deepEqual(
      events.filter((event) => event === 'alert' || event === 'recovered'),
      Array.from({ length: HOURS * PER_HOUR.outages }, () => ['alert', 'recovered']).flat(),
      persona,
    );
  }
  assert.ok(tray.snapshot().personas.every(({ health }) => health.is === 'up'));
});
