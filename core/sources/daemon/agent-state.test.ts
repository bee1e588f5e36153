import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STATUS } from '../../../test/kit/daemon-link.ts';
import type { DaemonStatus } from '../../link/index.ts';
import { toAgentState, updateWaits, type Waits } from './source.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

const pending = (count: number, fresh = true): DaemonStatus['pending'] => ({ count, rev: 1, fresh });

/** In words, of a daemon that is connected and beats, but for `over`. */
function reported(over: Partial<DaemonStatus>, waits: Waits = { is: 'never' }): string {
  const status = { ...STATUS, pending: pending(0), ...over };
  const { is, why } = toAgentState(status, updateWaits(waits, status, NOW), NOW);
  return why === undefined ? is : `${is} ${why}`;
}

describe('what a daemon says of itself', () => {
  test('it lives as long as it is connected, beats, and nothing waits too long', () => {
    assert.equal(reported({}), 'live');
    assert.equal(reported({ drain_age_s: 86_400 }), 'live', 'nothing waits');
    assert.equal(reported({ pending: pending(3), drain_age_s: 599 }), 'live');
  });

  test('it is stalled when something waits, and for ten minutes nothing was fetched', () => {
    const over = { pending: pending(3), drain_age_s: 600 };
    assert.equal(reported(over), 'stalled drain-stalled');
    assert.equal(reported({ ...over, degraded: 'surface_unavailable' }), 'stalled drain-stalled');
    assert.equal(reported({ ...over, fsm: 'EMITTING' }), 'stalled drain-stalled');
  });

  test('what came just now is not stalled, however long ago the last was fetched', () => {
    const over = { pending: pending(1), drain_age_s: 86_400 };
    assert.equal(reported(over, { is: 'empty' }), 'live');
    assert.equal(reported(over, { is: 'since', at: NOW - 9 * MINUTE }), 'live');
    assert.equal(reported(over, { is: 'since', at: NOW - 10 * MINUTE }), 'stalled drain-stalled');
    assert.equal(
      reported({ ...over, drain_age_s: 1 }, { is: 'since', at: NOW - 10 * MINUTE }),
      'live',
      'some were fetched',
    );
  });

  test('a heart that does not beat is no stalled drain', () => {
    const over = { pending: pending(3), drain_age_s: 6000 };
    assert.equal(reported({ ...over, heartbeat_age_s: 121 }), 'unknown heartbeat-late');
    assert.equal(reported({ ...over, fsm: 'DISCONNECTED' }), 'unknown upstream-unreachable');
    assert.equal(reported({ ...over, fsm: 'RECONCILING' }), 'unknown reconciling');
    assert.equal(reported({ ...over, pending: pending(3, false) }), 'live', 'how many wait is not known');
  });

  test('what it is short of has its reason', () => {
    assert.equal(reported({ degraded: 'surface_unavailable' }), 'unknown surface-unavailable');
    assert.equal(reported({ taxonomy: 'failed' }), 'unknown daemon-failed');
    assert.equal(reported({ taxonomy: 'failed', fsm: 'DISCONNECTED' }), 'unknown daemon-failed');
  });
});

describe('since when something waits', () => {
  const at = (count: number, fresh?: boolean) => ({ pending: pending(count, fresh) });

  test('goes on until nothing waits', () => {
    const began = updateWaits({ is: 'empty' }, at(1), NOW);
    assert.deepEqual(began, { is: 'since', at: NOW });
    assert.deepEqual(updateWaits(began, at(5), NOW + MINUTE), began);
    assert.deepEqual(updateWaits(began, at(0), NOW + MINUTE), { is: 'empty' });
  });

  test('is not touched while the number is not known', () => {
    assert.deepEqual(updateWaits({ is: 'since', at: NOW }, at(0, false), NOW + MINUTE), { is: 'since', at: NOW });
    assert.deepEqual(updateWaits({ is: 'never' }, at(2, false), NOW), { is: 'never' });
  });
});
