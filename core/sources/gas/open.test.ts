import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { fakeSupervisor, sendMail } from '../../../test/kit/fake-gas-city.ts';
import { fakeTown } from '../../../test/kit/fake-gas-town.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import type { Fact } from '../../board/index.ts';
import { exactly } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { SourceHost, WatchedHive } from '../module.ts';
import { findGasPlaces, openGas } from './open.ts';
import type { GasSettings } from './settings.ts';

const never = new AbortController().signal;

/** The source as the tray process opens it, with a host that writes down what it watches. */
function openRig(gas: GasSettings['gas'], env: SourceHost['env'] = {}) {
  const facts: Fact[] = [];
  const hives = new Map<string, WatchedHive>();
  const host = {
    ...{ env, disk: createRealDisk(silentLog), clock: createJumpingClock(realClock), log: silentLog },
    ...{ version: '0.0.0-test', stop: never, contentChars: 220 },
    put: (fact: Fact) => void facts.push(fact),
    watch(hive: WatchedHive) {
      hives.set(hive.source.id, hive);
      return { release: async () => void hives.delete(hive.source.id), leave: () => {} };
    },
  } as unknown as SourceHost; // nothing else of it is asked
  const source = openGas({ gas }, host);
  assert.ok(source !== null);
  const stop = new AbortController();
  const running = source.services?.[0]?.run(stop.signal);
  return {
    ...{ source, facts, hives, host },
    isWatched: (id: string) => hives.has(id),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test('each city that runs and the town are hives; one that the supervisor does not know any more is taken off', async () => {
  await using supervisor = await fakeSupervisor();
  using town = fakeTown();
  const city = supervisor.addCity('first', '/srv/first');
  city.sessions.push({ alias: 'mayor', id: 's-1', state: 'active' });
  supervisor.addCity('stopped').isRunning = false;
  sendMail(city, 'mayor', 'hello');
  town.send('gastown/crew/Joe', 'hello');
  await using rig = openRig({ is: 'auto', city: supervisor.url, town: town.dir }, town.env);
  await until('both', () => rig.isWatched('gas:first') && rig.isWatched('gas'));
  assert.deepEqual([...rig.hives.keys()], ['gas:first', 'gas']);
  const { source, identity, named } = rig.hives.get('gas:first') ?? assert.fail();
  const personas = await source.personas(never);
  assert.deepEqual(
    personas.map(({ id }) => id),
    ['gas-first-human', 'gas-first-mayor'],
  );
  assert.deepEqual((await source.poll(named('mayor'), { is: 'unset' }, never)).unread, exactly(1));
  assert.deepEqual(identity(named('mayor')), ['gas', 'mayor', 'first', '/srv/first']);
  assert.deepEqual(
    (await rig.hives.get('gas')?.source.personas(never))?.map(({ id }) => id),
    ['gas-overseer', 'gas-gastown.crew.Joe'],
  );
  const sessions = (id: string, hive: string) =>
    rig.source.findSessions?.({ id, source: hive, agent: 'live' }).map(({ resume, cwd }) => [resume, cwd]);
  assert.deepEqual(sessions('gas-first-mayor', 'gas:first'), [[['gc', 'session', 'attach', 'mayor'], '/srv/first']]);
  assert.deepEqual(sessions('gas-first-human', 'gas:first'), []);
  assert.deepEqual(sessions('gas-gastown.crew.Joe', 'gas'), [
    [['gt', 'crew', 'at', 'Joe', '--rig', 'gastown'], town.dir],
  ]);

  supervisor.cities.shift();
  rmSync(town.dir, { recursive: true });
  rig.source.poll?.();
  await until('neither', () => rig.hives.size === 0);
  assert.ok(rig.facts.some((fact) => fact.is === 'withdrawn' && fact.source === 'gas:first'));
});

test('where nobody listens and no town is nothing is shown, and a city that the settings name is missed', async () => {
  await using supervisor = await fakeSupervisor();
  using home = scratch();
  await supervisor.refuse();
  const gas = { is: 'auto', city: supervisor.url, town: home.at('none') } as const;
  await using rig = openRig(gas);
  await until('the fault', () => rig.facts.some((fact) => fact.is === 'source' && fact.fault !== null));
  assert.equal(rig.hives.size, 0);
  assert.deepEqual(
    (await findGasPlaces({ gas }, rig.host)).map(({ found }) => found),
    [null, null],
  );
  await supervisor.heal();
  supervisor.addCity('late');
  mkdirSync(home.at('none'));
  rig.source.poll?.();
  await until('it came', () => rig.isWatched('gas:late'));
  assert.equal(rig.facts.findLast(({ is }) => is === 'source')?.is, 'source');
  assert.equal(rig.isWatched('gas'), false, 'without bd no town is watched');
  assert.deepEqual(
    (await findGasPlaces({ gas }, rig.host)).map(({ found }) => found),
    ['a server', 'a town, but no program bd'],
  );
});

test('switched off it is nothing', () => {
  assert.equal(openGas({ gas: { is: 'off' } }, {} as SourceHost), null);
});
