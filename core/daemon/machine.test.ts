import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrivenDaemon } from '../../test/kit/daemon-machine.ts';
import type { DaemonEffect } from './index.ts';

const kinds = (effects: readonly DaemonEffect[]): readonly string[] => effects.map(({ is }) => is);
const again = { retryAfterMs: null };

describe('DISCONNECTED (contract 3)', () => {
  test('timer: opens a stream, once, and stays', () => {
    const daemon = new DrivenDaemon();
    assert.deepEqual(daemon.tell({ is: 'tick' }), [{ is: 'open', conn: 1 }]);
    assert.deepEqual(daemon.tell({ is: 'tick' }), []);
    assert.equal(daemon.state.fsm, 'DISCONNECTED');
    assert.deepEqual(daemon.state.transitions, []);
  });

  test('timer: not once it was stopped', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    daemon.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 5_000 });
    assert.deepEqual(daemon.pass(400_000), []);
  });

  test('welcome: asks what is pending', () => {
    const daemon = new DrivenDaemon().welcome();
    assert.deepEqual(kinds(daemon.effects), ['moved', 'peek']);
    assert.equal(daemon.state.fsm, 'RECONCILING');
  });

  test('welcome of another persona: stops with 78', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    const effects = daemon.tell({
      ...{ is: 'welcome', conn: daemon.conn, registration: 'r', heartbeatMs: 1, rev: 1 },
      ...{ tenant: 't', identity: 'bo' },
    });
    assert.deepEqual(kinds(effects), ['error', 'stop']);
    assert.equal(daemon.state.stopping?.exit, 78);
    assert.equal(daemon.state.fsm, 'DISCONNECTED');
    assert.equal(daemon.state.lastError, 'config_invalid');
  });

  test('no welcome within 15 s: ends it and tries again', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    assert.deepEqual(kinds(daemon.silence(14_000)), []);
    assert.deepEqual(kinds(daemon.silence(1_000)), ['error', 'terminate']);
    assert.equal(daemon.state.lastError, 'ws_connect_failed');
    assert.deepEqual(daemon.silence(1_000), [{ is: 'open', conn: 2 }]);
  });

  test('a boundary is answered that it is disconnected', () => {
    assert.deepEqual(new DrivenDaemon().turnBoundary('Stop', '1'), { emitted: false, why: 'disconnected' });
  });
});

