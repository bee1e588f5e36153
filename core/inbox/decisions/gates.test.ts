import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, decisionRig, says } from '../../../test/kit/decisions.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realClock, realRandom, silentLog } from '../../ports/index.ts';
import { openDatabase, realDisk } from '../../state/index.ts';
import { type CheckRequest, DECISION, gatesForDecisions, openGates, terminalOf } from '../gates/index.ts';
import { openItems } from '../index.ts';
import { openDecisions } from './index.ts';

/** The real stores of gates and items, in a directory of their own. */
function rig(state: string) {
  const db = openDatabase(`${state}/hivebar.sqlite`);
  const git = async () => ({ is: 'failed', why: 'not asked' }) as const;
  const disk = realDisk(silentLog);
  const store = openGates({ disk, random: realRandom, clock: realClock, state, items: null, git });
  const gates = gatesForDecisions(store);
  const items = openItems({ db, clock: realClock });
  const plain = { wake: () => {}, emit: () => {}, clock: realClock, log: silentLog };
  const decisions = openDecisions({ db, items, gates, ...plain });
  const stop = async (): Promise<string> => {
    const asker = { session: 's', terminal: terminalOf({}), cwd: state, env: {} };
    const turn = { hook: 'Stop', stopHookActive: false, apiError: false, soft: false, also: '' } as const;
    const request: CheckRequest = { persona: 'ada', ...asker, ...turn };
    store.beginTurn('ada', 's');
    return (await store.check(request)).decision;
  };
  return { db, store, gates, items, decisions, stop };
}

test('a persona may stop while it waits, and once after the answer of somebody else', async () => {
  using dir = scratch();
  const { db, gates, decisions, stop, items } = rig(dir.dir);
  using _ = db;
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
    [['decision', 'operator', 'decision:1']],
    'it is told once, by the decision',
  );
});

test('a new question takes back the answer to the one before, and its own answer is none', async () => {
  using dir = scratch();
  const { db, store, decisions, stop } = rig(dir.dir);
  using _ = db;
  decisions.create(asks());
  decisions.respond(1, says({ select: 'a' }));
  assert.equal(store.one('ada', DECISION)?.mark?.by, 'decision');
  decisions.create(asks());
  assert.equal(await stop(), 'block');
  decisions.respond(2, says({ select: 'a', by: 'ada' }));
  assert.equal(await stop(), 'block');
});

test('a decision that nobody answered in time lets the persona stop', async () => {
  using dir = scratch();
  const { db, gates, items, stop } = rig(dir.dir);
  using _ = db;
  using time = decisionRig();
  const plain = { wake: () => {}, emit: () => {}, clock: time.clock, log: silentLog };
  const decisions = openDecisions({ db, items, gates, ...plain });
  decisions.create(asks({ forMs: 60_000 }));
  assert.equal(await stop(), 'block');
  time.clock.setBy(60_000);
  decisions.reconcile();
  assert.equal(await stop(), 'allow');
});
