import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR_CLASSES, type ErrorClass } from '../link/index.ts';
import { Fault } from '../model/index.ts';
import { createMachineState, step } from './machine.ts';
import type { MachineState } from './machine-state.ts';
import { classifyError } from './machine-stream.ts';
import { formatMetrics, toDaemonStatus } from './status.ts';

const FACTS = {
  ...{ pid: 1, version: '0', tenant: 'acme', identity: 'ada', surface: 'codex', project: '/p', machineId: 'm' },
  ...{ shim: { state: 'none', pid: null, restarts: 0 } as const, surfaceAlive: true },
};
const RULES = { tenant: 'acme', identity: 'ada', wakeIdle: false };
const SYSCALLS = ['connect', 'listen', 'bind', 'getaddrinfo', 'read', 'toString', '__proto__', 'constructor'];

/** Something that was thrown, no two of them alike. */
function thrown(n: number): unknown {
  const text = `failure ${n} of somebody`;
  switch (n % 8) {
    case 0:
      return new Error(text);
    case 1:
      return Object.assign(new Error(text), { code: `E${n}`, syscall: SYSCALLS[(n >> 3) % SYSCALLS.length] });
    case 2:
      return text;
    case 3:
      return { message: text, code: n };
    case 4:
      return new Fault('unwritable', text, { is: 'machine', key: text });
    case 5:
      return Object.assign(new TypeError(text), { code: n % 16 === 5 ? 'CERT_HAS_EXPIRED' : `CERT${n}` });
    case 6:
      return `made_up_class_${n}`;
    default:
      return Object.defineProperty({}, 'syscall', {
        get() {
          throw new Error(text);
        },
      });
  }
}

/** What each class is counted, and when it was last seen, as the metrics say. */
function shown(state: MachineState) {
  const text = formatMetrics(state, FACTS, { mono: 2000 });
  const values = (metric: string): ReadonlyMap<string, number> =>
    new Map(
      [...text.matchAll(new RegExp(`^${metric}\\{[^}]*error_class="([^"]*)"[^}]*\\} (\\S+)$`, 'gm'))].map(
        ([, name = '', value]) => [name, Number(value)],
      ),
    );
  return { text, counts: values('daemon_errors_total'), stamps: values('daemon_last_error_timestamp_seconds') };
}

describe('persona daemon check 12: error classes are bounded', () => {
  test('persona daemon check 12: a thousand distinct errors have ten classes at the most, and what is not known is unclassified', () => {
    let state = createMachineState({ at: 1000, mono: 1000 });
    const given = new Map<string, number>();
    for (let n = 0; n < 1000; n += 1) {
      const error = classifyError(thrown(n));
      given.set(error, (given.get(error) ?? 0) + 1);
      state = step(state, { at: 1000 + n, mono: 1000 + n, draw: 0.5, is: 'failed', error }, RULES).state;
    }
    const { counts, stamps, text } = shown(state);
    assert.deepEqual([...counts.keys()].toSorted(), [...ERROR_CLASSES].toSorted());
    assert.deepEqual([...stamps.keys()].toSorted(), [...ERROR_CLASSES].toSorted());
    assert.deepEqual(
      [...counts].filter(([, count]) => count > 0),
      ERROR_CLASSES.filter((errorClass) => given.has(errorClass)).map((errorClass) => [
        errorClass,
        given.get(errorClass),
      ]),
    );
    assert.deepEqual([...given.keys()].toSorted(), ['ipc_bind_failed', 'unclassified', 'ws_connect_failed']);
    assert.equal(
      [...counts.values()].reduce((sum, count) => sum + count, 0),
      1000,
    );
    assert.ok(!/failure|somebody|made_up/.test(text), 'the words of an error stand in the log only');
    assert.equal(text.split('\n').filter((line) => /^daemon_/.test(line)).length, 24);
  });

  test('persona daemon check 12: a class that slipped past the types is unclassified too', () => {
    let state = createMachineState({ at: 1000, mono: 1000 });
    for (let n = 0; n < 1000; n += 1) {
      const error = `made_up_${n}` as ErrorClass;
      state = step(state, { at: 1000 + n, mono: 1000 + n, draw: 0.5, is: 'failed', error }, RULES).state;
    }
    const { counts } = shown(state);
    assert.deepEqual([...counts.keys()].toSorted(), [...ERROR_CLASSES].toSorted());
    assert.equal(counts.get('unclassified'), 1000);
    assert.equal(toDaemonStatus(state, FACTS, { mono: 2000 }).last_error_class, 'unclassified');
  });
});
