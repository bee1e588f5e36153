import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mergeReceipt, readReceipt, readRecord } from '../../core/sources/garden/index.ts';
import { complaintsIn, type GardenAnswer, type GardenCli, gardenCli } from '../kit/garden-cli.ts';
import { EXPECTED, EXPECTED_V3, findCitizenId, type Garden, garden, handAt, type Op } from '../kit/garden-store.ts';

const FIXED = import.meta.resolve('../kit/fixed-moment.mjs');
const KILLER = import.meta.resolve('../kit/kill-at-step.mjs');
const SESSION_3 = '0f3c9d1e-77aa-4b10-9c55-000000000003';

type Input = Readonly<Record<string, unknown>>;

/** A flag for what is set, `--no-` for what is null, nothing for what is not said. */
function toFlags({ backend, nativeSessionId, cwd, model, transcriptPath, parentGardenId, isEntwurf }: Input): string[] {
  const saved = (name: string, value: unknown): string[] =>
    value === undefined ? [] : value === null ? [`--no-${name}`] : [`--${name}`, String(value)];
  return [
    ...['--backend', String(backend), '--session', String(nativeSessionId), '--cwd', String(cwd)],
    ...[...saved('model', model), ...saved('transcript', transcriptPath), ...saved('parent', parentGardenId)],
    ...(isEntwurf === undefined ? [] : [isEntwurf === true ? '--entwurf' : '--no-entwurf']),
  ];
}

/** As it was run for the reference: at that moment, in Seoul, with those digits drawn. */
function createMomentEnv(op: Op): { env: Record<string, string> } {
  const hex = String(op.record.gardenId).slice(-6);
  return { env: { NODE_OPTIONS: `--import=${FIXED}`, FIXED_NOW: op.now, FIXED_HEX: hex, TZ: 'Asia/Seoul' } };
}

async function upserted(run: GardenCli, op: Op, input: Input, more: readonly string[] = []): Promise<GardenAnswer> {
  const answer = await run(['record', 'upsert', '--json', ...toFlags(input), ...more], createMomentEnv(op));
  assert.deepEqual([answer.code, answer.err], [0, ''], op.label);
  const { action, citizen, path } = answer.json<{ action: string; citizen: object; path: string }>();
  assert.deepEqual([action, citizen], [op.action, op.record], op.label);
  assert.equal(readFileSync(path, 'utf8'), `${JSON.stringify(op.record, null, 2)}\n`, op.label);
  return answer;
}

const readRecordText = (store: Garden, id: string): string =>
  readFileSync(join(store.places.sessions, `${id}.meta.json`), 'utf8');

