import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { BrainclawFinding } from '../../core/sources/brainclaw/commands/doctor-journal.ts';
import { brainclawCli, type DoctorReport } from '../kit/brainclaw-cli.ts';
import { brainclaw, ended, LAST, line, type Store } from '../kit/brainclaw-store.ts';
import { scratch } from '../kit/scratch.ts';

const examined = async (store: Store): Promise<DoctorReport & { readonly code: number | null }> => {
  const { code, json } = await brainclawCli(store)(['doctor', '--json']);
  return { code, ...json<DoctorReport>() };
};
const found = ({ findings }: DoctorReport, finding: string): BrainclawFinding | undefined =>
  findings.find((entry) => entry.what === finding);
const names = ({ findings }: DoctorReport, is: BrainclawFinding['is']): readonly string[] =>
  findings.filter((entry) => entry.is === is).map(({ what, count }) => `${what} ${count}`);

/** A journal that is in order, with so many records more. */
function sound(more: string = ''): Store {
  const store = brainclaw();
  for (const name of readdirSync(store.journal)) rmSync(store.event(name), { recursive: true });
  rmSync(join(store.root, 'coordination'), { recursive: true });
  const genesis = { action: 'journal_note', item_type: 'journal', payload: { kind: 'registry_genesis' } };
  const note = line(1, { ...genesis, item_id: undefined, entity_rev: undefined });
  writeFileSync(store.event('seg-00000001.jsonl'), note + line(2) + line(3) + more);
  const meta = { next_seq: 4, active_segment: 'seg-00000001.jsonl', entity_revs: { pln_2: 1, pln_3: 1 } };
  writeFileSync(store.event('meta.json'), JSON.stringify(meta));
  return store;
}

/** Everything below a directory with its content and its times. */
function tree(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mtimeMs, ctimeMs, ino } = statSync(join(directory, name));
      const isFile = statSync(join(directory, name)).isFile();
      const hash = isFile
        ? createHash('sha256')
            .update(readFileSync(join(directory, name)))
            .digest('hex')
        : '';
      return `${name} ${ino} ${mtimeMs} ${ctimeMs} ${hash}`;
    });
}

