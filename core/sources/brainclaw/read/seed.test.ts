import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSeed, type Seed } from './sheet.ts';

const PLANS = [['in_progress', 2]] as const;
/** As `board_summary` answers, by the public source of brainclaw. */
const SUMMARY = {
  project_id: 'prj_1',
  agent: 'ada',
  current_host: 'here',
  attention_required: 4,
  in_progress: 3,
  plans: Object.fromEntries([...PLANS, ['todo', 5]]),
  traps: { high: 1, total: 9 },
  agents: 6,
  sessions: 2,
};

const SEED: Seed = {
  plans: 7,
  claims: 3,
  assignments: null,
  runs: null,
  actions: 4,
  agents: 6,
  sessions: 2,
  failedRuns: null,
};

describe('what a server of brainclaw answers for its board', () => {
  test('its numbers become a seed; what it does not say is not known', () => {
    assert.deepEqual(parseSeed(SUMMARY), SEED);
  });

  test('where what asks for a person comes in parts, the total counts', () => {
    const parts = { total: 11, pending_actions: 2, pending_human_candidates: 5, blocked_assignments: 1, stale_runs: 3 };
    const seed = parseSeed({ ...SUMMARY, attention_required: parts });
    assert.equal(seed?.actions, 11);
    assert.equal(seed?.failedRuns, 3);
  });

  test('what is no whole number from 0 on is not said', () => {
    for (const bad of [-1, 1.5, '3', null, Number.NaN, 1e12, [], {}]) {
      const seed = parseSeed({
        ...SUMMARY,
        agents: bad,
        attention_required: bad,
        plans: Object.fromEntries([
          ['in_progress', bad],
          ['todo', 1],
        ]),
      });
      assert.equal(seed?.agents, null, String(bad));
      assert.equal(seed?.actions, null, String(bad));
      assert.equal(seed?.plans, 1, String(bad));
    }
  });

  test('what says none of the numbers is no seed', () => {
    for (const answer of [null, undefined, 'x', [], {}, { plans: [] }, { text: 'not found' }])
      assert.equal(parseSeed(answer), null);
  });
});
