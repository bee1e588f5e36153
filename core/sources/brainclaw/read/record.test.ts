import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLASSES, findEventClass, isKnownAction } from './projection.ts';
import { parseRecord } from './record.ts';

const line = (more: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ v: 2, seq: 7, action: 'create', item_type: 'plan', item_id: 'pln_1', payload: {}, ...more });
const why = (text: string): string => {
  const read = parseRecord(text);
  return read.is === 'refused' ? read.why : read.is;
};

describe('brainclaw 1: the table of actions', () => {
  test('has 42 of them in five classes, each once', () => {
    const sizes = Object.entries(CLASSES).map(([name, actions]) => [name, actions.length]);
    assert.deepEqual(Object.fromEntries(sizes), {
      'entity-state': 9,
      tombstone: 1,
      'journal-meta': 4,
      observability: 5,
      'registry-lifecycle': 23,
    });
    assert.equal(new Set(Object.values(CLASSES).flat()).size, 42);
  });

  test('is asked before the beginning of the word', () => {
    for (const action of ['assignment_offered', 'assignment_progress', 'run_progress'])
      assert.equal(findEventClass(action), 'observability');
    assert.equal(findEventClass('run_failed'), 'registry-lifecycle');
    assert.equal(findEventClass('run_of_tomorrow'), 'registry-lifecycle');
    assert.equal(isKnownAction('run_of_tomorrow'), false);
    for (const action of ['mystery', 'constructor', '__proto__', '']) assert.equal(findEventClass(action), null);
  });
});

describe('brainclaw 1: the envelope', () => {
  test('is read with what is left out as null', () => {
    const { payload, ...rest } = {
      payload: { status: 'todo' },
      agent: 'codex',
      entity_rev: 3,
      ts: 't',
      writer: 'w_1-a',
    };
    assert.deepEqual(parseRecord(line({ payload, ...rest, summary: 's', v3: 1 })), {
      is: 'record',
      record: {
        ...{ seq: 7, action: 'create', item_type: 'plan', item_id: 'pln_1', payload, ...rest },
        ...{ summary: 's', payload_ref: null },
      },
    });
    const bare = parseRecord('{"v":2,"seq":1,"action":"x","item_type":"y"}');
    assert.ok(bare.is === 'record');
    assert.deepEqual(Object.values(bare.record), [1, 'x', 'y', null, null, null, 'unknown', null, null, null, null]);
  });

  for (const [label, text, reason] of [
    ['a version of another kind', line({ v: 1 }), 'version'],
    ['a version as text', line({ v: '2' }), 'version'],
    ['no seq', line({ seq: undefined }), 'seq'],
    ['a seq of 0', line({ seq: 0 }), 'seq'],
    ['a seq below 0', line({ seq: -3 }), 'seq'],
    ['a fractional seq', line({ seq: 100000.5 }), 'seq'],
    ['a seq beyond what JSON keeps', line({ seq: 2 ** 53 }), 'seq'],
    ['a seq as text', line({ seq: '7' }), 'seq'],
    ['an empty action', line({ action: '' }), 'action'],
    ['an action that is no text', line({ action: 5 }), 'action'],
    ['an empty item type', line({ item_type: '' }), 'item-type'],
    ['an array as payload', line({ payload: ['x'] }), 'payload'],
    ['null as payload', line({ payload: null }), 'payload'],
    ['text as payload', line({ payload: 'x' }), 'payload'],
    ['an id that is no text', line({ item_id: 5 }), 'field'],
    ['a revision of 0', line({ entity_rev: 0 }), 'field'],
    ['an agent that is no text', line({ agent: {} }), 'field'],
    ['an array', '[1]', 'not-an-object'],
    ['null', 'null', 'not-an-object'],
    ['a torn line', line({}).slice(0, 40), 'not-json'],
    ['words', 'this line is not json at all', 'not-json'],
  ] as const) {
    test(`refuses ${label}`, () => assert.equal(why(text), reason));
  }

  test('takes an action that nobody knows', () => assert.equal(why(line({ action: 'some_future_verb' })), 'record'));
});