describe('the doctor', () => {
  test('names all that is wrong in the data, where it is, and ends with 1', async () => {
    using store = brainclaw();
    const before = tree(store.root);
    const all = await examined(store);
    assert.deepEqual([all.code, all.clean, all.journal?.records], [1, false, 360]);
    assert.deepEqual(names(all, 'defect'), [
      ...['not-json 1', 'wrong-version 1', 'bad-seq 1', 'seq-with-two-contents 1', 'revision-back 1', 'meta-lies 2'],
      'bad-mail 2',
    ]);
    assert.deepEqual(names(all, 'note'), [
      ...['unfinished-line 1', 'decoy 2', 'adjudicated-tear 2', 'seq-repair 1', 'unknown-action 2'],
    ]);
    assert.deepEqual(found(all, 'wrong-version')?.where, [`${LAST} at byte 46930`]);
    assert.deepEqual(found(all, 'adjudicated-tear')?.where, [
      ...[`${LAST} at byte 44399, not-json`, `${LAST} at byte 47171, bad-payload`],
    ]);
    assert.match(found(all, 'seq-with-two-contents')?.where[0] ?? '', /^seq 353, /);
    assert.match(found(all, 'bad-mail')?.where[0] ?? '', /^codex\/msg_0000000000000009.json has type "shout"/);
    assert.deepEqual(all.journal?.checkpoints, ['000000000358.manifest.json']);
    const { code, out } = await brainclawCli(store)(['doctor']);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^defect {2}not-json \\(1\\): .*\\n {10}${LAST} at byte \\d+\\n`));
    assert.match(out, /\nprj_lab0001: 360 records in 3 segments, 7 defects\n$/);
    assert.deepEqual(tree(store.root), before);
  });

  test('finds nothing in a store that is in order, and ends with 0', async () => {
    using store = sound();
    const { code, out, err } = await brainclawCli(store)(['doctor']);
    assert.deepEqual([code, out, err], [0, 'prj_lab0001: 3 records in 1 segments, no defect\n', '']);
  });

  test('finds a seq that is missing, one that is there twice, and one with two contents', async () => {
    using store = sound(
      line(5, { item_id: 'a' }) + line(5, { item_id: 'a' }) + line(9, { item_id: 'b' }) + line(9, { item_id: 'c' }),
    );
    const all = await examined(store);
    assert.deepEqual([found(all, 'seq-gap')?.count, found(all, 'seq-gap')?.where], [4, ['seq 4', 'seq 6 to 8']]);
    assert.deepEqual([found(all, 'duplicate')?.count, found(all, 'duplicate')?.is], [1, 'note']);
    assert.equal(found(all, 'seq-with-two-contents')?.count, 1);
    assert.match(found(all, 'revision-back')?.where[0] ?? '', /^plan:a from 1 to 1, seq 5/);
  });

  test('counts exactly, however many there are, and shows the last ones', async () => {
    const many = Array.from({ length: 300 }, (_, n) => line(2 * n + 5, { item_id: `p${n}`, entity_rev: 3 })).join('');
    using store = sound(many + 'no record\n'.repeat(200));
    const all = await examined(store);
    assert.deepEqual(
      ['seq-gap', 'revision-gap', 'not-json'].map((finding) => found(all, finding)?.count),
      [300, 300, 200],
    );
    assert.ok(all.findings.every(({ where }) => where.length <= 16));
    assert.equal(found(all, 'seq-gap')?.where.at(-1), 'seq 602');
  });

  test('finds revisions that are missing or go back, also over a deletion', async () => {
    const formatRevision = (seq: number, entity_rev: number, more: object = {}): string =>
      line(seq, { item_id: 'x', entity_rev, ...more });
    const gone = formatRevision(5, 2, { action: 'delete', payload: undefined });
    using store = sound(
      formatRevision(4, 1) + gone + formatRevision(6, 3) + formatRevision(7, 6) + formatRevision(8, 5),
    );
    const all = await examined(store);
    assert.deepEqual([found(all, 'revision-gap')?.count, found(all, 'revision-back')?.count], [1, 1]);
    assert.match(
      found(all, 'revision-gap')?.where[0] ?? '',
      /^plan:x from 3 to 6, seq 7, seg-00000001.jsonl at byte \d+$/,
    );
    assert.match(found(all, 'revision-back')?.where[0] ?? '', /^plan:x from 6 to 5, seq 8/);
  });

  test('finds what breaks the rules of the classes, and a payload that lies elsewhere', async () => {
    const ref = { sha256: 'ab', bytes: 300_000 };
    using store = sound(
      line(4, { item_id: undefined }) +
        line(5, { entity_rev: undefined }) +
        line(6, { payload: undefined }) +
        line(7, { action: 'delete' }) +
        line(8, { payload: undefined, payload_ref: ref }),
    );
    const all = await examined(store);
    assert.deepEqual(
      ['no-item-id', 'no-revision', 'no-payload', 'payload-forbidden', 'payload-elsewhere'].map(
        (finding) => found(all, finding)?.count,
      ),
      [1, 1, 2, 1, 1],
    );
    assert.match(found(all, 'payload-elsewhere')?.says ?? '', /300000 bytes/);
    assert.match(found(all, 'payload-elsewhere')?.where[0] ?? '', /^seq 8, .*, 300000 bytes$/);
  });

  test('says how meta.json stands to the journal', async () => {
    using store = sound();
    const meta = (next_seq: unknown, active_segment: string, entity_revs: object): string =>
      JSON.stringify({ next_seq, active_segment, entity_revs });
    const revs = { pln_2: 1, pln_3: 1 };
    for (const [text, expected] of [
      [null, ['note', 'meta-missing', /missing/]],
      ['{', ['defect', 'meta-broken', /not valid JSON/]],
      [meta(1.5, 'seg-00000001.jsonl', revs), ['defect', 'meta-broken', /next_seq 1.5/]],
      [meta(3, 'seg-00000001.jsonl', { pln_2: 1 }), ['note', 'meta-behind', /next_seq 3, and the journal ends at 3/]],
      [meta(40, 'seg-00000001.jsonl', revs), ['defect', 'meta-lies', /next_seq 40/]],
      [meta(4, 'seg-00000009.jsonl', revs), ['defect', 'meta-lies', /active segment seg-00000009.jsonl/]],
      [meta(4, 'seg-00000001.jsonl', { ...revs, pln_3: 7 }), ['defect', 'meta-lies', /does not have/]],
    ] as const) {
      if (text === null) rmSync(store.event('meta.json'));
      else writeFileSync(store.event('meta.json'), text);
      const all = await examined(store);
      const [is, finding, says] = expected;
      assert.deepEqual([all.findings[0]?.is, all.findings[0]?.what, all.code], [is, finding, is === 'note' ? 0 : 1]);
      assert.match(all.findings[0]?.says ?? '', says);
    }
  });

  test('says why a checkpoint is refused, also while none is needed', async () => {
    using store = ended(brainclaw());
    const manifest = store.event('checkpoints/000000000358.manifest.json');
    const fields = JSON.parse(readFileSync(manifest, 'utf8')) as object;
    writeFileSync(manifest, JSON.stringify({ ...fields, head_identity: 'ab' }));
    const all = await examined(store);
    assert.match(
      found(all, 'checkpoint-refused')?.where[0] ?? '',
      /358.manifest.json the journal does not have the record/,
    );
    assert.deepEqual(all.journal?.checkpoints, []);
  });

  test('says which segments are gone, and where the board begins', async () => {
    using store = brainclaw();
    for (const name of ['seg-00000001.jsonl', 'seg-00000122.jsonl'])
      renameSync(store.event(name), store.event(join('archive', name)));
    const all = await examined(store);
    assert.deepEqual(found(all, 'from-checkpoint')?.where, ['000000000358.manifest.json']);
    assert.equal(found(all, 'missing-segment'), undefined);
    assert.equal(found(all, 'meta-lies')?.count, 1); // of what is gone it may be right
    assert.deepEqual(all.journal?.checkpoints, ['000000000358.manifest.json']);
    rmSync(store.event('checkpoints'), { recursive: true });
    assert.deepEqual(found(await examined(store), 'missing-segment')?.where, ['seq 1 to 258']);
  });

  test('says when a segment in the middle ends torn, and that tasks of old lie beside the store', async () => {
    using store = brainclaw();
    appendFileSync(store.event('seg-00000001.jsonl'), '{"v":2,"seq":1');
    mkdirSync(store.at('coordination', 'inbox', 'codex'), { recursive: true });
    writeFileSync(store.at('coordination', 'inbox', 'codex', 'task-1750000000000.md'), 'do it');
    mkdirSync(join(store.root, 'coordination', 'inbox', 'Codex'));
    const all = await examined(store);
    assert.deepEqual(found(all, 'no-inbox')?.where, ['Codex']);
    assert.match(found(all, 'unexplained-tear')?.where[0] ?? '', /^seg-00000001.jsonl at byte \d+, 14 bytes$/);
    assert.deepEqual(found(all, 'older-delivery')?.where, ['coordination/inbox/codex/task-1750000000000.md']);
  });

  test('says that a journal is off, and looks at the mail all the same', async () => {
    using store = brainclaw();
    rmSync(store.journal, { recursive: true });
    const all = await examined(store);
    assert.deepEqual(
      [all.code, all.journal, names(all, 'note'), names(all, 'defect')],
      [...[1, null, ['journal-off 1'], ['bad-mail 2']]],
    );
  });

  test('ends with 3 when there is no store, or it cannot be read', async () => {
    using place = scratch();
    const nothing = await brainclawCli(place)(['doctor', '--json']);
    assert.deepEqual([nothing.code, nothing.json<DoctorReport>().clean], [3, false]);
    using store = brainclaw();
    chmodSync(store.journal, 0);
    const wrap = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    const closed = await brainclawCli(store)(['doctor'], { wrap });
    const board = await brainclawCli(store)(['board'], { wrap });
    chmodSync(store.journal, 0o700);
    assert.deepEqual([closed.code, board.code, board.out], [3, 1, '']);
    for (const { err } of [closed, board]) assert.match(err, /events.*: permission denied/);
  });
});
