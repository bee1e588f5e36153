import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrivenDaemon } from '../../test/kit/daemon-machine.ts';
import { type DaemonFacts, toDaemonStatus, toHeartbeat } from './index.ts';
import { toTaxonomy } from './status.ts';

const FACTS: DaemonFacts = {
  pid: 4711,
  version: '0.1.0',
  tenant: 't',
  identity: 'ada',
  surface: 'claude-code',
  project: 'demo',
  machineId: '0a1b',
  shim: { state: 'none', pid: null, restarts: 0 },
  surfaceAlive: null,
};
const createStatus = (daemon: DrivenDaemon, facts: Partial<DaemonFacts> = {}) =>
  toDaemonStatus(daemon.state, { ...FACTS, ...facts }, daemon);

describe('the answer to status (contract 4)', () => {
  test('at the start', () => {
    const { metrics, ...rest } = createStatus(new DrivenDaemon());
    assert.match(metrics, /^# HELP daemon_up /);
    assert.deepEqual(rest, {
      ...{ pid: 4711, version: '0.1.0', uptime_s: 0, tenant_id: 't', identity: 'ada' },
      ...{ surface: 'claude-code', project: 'demo', fsm: 'DISCONNECTED', taxonomy: 'restarting', degraded: null },
      ws: { connected: false, since: null, attempts: 0 },
      shim: { state: 'none', pid: null, restarts: 0 },
      ...{ heartbeat_age_s: null, drain_age_s: 0, pending: { count: 0, rev: null, fresh: false } },
      ...{ outstanding: null, last_error_class: null, transitions: [] },
    });
  });

  test('after a doorbell', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.tell({ is: 'heartbeat_sent', conn: daemon.conn, seq: 1 });
    daemon.turnBoundary('Stop', '1');
    daemon.accepted();
    daemon.pass(2_500);
    const status = createStatus(daemon, { surfaceAlive: false });
    assert.equal(status.fsm, 'CONNECTED');
    assert.equal(status.uptime_s, 2.5);
    assert.equal(status.heartbeat_age_s, 2.5);
    assert.deepEqual(status.ws, { connected: true, since: '2026-06-20T10:00:00.000000+00:00', attempts: 1 });
    assert.deepEqual(status.pending, { count: 2, rev: 1, fresh: true });
    assert.equal(status.outstanding, 1);
    assert.equal(status.degraded, 'surface_unavailable');
    assert.deepEqual(
      status.transitions.map(({ to, why }) => `${to}: ${why}`),
      ['RECONCILING: welcome', 'CONNECTED: reconciled', 'EMITTING: boundary', 'CONNECTED: rung'],
    );
  });

  test('of a stream that is lost: what was known is not fresh', () => {
    const daemon = new DrivenDaemon().connected(2);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 1006, retryAfterMs: null });
    assert.deepEqual(createStatus(daemon).pending, { count: 2, rev: 1, fresh: false });
    assert.deepEqual(createStatus(daemon).ws, { connected: false, since: null, attempts: 1 });
  });

  test('a flag beside the state is no state', () => {
    assert.equal(createStatus(new DrivenDaemon().connected(0), { surfaceAlive: false }).taxonomy, 'sleeping');
  });
});

test('a heartbeat says the same', () => {
  const daemon = new DrivenDaemon().connected(2);
  daemon.pass(1_000);
  assert.deepEqual(toHeartbeat(daemon.state, 'none', daemon), {
    ...{ fsm: 'CONNECTED', taxonomy: 'sleeping', pending_depth: 2, drain_age_s: 1 },
  });
});

describe('in one word, the first that fits (contract 5)', () => {
  const word = (daemon: DrivenDaemon, shim: DaemonFacts['shim']['state'] = 'none'): string =>
    toTaxonomy(daemon.state, shim, daemon.mono);

  test('failed: the token is refused, until a welcome', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 4401, retryAfterMs: null });
    assert.equal(word(daemon), 'failed');
    daemon.silence(300_000);
    assert.equal(daemon.state.link.is, 'opening');
    assert.equal(word(daemon), 'failed');
    daemon.welcome();
    assert.equal(word(daemon), 'restarting');
  });

  test('failed: the configuration is wrong', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: 4403, retryAfterMs: null });
    assert.equal(word(daemon), 'failed');
  });

  test('failed: the shim, though all else is well', () => {
    assert.equal(word(new DrivenDaemon().connected(0), 'failed'), 'failed');
  });

  test('restarting: the shim waits, or the stream is not there or not reconciled', () => {
    assert.equal(word(new DrivenDaemon().connected(0), 'backoff'), 'restarting');
    assert.equal(word(new DrivenDaemon()), 'restarting');
    assert.equal(word(new DrivenDaemon().welcome()), 'restarting');
  });

  test('running: from a prompt to its stop, and a minute on', () => {
    const daemon = new DrivenDaemon().connected(0);
    daemon.turnBoundary('UserPromptSubmit', '1');
    daemon.pass(10 * 60_000);
    assert.equal(word(daemon), 'running');
    daemon.turnBoundary('Stop', '1');
    assert.equal(word(daemon), 'running');
    daemon.pass(59_000);
    assert.equal(word(daemon), 'running');
    daemon.pass(1_000);
    assert.equal(word(daemon), 'sleeping');
    daemon.tell({ is: 'activity', touched: 0, moment: null });
    assert.equal(word(daemon), 'running');
  });

  test('running: no more after a Stop that its hook only noted', () => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('UserPromptSubmit', '1');
    daemon.accepted();
    daemon.pass(60_000);
    daemon.tell({ is: 'activity', touched: daemon.at, moment: 'Stop' });
    assert.equal(word(daemon), 'running');
    daemon.pass(60_000);
    assert.equal(word(daemon), 'sleeping');
  });

  test('running: while it rings', () => {
    const daemon = new DrivenDaemon({ wakeIdle: true }).connected(0);
    daemon.turnBoundary('Stop', '1');
    daemon.pass(2 * 60_000);
    daemon.changed(2);
    daemon.peeked(1, 2);
    assert.equal(daemon.state.fsm, 'EMITTING');
    assert.equal(word(daemon), 'running');
  });

  test('sleeping: else', () => {
    assert.equal(word(new DrivenDaemon().connected(3), 'running'), 'sleeping');
  });
});