describe('garden check 7: record upsert', () => {
  test('writes byte by byte what the reference wrote, record after record', async () => {
    using made = garden('store');
    using store = garden();
    const run = gardenCli(store);
    for (const op of EXPECTED.ops) {
      if (op.op === 'upsert') await upserted(run, op, op.input);
      if (op.op !== 'write-v1') continue;
      const { delivery } = JSON.parse(readRecordText(made, findCitizenId('v1-claude'))) as { delivery: object };
      const text = op.label === 'v1-migrated' ? v1Before(delivery) : readRecordText(made, op.gardenId);
      writeFileSync(join(store.places.sessions, `${op.gardenId}.meta.json`), text);
    }
    const ids = Object.values(EXPECTED.labels);
    assert.deepEqual(readdirSync(store.places.sessions).sort(), ids.map((id) => `${id}.meta.json`).sort());
    for (const id of ids) assert.equal(readRecordText(store, id), readRecordText(made, id));
    const migrated = join(findCitizenId('v1-migrated'), 'state.json');
    assert.equal(
      readFileSync(join(store.places.mailbox, migrated), 'utf8'),
      readFileSync(join(made.places.mailbox, migrated), 'utf8'),
    );
    assert.deepEqual(readdirSync(store.places.mailbox), [findCitizenId('v1-migrated')]);
  });

  test('writes the keys of the third schema in the order of the later generation', async () => {
    using made = garden('store-v3');
    using store = garden();
    const run = gardenCli(store);
    for (const op of EXPECTED_V3.ops.filter((entry) => entry.op === 'upsert')) {
      await upserted(run, op, op.record, ['--schema', '3']);
    }
    for (const { gardenId } of Object.values(EXPECTED_V3.citizens)) {
      assert.equal(readRecordText(store, gardenId), readRecordText(made, gardenId));
    }
  });

  test('of a v1 record migrates its receipt before it rewrites it, and keeps who it is', async () => {
    using store = garden('store');
    const id = findCitizenId('v1-claude');
    const before = JSON.parse(readRecordText(store, id)) as Record<string, unknown>;
    const { nativeSessionId, delivery } = before as { nativeSessionId: string; delivery: Record<string, unknown> };
    const input = { backend: 'claude-code', nativeSessionId, cwd: '/new' };
    const { code, json } = await gardenCli(store)(['record', 'upsert', '--json', ...toFlags(input)]);
    assert.deepEqual([code, json().action], [0, 'attach']);
    const after = JSON.parse(readRecordText(store, id)) as Record<string, unknown>;
    assert.deepEqual(
      [after.schemaVersion, after.gardenId, after.createdAt, after.transcriptPath, after.cwd, after.delivery],
      [2, id, before.createdAt, before.transcriptPath, '/new', undefined],
    );
    const state = JSON.parse(readFileSync(join(store.places.mailbox, id, 'state.json'), 'utf8')) as object;
    const { wakeMode, deliveryLevel, ...times } = delivery;
    assert.deepEqual(state, { schemaVersion: 1, gardenId: id, ...times });
  });

  test('keeps what is not said, clears what is said to be none, and sets the rest', async () => {
    using store = garden();
    const run = gardenCli(store);
    const parentGardenId = '20260614T100037-626df8';
    const upsert = async (...flags: readonly string[]): Promise<Input> => {
      const args = ['record', 'upsert', '--backend', 'pi', '--session', 's', '--json', ...flags];
      return (await run(args)).json<{ citizen: Input }>().citizen;
    };
    const values = ({ model, transcriptPath, isEntwurf, ...more }: Input): readonly unknown[] => [
      ...[model, transcriptPath, more.parentGardenId, isEntwurf, more.cwd],
    ];
    const all = ['--model', 'm', '--transcript', 't', '--parent', parentGardenId, '--entwurf', '--cwd', '/a'];
    assert.deepEqual(values(await upsert(...all)), ['m', 't', parentGardenId, true, '/a']);
    assert.deepEqual(values(await upsert('--cwd', '/b')), ['m', 't', parentGardenId, true, '/b']);
    const none = ['--no-model', '--no-transcript', '--no-parent', '--no-entwurf'];
    assert.deepEqual(values(await upsert(...none)), [null, null, null, false, store.dir]);
  });

  test('refuses in the words of the reference, and changes nothing', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const before = store.tree();
    const cases = [
      ['claude-code', 'dup-native', EXPECTED.upsertErrors.duplicate],
      ['codex', SESSION_3, EXPECTED.upsertErrors.backendDrift],
      ['gemini', 'x', EXPECTED.upsertErrors.badBackend],
    ] as const;
    for (const [backend, session, expected] of cases) {
      const { code, out, err } = await run(['record', 'upsert', '--backend', backend, '--session', session]);
      assert.deepEqual([code, out, complaintsIn(err)], [1, '', [store.toPlainMessage(expected.error)]]);
    }
    const parent = ['--backend', 'pi', '--session', 'x', '--parent', '../../etc/passwd'];
    const traversal = await run(['record', 'upsert', ...parent]);
    assert.equal(traversal.code, 1);
    assert.match(traversal.err, /"parentGardenId" must be null or match/);
    assert.deepEqual(store.tree(), before);
  });

  test('never rewrites the third schema as the second, nor a record with a parent as the third', async () => {
    using v3 = garden('store-v3');
    const session = '11111111-1111-4111-8111-111111111111';
    const before = v3.tree();
    const down = await gardenCli(v3)([
      'record',
      'upsert',
      '--backend',
      'claude-code',
      '--session',
      session,
      '--schema',
      '2',
    ]);
    assert.equal(down.code, 1);
    assert.match(down.err, /is a v3 meta-record, which is never rewritten as v2/);
    assert.deepEqual(v3.tree(), before);
    using store = garden('store');
    const child = ['--backend', 'pi', '--session', 'pi-78', '--schema', '3', '--force'];
    const up = await gardenCli(store)(['record', 'upsert', ...child]);
    assert.equal(up.code, 1);
    assert.match(up.err, /has no parentGardenId and no isEntwurf/);
    const cleared = await gardenCli(store)(['record', 'upsert', ...child, '--no-parent', '--no-entwurf', '--json']);
    assert.deepEqual([cleared.code, cleared.json<{ citizen: Input }>().citizen.schemaVersion], [0, 3]);
  });

  test('by many processes at one moment makes one citizen of a session', async () => {
    using store = garden();
    const run = gardenCli(store);
    for (let round = 0; round < 8; round += 1) {
      const args = ['record', 'upsert', '--backend', 'codex', '--session', `thr-${round}`, '--json'];
      const answers = await Promise.all([run(args), run(args), run(args)]);
      assert.deepEqual(
        answers.map(({ code }) => code),
        [0, 0, 0],
      );
      const made = answers.filter(({ json }) => json().action === 'create');
      assert.equal(made.length, 1, `round ${round}`);
      const ids = answers.map(({ json }) => json<{ citizen: { gardenId: string } }>().citizen.gardenId);
      assert.equal(new Set(ids).size, 1);
    }
    assert.equal(readdirSync(store.places.sessions).length, 8);
    assert.deepEqual(readdirSync(store.store), ['meta-sessions']);
    assert.equal(readdirSync(store.at('hivebar', 'garden')).length, 1);
  });

  test('that is killed before any of its calls leaves records that are whole, and keeps nobody out', async () => {
    const id = findCitizenId('v1-claude');
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const run = gardenCli(store);
      const { nativeSessionId } = JSON.parse(readRecordText(store, id)) as { nativeSessionId: string };
      const args = ['record', 'upsert', '--backend', 'claude-code', '--session', nativeSessionId, '--json'];
      const env = { NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: `${steps}`, KILL_BELOW: store.store };
      const ended = await run(args, { env });
      isDone = ended.code === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', `step ${steps}: ${ended.code} ${ended.err}`);
      const { disk } = handAt();
      const receipt = mergeReceipt(
        readReceipt(disk, store.places.mailbox, id),
        readRecord(disk, store.places.sessions, id),
      );
      assert.equal(receipt.lastEnqueuedAt, '2026-06-01T08:00:00.000Z', `step ${steps}`);
      const { code, json } = await run(args);
      assert.deepEqual([code, json().action], [0, 'attach'], `step ${steps}`);
    }
    assert.ok(steps > 12, `only ${steps} steps`);
  });

  test('keeps its lock out of the store', async () => {
    using store = garden('store');
    const before = store.tree();
    const env = { HIVEBAR_HOME: join(store.places.mailbox, 'hivebar') };
    const { code, err } = await gardenCli(store)(['record', 'upsert', '--backend', 'pi', '--session', 'x'], { env });
    assert.equal(code, 1);
    assert.match(err, /give HIVEBAR_HOME another place$/m);
    assert.deepEqual(store.tree(), before);
  });
});

