import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { NO_NATS_SERVER } from '../../../test/kit/nats-server.ts';
import { relayRig } from '../../../test/kit/relay-rig.ts';
import { needs } from '../../../test/kit/require.ts';
import { keyHere, keyOnTheWay } from './keys.ts';

const machine = fc.constantFrom('a1', 'b2');
const key = fc.oneof(
  fc.nat().map((id) => `decision:${id}`),
  fc.string(),
  fc.tuple(fc.nat(), machine).map(([id, name]) => `decision:${id}@${name}`),
  fc.constantFrom('decision:hq-abc123', 'gate:tests:ada:1', 'decision:', 'x@a1', 'decision:7x'),
);

describe('keys on the way', () => {
  test('property: a key comes home as it was, and no two of different machines meet but those that are the same everywhere', () => {
    fc.assert(
      fc.property(key, machine, machine, (one, from, to) => {
        const sent = keyOnTheWay({ type: 'decision', dedupKey: one }, from);
        assert.equal(keyHere(sent, from), one.endsWith(`@${from}`) ? keyHere(one, from) : one);
        if (from !== to && /^decision:\d+$/.test(one)) assert.notEqual(keyHere(sent, to), one);
        // What came from elsewhere and is sent on, since the marks are lost, is still the same.
        assert.equal(keyOnTheWay({ type: 'decision', dedupKey: keyHere(sent, to) }, to), sent);
        assert.equal(keyOnTheWay({ type: 'event', dedupKey: one }, from), one);
      }),
    );
  });
});

test('the answers to decisions of the same number reach who asked, on each machine, also of one persona on both', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  const a = rig.machine('a', ['ada', 'bo']);
  const b = rig.machine('b', ['ada', 'bo']);
  a.relay();
  b.relay();
  await Promise.all([a.says('ok'), b.says('ok')]);
  const answer = (name: string, content: string) =>
    ({ to: { is: 'persona', name }, type: 'decision', content, dedupKey: 'decision:1' }) as const;
  a.push(answer('ada', 'the first of a'));
  await b.has('ada', 1);
  b.push(answer('ada', 'the first of b'));
  await a.has('ada', 2);
  assert.deepEqual(a.texts('ada').toSorted(), ['the first of a', 'the first of b']);
  assert.deepEqual(b.texts('ada').toSorted(), ['the first of a', 'the first of b']);
  const keys = [a, b].map(({ all }) => all('ada').filter(({ dedupKey }) => dedupKey === 'decision:1').length);
  assert.deepEqual(keys, [1, 1]);
});