describe('RECONCILING (contract 3)', () => {
  test('peek ok: knows what is pending, begins its heartbeat', () => {
    const daemon = new DrivenDaemon().welcome().peeked(3, 7);
    assert.deepEqual(kinds(daemon.effects), ['moved', 'heartbeat']);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 7, count: 3, oldest: null });
    assert.deepEqual(daemon.moves, ['DISCONNECTED>RECONCILING', 'RECONCILING>CONNECTED']);
  });

  test('peek fails: asked again after 1, 2, 4 .. 30 s, the stream kept', () => {
    const daemon = new DrivenDaemon().welcome();
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      assert.deepEqual(kinds(daemon.tell({ is: 'peek_failed', peek: daemon.peekId })), ['error']);
      assert.equal(daemon.state.lastError, 'pending_reconcile_failed');
      assert.deepEqual(kinds(daemon.pass(seconds * 1_000 - 1)), []);
      assert.deepEqual(kinds(daemon.pass(1)), ['peek']);
      assert.equal(daemon.state.fsm, 'RECONCILING');
    }
    assert.equal(daemon.state.errors.pending_reconcile_failed.count, 7);
    assert.equal(daemon.conn, 1);
    assert.equal(daemon.peeked(0).state.fsm, 'CONNECTED');
  });

  test('a peek that failed begins at 1 s again after one that did not', () => {
    const daemon = new DrivenDaemon().welcome();
    daemon.tell({ is: 'peek_failed', peek: daemon.peekId });
    daemon.pass(1_000);
    daemon.peeked(0);
    daemon.changed(2);
    daemon.tell({ is: 'peek_failed', peek: daemon.peekId });
    assert.deepEqual(kinds(daemon.pass(1_000)), ['peek']);
  });

  test('a peek not answered in 10 s fails, and its late answer is nothing', () => {
    const daemon = new DrivenDaemon().welcome();
    const late = daemon.peekId;
    assert.deepEqual(kinds(daemon.pass(9_999)), []);
    assert.deepEqual(kinds(daemon.pass(1)), ['drop_peek', 'error']);
    daemon.tell({ is: 'peeked', peek: late, rev: 1, count: 0, oldest: null });
    assert.equal(daemon.state.fsm, 'RECONCILING');
  });

  test('a revision under the one it was welcomed with fails', () => {
    const daemon = new DrivenDaemon().welcome(5).peeked(1, 4);
    assert.equal(daemon.state.fsm, 'RECONCILING');
    assert.equal(daemon.state.lastError, 'pending_reconcile_failed');
    assert.equal(daemon.state.index, null);
  });

  test('a revision that stays back ends the stream, and the next registration begins anew', () => {
    const daemon = new DrivenDaemon().welcome(5);
    for (const seconds of [1, 2, 4, 8]) {
      daemon.peeked(1, 4);
      daemon.pass(seconds * 1_000);
    }
    daemon.peeked(1, 4);
    assert.ok(kinds(daemon.effects).includes('terminate'));
    daemon.pass(1_000);
    assert.equal(daemon.welcome(4).peeked(1, 4).state.fsm, 'CONNECTED');
  });

  test('pending_changed: asks again after the first, and is reconciled by the second', () => {
    const daemon = new DrivenDaemon().welcome();
    assert.deepEqual(daemon.changed(2), []);
    daemon.peeked(0, 1);
    assert.deepEqual(kinds(daemon.effects), ['peek']);
    assert.equal(daemon.state.fsm, 'RECONCILING');
    daemon.peeked(1, 2);
    assert.equal(daemon.state.fsm, 'CONNECTED');
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 2, count: 1, oldest: null });
  });

  test('pending_changed without an end: reconciled by the second peek all the same, and asked on', () => {
    const daemon = new DrivenDaemon().welcome();
    daemon.changed(2);
    daemon.peeked(1, 2);
    daemon.changed(3);
    daemon.peeked(1, 2);
    assert.deepEqual(kinds(daemon.effects), ['moved', 'peek', 'heartbeat']);
    assert.deepEqual(daemon.state.index, { is: 'guess', rev: 3, count: 1, oldest: null });
    daemon.peeked(2, 3);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 3, count: 2, oldest: null });
  });

  test('boundary: answered that it is reconciling', () => {
    assert.deepEqual(new DrivenDaemon().welcome().turnBoundary('Stop', '1'), { emitted: false, why: 'reconciling' });
  });
});

