import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_NATS_SERVER } from '../../../test/kit/nats-server.ts';
import { relayRig } from '../../../test/kit/relay-rig.ts';
import { needs } from '../../../test/kit/require.ts';
import { until } from '../../../test/kit/until.ts';
import { exactly } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { openLocalHive } from '../index.ts';

test('C11 given each machine announces who lives there, mail to others is sent mail, until they live here or nowhere', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  const living = { a: ['ada'], b: [] as string[] };
  const a = rig.machine('a', ['ada'], { residents: () => living.a });
  const b = rig.machine('b', ['bo'], { residents: () => living.b });
  a.push({ to: { is: 'persona', name: 'bo' }, content: 'before', priority: 0 });
  const unread = () => {
    using hive = openLocalHive({ db: a.db, clock: realClock, log: silentLog, contentChars: 0 });
    const { unread: count, urgent } = hive.window('bo', null, new AbortController().signal);
    return [count, urgent, hive.personas().map(({ name }) => name), hive.elsewhere.has('bo')];
  };
  a.relay();
  b.relay();
  await Promise.all([a.says('ok'), b.says('ok')]);
  assert.deepEqual(unread(), [exactly(1), exactly(1), ['bo'], false], 'nobody said where bo lives, so it waits here');
  living.b = ['bo', 'ada'];
  const isAway = () => unread().at(-1) === true;
  await until('a knows that bo lives on b', isAway, 30_000);
  a.push({ to: { is: 'persona', name: 'bo' }, content: 'after' });
  assert.deepEqual(unread(), [exactly(0), exactly(0), [], true]);
  await b.has('bo', 2);
  assert.equal(a.items.pending('bo', null)[0], 1, 'nothing of it is gone');
  living.a = ['ada', 'bo'];
  await until('bo lives here as well', () => !isAway(), 30_000);
  assert.deepEqual(unread().slice(0, 2), [exactly(2), exactly(1)]);
});
