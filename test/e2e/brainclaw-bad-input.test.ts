import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { brainclawCli, type DoctorReport, startTail } from '../kit/brainclaw-cli.ts';
import { brainclaw, ended, LAST, line, NEXT, type Store } from '../kit/brainclaw-store.ts';

interface Board {
  readonly entities: number;
  readonly cursor: { readonly seq: number };
  readonly remarks: readonly string[];
}

/** What is wrong beside what is wrong in the data. */
async function pollStore(store: Store): Promise<{ readonly board: Board; readonly examined: DoctorReport }> {
  const run = brainclawCli(store);
  const [board, doctor] = await Promise.all([run(['board', '--json']), run(['doctor', '--json'])]);
  assert.deepEqual([board.code, doctor.code], [0, 1], `${board.err}${doctor.err}`);
  return { board: board.json<Board>(), examined: doctor.json<DoctorReport>() };
}
const count = ({ findings }: DoctorReport, finding: string): number =>
  findings.filter((entry) => entry.what === finding).reduce((sum, entry) => sum + entry.count, 0);

/** Of the data with its last record ended: entities, cursor, lines that are none. */
const BEFORE = { entities: 147, seq: 360, skipped: 5 };

describe('bad input', () => {
  for (const [label, bytes, finding, more] of [
    ['a record of another version', line(361, { v: 3 }), 'wrong-version', 1],
    ['a seq with a fraction', line(361.5), 'bad-seq', 1],
    ['a seq that JSON does not keep', line(2 ** 60), 'bad-seq', 1],
    ['a seq that is a text, 0 or below', line('361') + line(0) + line(-4), 'bad-seq', 3],
    ['a seq that is far ahead', line(900_000), 'far-seq', 1],
    ['a payload that is a list', line(361, { payload: [] }), 'bad-payload', 1],
    ['a record without an action', line(361, { action: '' }), 'no-action', 1],
    ['a record of no type', line(361, { item_type: '' }), 'no-item-type', 1],
    ['a field of the wrong type', line(361, { agent: 7 }), 'bad-field', 1],
    ['a line that is no JSON', 'garbage\n', 'not-json', 1],
    ['a line that is a list', '[1]\n"x"\nnull\n', 'no-object', 3],
    [
      'a line with a cut character',
      Buffer.concat([Buffer.from('{"v":2,"s":"'), Buffer.of(0xed, 0x95), Buffer.from('"}\n')]),
      'cut-utf8',
      1,
    ],
    ['a hole of zeros', Buffer.concat([Buffer.alloc(4096), Buffer.from('\n')]), 'not-json', 1],
  ] as const) {
    test(`${label} is named, and the board is right beside it`, async () => {
      using store = ended(brainclaw());
      const known = { 'wrong-version': 1, 'bad-seq': 1, 'not-json': 1 } as Readonly<Record<string, number>>;
      appendFileSync(store.event(LAST), '\n');
      appendFileSync(store.event(LAST), bytes);
      const { board, examined } = await pollStore(store);
      assert.deepEqual([board.entities, board.cursor.seq], [BEFORE.entities, BEFORE.seq]);
      assert.deepEqual(board.remarks, [`skipped=${BEFORE.skipped + more}`]);
      assert.equal(count(examined, finding), (known[finding] ?? 0) + more);
      assert.ok(
        examined.findings
          .find((entry) => entry.what === finding)
          ?.where.at(-1)
          ?.startsWith(`${LAST} at byte `),
      );
    });
  }

  test('actions that nobody knows are named, and counted as what they carry', async () => {
    using store = ended(brainclaw());
    const signal = line(362, { action: 'beep\u001b', item_type: 'plan', payload: undefined });
    appendFileSync(store.event(LAST), line(361, { action: 'transmogrify' }) + signal);
    const { board, examined } = await pollStore(store);
    assert.equal(board.entities, BEFORE.entities + 1);
    assert.equal(count(examined, 'unknown-action'), 4);
    const { out } = await brainclawCli(store)(['doctor']);
    assert.match(out, /transmogrify, 1\n {10}beep\\u001b, 1\n/);
  });

  test('files that are only called like segments are named, and not read', async () => {
    using store = ended(brainclaw());
    for (const name of ['seg-123456789.jsonl', 'seg-0000036a.jsonl', 'seg-00000362.jsonl.tmp', 'seg-00000362.JSONL'])
      writeFileSync(store.event(name), line(361));
    symlinkSync(store.write('elsewhere', line(361)), store.event(NEXT));
    const { board, examined } = await pollStore(store);
    assert.deepEqual([board.entities, board.cursor.seq], [BEFORE.entities, BEFORE.seq]);
    assert.equal(count(examined, 'decoy'), 7);
  });

  test('meta.json that is missing or lies changes no board', async () => {
    using store = ended(brainclaw());
    for (const text of [null, '{"next_seq":99999,"active_segment":"x","entity_revs":[]}', 'null', '\u0000']) {
      if (text === null) rmSync(store.event('meta.json'));
      else writeFileSync(store.event('meta.json'), text);
      const { board, examined } = await pollStore(store);
      assert.deepEqual([board.entities, board.cursor.seq, board.remarks], [BEFORE.entities, BEFORE.seq, ['skipped=5']]);
      assert.ok(examined.findings.some(({ what }) => what.startsWith('meta-')));
    }
  });

  test('a checkpoint with a flipped byte is named, and the board is complete without it', async () => {
    using store = ended(brainclaw());
    const snapshot = store.event('checkpoints/000000000358.snapshot.json');
    const bytes = readFileSync(snapshot);
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(snapshot, bytes);
    const { board, examined } = await pollStore(store);
    assert.deepEqual([board.entities, board.remarks], [BEFORE.entities, ['skipped=5']]);
    assert.equal(count(examined, 'checkpoint-refused'), 1);
    rmSync(store.event('seg-00000001.jsonl'));
    const partial = await pollStore(store);
    assert.ok(partial.board.remarks.includes('incomplete'));
    assert.deepEqual(
      [count(partial.examined, 'checkpoint-refused'), count(partial.examined, 'missing-segment')],
      [1, 1],
    );
  });

  test('a segment that is removed while it is followed is said, and the board is marked', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--lines', '1']);
    await tail.until('the last record', () => tail.lines.length === 1);
    rmSync(store.event('seg-00000122.jsonl'));
    await tail.says(/read from its start again \(segment-gone\)/);
    appendFileSync(store.event(LAST), line(361));
    await tail.until('the next record', () => tail.lines.length === 2);
    const { board, examined } = await pollStore(store);
    assert.ok(board.remarks.includes('incomplete'));
    assert.deepEqual(examined.findings.find(({ what }) => what === 'missing-segment')?.where, ['seq 122 to 258']);
    assert.equal((await tail.stop()).code, 0);
  });

  test('a record that is far too long is passed over', async () => {
    using store = ended(brainclaw());
    appendFileSync(store.event(LAST), `\n${'x'.repeat(17 * 1024 * 1024)}\n${line(361)}`);
    const { board, examined } = await pollStore(store);
    assert.deepEqual([board.cursor.seq, count(examined, 'too-long')], [361, 1]);
  });

  test('text that a terminal would act on is shown by its number', async () => {
    using store = ended(brainclaw());
    const payload = { status: 'pending', agent: 'a\u001b[31m', title: 'x\u0007\u202ey', prompt: '' };
    const more = { item_type: 'state', item_id: 'act_\u001b]0;z', payload, agent: 'b\u009b1m', summary: 's\u0000' };
    appendFileSync(store.event(LAST), line(361, more));
    for (const verb of ['board', 'attention', 'tail', 'doctor', 'activity']) {
      for (const json of [[], ['--json']]) {
        const { out, err } = await brainclawCli(store)([verb, ...json]);
        assert.doesNotMatch(out + err, /(?!\n)\p{Cc}/u, verb);
        if (json.length === 0) assert.doesNotMatch(out, /\u202e/);
      }
    }
  });
});
