import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DrivenDaemon } from '../../test/kit/daemon-machine.ts';
import { ERROR_CLASSES, type ErrorClass } from '../link/index.ts';
import { formatExposition, METRICS, toLabels, toLabelValue } from './index.ts';
import { collectSamples, type PersonaLabels } from './status.ts';

const PERSONA: PersonaLabels = {
  tenant_id: 'acme',
  agent_identity: 'ada',
  agent_surface: 'claude-code',
  machine_id: '0a1b2c3d',
};
const NAMES = [
  'daemon_drain_age_seconds',
  'daemon_errors_total',
  'daemon_heartbeat_age_seconds',
  'daemon_last_error_timestamp_seconds',
  'daemon_signal_queue_depth',
  'daemon_up',
];
const FOUR = ['agent_identity', 'agent_surface', 'machine_id', 'tenant_id'];

interface Series {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Reads the text exposition format as a scraper does, and refuses what it would. */
function scraped(text: string): readonly Series[] {
  assert.ok(text.endsWith('\n'));
  const types = new Map<string, string>();
  const series: Series[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment !== null) {
      if (comment[1] === 'TYPE') {
        assert.ok(!types.has(comment[2] ?? ''), `${comment[2]} has two types`);
        types.set(comment[2] ?? '', comment[3] ?? '');
      }
      continue;
    }
    const sample = /^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?[0-9.e+]+)$/.exec(line);
    assert.ok(sample !== null, line);
    const [, name = '', inside = '', value = ''] = sample;
    assert.ok(types.has(name), `${name} before its type`);
    const labels = [...inside.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key = '', label = '']) => [key, label] as const,
    );
    assert.equal(new Set(labels.map(([key]) => key)).size, labels.length, 'a label twice');
    series.push({ name, labels: new Map(labels), value: Number(value) });
  }
  return series;
}

function formatMetrics(daemon: DrivenDaemon, persona = PERSONA): string {
  return formatExposition(collectSamples(daemon.state, persona, daemon.mono));
}

function shown(daemon: DrivenDaemon, name: string, errorClass: ErrorClass | null = null): number | undefined {
  return scraped(formatMetrics(daemon)).find(
    (sample) => sample.name === name && (sample.labels.get('error_class') ?? null) === errorClass,
  )?.value;
}

test('persona daemon check 10: six names, four labels each, two of them error_class too, and session_id nowhere', () => {
  const text = formatMetrics(new DrivenDaemon().connected(3));
  const series = scraped(text);
  assert.deepEqual([...new Set(series.map(({ name }) => name))].sort(), NAMES);
  assert.deepEqual(Object.keys(METRICS).sort(), NAMES);
  for (const { name, labels } of series) {
    const isByClass = name === 'daemon_errors_total' || name === 'daemon_last_error_timestamp_seconds';
    assert.deepEqual([...labels.keys()].sort(), isByClass ? [...FOUR, 'error_class'].sort() : FOUR, name);
  }
  assert.ok(!text.includes('session'));
});

test('persona daemon check 11: 50 personas are exactly 1,200 series, from the start and after every kind of failure', () => {
  const personas = Array.from({ length: 50 }, (_, n) => ({ ...PERSONA, agent_identity: `persona-${n}` }));
  const fresh = new DrivenDaemon();
  const worn = new DrivenDaemon().connected(3);
  for (const error of ERROR_CLASSES) worn.tell({ is: 'failed', error });
  for (const daemon of [fresh, worn]) {
    const series = scraped(
      formatExposition(personas.flatMap((name) => collectSamples(daemon.state, name, daemon.mono))),
    );
    assert.equal(series.length, 1_200);
    const names = series.map(({ name, labels }) => JSON.stringify([name, ...labels]));
    assert.equal(new Set(names).size, 1_200);
  }
});

describe('persona daemon check 11: session_id cannot be a label', () => {
  const withSession = { ...PERSONA, session_id: 'f81d4fae' };

  test('it is thrown where a test sees it', () => {
    assert.throws(() => toLabels(withSession, 'throw'), /unknown daemon label session_id/);
    assert.throws(() => collectSamples(new DrivenDaemon().state, withSession, 0), RangeError);
  });

  test('in production it is dropped and told, so that it is counted', () => {
    const strange: string[] = [];
    assert.deepEqual(
      toLabels(withSession, (name) => strange.push(name)),
      Object.entries(PERSONA),
    );
    assert.deepEqual(strange, ['session_id']);
  });

  test('nor can anything else that is none of the five', () => {
    for (const name of ['__proto__x', 'constructor', 'le', 'Session_ID']) {
      assert.throws(() => toLabels({ ...PERSONA, [name]: '1' }, 'throw'), RangeError, name);
    }
  });
});

