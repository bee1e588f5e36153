import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brainclawCli, startTail, type TailLine, tailLines } from '../kit/brainclaw-cli.ts';
import { brainclaw, ended, LAST, line, NEXT, stepAt, stepBytes } from '../kit/brainclaw-store.ts';

const seen = (lines: readonly TailLine[]) => lines.map(({ seq, item_id }) => `${seq} ${item_id}`);

describe('tail', { concurrency: 4 }, () => {
  test('prints the last records, those after a seq, or none', async () => {
    using store = brainclaw();
    const run = brainclawCli(store);
    const { code, out, err } = await run(['tail', '--lines', '2']);
    assert.equal(code, 0);
    assert.match(out, /^358 .*create {2}handoff:hnd_last {2}open\n359 .*create {2}plan:pln_9001 {2}todo\n$/);
    assert.match(err, /skipped 5 lines that are not records/);
    const since = await run(['tail', '--since', '357', '--json']);
    const lines = since.out.split('\n').slice(0, -1);
    assert.deepEqual(seen(lines.map((text) => JSON.parse(text) as TailLine)), ['358 hnd_last', '359 pln_9001']);
    assert.equal((await run(['tail', '--since', '0', '--json'])).out.split('\n').length - 1, 360);
    assert.equal((await run(['tail', '--lines', '0'])).out, '');
  });

  test('brainclaw check 3: --follow has each step once, with what the board made of it', async () => {
    using store = brainclaw();
    await using tail = startTail(store, ['--json', '--lines', '0']);
    await tail.says(/skipped 5 lines/);
    for (const number of [1, 2, 3, 4]) {
      store.step(number);
      const { after } = stepAt(number);
      await tail.until(`step ${number}`, () => tail.lines.length >= number);
      const last = tailLines(tail).at(-1);
      assert.deepEqual([last?.cursor, last?.attention.after], [after.cursor, after.attention_required.total]);
    }
    const [plan, action, handoff, resolved] = tailLines(tail);
    assert.deepEqual([plan?.item_id, plan?.status, plan?.attention.before], ['pln_9001', 'done', 20]);
    assert.deepEqual(
      [action?.item_id, action?.attention],
      ['act_c0', { before: 20, after: 21, why: 'pending_actions' }],
    );
    assert.deepEqual(
      [handoff?.item_id, handoff?.effect, handoff?.status, handoff?.attention],
      ['hnd_last', 'removed', null, { before: 21, after: 21, why: null }],
    );
    assert.deepEqual(
      [resolved?.item_id, resolved?.seq, resolved?.status, resolved?.attention],
      ['act_c0', handoff?.seq, 'resolved', { before: 21, after: 20, why: null }],
    );
    assert.deepEqual(action?.sections, ['attention', 'actions']);
    const { code } = await tail.stop();
    assert.deepEqual([code, tail.lines.length], [0, 4]);
  });

  test('brainclaw check 5: byte by byte, a record is there with its newline and not before, its text whole', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--json', '--lines', '1']);
    await tail.until('the last record', () => tail.lines.length === 1);
    const bytes = stepBytes(2);
    for (const byte of bytes.subarray(0, -1)) {
      appendFileSync(store.event(LAST), Buffer.of(byte));
      await sleep(1);
      assert.equal(tail.lines.length, 1);
    }
    // What comes behind it, in the next segment, is printed after all that there was before.
    appendFileSync(store.event(NEXT), line(362));
    await tail.until('the record behind', () => tail.lines.length === 2);
    assert.deepEqual(seen(tailLines(tail)), ['360 pln_9001', '362 pln_362']);
    appendFileSync(store.event(LAST), bytes.subarray(-1));
    await tail.until('the whole record', () => tail.lines.length === 3);
    assert.deepEqual(seen(tailLines(tail)).at(-1), '361 act_c0');
    const board = await brainclawCli(store)(['attention', '--json']);
    assert.match(board.out, /act_c0/);
  });

  test('a text of many alphabets comes through whole', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--json', '--lines', '0']);
    await tail.says(/skipped 5 lines/);
    const text = Buffer.from(line(361, { summary: '지금 병합 🌱' }));
    for (const byte of text) appendFileSync(store.event(LAST), Buffer.of(byte));
    await tail.until('the record', () => tail.lines.length === 1);
    assert.match(tail.lines[0] ?? '', /"summary":"지금 병합 🌱"/);
  });

  test('prints of a journal that was read again nothing twice, and says so', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--json', '--lines', '1']);
    await tail.until('the last record', () => tail.lines.length === 1);
    const old = store.event('seg-00000122.jsonl');
    appendFileSync(old, line(370));
    await tail.says(/read from its start again \(old-segment-changed\)/);
    appendFileSync(store.event(LAST), line(361));
    await tail.until('the next record', () => tail.lines.length === 3);
    assert.deepEqual(seen(tailLines(tail)), ['360 pln_9001', '370 pln_370', '361 pln_361']);
  });

  test('begins again with another journal in the place of the first', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--json', '--lines', '1']);
    await tail.until('the last record', () => tail.lines.length === 1);
    renameSync(store.journal, store.at('parked'));
    await tail.says(/journal-off/);
    mkdirSync(store.at('next'));
    writeFileSync(store.at('next', 'seg-00000001.jsonl'), line(1) + line(2));
    renameSync(store.at('next'), store.journal); // with its records, so that these are not seen as they come
    await tail.until('the last of the new one', () => tail.lines.length === 2);
    assert.deepEqual(seen(tailLines(tail)), ['360 pln_9001', '2 pln_2']);
    await tail.says(/read from its start again \(first\): 2 records/);
  });

  test('waits for a journal that is off', async () => {
    using store = brainclaw();
    renameSync(store.journal, store.at('parked'));
    await using tail = startTail(store, ['--lines', '1']);
    await tail.says(/journal-off.*waiting for it/);
    renameSync(store.at('parked'), store.journal);
    await tail.until('the last record', () => tail.lines.length === 1);
    assert.match(tail.lines[0] ?? '', /^359 /);
  });

  test('says which lines are none', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--lines', '0']);
    await tail.says(/skipped 5 lines/);
    appendFileSync(store.event(LAST), 'no record\n');
    await tail.says(new RegExp(`skipped a line of ${LAST} at \\d+: not-json`));
  });

  test('looks by the time alone where nothing tells of changes', async () => {
    using store = ended(brainclaw());
    await using tail = startTail(store, ['--lines', '1', '--stat-only']);
    await tail.says(/this file system reports no changes: checking the journal every 10 s/);
    await tail.until('the last record', () => tail.lines.length === 1);
    appendFileSync(store.event(LAST), line(361));
    await tail.until('the next record', () => tail.lines.length === 2);
  });

  test('ends with 0 when it is interrupted, and when nobody reads', async () => {
    using store = brainclaw();
    for (const signal of ['SIGINT', 'SIGTERM', 'reader'] as const) {
      await using tail = startTail(store);
      await tail.until('records', () => tail.lines.length === 10);
      if (signal === 'reader') tail.leave();
      else tail.kill(signal);
      assert.deepEqual(await tail.ended(), { code: 0, signal: null }, signal);
    }
  });

  test('ends with 1 when it does not follow and the journal is off', async () => {
    using store = brainclaw();
    rmSync(store.journal, { recursive: true });
    assert.equal((await brainclawCli(store)(['tail'])).code, 1);
  });
});
