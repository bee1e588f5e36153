import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brainclaw, DATA, EXPECTED, getCursor, viewed } from '../../../../test/kit/brainclaw-store.ts';
import { countAttention, findAttentionItems, findSections } from './attention.ts';
import { createProjection, findEventClass, isKnownAction, MOST_ACTIVITY, trimPayload } from './projection.ts';
import { type JournalRecord, type JsonFields, parseRecord } from './record.ts';
import { toBoardSummary } from './sheet.ts';
import { findRemarks } from './sheet-rows.ts';

const record = (
  action: string,
  item: string,
  payload: JsonFields | null,
  more: Partial<JournalRecord> = {},
): JournalRecord => {
  const [item_type = '', item_id = ''] = item.split(':');
  return {
    ...{ seq: 1, action, item_type, item_id: item_id || null, ts: 't', writer: 'w', agent: 'a', entity_rev: 1 },
    ...{ summary: null, payload, payload_ref: null, ...more },
  };
};

describe('brainclaw check 1: the board of the data', () => {
  const { checks, cursor, applied, affectedTypes, ...board } = EXPECTED.observer;

  test('equals that of the reference field by field', () => {
    using store = brainclaw();
    const view = viewed(store.open());
    assert.deepEqual(toBoardSummary(view.replay.projection), board);
    assert.equal(view.replay.applied, applied);
    assert.deepEqual({ seq: getCursor(view).seq, checkpoint_seq: view.base?.seq ?? 0 }, cursor);
    assert.deepEqual([...view.replay.affectedTypes].sort(), affectedTypes);
    assert.equal(view.isComplete, true);
  });

  test('holds the items that the reference holds', () => {
    // The other two of its checks are shown where the journal is read.
    const { tornTailChangesNothing, incrementalEqualsCold, ...items } = checks;
    assert.ok(tornTailChangesNothing && incrementalEqualsCold);
    using store = brainclaw();
    const { projection } = viewed(store.open()).replay;
    const has = (itemType: string, id: string): boolean => projection.getByType(itemType).has(id);
    assert.deepEqual(
      {
        dec_0002_text: projection.getByType('decision').get('dec_0002')?.payload.text,
        trp_future: has('trap', 'trp_future'),
        trp_none: has('trap', 'trp_none'),
        wormhole: projection.types.includes('wormhole'),
        trp_v1: has('trap', 'trp_v1'),
        trp_frac: has('trap', 'trp_frac'),
        decoy: has('plan', 'pln_decoy') || has('plan', 'pln_decoy2'),
        pln_0001_rev: projection.getByType('plan').get('pln_0001')?.entity_rev,
        handoff_snapshot_dropped: [...projection.getByType('handoff').values()].every(
          (item) => !('snapshot' in item.payload),
        ),
      },
      items,
    );
  });

  for (const { until, ...rest } of EXPECTED.until) {
    test(`brainclaw check 2: up to seq ${until}`, () => {
      using store = brainclaw();
      const view = viewed(store.open({ until }));
      const { replay } = view;
      const { registryAuthoritative, entities, counts, attention_required } = toBoardSummary(replay.projection);
      assert.deepEqual({ registryAuthoritative, entities, counts, attention_required }, rest);
      assert.equal(replay.cursor?.seq, until);
      assert.deepEqual(findRemarks(view), registryAuthoritative ? [] : ['registry-partial']);
    });
  }

  test('comes of as many records of each class as the strict reader of the writer counts', () => {
    const records = EXPECTED.segments.flatMap(({ name }) =>
      readFileSync(join(DATA, 'journal', '.brainclaw', 'events', name), 'utf8')
        .split('\n')
        .map(parseRecord)
        .filter((read) => read.is === 'record' && isKnownAction(read.record.action))
        .map((read) => (read.is === 'record' ? findEventClass(read.record.action) : null)),
    );
    const counts = Object.entries(Object.groupBy(records, String)).map(([name, all = []]) => [name, all.length]);
    assert.deepEqual(Object.fromEntries(counts), EXPECTED.strictReader.classes);
    assert.equal(records.length, EXPECTED.strictReader.records);
  });

  test('counts too little before its registry items are in the journal, and takes the later of two with one seq', () => {
    using store = brainclaw();
    const before = toBoardSummary(viewed(store.open({ until: 127 })).replay.projection);
    assert.deepEqual(before.counts, EXPECTED.beforeRegistryGenesis);
    const { seq, item, coldReplayText } = EXPECTED.dupSeq;
    const [itemType = '', id = ''] = item.split(':');
    const entity = viewed(store.open()).replay.projection.getByType(itemType).get(id);
    assert.deepEqual([entity?.seq, entity?.payload.text], [seq, coldReplayText]);
  });

  test('has what asks for a person, each with its reason', () => {
    using store = brainclaw();
    const { projection } = viewed(store.open()).replay;
    const items = findAttentionItems(projection);
    assert.equal(items.length, EXPECTED.observer.attention_required.total);
    const why = Object.groupBy(items, (item) => item.why);
    for (const [name, count] of Object.entries(countAttention(projection)))
      if (name !== 'total') assert.equal(why[name as keyof typeof why]?.length, count, name);
    assert.ok(items.every(({ entity }) => entity.seq !== null && entity.agent !== null));
  });
});

