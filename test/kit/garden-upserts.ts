import { performance } from 'node:perf_hooks';
import { realClock } from '../../core/ports/index.ts';
import { computeGardenPlaces, runLocked, upsert } from '../../core/sources/garden/index.ts';
import { handAt } from './garden-store.ts';

/** Makes sessions citizens, one at each beat of a clock that others share: `STORE LOCKS COUNT FROM`. A line for each that it made. */
const [store = '', locks = '', count = '0', from = '0'] = process.argv.slice(2);
const EVERY_MS = 15;
const places = computeGardenPlaces({ store, env: {}, home: store, cwd: store });
const hand = handAt({ now: new Date().toISOString(), sleep: realClock.sleep });

for (let n = 0; n < Number(count); n += 1) {
  while (performance.timeOrigin + performance.now() < Number(from) + n * EVERY_MS);
  const input = { backend: 'claude-code', nativeSessionId: `session-${n}`, cwd: '/c' };
  const done = runLocked(hand.disk, locks, places, 60_000, () => upsert(hand, places, input));
  if (done.is === 'held') throw new Error('the lock was held for a minute');
  if (done.value.action === 'create') console.log(done.value.record.gardenId);
}
