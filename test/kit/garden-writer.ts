import { realClock } from '../../core/ports/index.ts';
import { computeGardenPlaces, drain, enqueue } from '../../core/sources/garden/index.ts';
import { doorbell, handAt } from './garden-store.ts';

/**
 * Another program at work in a store: `STORE PAUSE_MS SENDS RINGS READS GID...`. It sends to the citizens in turn, rings and
 * reads in between, and says on stdout what it did, a JSON array a line: `["sent", GID, STEM]`, `["rang", GID]`, `["read",
 * GID, STEM]`.
 */
const [store = '', pause = '', sends = '', rings = '', reads = '', ...citizens] = process.argv.slice(2);
const places = computeGardenPlaces({ store, env: {}, home: store, cwd: store });
const signal = new AbortController().signal;
const say = (...fields: readonly string[]): void => console.log(JSON.stringify(fields));
const all = Number(sends);

/** Every so often one more of them, spread over all sends. */
const isDue = (n: number, count: number): boolean =>
  Math.floor((n * count) / all) > Math.floor(((n - 1) * count) / all);

for (let n = 1; n <= all; n += 1) {
  const gardenId = citizens[n % citizens.length] ?? '';
  const hand = handAt({ now: new Date(realClock.now()).toISOString(), sleep: realClock.sleep });
  say('sent', gardenId, enqueue(hand, places, gardenId, `message ${n}\n`).stem);
  if (isDue(n, Number(rings))) {
    doorbell(places, gardenId);
    say('rang', gardenId);
  }
  if (isDue(n, Number(reads))) {
    const { messages } = await drain(hand, places, gardenId, signal);
    for (const { stem } of messages) say('read', gardenId, stem);
  }
  await realClock.sleep(Number(pause), signal);
}
