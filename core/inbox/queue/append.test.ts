import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeMachine, lines } from '../../../test/kit/queue-rig.ts';
import { append, parseEntry } from './entry.ts';

const PATH = '/queue/s.jsonl';

test('seed 15: a line is one write call, whole with its LF, behind what is there', () => {
  const machine = fakeMachine();
  machine.files.put(PATH, lines('a'));
  const long = 'x'.repeat(200_000);
  for (const content of ['b', long, 'two\nlines']) {
    const writes: string[] = [];
    machine.files.mishaps((call) => {
      if (call.name === 'write') writes.push(call.name);
      return null;
    });
    const read = parseEntry(JSON.stringify({ content }), 0);
    assert.ok(read.is === 'entry');
    append(machine, PATH, read.entry);
    assert.equal(writes.length, 1);
    const text = machine.files.text(PATH) ?? '';
    assert.ok(text.endsWith('}\n'));
    assert.equal(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '').content, content);
  }
  assert.equal(machine.files.text(PATH)?.split('\n').length, 5);
});