test('a value is cut to 64 characters of [A-Za-z0-9._-], and is never empty', () => {
  assert.equal(toLabelValue('Ada-1_x.y'), 'Ada-1_x.y');
  assert.equal(toLabelValue('a"b\\c\nd é'), 'a_b_c_d__');
  assert.equal(toLabelValue('x'.repeat(65)), 'x'.repeat(64));
  assert.equal(toLabelValue(''), '_');
});

test('persona daemon check 12: a thousand distinct errors are at most ten values, the strange ones unclassified', () => {
  const daemon = new DrivenDaemon();
  for (let n = 0; n < 1_000; n += 1) daemon.tell({ is: 'failed', error: `ENOENT ${n}: no such thing` as ErrorClass });
  const series = scraped(formatMetrics(daemon));
  const values = new Set(series.flatMap(({ labels }) => labels.get('error_class') ?? []));
  assert.deepEqual([...values].sort(), [...ERROR_CLASSES].sort());
  assert.equal(shown(daemon, 'daemon_errors_total', 'unclassified'), 1_000);
  assert.equal(daemon.state.lastError, 'unclassified');
  assert.ok(!formatMetrics(daemon).includes('ENOENT'));
  for (const name of ['__proto__', 'constructor', 'toString']) daemon.tell({ is: 'failed', error: name as ErrorClass });
  assert.equal(Object.keys(daemon.state.errors).length, ERROR_CLASSES.length);
});

describe('what the six say', () => {
  test('ages are those of the moment they are asked for; before the first, of the daemon', () => {
    const daemon = new DrivenDaemon();
    daemon.mono = 1_500;
    assert.equal(shown(daemon, 'daemon_drain_age_seconds'), 1.5);
    assert.equal(shown(daemon, 'daemon_heartbeat_age_seconds'), 1.5);
    daemon.connected(1);
    daemon.tell({ is: 'heartbeat_sent', conn: daemon.conn, seq: 1 });
    daemon.pass(2_000);
    daemon.drained(2, 0);
    daemon.mono += 3_250;
    assert.equal(shown(daemon, 'daemon_heartbeat_age_seconds'), 5.25);
    assert.equal(shown(daemon, 'daemon_drain_age_seconds'), 3.25);
  });

  test('accepted is not drained: the drain age goes on', () => {
    const daemon = new DrivenDaemon().connected(1);
    daemon.turnBoundary('Stop', '1');
    daemon.accepted();
    daemon.pass(9_000);
    assert.equal(shown(daemon, 'daemon_drain_age_seconds'), 9);
    assert.equal(shown(daemon, 'daemon_signal_queue_depth'), 1);
  });

  test('the depth stays what it was while nothing is known', () => {
    const daemon = new DrivenDaemon().connected(4);
    daemon.tell({ is: 'closed', conn: daemon.conn, code: null, retryAfterMs: null });
    assert.equal(shown(daemon, 'daemon_signal_queue_depth'), 4);
  });

  test('up until it is stopped', () => {
    const daemon = new DrivenDaemon();
    assert.equal(shown(daemon, 'daemon_up'), 1);
    daemon.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 0 });
    assert.equal(shown(daemon, 'daemon_up'), 0);
  });

  test('each class is counted, with when it was last seen in seconds of the wall clock; 0: never', () => {
    const daemon = new DrivenDaemon();
    daemon.mono = 2_500;
    daemon.tell({ is: 'failed', error: 'surface_unavailable' });
    daemon.tell({ is: 'failed', error: 'surface_unavailable' });
    assert.equal(shown(daemon, 'daemon_errors_total', 'surface_unavailable'), 2);
    const at = Date.UTC(2026, 5, 20, 10) / 1000 + 2.5;
    assert.equal(shown(daemon, 'daemon_last_error_timestamp_seconds', 'surface_unavailable'), at);
    assert.equal(shown(daemon, 'daemon_errors_total', 'config_invalid'), 0);
    assert.equal(shown(daemon, 'daemon_last_error_timestamp_seconds', 'config_invalid'), 0);
  });
});

test('what stands in quotes is escaped, though no value of ours needs it', () => {
  const text = formatExposition([{ name: 'daemon_up', labels: [['tenant_id', 'a\\b"c\nd']], value: 1 }]);
  assert.ok(text.includes('daemon_up{tenant_id="a\\\\b\\"c\\nd"} 1\n'), text);
});