describe('brainclaw 4: the projection', () => {
  test('keeps the item of the later record, whatever its seq, and loses it with a delete', () => {
    const projection = createProjection();
    projection.apply(record('create', 'plan:p', { status: 'todo' }, { seq: 9 }));
    projection.apply(record('update', 'plan:p', { status: 'done' }, { seq: 3 }));
    assert.deepEqual(projection.getByType('plan').get('p')?.payload, { status: 'done' });
    assert.deepEqual(projection.apply(record('delete', 'plan:p', null)), { is: 'changed', itemType: 'plan' });
    assert.deepEqual(projection.apply(record('delete', 'plan:p', null)), { is: 'nothing' });
    assert.deepEqual([projection.size, projection.types, projection.activity.length], [0, [], 0]);
  });

  test('makes no item of what has no id, no payload or is only an event', () => {
    const projection = createProjection();
    for (const entry of [
      record('create', 'plan', {}),
      record('create', 'plan:p', null),
      record('run_progress', 'agent_run:r', { status: 'failed' }),
      record('assignment_offered', 'assignment:a', { status: 'blocked' }),
      record('journal_note', 'journal:j', { kind: 'genesis' }),
      record('run_failed', 'agent_run:r', null),
      record('mystery', 'trap:t', null),
    ])
      assert.deepEqual(projection.apply(entry), { is: 'activity' });
    assert.equal(projection.size, 0);
    assert.equal(projection.registryAuthoritative, false);
    for (const action of ['run_failed', 'mystery', 'run_of_tomorrow'])
      projection.apply(record(action, `x:${action}`, {}));
    assert.equal(projection.getByType('x').size, 3);
  });

  test('does not mix up types and ids, also not with names that objects have', () => {
    const projection = createProjection();
    projection.apply(record('create', '', {}, { item_type: 'a:b', item_id: 'c' }));
    projection.apply(record('create', '', {}, { item_type: 'a', item_id: 'b:c' }));
    projection.apply(record('create', '', {}, { item_type: '__proto__', item_id: 'constructor' }));
    assert.equal(projection.size, 3);
    const odd = trimPayload(JSON.parse('{"__proto__": ["x"], "constructor": "y"}') as JsonFields);
    assert.deepEqual([Object.getPrototypeOf(odd), Object.entries(odd)], [Object.prototype, [['constructor', 'y']]]);
  });

  test('is authoritative from its marker on', () => {
    const projection = createProjection();
    for (const action of ['create', 'session_start', 'seq_repair', 'run_failed'])
      projection.apply(record(action, 'journal:j', { kind: 'registry_genesis' }));
    assert.equal(projection.registryAuthoritative, false);
    projection.apply(record('journal_note', 'journal', { kind: 'registry_genesis' }));
    projection.apply(record('journal_note', 'journal', { kind: 'genesis' }));
    assert.equal(projection.registryAuthoritative, true);
  });

  test('keeps the last of the activity, oldest first', () => {
    const projection = createProjection();
    for (let seq = 1; seq <= MOST_ACTIVITY + 7; seq += 1)
      projection.apply(record('run_progress', 'agent_run:r', null, { seq, summary: 's'.repeat(1000) }));
    const { activity } = projection;
    assert.deepEqual([activity.length, activity[0]?.seq, activity.at(-1)?.seq], [MOST_ACTIVITY, 8, MOST_ACTIVITY + 7]);
    assert.equal(activity[0]?.summary?.length, 300);
  });

  test('trims what it keeps', () => {
    const saved = trimPayload({
      long: 'é'.repeat(5000),
      halved: `${'x'.repeat(4095)}🌱`,
      list: Array.from({ length: 500 }, (_, index) => index),
      steps: [{ text: 'y'.repeat(9000), deep: { z: 1 }, done: false, more: [1] }, ['nested'], null, 'w'.repeat(9000)],
      snapshot: { plans: [] },
      nothing: null,
      flag: true,
    });
    const { long, halved, list, steps, ...rest } = saved as Record<string, string | unknown[]>;
    assert.deepEqual([long?.length, halved, list?.length], [4096, 'x'.repeat(4095), 100]);
    assert.deepEqual(steps, [{ text: 'y'.repeat(512), done: false }, null, 'w'.repeat(512)]);
    assert.deepEqual(rest, { nothing: null, flag: true });
  });

  test('trims for any one reason, and copies nothing that is small', () => {
    const small = {
      text: 'x'.repeat(4096),
      tags: ['a', 1, null],
      list: Array.from({ length: 100 }, () => 'y'.repeat(512)),
    };
    assert.equal(trimPayload(small), small);
    for (const [payload, saved] of [
      [{ text: 'x'.repeat(4097) }, { text: 'x'.repeat(4096) }],
      [{ list: Array.from({ length: 101 }, () => 1) }, { list: Array.from({ length: 100 }, () => 1) }],
      [{ list: ['y'.repeat(513)] }, { list: ['y'.repeat(512)] }],
      [{ list: [{ a: { b: 1 } }] }, { list: [{}] }],
      [{ list: [[1]] }, { list: [] }],
      [{ snapshot: {} }, {}],
    ])
      assert.deepEqual(trimPayload(payload as JsonFields), saved);
  });

  test('counts what asks for a person as the reference does', () => {
    const projection = createProjection();
    const put = (item: string, payload: JsonFields): unknown => projection.apply(record('create', item, payload));
    const total = (): number => countAttention(projection).total;
    for (const [item, payload, asks] of [
      ['state:1', {}, 1],
      ['state:2', { status: 'resolved' }, 0],
      ['candidate:1', {}, 1],
      ['candidate:2', { origin: 'session-end:x' }, 0],
      ['candidate:3', { origin: 'session-end-harvest' }, 1],
      ['candidate:4', { source: 'auto', origin: 'mcp:x' }, 0],
      ['candidate:5', { source: 'odd', origin: 'session-end:x' }, 0],
      ['candidate:6', { source: 'human', origin: 'session-end:x' }, 1],
      ['candidate:7', { status: 'accepted' }, 0],
      ['assignment:1', { status: 'failed' }, 0],
      ['assignment:2', { status: 'blocked' }, 1],
      ['assignment:3', {}, 0],
      ['agent_run:1', { status: 'waiting_input' }, 1],
      ['agent_run:2', { status: 'timed_out' }, 0],
      ['agent_run:3', {}, 0],
      ['action:1', { status: 'pending' }, 0],
    ] as const) {
      const before = total();
      put(item, payload);
      assert.equal(total() - before, asks, `${item} ${JSON.stringify(payload)}`);
    }
    const { counts } = toBoardSummary(projection);
    assert.deepEqual([counts.assignments, counts.runs], [3, 3]);
  });

  test('touches the sections of the contract', () => {
    assert.deepEqual(findSections('agent_run'), ['in-progress', 'attention', 'agents']);
    assert.deepEqual(findSections('assignment'), ['in-progress', 'attention']);
    assert.deepEqual(findSections('state'), ['attention', 'actions']);
    assert.deepEqual(findSections('decision'), findSections('trap'));
    assert.deepEqual(findSections('constructor'), []);
  });

  test('has one sequence that is on', () => {
    const projection = createProjection();
    const on = (): unknown => toBoardSummary(projection).activeSequence;
    assert.equal(on(), null);
    projection.apply(record('create', 'sequence:a', { status: 'draft' }));
    projection.apply(record('create', 'sequence:b', { status: 'draft' }));
    assert.equal(on(), 'a');
    projection.apply(record('update', 'sequence:b', { status: 'active' }));
    assert.equal(on(), 'b');
  });
});