describe('CONNECTED (contract 3)', () => {
  test('pending_changed: something waits, at once, and one peek says how much, however many came', () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(kinds(daemon.changed(2)), ['peek']);
    assert.deepEqual(daemon.state.index, { is: 'guess', rev: 2, count: 1, oldest: null });
    for (let rev = 3; rev <= 12; rev += 1) assert.deepEqual(daemon.changed(rev), []);
    daemon.peeked(5, 6);
    assert.deepEqual(kinds(daemon.effects), ['peek']);
    assert.deepEqual(
      daemon.state.index,
      { is: 'guess', rev: 12, count: 1, oldest: null },
      'an answer that is overtaken says nothing',
    );
    daemon.peeked(11, 12);
    assert.deepEqual(daemon.effects, []);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 12, count: 11, oldest: null });
    assert.equal(daemon.state.fsm, 'CONNECTED');
  });

  test('pending_changed of what a peek has seen: nothing', () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(daemon.changed(1), []);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 1, count: 0, oldest: null });
  });

  test('pending_changed with a revision that went back: counted, not believed, asked', () => {
    const daemon = new DrivenDaemon().welcome(5).peeked(0, 5);
    assert.deepEqual(kinds(daemon.changed(4)), ['error', 'peek']);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 5, count: 0, oldest: null });
    assert.equal(daemon.state.lastError, 'pending_reconcile_failed');
  });

  test('pending_changed that a peek was ahead of: late, and no failure', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.changed(2);
    daemon.peeked(4, 5);
    assert.deepEqual([...daemon.changed(3), ...daemon.changed(4), ...daemon.changed(5)], []);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 5, count: 4, oldest: null });
    assert.deepEqual(kinds(daemon.changed(6)), ['peek']);
    assert.deepEqual(kinds(daemon.changed(5)), ['error'], 'the stream itself never goes back');
  });

  test('drained: nothing is outstanding, the time is kept', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.turnBoundary('Stop', '1');
    daemon.accepted();
    assert.equal(daemon.state.outstanding?.rev, 1);
    daemon.pass(3_000);
    assert.deepEqual(daemon.drained(2, 0), []);
    assert.equal(daemon.state.outstanding, null);
    assert.equal(daemon.state.drained?.mono, 3_000);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 2, count: 0, oldest: null });
  });

  test('drained, older than what is known: its number is a guess, and a peek says', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.turnBoundary('Stop', '1');
    daemon.accepted();
    daemon.changed(3);
    daemon.peeked(3, 3);
    assert.deepEqual(kinds(daemon.drained(2, 0)), ['peek']);
    assert.equal(daemon.state.outstanding, null);
    assert.equal(daemon.state.index?.is, 'guess');
    assert.equal(daemon.peeked(1, 4).state.index?.count, 1);
  });

  test('a peek that was overtaken by a drain is not believed', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.changed(2);
    daemon.drained(3, 0);
    daemon.peeked(3, 2);
    assert.equal(daemon.state.index?.count, 0);
    assert.deepEqual(kinds(daemon.effects), ['peek']);
  });

  test('a peek of nothing: what was rung for was drained, though nobody said so', () => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('Stop', '1');
    daemon.accepted();
    daemon.changed(2);
    daemon.peeked(0, 2);
    assert.equal(daemon.state.outstanding, null);
    assert.notEqual(daemon.state.drained, null);
  });

  test('boundary: rings when something waits', () => {
    const daemon = new DrivenDaemon().connected(12);
    assert.equal(daemon.turnBoundary('Stop', '1'), null, 'not answered before the surface took it');
    assert.deepEqual(kinds(daemon.effects), ['moved', 'ring']);
    assert.equal(daemon.state.fsm, 'EMITTING');
    assert.equal(daemon.state.outstanding?.rev, 1);
  });

  test('boundary: nothing_pending, outstanding, duplicate_boundary', () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(daemon.turnBoundary('Stop', '1'), { emitted: false, why: 'nothing_pending' });
    daemon.changed(2);
    daemon.turnBoundary('Stop', '1');
    assert.deepEqual(daemon.accepted(), { emitted: true, why: 'rung' });
    assert.deepEqual(daemon.turnBoundary('UserPromptSubmit', '2'), { emitted: false, why: 'outstanding' });
    daemon.drained(3, 1);
    assert.deepEqual(daemon.turnBoundary('Stop', '1'), { emitted: false, why: 'duplicate_boundary' });
  });
});

describe('EMITTING (contract 3)', () => {
  const emitting = (): DrivenDaemon => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('Stop', '1');
    return daemon;
  };

  test('accepted: exactly one notify', () => {
    const daemon = emitting();
    assert.equal(daemon.count('ring'), 1);
    assert.deepEqual(daemon.accepted(), { emitted: true, why: 'rung' });
    assert.equal(daemon.state.fsm, 'CONNECTED');
    assert.equal(daemon.count('ring'), 0);
    assert.equal(daemon.state.index?.count, 1, 'accepted is not drained');
  });

  test('failed: not outstanding, and it stays pending', () => {
    const daemon = emitting();
    assert.deepEqual(daemon.rejected(), { emitted: false, why: 'surface_inject_failed' });
    assert.equal(daemon.state.fsm, 'CONNECTED');
    assert.equal(daemon.state.outstanding, null);
    assert.equal(daemon.state.index?.count, 1);
    assert.equal(daemon.state.lastError, 'surface_inject_failed');
    daemon.turnBoundary('Stop', '2');
    assert.equal(daemon.count('ring'), 1);
  });

  test('2 s without an answer: failed, and a late one is nothing', () => {
    const daemon = emitting();
    const late = daemon.state.ring?.id ?? -1;
    daemon.pass(1_999);
    assert.equal(daemon.state.fsm, 'EMITTING');
    assert.deepEqual(kinds(daemon.pass(1)), ['error', 'moved', 'answer']);
    assert.equal(daemon.state.outstanding, null);
    assert.deepEqual(daemon.tell({ is: 'accepted', ring: late }), []);
  });

  test('a boundary meanwhile: emitting', () => {
    assert.deepEqual(emitting().turnBoundary('Stop', '2'), { emitted: false, why: 'emitting' });
  });

  test('drained before the surface answered: nothing is outstanding afterwards', () => {
    const daemon = emitting();
    daemon.drained(2, 0);
    assert.deepEqual(daemon.accepted(), { emitted: true, why: 'rung' });
    assert.equal(daemon.state.outstanding, null);
  });
});

