import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createExport } from '../../../test/kit/daemon-export.ts';
import { ERROR_CLASSES } from '../../link/index.ts';
import { createGoneExport, findLabels, mergeExports, parseExport, toChangeKey } from './metrics.ts';

const OF = { tenant_id: 'acme', agent_identity: 'ada' };
const WHOLE = createExport('acme', 'ada');

const read = (text: string) => parseExport(text, OF);
const why = (text: string): string => {
  const output = read(text);
  return output.is === 'bad' ? output.why : 'good';
};

describe('what a daemon exports', () => {
  test('is 24 series of six names', () => {
    const output = read(WHOLE);
    assert.equal(output.is, 'good');
    const all = mergeExports([output.exported]);
    assert.deepEqual(
      all.map(({ name, type, samples }) => [name, type, samples.length]),
      [
        ['daemon_up', 'gauge', 1],
        ['daemon_heartbeat_age_seconds', 'gauge', 1],
        ['daemon_drain_age_seconds', 'gauge', 1],
        ['daemon_signal_queue_depth', 'gauge', 1],
        ['daemon_errors_total', 'counter', 10],
        ['daemon_last_error_timestamp_seconds', 'gauge', 10],
      ],
    );
  });

  test('is refused with any label beyond, above all that of a session', () => {
    assert.match(
      why(WHOLE.replace('tenant_id=', 'session_id="s",tenant_id=')),
      /^line 3: daemon_up has the labels .*session_id/,
    );
    assert.match(
      why(WHOLE.replace(/,machine_id="[^"]*"/, '')),
      /has the labels agent_identity,agent_surface,tenant_id, not/,
    );
    assert.match(why(WHOLE.replace('machine_id=', 'machine=')), /has the labels/);
  });

  test('is refused with another name, class, value, owner or series', () => {
    assert.match(why(`${WHOLE}daemon_sessions 3\n`), /is not a sample/);
    assert.match(why(WHOLE.replace(/daemon_up\{/, 'daemon_ups{')), /daemon_ups is not one of the six/);
    assert.match(why(WHOLE.replace('ipc_bind_failed', 'disk_full')), /disk_full is not an error class/);
    assert.match(why(WHOLE.replaceAll('"ada"', '"bo"')), /belongs to acme-bo/);
    assert.match(why(WHOLE.replace(/(daemon_up\{.*\}) 1/, '$1 2')), /daemon_up is 2/);
    assert.match(why(WHOLE.replace(/(daemon_up\{.*\}) 1/, '$1 NaN')), /is not a sample/);
    assert.match(why(`${WHOLE}${WHOLE}`), /appears twice/);
    assert.match(why(WHOLE.replace('claude-code', 'codex')), /not all belong to one surface/);
    assert.match(why(WHOLE.replace(/daemon_drain_age_seconds\{.*\n/, '')), /daemon_drain_age_seconds is incomplete/);
    assert.match(
      why(WHOLE.replace(/daemon_errors_total\{.*unclassified.*\n/, '')),
      /daemon_errors_total is incomplete/,
    );
    assert.match(why(''), /daemon_up is incomplete/);
    assert.match(why(WHOLE.replace('"claude-code"', '"a\\"b"')), /is not a sample/);
  });

  test('of one that is gone, only that it is not up, under the labels it had', () => {
    const output = read(WHOLE);
    assert.equal(output.is, 'good');
    const labels = findLabels(output.exported);
    assert.ok(labels !== null);
    assert.deepEqual(mergeExports([createGoneExport(labels)]), [
      {
        name: 'daemon_up',
        help: '1: the daemon process is healthy; 0: it is gone.',
        type: 'gauge',
        samples: [{ labels, value: 0 }],
      },
    ]);
  });

  test('is news when another number waits or an error came, and not when it is only older', () => {
    const news = (text: string): string => {
      const output = read(text);
      return output.is === 'good' ? toChangeKey(output.exported) : '';
    };
    assert.equal(news(createExport('acme', 'ada', { drainAge: 99, heartbeatAge: 9 })), news(WHOLE));
    assert.notEqual(news(createExport('acme', 'ada', { depth: 3 })), news(WHOLE));
    assert.notEqual(news(createExport('acme', 'ada', { errors: 1 })), news(WHOLE));
  });

  test('knows the ten classes of the contract', () => assert.equal(ERROR_CLASSES.length, 10));
});
