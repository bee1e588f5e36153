import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brainclawCli } from '../kit/brainclaw-cli.ts';
import { brainclaw, EXPECTED, line, type Store, stepAt } from '../kit/brainclaw-store.ts';
import { scratch } from '../kit/scratch.ts';

interface BoardJson {
  readonly entities: number;
  readonly registryAuthoritative: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly attention_required: Readonly<Record<string, number>>;
  readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
  readonly remarks: readonly string[];
}

const readBoard = async (store: Store, ...args: readonly string[]): Promise<BoardJson> => {
  const { code, json } = await brainclawCli(store)(['board', '--json', ...args]);
  assert.equal(code, 0);
  return json<BoardJson>();
};

describe('the board', () => {
  test('brainclaw check 1: is that of the reference, by its keys', async () => {
    using store = brainclaw();
    const { checks: _, ...expected } = EXPECTED.observer;
    assert.deepEqual(await readBoard(store), { ...expected, remarks: ['skipped=5'] });
    const { out, err } = await brainclawCli(store)(['board']);
    assert.match(out, /^prj_lab0001 {2}attention 20, at record 359\nskipped=5\nplans 27, claims 12, .*sessions \?\n/);
    assert.equal(err, '');
    const sections = [...out.matchAll(/^([a-z-]+) \d+$/gm)].map(([, id]) => id);
    assert.equal(sections[0], 'attention');
    assert.ok(['in-progress', 'backlog', 'handoffs', 'traps'].every((id) => sections.includes(id)));
    assert.match(out, /\n {2}codex +2 +3 +4 +3 +2 +2\n/);
  });

  test('brainclaw check 2: up to a record, and what is to be said beside it', async () => {
    using store = brainclaw();
    for (const { until, registryAuthoritative, entities, counts, attention_required } of EXPECTED.until) {
      const board = await readBoard(store, '--until', `${until}`);
      assert.deepEqual(
        [board.registryAuthoritative, board.entities, board.counts, board.attention_required],
        [registryAuthoritative, entities, counts, attention_required],
      );
      assert.equal(board.remarks.includes('registry-partial'), !registryAuthoritative);
    }
    const { out } = await brainclawCli(store)(['attention', '--until', '127']);
    assert.match(out, /^stale_runs +run_lc01 +failed +hermes +127 .*\n1 asks for attention\nregistry-partial\n$/);
  });

  test('brainclaw check 4: after each step is that of the steps', async () => {
    using store = brainclaw();
    for (const number of [1, 2, 3, 4]) {
      store.step(number);
      const { counts, attention_required, entities, cursor } = stepAt(number).after;
      const board = await readBoard(store);
      assert.deepEqual(
        [board.counts, board.attention_required, board.entities, board.cursor.seq],
        [counts, attention_required, entities, cursor],
      );
    }
  });

  test('brainclaw check 6: whatever meta.json says', async () => {
    using store = brainclaw();
    const board = await readBoard(store);
    for (const meta of ['{', '{"next_seq":12,"active_segment":"seg-00000001.jsonl","entity_revs":{}}', null]) {
      if (meta === null) rmSync(store.event('meta.json'));
      else writeFileSync(store.event('meta.json'), meta);
      assert.deepEqual(await readBoard(store), board);
    }
  });

  test('brainclaw check 6: of a fresh journal in its place is that of the fresh one', async () => {
    using store = brainclaw();
    renameSync(store.journal, store.at('parked'));
    mkdirSync(store.journal);
    writeFileSync(store.event('seg-00000001.jsonl'), line(1));
    const { entities, counts, cursor, remarks } = await readBoard(store);
    assert.deepEqual([entities, counts.plans, cursor.seq, remarks], [1, 1, 1, ['registry-partial']]);
  });

  test('brainclaw check 10: from a checkpoint, and not from one with a flipped byte', async () => {
    using store = brainclaw();
    for (const name of ['seg-00000001.jsonl', 'seg-00000122.jsonl'])
      renameSync(store.event(name), store.event(join('archive', name)));
    const { attention_required, entities, cursor, remarks } = await readBoard(store);
    const { coldFromCheckpoint: expected } = EXPECTED;
    assert.deepEqual([attention_required, entities, cursor], [expected.attention_required, 145, expected.cursor]);
    assert.deepEqual(remarks, ['from-checkpoint', 'registry-partial', 'skipped=5']);
    const snapshot = store.event('checkpoints/000000000358.snapshot.json');
    const bytes = readFileSync(snapshot);
    const index = bytes.indexOf('todo');
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    writeFileSync(snapshot, bytes);
    const broken = await readBoard(store);
    assert.deepEqual(broken.remarks, ['incomplete', 'registry-partial', 'skipped=5']);
    assert.equal(broken.cursor.checkpoint_seq, 0);
  });

  test('is found from any folder of the project, and from the store itself', async () => {
    using store = brainclaw();
    mkdirSync(store.at('src', 'deep'), { recursive: true });
    const run = brainclawCli(store);
    for (const options of [
      { project: store.at('src', 'deep') },
      { project: store.root },
      { project: join(store.root, 'events') },
      { project: null, cwd: store.at('src') },
      { project: 'src' },
    ]) {
      const { code, out } = await run(['board'], options);
      assert.deepEqual([code, out.split('\n')[0]], [0, 'prj_lab0001  attention 20, at record 359']);
    }
  });

  test('is found by the id of a project that the settings name', async () => {
    using store = brainclaw();
    const run = brainclawCli(store);
    mkdirSync(store.at('hivebar', 'config'), { recursive: true });
    const settings = { brainclaw: { is: 'on', projects: [store.dir] } };
    writeFileSync(store.at('hivebar', 'config', 'config.json'), JSON.stringify(settings));
    const { code, out } = await run(['board'], { project: 'prj_lab0001', cwd: '/' });
    assert.deepEqual([code, out.split('\n')[0]], [0, 'prj_lab0001  attention 20, at record 359']);
    const other = await run(['board'], { project: 'prj_other', cwd: '/' });
    assert.deepEqual([other.code, other.out], [1, '']);
    assert.match(other.err, /prj_other: is neither a directory nor the id of a project in the settings/);
  });

  test('that is not known is no board of zeros', async () => {
    using store = brainclaw();
    rmSync(store.journal, { recursive: true });
    for (const verb of ['board', 'attention', 'activity', 'tail']) {
      const { code, out, err } = await brainclawCli(store)([verb]);
      assert.deepEqual([code, out], [1, ''], verb);
      assert.match(err, /journal-off.*brainclaw migrate --enable-journal/);
    }
    const { code, json } = await brainclawCli(store)(['board', '--json']);
    assert.deepEqual([code, json()], [1, { project: 'prj_lab0001', remarks: ['journal-off'] }]);
  });

  test('of no project is none, and says how to name one', async () => {
    using place = scratch();
    const run = brainclawCli(place);
    const { code, out, err } = await run(['board', '--json']);
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.includes(`${place.dir}: neither it nor a directory above it has a .brainclaw`), err);
    assert.match(err, /--project/);
    const nowhere = await run(['board'], { project: place.at('none') });
    assert.deepEqual([nowhere.code, nowhere.out], [1, '']);
    assert.match(nowhere.err, /none: is neither a directory/);
  });
});

