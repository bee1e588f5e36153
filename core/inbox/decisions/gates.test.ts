import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, decisionRig, says } from '../../../test/kit/decisions.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { type Clock, realClock, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk, openDatabase } from '../../state/index.ts';
import {
  BUILT_INS,
  type CheckRequest,
  createGatesForDecisions,
  DECISION,
  findTerminal,
  openGates,
} from '../gates/index.ts';
import { openItems } from '../index.ts';
import { createOpenDecisionLookup, openDecisions } from './index.ts';

/** The real stores of gates and items, in a directory of their own. */
function rig(state: string, clock: Pick<Clock, 'now'> = realClock) {
  const db = openDatabase(`${state}/hivebar.sqlite`);
  const git = async () => ({ is: 'failed', why: 'not asked' }) as const;
  const disk = createRealDisk(silentLog);
  const store = openGates({
    disk,
    random: realRandom,
    clock: realClock,
    state,
    items: null,
    git,
    findOpenDecisions: createOpenDecisionLookup(db, clock),
  });
  const gates = createGatesForDecisions(store);
  const items = openItems({ db, clock: realClock });
  const plain = { wake: () => {}, emit: () => {}, clock: realClock, log: silentLog };
  const decisions = openDecisions({ db, items, gates, ...plain });
  const stop = async (): Promise<string> => {
    const asker = { session: 's', terminal: findTerminal({}), cwd: state, env: {} };
    const plainly = { soft: false, also: '', call: null, by: 'hook' } as const;
    const turn = { hook: 'Stop', stopHookActive: false, apiError: false, ...plainly } as const;
    const request: CheckRequest = { persona: 'ada', ...asker, ...turn };
    store.beginTurn('ada', 's');
    return (await store.check(request)).decision;
  };
  const reason = async (): Promise<string> => {
    const asker = { session: 's2', terminal: findTerminal({}), cwd: state, env: {} };
    const plainly = { soft: false, also: '', call: null, by: 'hook' } as const;
    const turn = { hook: 'Stop', stopHookActive: false, apiError: false, ...plainly } as const;
    return (await store.check({ persona: 'ada', ...asker, ...turn })).reason;
  };
  const holdAlways = (): void => {
    const own = BUILT_INS.find(({ id }) => id === DECISION);
    assert.ok(own !== undefined);
    store.register('ada', own);
  };
  return { db, store, gates, items, decisions, stop, reason, holdAlways };
}

test('who asked may not stop until it is answered, by whoever, or taken back; who asked nothing may', async () => {
  using dir = scratch();
  const { db, store, decisions, stop, reason } = rig(dir.dir);
  using _ = db;
  assert.equal(await stop(), 'allow');
  decisions.create(asks());
  decisions.create(asks({ prompt: 'And then?' }));
  decisions.create(asks({ persona: 'bo' }));
  assert.equal(await reason(), 'decision: decision 1 ("Which way?") is not answered, nor 2 (hivebar decision wait 1)');
  decisions.respond(1, says({ select: 'a' }));
  assert.match(await reason(), /^decision: decision 2 \("And then\?"\) is not answered \(hivebar decision wait 2\)$/);
  decisions.cancel(2, 'ada', null);
  assert.deepEqual([await stop(), await stop()], ['allow', 'allow']);
  assert.equal(store.find('ada', DECISION)?.mark ?? null, null);
  assert.deepEqual(
    store.open('bo').map(({ gate }) => gate.id),
    [DECISION],
  );
});

test('guidance is no answer: the question that goes on from it holds', async () => {
  using dir = scratch();
  const { db, decisions, reason } = rig(dir.dir);
  using _ = db;
  decisions.create(asks());
  decisions.respond(1, says({ text: 'a third way?' }));
  assert.match(await reason(), /^decision: decision 2 /);
});

test('with the gate registered a persona may stop while it waits, and once after the answer of somebody else', async () => {
  using dir = scratch();
  const { db, gates, decisions, stop, items, holdAlways } = rig(dir.dir);
  using _ = db;
  holdAlways();
  assert.equal(await stop(), 'block');
  decisions.create(asks());
  assert.equal(await stop(), 'block');
  gates.waiting('ada', true);
  assert.equal(await stop(), 'allow');
  gates.waiting('ada', false);
  assert.equal(await stop(), 'block');
  decisions.respond(1, says({ select: 'a' }));
  assert.equal(await stop(), 'allow');
  assert.equal(await stop(), 'block', 'an answer is good for one stop');
  assert.deepEqual(
    items.list('ada', 'pending', 9).map(({ type, source, dedupKey }) => [type, source, dedupKey]),
    [['decision', 'operator', 'hivebar:decision:1']],
    'it is told once, by the decision',
  );
});

test('with the gate registered a new question takes back the answer to the one before, and its own answer is none', async () => {
  using dir = scratch();
  const { db, store, decisions, stop, holdAlways } = rig(dir.dir);
  using _ = db;
  holdAlways();
  decisions.create(asks());
  decisions.respond(1, says({ select: 'a' }));
  assert.equal(store.find('ada', DECISION)?.mark?.by, 'decision');
  decisions.create(asks());
  assert.equal(await stop(), 'block');
  decisions.respond(2, says({ select: 'a', by: 'ada' }));
  assert.equal(await stop(), 'block');
});

test('a decision that nobody answered in time lets the persona stop', async () => {
  using dir = scratch();
  using time = decisionRig();
  const { db, gates, items, stop, store, holdAlways } = rig(dir.dir, time.clock);
  using _ = db;
  const plain = { wake: () => {}, emit: () => {}, clock: time.clock, log: silentLog };
  const decisions = openDecisions({ db, items, gates, ...plain });
  decisions.create(asks({ forMs: 60_000 }));
  assert.equal(await stop(), 'block');
  time.clock.setBy(59_999);
  assert.equal(await stop(), 'block');
  time.clock.setBy(1);
  assert.equal(await stop(), 'allow', 'over, and nobody closed it yet');
  holdAlways();
  decisions.reconcile();
  assert.equal(store.find('ada', DECISION)?.mark?.by, 'decision');
  assert.equal(await stop(), 'allow');
  assert.equal(await stop(), 'block');
});
