import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EXPECTED, EXPECTED_V3, garden } from '../../../../test/kit/garden-store.ts';
import { Fault } from '../../../model/index.ts';
import { CAPABILITIES, KEYS_V3, parseRecord, toCitizenIdentity } from './record.ts';

const V1 = {
  ...{ schemaVersion: 1, gardenId: '20260614T101639-44fa0f', backend: 'claude-code', nativeSessionId: 'n' },
  ...{ transcriptPath: '/t', cwd: '/c', createdAt: 'then', lastSeen: 'later' },
  delivery: {
    ...{ wakeMode: 'self-fetch', deliveryLevel: 'D6' },
    ...{ lastEnqueuedAt: 'a', lastDeliveredAt: null, lastReadAt: null },
  },
};
const V2 = {
  ...{ schemaVersion: 2, gardenId: '20260614T101639-44fa0f', backend: 'pi', nativeSessionId: 'n', cwd: '/c' },
  ...{
    model: null,
    transcriptPath: null,
    parentGardenId: null,
    isEntwurf: false,
    createdAt: 't',
    recordUpdatedAt: 'u',
  },
};
const { parentGardenId: _p, isEntwurf: _e, ...rest } = V2;
const V3 = { ...rest, schemaVersion: 3 };

const read = (value: unknown): ReturnType<typeof parseRecord> => parseRecord(JSON.stringify(value));

describe('a record, against the reference', () => {
  using store = garden('store');
  const text = (name: string): string => readFileSync(join(store.places.sessions, name), 'utf8');
  const texts = new Map(Object.keys(EXPECTED.malformed).map((name) => [name, text(name)]));

  for (const [name, answer] of Object.entries(EXPECTED.malformed)) {
    test(`${name}: ${answer.error ?? 'is one'}`, () => {
      const parse = (): unknown => parseRecord(texts.get(name) ?? '', [1, 2]);
      if (answer.error === undefined) parse();
      else assert.throws(parse, { name: 'Fault', code: 'garden', message: store.toPlainMessage(answer.error) });
    });
  }
});

describe('a record', () => {
  test('of each schema is read as it stands', () => {
    assert.deepEqual(read(V1), V1);
    assert.deepEqual(read(V2), V2);
    assert.deepEqual(read(V3), V3);
    assert.deepEqual(Object.keys(EXPECTED_V3.list.identities[0] ?? {}), KEYS_V3);
  });

  test('of v1 may carry more, and loses it; of v2 and v3 it may not', () => {
    assert.deepEqual(read({ ...V1, more: 1 }), V1);
    assert.throws(
      () => read({ ...V2, more: 1, lastSeen: 'x' }),
      /v2 meta-record carries unexpected key\(s\) "more", "lastSeen"/,
    );
    assert.throws(() => read({ ...V3, isEntwurf: false }), /v3 meta-record carries unexpected key\(s\) "isEntwurf"/);
    assert.throws(() => parseRecord(`{"__proto__": 1, ${JSON.stringify(V3).slice(1)}`), /"__proto__"/);
  });

  test('of v1 is the identity of v2 with everything but its receipts', () => {
    assert.deepEqual(toCitizenIdentity(read(V1)), {
      ...V2,
      backend: 'claude-code',
      transcriptPath: '/t',
      createdAt: 'then',
      recordUpdatedAt: 'later',
    });
    assert.deepEqual(toCitizenIdentity(read(V3)), V3);
  });

  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['a list', [V2], /must be a JSON object \(got object\)/],
    ['null', null, /must be a JSON object \(got null\)/],
    ['a fourth schema', { ...V2, schemaVersion: 4 }, /"schemaVersion" must be 1, 2 or 3 \(got number\)/],
    ['a schema as text', { ...V2, schemaVersion: '2' }, /must be 1, 2 or 3 \(got string "2"\)/],
    ['an id with a path', { ...V2, gardenId: '../../etc/passwd' }, /"gardenId" must match/],
    ['an id with a line more', { ...V2, gardenId: '20260614T101639-44fa0f\n' }, /"gardenId" must match/],
    ['an id in capitals', { ...V2, gardenId: '20260614T101639-44FA0F' }, /"gardenId" must match/],
    ['a backend of nobody', { ...V2, backend: 'gemini' }, /must be one of claude-code \| antigravity \| codex \| pi/],
    ['pi in v1', { ...V1, backend: 'pi' }, /must be one of claude-code \| antigravity \| codex \(got string "pi"\)/],
    ['an empty session', { ...V2, nativeSessionId: '' }, /"nativeSessionId" must be a non-empty string/],
    ['an empty model', { ...V2, model: '' }, /"model" must be a non-empty string or null/],
    ['no model at all', { ...V2, model: undefined }, /"model" must be a non-empty string or null \(got undefined\)/],
    ['v1 without a transcript', { ...V1, transcriptPath: null }, /"transcriptPath" must be a non-empty string/],
    ['a parent that is no id', { ...V2, parentGardenId: 'x' }, /"parentGardenId" must be null or match/],
    ['a number for yes', { ...V2, isEntwurf: 1 }, /"isEntwurf" must be a boolean \(got number\)/],
    ['v1 without delivery', { ...V1, delivery: null }, /"delivery" must be an object \(got null\)/],
    ['a wake mode of another backend', { ...V1, backend: 'codex' }, /contradicts backend "codex" \(canonical direct/],
  ];
  for (const [label, value, why] of bad) {
    test(`with ${label} is none, and says why`, () => {
      assert.throws(
        () => read(value),
        (error) => error instanceof Fault && error.code === 'garden' && why.test(error.message),
      );
    });
  }
});

test('the registry has the four backends with the values of both generations', () => {
  const lines = Object.entries(CAPABILITIES).map(([name, capability]) =>
    [name, ...Object.values(capability)].join(' '),
  );
  assert.deepEqual(lines, [
    'claude-code self-fetch D6 sessionId',
    'antigravity direct-inject D6 conversationId',
    'codex direct-inject D6 threadId',
    'pi direct-inject D6 sessionId',
  ]);
});