describe('what asks for attention', () => {
  test('says why, what, who and since which record', async () => {
    using store = brainclaw();
    const { json } = await brainclawCli(store)(['attention', '--json']);
    const { attention_required, items } = json<{
      attention_required: object;
      items: readonly { why: string; item_id: string; who: string; seq: number; status: string }[];
    }>();
    assert.deepEqual(attention_required, EXPECTED.observer.attention_required);
    assert.equal(items.length, 20);
    const { why, who, seq, status } = items.find(({ item_id }) => item_id === 'act_b0') ?? {};
    assert.deepEqual([why, who, seq, status], ['pending_actions', 'codex', 349, 'pending']);
  });
});

describe('the activity', () => {
  test('is the last records that changed no item', async () => {
    using store = brainclaw();
    const run = brainclawCli(store);
    const { json } = await run(['activity', '--json', '--limit', '2']);
    const { activity } = json<{ activity: readonly { seq: number; action: string }[] }>();
    assert.deepEqual(
      activity.map(({ seq, action }) => [seq, action]),
      [
        [355, 'mystery_signal'],
        [357, 'journal_note'],
      ],
    );
    const { out } = await run(['activity']);
    assert.equal(out.split('\n').length, 22); // and the remarks
    for (const limit of ['0', '1.5', 'x']) assert.equal((await run(['activity', '--limit', limit])).code, 2);
  });
});

describe('the inbox', () => {
  test('brainclaw check 7: has messages only, and counts what is none', async () => {
    using store = brainclaw();
    const { code, json, err } = await brainclawCli(store)(['inbox', '--json']);
    const { agents } = json<{
      agents: Readonly<Record<string, { pending: number; actionable: number; skipped: number; messages: object[] }>>;
    }>();
    const counts = Object.entries(agents).map(([agent, { messages, pending, actionable, skipped }]) => [
      agent,
      { messages: messages.length, pending, actionable, skipped },
    ]);
    assert.deepEqual([code, Object.fromEntries(counts), err], [0, EXPECTED.inbox, '']);
    assert.doesNotMatch(JSON.stringify(agents), /cnd_a0/);
  });

  test('of one agent has its messages, and marks none', async () => {
    using store = brainclaw();
    const file = join(store.root, 'coordination', 'inbox', 'codex', 'msg_0000000000000001.json');
    const before = readFileSync(file, 'utf8');
    const { code, out, err } = await brainclawCli(store)(['inbox', 'codex']);
    assert.equal(code, 0);
    assert.match(out, /^\* msg_0000000000000001 {2}assign {2}pending {2}from claude-code .*\n {4}Work item/);
    assert.match(out, /\n2 pending, 3 actionable\n$/);
    assert.equal(err.split('\n').length, 3); // two that are no messages
    assert.equal(readFileSync(file, 'utf8'), before);
    const byAlias = await brainclawCli(store)(['inbox', 'Copilot']);
    assert.match(byAlias.out, /\n1 pending, 1 actionable\n$/);
    const nobody = await brainclawCli(store)(['inbox', 'nobody']);
    assert.equal(nobody.code, 1);
    assert.match(nobody.err, /nobody has no inbox in .*claude-code, codex/);
  });

  test('is there with the journal off, and shows nothing that a terminal acts on', async () => {
    using store = brainclaw();
    rmSync(store.journal, { recursive: true });
    const message = {
      id: 'msg_x',
      from: 'a\u001b[2Jb',
      to: 'hermes',
      type: 'info',
      text: 'x\u0007y\nz',
      created_at: 'now',
    };
    writeFileSync(join(store.root, 'coordination', 'inbox', 'hermes', 'msg_x.json'), JSON.stringify(message));
    const { code, out } = await brainclawCli(store)(['inbox', 'hermes']);
    assert.equal(code, 0);
    assert.match(out, /from a\\u001b\[2Jb .*\n {4}x\\u0007y\n {4}z\n1 pending/);
  });
});

describe('a command line', () => {
  test('that is wrong ends with 2 and prints nothing', async () => {
    using store = brainclaw();
    for (const args of [['bored'], ['board', '--until', '0']]) {
      const { code, out } = await brainclawCli(store)(args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
    }
  });
});
