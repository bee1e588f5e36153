import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { openDecisions } from '../../core/inbox/decisions/index.ts';
import { openLocalHive } from '../../core/inbox/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { asks, says } from '../../test/kit/decisions.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { fakeMachine } from '../../test/kit/fake-machine.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { createDecisionsService } from './decisions-service.ts';

/** The service of the tray process on a clock that stands still, and the decisions as another process sees them. */
function openService() {
  const home = scratch();
  const clock = fakeClock();
  const db = openDatabase(':memory:');
  const local = openLocalHive({ db, clock, log: silentLog, contentChars: null });
  const stop = new AbortController();
  const machine = fakeMachine({ clock, disk: createRealDisk(silentLog), log: silentLog, stop: stop.signal });
  const board = createBoard();
  const dirs = { state: home.dir, config: home.dir };
  const service = createDecisionsService({ db, local, dirs, toPersonaId: (name) => name, board }, machine);
  const supervisor = supervise({ clock, log: silentLog, report: () => {} });
  supervisor.add(service);
  const gates = { open: () => {}, close: () => {}, waiting: () => {} };
  const other = openDecisions({
    ...{ db, items: local.items, gates, wake: () => {}, emit: () => {}, clock, log: silentLog },
  });
  return {
    ...{ service, other, clock, stop },
    async [Symbol.asyncDispose]() {
      await supervisor[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

test('given a wait, when this process closes the decision, or is told that another one did, it ends without a timer', async () => {
  await using rig = openService();
  const { api, wake, decisions } = rig.service;
  await rig.clock.advance(0);
  api.create(asks());
  await rig.clock.advance(0); // the round that the question set off is over
  const answered = api.wait(1, 60_000, rig.stop.signal);
  decisions.respond(1, says({ select: 'a' }));
  assert.equal((await answered).is, 'closed');
  api.create(asks());
  const answeredElsewhere = api.wait(2, 60_000, rig.stop.signal);
  rig.other.respond(2, says({ select: 'b' }));
  wake();
  assert.equal((await answeredElsewhere).is, 'closed');
});

test('given a decision that is asked over HTTP, it is closed when its time is over, although the service slept', async () => {
  await using rig = openService();
  const { api } = rig.service;
  await rig.clock.advance(0);
  api.create(asks({ forMs: 5000, fallback: 'a' }));
  await rig.clock.advance(5000);
  assert.equal(api.get(1)?.outcome.is, 'resolved');
});

test('given the id of a persona on the board, the decision is asked by its name in the local hive', async () => {
  await using rig = openService();
  assert.equal(rig.service.api.create(asks({ persona: 'local-ada' })).persona, 'ada');
});

test('given a wait, when it is stopped or its time is over, it ends with the open decision', async () => {
  await using rig = openService();
  const { api } = rig.service;
  api.create(asks());
  const limited = api.wait(1, 2000, rig.stop.signal);
  await rig.clock.advance(2000);
  assert.equal((await limited).is, 'limit');
  const stopped = api.wait(1, 60_000, rig.stop.signal);
  rig.stop.abort();
  assert.equal((await stopped).is, 'stopped');
});
