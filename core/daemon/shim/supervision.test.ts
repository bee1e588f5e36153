import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RETRY_MS, type ShimInput, type ShimOrder, type Supervision, superviseShim, UNSUPERVISED } from '../shim.ts';

/** A shim by a clock of its own: each input comes `after` so many milliseconds. */
function supervised(chance = 0.5) {
  let state: Supervision = UNSUPERVISED;
  let at = 0;
  let pid = 100;
  const give = (input: Record<string, unknown> & { is: ShimInput['is'] }): ShimOrder => {
    const { next, order } = superviseShim(state, { at, chance, ...input } as ShimInput);
    assert.deepEqual(JSON.parse(JSON.stringify(next)), next, 'a state survives a JSON round trip');
    state = next;
    return order;
  };
  return {
    get state() {
      return state;
    },
    pass: (ms: number): void => {
      at += ms;
    },
    give,
    start: (): void => {
      give({ is: 'started', pid: ++pid });
    },
    /** It lives so long, ends, and is started after the wait that was asked for: the wait. */
    lives(ms: number): number {
      at += ms;
      const order = give({ is: 'ended' });
      assert.ok(order?.is === 'wait');
      at += order.ms;
      assert.deepEqual(give({ is: 'waited' }), { is: 'start' });
      give({ is: 'started', pid: ++pid });
      return order.ms;
    },
  };
}

describe('a shim that is kept running (persona daemon, contract 5)', () => {
  test('it starts at once, and the first start is no restart', () => {
    const shim = supervised();
    assert.deepEqual(shim.give({ is: 'waited' }), { is: 'start' });
    shim.start();
    assert.deepEqual([shim.state.state, shim.state.pid, shim.state.restarts], ['running', 101, 0]);
  });

  test('after each failure it waits longer: 1, 2, 4, 8, 16, 30 s, and no longer than that', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    const waits = Array.from({ length: 7 }, () => shim.lives(1000));
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert.equal(shim.state.restarts, 7);
  });

  test('the waits of two daemons differ by up to 20 %', () => {
    const [least, most] = [supervised(0), supervised(1)].map((shim) => {
      shim.give({ is: 'waited' });
      shim.start();
      return [shim.lives(0), shim.lives(0)];
    });
    assert.deepEqual(
      [least, most],
      [
        [800, 1600],
        [1200, 2400],
      ],
    );
  });

  test('60 s alive take it back to the foot of the ladder; a moment less does not', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    assert.deepEqual([shim.lives(0), shim.lives(59_999), shim.lives(60_000), shim.lives(0)], [1000, 2000, 1000, 2000]);
  });

  test('8 failures in 10 minutes: failed, tried every 5 minutes, until a run lasts', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    for (let n = 0; n < 7; n += 1) shim.lives(1000);
    assert.equal(shim.state.state, 'running');
    shim.pass(1000);
    assert.deepEqual(shim.give({ is: 'ended' }), { is: 'wait', ms: RETRY_MS });
    assert.equal(shim.state.state, 'failed');
    shim.pass(RETRY_MS);
    assert.deepEqual(shim.give({ is: 'waited' }), { is: 'start' });
    shim.start();
    assert.equal(shim.lives(1000), RETRY_MS);
    assert.equal(shim.lives(1000), RETRY_MS, 'also when the first eight are long ago');
    assert.equal(shim.lives(60_000), 1000);
  });

  test('7 failures in 10 minutes and one after them are not given up', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    for (let n = 0; n < 7; n += 1) shim.lives(0);
    shim.pass(10 * 60_000);
    shim.give({ is: 'ended' });
    assert.equal(shim.state.state, 'backoff');
  });

  test('two probes in a row without an answer end it; one between them that has one does not', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    const probed = (answered: boolean) => shim.give({ is: 'probed', answered });
    assert.deepEqual([probed(false), probed(true), probed(false)], [null, null, null]);
    assert.deepEqual(probed(false), { is: 'end' });
    assert.deepEqual(shim.give({ is: 'ended' }), { is: 'wait', ms: 1000 });
  });

  test('a surface that is back starts one that waits, and leaves one that runs alone', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    assert.equal(shim.give({ is: 'resumed' }), null);
    shim.give({ is: 'ended' });
    assert.deepEqual(shim.give({ is: 'resumed' }), { is: 'start' });
  });

  test('one that is stopped is ended, and nothing starts it again', () => {
    const shim = supervised();
    shim.give({ is: 'waited' });
    shim.start();
    assert.deepEqual(shim.give({ is: 'stopped' }), { is: 'end' });
    for (const is of ['ended', 'waited', 'resumed'] as const) assert.equal(shim.give({ is }), null);
    assert.equal(shim.state.state, 'none');
  });
});
