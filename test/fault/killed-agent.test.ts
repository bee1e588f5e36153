import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKilledAgent } from '../kit/killed-agent.ts';

/** More at once than a hook shows. The bench `waiter` does the same with 10,000. */
const MESSAGES = 150;

test(`given ${MESSAGES} messages to an agent that is killed at random between turns, it misses none, sees none twice and wakes for each`, async (t) => {
  if (process.platform === 'win32') return;
  let seed = 20261130;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const { missed, shownTwice, wokenForNothing, ...rest } = await runKilledAgent({
    messages: MESSAGES,
    random,
    burst: 30,
  });
  t.diagnostic(JSON.stringify(rest));
  assert.deepEqual({ missed, shownTwice, wokenForNothing }, { missed: 0, shownTwice: 0, wokenForNothing: 0 });
  assert.ok(rest.wakes > 0);
});
