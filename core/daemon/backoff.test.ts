import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrivenDaemon } from '../../test/kit/daemon-machine.ts';
import { computeLadderMs, toCloseCode } from './machine-state.ts';

function close(daemon: DrivenDaemon, code: number | null, retryAfterMs: number | null = null, draw = 0.5): void {
  daemon.tell({ is: 'closed', conn: daemon.conn, code, retryAfterMs }, draw);
}

/** Milliseconds until it opens again; null: not within an hour and a half. */
function waits(daemon: DrivenDaemon): number | null {
  const { link } = daemon.state;
  if (link.is !== 'down' || daemon.state.stopping !== null) return null;
  return link.dueMono - daemon.mono;
}

describe('the ladder (contract 3)', () => {
  test('1 s, doubled, never over 60 s', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      close(daemon, null);
      assert.equal(waits(daemon), seconds * 1_000);
      assert.deepEqual(daemon.silence(seconds * 1_000 - 1), []);
      assert.equal(daemon.silence(1)[0]?.is, 'open');
    }
    assert.equal(daemon.state.errors.ws_connect_failed.count, 8);
    assert.equal(daemon.state.attempts, 9);
  });

  test('20 % more or less, as was drawn', () => {
    assert.equal(computeLadderMs(1, 0), 800);
    assert.ok(Math.abs(computeLadderMs(1, 1 - Number.EPSILON) - 1_200) <= 1);
    assert.equal(computeLadderMs(7, 0), 48_000);
    assert.equal(computeLadderMs(1_000_000, 0.5), 60_000);
  });

  test('goes on after a connection that did not hold for 60 s', () => {
    const daemon = new DrivenDaemon();
    for (const seconds of [1, 2, 4]) {
      daemon.connected(0);
      daemon.pass(59_000);
      close(daemon, 1006);
      assert.equal(waits(daemon), seconds * 1_000);
      daemon.silence(seconds * 1_000);
    }
  });

  test('begins anew after one that did, in EMITTING too', () => {
    const daemon = new DrivenDaemon();
    daemon.tell({ is: 'tick' });
    for (const seconds of [1, 2, 4]) {
      close(daemon, null);
      daemon.silence(seconds * 1_000);
    }
    daemon.connected(1);
    daemon.pass(59_000);
    daemon.turnBoundary('Stop', '1');
    daemon.pass(1_000);
    assert.equal(daemon.state.fsm, 'EMITTING');
    close(daemon, 1006);
    for (const seconds of [1, 2, 4]) {
      assert.equal(waits(daemon), seconds * 1_000);
      daemon.silence(seconds * 1_000);
      close(daemon, null);
    }
  });

  test('a minute in RECONCILING is no minute in CONNECTED', () => {
    const daemon = new DrivenDaemon();
    daemon.welcome();
    daemon.pass(5 * 60_000);
    close(daemon, 1006);
    daemon.silence(1_000);
    close(daemon, null);
    assert.equal(waits(daemon), 2_000);
  });
});

describe('close codes (contract 2)', () => {
  const connected = (): DrivenDaemon => new DrivenDaemon().connected(0);

  test('4401: seldom, and said to be refused', () => {
    const daemon = connected();
    close(daemon, 4401);
    assert.equal(waits(daemon), 300_000);
    assert.equal(daemon.state.lastError, 'ws_connect_failed');
    assert.ok(daemon.state.link.is === 'down' && daemon.state.link.auth);
  });

  test('4403 and 4410: stop, with 78 and with 0', () => {
    const wrong = connected();
    close(wrong, 4403);
    assert.deepEqual(wrong.effects.at(-1), { is: 'stop', exit: 78, reason: 'closed 4403', deadlineMs: 5_000 });
    assert.equal(wrong.state.lastError, 'config_invalid');
    const gone = connected();
    close(gone, 4410);
    assert.deepEqual(gone.effects.at(-1), { is: 'stop', exit: 0, reason: 'closed 4410', deadlineMs: 5_000 });
    assert.equal(gone.state.lastError, null);
  });

  test('4409: never fights', () => {
    const daemon = connected();
    close(daemon, 4409, null, 0);
    assert.equal(waits(daemon), 60_000);
  });

  test('4429: as long as it asks, never in a loop, never for ever', () => {
    for (const [asked, waited] of [
      [7_000, 7_000],
      [0, 1_000],
      [1e12, 3_600_000],
      [Number.NaN, 1_000],
      [null, 1_000],
    ] as const) {
      const daemon = connected();
      close(daemon, 4429, asked);
      assert.equal(waits(daemon), waited, `${asked}`);
    }
  });

  test('any other begins the ladder, and is no failure to connect once it was welcome', () => {
    for (const code of [1000, 1001, 1006, 1009, 1011, 3000, 4000, 4999, null]) {
      const daemon = connected();
      close(daemon, code);
      assert.equal(waits(daemon), 1_000);
      assert.equal(daemon.state.lastError, null);
    }
  });

  test('an HTTP status that refuses the upgrade says the same', () => {
    assert.deepEqual([401, 403, 409, 410, 429].map(toCloseCode), [4401, 4403, 4409, 4410, 4429]);
    assert.deepEqual([200, 302, 404, 500, 503].map(toCloseCode), [null, null, null, null, null]);
  });
});
