import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrivenDaemon } from '../../test/kit/daemon-machine.ts';
import { createDoorbell } from './pacing.ts';

const MINUTE = 60_000;

function rung(kind: 'Stop' | 'UserPromptSubmit' | 'SessionStart', turn: string | null, rules = {}): DrivenDaemon {
  const daemon = new DrivenDaemon(rules).connected(1);
  daemon.turnBoundary(kind, turn);
  daemon.accepted();
  return daemon;
}

test('the doorbell is made of a moment, and of three keys', () => {
  assert.equal(createDoorbell.length, 1);
  assert.deepEqual(createDoorbell(Date.UTC(2026, 5, 20, 10)), {
    timestamp: '2026-06-20T10:00:00.000000+00:00',
    source: 'daemon',
    kind: 'pending_work_notice',
  });
});

describe('one doorbell a boundary (contract 4)', () => {
  for (const kind of ['SessionStart', 'UserPromptSubmit', 'Stop'] as const) {
    test(`rings at ${kind}`, () => {
      const daemon = new DrivenDaemon().connected(1);
      assert.equal(daemon.turnBoundary(kind, '1'), null);
      assert.equal(daemon.count('ring'), 1);
    });
  }

  test('twelve that wait are one doorbell, and eleven more boundaries none', () => {
    const daemon = new DrivenDaemon().connected(12);
    daemon.turnBoundary('UserPromptSubmit', '0');
    assert.equal(daemon.count('ring'), 1);
    daemon.accepted();
    for (let turn = 1; turn <= 11; turn += 1) {
      assert.deepEqual(daemon.turnBoundary('UserPromptSubmit', `${turn}`), { emitted: false, why: 'outstanding' });
      daemon.pass(1_000);
    }
    daemon.drained(2, 0);
    daemon.changed(3);
    daemon.turnBoundary('UserPromptSubmit', '12');
    assert.equal(daemon.count('ring'), 1);
  });

  test('what is rung and not drained rings again after ten minutes, at a later boundary', () => {
    const daemon = rung('Stop', '1');
    assert.deepEqual(
      daemon.pass(10 * MINUTE - 1).filter(({ is }) => is === 'ring'),
      [],
    );
    assert.equal(daemon.turnBoundary('Stop', '2')?.why, 'outstanding');
    daemon.pass(1);
    assert.equal(daemon.turnBoundary('Stop', '3'), null);
    assert.equal(daemon.count('ring'), 1);
    daemon.accepted();
    assert.equal(daemon.turnBoundary('Stop', '4')?.why, 'outstanding', 'and the ten minutes begin anew');
  });

  test('D3 a later oldest after a new connection shows that what was rung was drained, and rings at once', () => {
    const lost = (daemon: DrivenDaemon, count: number, oldest: number | null): DrivenDaemon => {
      daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, retryAfterMs: null });
      daemon.pass(2_000);
      return daemon.welcome(9).peeked(count, 9, oldest);
    };
    const ringing = (oldest: number | null): DrivenDaemon => {
      const daemon = new DrivenDaemon().welcome().peeked(3, 1, oldest);
      daemon.turnBoundary('Stop', '1');
      daemon.accepted();
      return daemon;
    };
    const drained = lost(ringing(1000), 1, 2000);
    assert.equal(drained.turnBoundary('UserPromptSubmit', '2'), null);
    assert.equal(drained.count('ring'), 1);
    // The same still wait, whatever came to them: one doorbell is enough.
    assert.equal(lost(ringing(1000), 5, 1000).turnBoundary('UserPromptSubmit', '2')?.why, 'outstanding');
    // An upstream that says no time is believed after ten minutes, as before.
    assert.equal(lost(ringing(1000), 1, null).turnBoundary('UserPromptSubmit', '2')?.why, 'outstanding');
    // Its clock may be hours ahead: its times are compared with each other.
    const ahead = ringing(Number.MAX_SAFE_INTEGER - 10);
    assert.equal(
      lost(ahead, 3, Number.MAX_SAFE_INTEGER - 10).turnBoundary('UserPromptSubmit', '2')?.why,
      'outstanding',
    );
  });

  test('two hooks on one event ring once, for five minutes', () => {
    const daemon = rung('Stop', '1');
    daemon.drained(2, 1);
    daemon.pass(5 * MINUTE - 1);
    assert.equal(daemon.turnBoundary('Stop', '1')?.why, 'duplicate_boundary');
    daemon.pass(1);
    assert.equal(daemon.turnBoundary('Stop', '1'), null);
    assert.equal(daemon.count('ring'), 1);
  });

  test('a boundary is its session, its turn and its kind', () => {
    const daemon = rung('Stop', '1');
    for (const other of [
      { kind: 'UserPromptSubmit', session: 's', turn: '1' },
      { kind: 'Stop', session: 's', turn: '2' },
      { kind: 'Stop', session: 's', turn: null },
      { kind: 'Stop', session: 'other', turn: '1' },
    ] as const) {
      daemon.drained(2, 1);
      daemon.tell({ is: 'notify', ask: 99, turnBoundary: other });
      assert.equal(daemon.count('ring'), 1, JSON.stringify(other));
      daemon.accepted();
    }
  });

  test('a boundary at which nothing rang is not spent', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.turnBoundary('Stop', '1');
    daemon.changed(2);
    assert.equal(daemon.turnBoundary('Stop', '1'), null);
  });

  test('what rang before a connection was lost does not ring after it', () => {
    const daemon = rung('Stop', '1');
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, retryAfterMs: null });
    daemon.pass(1_000);
    daemon.connected(12);
    assert.equal(daemon.turnBoundary('Stop', '2')?.why, 'outstanding');
  });

  test('a doorbell in flight when the connection was lost: none beside it on the next', () => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('Stop', '1');
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, retryAfterMs: null });
    daemon.pass(1_000);
    daemon.welcome(2);
    daemon.drained(3, 2);
    daemon.peeked(2, 3);
    daemon.peeked(2, 3);
    assert.equal(daemon.state.fsm, 'CONNECTED');
    assert.equal(daemon.turnBoundary('Stop', '2')?.why, 'emitting');
  });

  test('persona daemon check 6: a reconnect rings nothing by itself, whatever waits', () => {
    const daemon = rung('Stop', '1', { wakeIdle: false });
    daemon.drained(2, 0);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, retryAfterMs: null });
    const effects = [...daemon.pass(1_000)];
    daemon.connected(12);
    effects.push(...daemon.effects, ...daemon.pass(5 * MINUTE));
    assert.deepEqual(
      effects.filter(({ is }) => is === 'ring'),
      [],
    );
    daemon.turnBoundary('Stop', '2');
    assert.equal(daemon.count('ring'), 1);
  });
});