describe('any state (contract 3)', () => {
  const states: readonly (readonly [string, () => DrivenDaemon])[] = [
    ['RECONCILING', () => new DrivenDaemon().welcome()],
    ['CONNECTED', () => new DrivenDaemon().connected(1)],
    [
      'EMITTING',
      () => {
        const daemon = new DrivenDaemon().connected(1);
        daemon.turnBoundary('Stop', '1');
        return daemon;
      },
    ],
  ];
  for (const [fsm, make] of states) {
    test(`${fsm}, closed: nothing is known, what was rung stays rung`, () => {
      const daemon = make();
      const { outstanding } = daemon.state;
      daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, ...again });
      assert.equal(daemon.state.fsm, 'DISCONNECTED');
      assert.notEqual(daemon.state.index?.is, 'fresh');
      assert.deepEqual(daemon.state.outstanding, outstanding);
      assert.equal(daemon.state.outstanding !== null, fsm === 'EMITTING');
    });

    test(`${fsm}, 45 s of silence: stalled`, () => {
      const daemon = make();
      const conn = daemon.conn;
      daemon.silence(44_000);
      assert.notEqual(daemon.state.fsm, 'DISCONNECTED');
      assert.deepEqual(
        daemon.silence(1_000).filter(({ is }) => is === 'terminate'),
        [{ is: 'terminate', conn }],
      );
      assert.equal(daemon.state.fsm, 'DISCONNECTED');
      assert.equal(daemon.state.lastError, 'ws_stream_stalled');
    });

    test(`${fsm}, woke from sleep: told first thing, by whatever is told`, () => {
      const daemon = make();
      daemon.mono += 20_001;
      assert.equal(daemon.turnBoundary('UserPromptSubmit', '9')?.why, 'disconnected');
      assert.equal(daemon.state.fsm, 'DISCONNECTED');
    });

    test(`${fsm}, a timer that is late by less is no sleep`, () => {
      const daemon = make();
      daemon.mono += 19_999;
      daemon.tell({ is: 'tick' });
      assert.notEqual(daemon.state.fsm, 'DISCONNECTED');
    });

    test(`${fsm}, a frame too large or no JSON: stalled`, () => {
      const daemon = make();
      daemon.tell({ is: 'garbled', conn: daemon.conn });
      assert.equal(daemon.state.fsm, 'DISCONNECTED');
      assert.equal(daemon.state.lastError, 'ws_stream_stalled');
    });

    for (const verb of ['wrap', 'archive', 'destroy'] as const) {
      test(`${fsm}, ${verb}: stops with 0 inside 5 s`, () => {
        const daemon = make();
        const effects = daemon.tell({ is: 'lifecycle', conn: daemon.conn, verb });
        assert.deepEqual(effects.at(-1), { is: 'stop', exit: 0, reason: verb, deadlineMs: 5_000 });
        assert.equal(daemon.state.fsm, 'DISCONNECTED');
      });
    }

    test(`${fsm}, shutdown: stops with 0 inside 5 s whatever was asked, and once`, () => {
      const daemon = make();
      const effects = daemon.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 60_000 });
      assert.deepEqual(effects.at(-1), { is: 'stop', exit: 0, reason: 'asked', deadlineMs: 5_000 });
      assert.deepEqual(daemon.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 1 }), []);
      assert.deepEqual(daemon.turnBoundary('Stop', '9'), { emitted: false, why: 'stopping' });
      assert.deepEqual(daemon.operator(), { emitted: false, why: 'stopping' });
    });

    test(`${fsm}, what an old connection says is nothing`, () => {
      const daemon = make();
      const { state } = daemon;
      const conn = daemon.conn - 1;
      daemon.tell({ is: 'pending_changed', conn, rev: 99 });
      daemon.tell({ is: 'drained', conn, rev: 99, remaining: 0 });
      daemon.tell({ is: 'lifecycle', conn, verb: 'destroy' });
      daemon.tell({ is: 'closed', conn, code: 4403, ...again });
      daemon.tell({ is: 'garbled', conn });
      daemon.tell({ is: 'accepted', ring: 99 });
      daemon.tell({ is: 'peeked', peek: 99, rev: 99, count: 99, oldest: null });
      assert.deepEqual(daemon.state, state);
    });
  }

  test('a doorbell that was in flight when it was stopped is still answered', () => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('Stop', '1');
    daemon.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 5_000 });
    assert.deepEqual(daemon.accepted(), { emitted: true, why: 'rung' });
  });

  test('the last 64 transitions are kept', () => {
    const daemon = new DrivenDaemon();
    for (let n = 0; n < 40; n += 1) {
      daemon.connected(0);
      daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, ...again });
      daemon.silence(60_000);
    }
    assert.equal(daemon.state.transitions.length, 64);
    assert.deepEqual(daemon.state.transitions.at(-1), {
      ...{ at: daemon.state.transitions.at(-1)?.at, from: 'CONNECTED', to: 'DISCONNECTED', why: 'closed 1006' },
    });
  });
});

