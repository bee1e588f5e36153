import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChildCommand, ProcessEnd, Spawn } from '../../../core/ports/index.ts';
import { answerTo, createRings } from './shim.ts';

const COMMAND: ChildCommand = { file: '/bin/agent', args: ['-'], env: {}, input: 'line\n', timeoutMs: 1 };

/** Commands that run until a test lets them end. */
function rig() {
  const stop = new AbortController();
  const running: ((ended: ProcessEnd) => void)[] = [];
  const started: ChildCommand[] = [];
  const spawn: Spawn = {
    run: (command) => {
      started.push(command);
      return new Promise((resolve) => running.push(resolve));
    },
  };
  const rings = createRings({ spawn, command: COMMAND, stop: stop.signal });
  const ends = async (): Promise<void> => {
    running.shift()?.({ is: 'exited', code: 1, stderr: '' });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { rings, started, ends, stop };
}

describe('the shim for agents that a command wakes', () => {
  test('one run at a time; rings that come meanwhile are one, and how a run ended is nobody’s receipt', async () => {
    const { rings, started, ends } = rig();
    assert.equal(rings.state, 'ready');
    for (let n = 0; n < 5; n += 1) rings.ring();
    assert.deepEqual([started, rings.state], [[COMMAND], 'queued']);
    await ends();
    assert.deepEqual([started.length, rings.state], [2, 'busy']);
    await ends();
    assert.deepEqual([started.length, rings.state], [2, 'ready']);
    await rings.rest();
  });

  test('one that is stopped starts nothing more', async () => {
    const { rings, started, ends, stop } = rig();
    rings.ring();
    rings.ring();
    stop.abort();
    await ends();
    await rings.rest();
    assert.equal(started.length, 1);
  });

  test('each line of the daemon has its answer; what is none has none', () => {
    let rung = 0;
    const rings = { ring: () => void rung++, state: 'busy' as const };
    const output = (line: string): string | null => answerTo(line, rings);
    assert.equal(output('{"id":7,"call":"notify_surface","payload":{}}'), '{"id":7,"ok":true}');
    assert.equal(output('{"id":8,"call":"resume_surface"}'), '{"id":8,"ok":true}');
    assert.equal(
      output('{"id":9,"call":"status"}'),
      '{"id":9,"ok":true,"alive":true,"accepting":true,"detail_class":"busy"}',
    );
    assert.equal(output('{"id":10,"call":"shutdown"}'), '{"id":10,"ok":false}');
    for (const line of ['', 'x', 'null', '[]', '{"call":"notify_surface"}', '{"id":"1","call":"notify_surface"}'])
      assert.equal(output(line), null);
    assert.equal(rung, 1);
  });
});