describe('what is no boundary', () => {
  test('activity never rings', () => {
    const daemon = new DrivenDaemon({ wakeIdle: true }).connected(1);
    daemon.pass(2 * MINUTE);
    assert.deepEqual(daemon.tell({ is: 'activity', touched: Date.UTC(2027, 0, 1), moment: 'PostToolUse' }), []);
  });

  test('a turn that is complete has no ear: it waits for the next boundary', () => {
    const daemon = new DrivenDaemon().connected(1);
    assert.deepEqual(daemon.turnBoundary('agent-turn-complete', '1'), { emitted: false, why: 'queued' });
    assert.equal(daemon.count('ring'), 0);
    daemon.turnBoundary('UserPromptSubmit', '2');
    assert.equal(daemon.count('ring'), 1);
  });

  test('or goes to the wake path', () => {
    const daemon = new DrivenDaemon({ wakeIdle: true }).connected(1);
    daemon.pass(30_000);
    assert.deepEqual(daemon.turnBoundary('agent-turn-complete', '1'), { emitted: false, why: 'queued' });
    assert.deepEqual(
      daemon.effects.filter((effect) => effect.is === 'ring').map(({ way, ask }) => ({ way, ask })),
      [{ way: 'wake', ask: null }],
    );
  });

  test("an operator's word is queued, and the truth asked for at once", () => {
    const daemon = new DrivenDaemon().connected(0);
    assert.deepEqual(daemon.operator(), { emitted: false, why: 'queued' });
    assert.equal(daemon.count('peek'), 1);
    assert.equal(daemon.count('ring'), 0);
    daemon.peeked(1);
    daemon.turnBoundary('UserPromptSubmit', '1');
    assert.equal(daemon.count('ring'), 1);
  });

  test("an operator's word does not ring past what is outstanding", () => {
    const daemon = rung('Stop', '1');
    daemon.operator();
    daemon.peeked(1);
    assert.equal(daemon.turnBoundary('Stop', '2')?.why, 'outstanding');
  });

  test("an operator's word without a connection is queued", () => {
    assert.deepEqual(new DrivenDaemon().operator(), { emitted: false, why: 'queued' });
  });
});