test('a new garden id is one that nobody has, and makes nothing', async () => {
  using store = garden();
  const { code, out } = await gardenCli(store)(['id', 'new']);
  assert.equal(code, 0);
  assert.match(out, /^\d{8}T\d{6}-[0-9a-f]{6}\n$/);
  assert.ok(!existsSync(store.places.sessions));
  mkdirSync(store.places.sessions);
  const env = { NODE_OPTIONS: `--import=${FIXED}`, FIXED_NOW: '2026-06-14T01:00:37Z', FIXED_HEX: '0a0b0c', TZ: 'UTC' };
  writeFileSync(join(store.places.sessions, '20260614T010037-0a0b0c.meta.json'), '');
  const accepted = await gardenCli(store)(['id', 'new', '--json'], { env });
  assert.deepEqual([accepted.code, accepted.out], [1, '']);
  const free = await gardenCli(store)(['id', 'new', '--json'], { env: { ...env, TZ: 'Asia/Seoul' } });
  assert.deepEqual([free.code, free.json()], [0, { gardenId: '20260614T100037-0a0b0c' }]);
});

/** The record before it was attached to: only its receipt and its bytes afterwards are in the data. */
function v1Before(delivery: object): string {
  const after = EXPECTED.ops.find(({ label, op }) => label === 'v1-migrated' && op === 'upsert')?.record ?? {};
  const { gardenId, backend, nativeSessionId, transcriptPath, createdAt } = after;
  const times = { lastEnqueuedAt: '2026-06-02T08:00:00.000Z', lastDeliveredAt: '2026-06-02T08:00:05.000Z' };
  return JSON.stringify({
    ...{ schemaVersion: 1, gardenId, backend, nativeSessionId, transcriptPath, cwd: '/c', createdAt },
    ...{ lastSeen: createdAt, delivery: { ...delivery, ...times, lastReadAt: '2026-06-02T08:01:00.000Z' } },
  });
}