describe('what is lost with the index', () => {
  test('persona daemon check 7: at any moment a peek, and nothing else', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.state = { ...daemon.state, index: null, outstanding: null };
    assert.deepEqual(daemon.turnBoundary('Stop', '1'), { emitted: false, why: 'reconciling' });
    assert.equal(daemon.count('peek'), 1);
    daemon.peeked(2);
    daemon.turnBoundary('Stop', '2');
    daemon.state = { ...daemon.state, index: null, outstanding: null };
    assert.deepEqual(daemon.accepted(), { emitted: true, why: 'rung' });
    daemon.peeked(2);
    assert.deepEqual(daemon.state.index, { is: 'fresh', rev: 1, count: 2, oldest: null });
    assert.deepEqual(
      daemon.turnBoundary('Stop', '2'),
      { emitted: false, why: 'duplicate_boundary' },
      'the boundary is spent',
    );
  });
});

describe('heartbeats (contract 2 and 6)', () => {
  const beats = (effects: readonly DaemonEffect[]): readonly number[] =>
    effects.flatMap((effect) => (effect.is === 'heartbeat' ? [effect.seq] : []));

  test('one each interval, counted through, also over connections', () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(beats(daemon.effects), [1]);
    daemon.tell({ is: 'heartbeat_sent', conn: daemon.conn, seq: 1 });
    assert.deepEqual(beats(daemon.pass(29_000)), []);
    assert.deepEqual(beats(daemon.pass(1_000)), [2]);
    daemon.tell({ is: 'heartbeat_sent', conn: daemon.conn, seq: 2 });
    assert.equal(daemon.state.heartbeat.sentMono, 30_000);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, ...again });
    assert.deepEqual(beats(daemon.pass(1_000)), []);
    daemon.connected(0);
    assert.deepEqual(beats(daemon.effects), [3]);
  });

  test('one that was sent is no sign of life of the upstream', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.silence(30_000);
    daemon.tell({ is: 'heartbeat_sent', conn: daemon.conn, seq: daemon.state.heartbeat.seq });
    daemon.silence(15_000);
    assert.equal(daemon.state.lastError, 'ws_stream_stalled');
  });

  test('a send that fails is counted, and the next one is tried', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.tell({ is: 'heartbeat_failed', conn: daemon.conn });
    assert.equal(daemon.state.lastError, 'heartbeat_publish_failed');
    assert.deepEqual(beats(daemon.pass(30_000)), [2]);
  });

  test('no progress in two intervals is counted, and nothing is put behind what is stuck', () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(beats(daemon.pass(59_000)), []);
    assert.equal(daemon.state.lastError, null);
    daemon.pass(1_000);
    assert.equal(daemon.state.errors.heartbeat_publish_failed.count, 1);
    daemon.pass(60_000);
    assert.equal(daemon.state.errors.heartbeat_publish_failed.count, 2);
  });

  test('an upstream that wants one each 0 ms does not get that', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    daemon.tell({
      ...{ is: 'welcome', conn: daemon.conn, registration: 'r', heartbeatMs: 0, rev: 1 },
      ...{ tenant: null, identity: null },
    });
    assert.ok(daemon.state.link.is === 'up' && daemon.state.link.heartbeatMs >= 50);
  });
});

test('what failed beside the machine is counted in it', () => {
  const daemon = new DrivenDaemon();
  daemon.tell({ is: 'failed', error: 'ipc_auth_failed' });
  assert.equal(daemon.state.errors.ipc_auth_failed.count, 1);
  assert.equal(daemon.state.lastError, 'ipc_auth_failed');
});