describe('an agent at rest (contract 4, idle surfaces)', () => {
  const atRest = (rules = { wakeIdle: true }): DrivenDaemon => {
    const daemon = new DrivenDaemon(rules).connected(0);
    daemon.turnBoundary('Stop', '1');
    return daemon;
  };
  const wakes = (daemon: DrivenDaemon): number =>
    daemon.effects.filter((effect) => effect.is === 'ring' && effect.way === 'wake').length;
  /** Something comes, and after it every moment for some minutes. */
  const comes = (daemon: DrivenDaemon, rev = 2): number => {
    const before = daemon.changed(rev);
    daemon.peeked(1, rev);
    const after = daemon.effects;
    daemon.effects = [...before, ...after, ...daemon.pass(3 * MINUTE)];
    return wakes(daemon);
  };

  test('is woken once, where it was opted for', () => {
    const daemon = atRest();
    daemon.pass(30_000);
    daemon.changed(2);
    assert.equal(wakes(daemon), 0, 'not for a guess');
    daemon.peeked(1, 2);
    assert.equal(wakes(daemon), 1);
    assert.deepEqual(daemon.accepted(), null);
    assert.equal(daemon.state.fsm, 'CONNECTED');
    daemon.drained(3, 0);
    assert.equal(comes(daemon, 4), 0, 'nor a second time at the same rest');
    daemon.turnBoundary('Stop', '2');
    daemon.accepted();
  });

  test('is left alone by default', () => {
    const daemon = atRest({ wakeIdle: false });
    assert.equal(comes(daemon), 0);
  });

  test('is left alone in the first 30 s after a connection, and woken then', () => {
    const daemon = atRest();
    daemon.changed(2);
    daemon.peeked(1, 2);
    assert.equal(wakes(daemon), 0);
    daemon.pass(29_000);
    assert.equal(wakes(daemon), 0);
    daemon.pass(1_000);
    assert.equal(wakes(daemon), 1);
  });

  test('is left alone while something is outstanding, also after ten minutes', () => {
    const daemon = rung('UserPromptSubmit', '1', { wakeIdle: true });
    daemon.turnBoundary('Stop', '1');
    daemon.pass(11 * MINUTE);
    assert.equal(wakes(daemon), 0);
  });

  for (const kind of ['UserPromptSubmit', 'SessionStart'] as const) {
    test(`is at rest no more after ${kind}`, () => {
      const daemon = atRest();
      daemon.turnBoundary(kind, '2');
      assert.equal(comes(daemon), 0);
    });
  }

  test('is at rest no more when it does something, and still when that was before', () => {
    const daemon = atRest();
    const { turn } = daemon.state;
    assert.ok(turn.is === 'rest');
    daemon.tell({ is: 'activity', touched: turn.at, moment: 'PostToolUse' });
    assert.deepEqual(daemon.state.turn, turn);
    daemon.tell({ is: 'activity', touched: turn.at + 1, moment: 'PostToolUse' });
    assert.equal(comes(daemon), 0);
  });

  describe('by what its hook noted when there was nothing to ask about', () => {
    /** Notes a moment a second later than anything before. */
    const notes = (daemon: DrivenDaemon, moment: string | null): void => {
      daemon.pass(1_000);
      daemon.tell({ is: 'activity', touched: daemon.at, moment });
    };

    test('is at rest after a Stop, and woken, once', () => {
      const daemon = new DrivenDaemon({ wakeIdle: true }).connected(0);
      notes(daemon, 'UserPromptSubmit');
      notes(daemon, 'Stop');
      assert.equal(comes(daemon), 1);
      daemon.accepted();
      daemon.drained(3, 0);
      notes(daemon, 'PostToolUse');
      notes(daemon, 'Stop');
      assert.equal(comes(daemon, 4), 1, 'it stopped again');
    });

    test('is not woken by the note itself: its hook may be about to ask', () => {
      const daemon = new DrivenDaemon({ wakeIdle: true }).connected(1);
      daemon.pass(MINUTE);
      notes(daemon, 'Stop');
      assert.equal(wakes(daemon), 0);
      daemon.turnBoundary('Stop', '1');
      assert.deepEqual(
        daemon.effects.flatMap((effect) => (effect.is === 'ring' ? [effect.way] : [])),
        ['boundary'],
      );
    });

    for (const moment of [
      'UserPromptSubmit',
      'PostToolUse',
      'Continued',
      'SessionStart',
      'SessionEnd',
      'StopFailure',
      'Interrupt',
      null,
    ]) {
      test(`is at rest no more after ${moment}`, () => {
        const daemon = new DrivenDaemon({ wakeIdle: true }).connected(0);
        notes(daemon, 'Stop');
        notes(daemon, moment);
        assert.equal(comes(daemon), 0);
      });
    }

    test('goes on after a Stop that rang, whatever a second hook notes of it', () => {
      const daemon = rung('Stop', '1', { wakeIdle: true });
      notes(daemon, 'Continued');
      notes(daemon, 'Stop');
      daemon.drained(2, 0);
      assert.equal(comes(daemon, 3), 0);
      notes(daemon, 'PostToolUse');
      notes(daemon, 'Stop');
      daemon.turnBoundary('UserPromptSubmit', '2');
      daemon.accepted();
      daemon.drained(4, 0);
      notes(daemon, 'Stop');
      assert.equal(comes(daemon, 5), 1);
    });

    test('an old note is no news', () => {
      const daemon = atRest();
      const { turn } = daemon.state;
      daemon.tell({ is: 'activity', touched: turn.at - 1, moment: 'UserPromptSubmit' });
      assert.deepEqual(daemon.state.turn, turn);
    });
  });

  test('is not at rest after a Stop that rang, nor for the second hook on it', () => {
    const daemon = rung('Stop', '1', { wakeIdle: true });
    daemon.turnBoundary('Stop', '1');
    daemon.drained(2, 0);
    assert.equal(comes(daemon, 3), 0);
  });

  test('is at rest when it stopped again after it drained, though its harness has no names for turns', () => {
    const daemon = rung('Stop', null, { wakeIdle: true });
    daemon.pass(1_000);
    daemon.drained(2, 0);
    daemon.pass(1_000);
    daemon.turnBoundary('Stop', null);
    assert.equal(comes(daemon, 3), 1);
  });

  test('is at rest when the doorbell of its Stop was not taken, unless it was prompted meanwhile', () => {
    const make = (): DrivenDaemon => {
      const daemon = new DrivenDaemon({ wakeIdle: true }).connected(0);
      daemon.pass(MINUTE);
      daemon.changed(2);
      daemon.turnBoundary('Stop', '1');
      return daemon;
    };
    const left = make();
    left.rejected();
    left.peeked(1, 2);
    assert.equal(wakes(left), 1);
    const prompted = make();
    prompted.turnBoundary('UserPromptSubmit', '2');
    prompted.rejected();
    prompted.peeked(1, 2);
    assert.equal(wakes(prompted), 0);
  });

  test('a wake that fails is not tried again at this rest', () => {
    const daemon = atRest();
    daemon.pass(MINUTE);
    daemon.changed(2);
    daemon.peeked(1, 2);
    daemon.rejected();
    assert.equal(daemon.state.lastError, 'surface_inject_failed');
    assert.equal(daemon.state.outstanding, null);
    daemon.pass(MINUTE);
    assert.equal(wakes(daemon), 0);
  });
});
