import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { handAt } from '../../../../test/kit/garden-store.ts';
import { scratch } from '../../../../test/kit/scratch.ts';
import { findDrift, parseCapabilities, readCapabilities } from './capabilities.ts';
import { CAPABILITIES } from './record.ts';

const { codex, ...WITHOUT_CODEX } = CAPABILITIES;
const json = (backends: unknown, more: object = {}): string => JSON.stringify({ schemaVersion: 1, backends, ...more });
const GOOD = json(CAPABILITIES);

describe('a registry of capabilities', () => {
  test('says of the four backends what is built in', () => {
    assert.deepEqual(parseCapabilities(GOOD), CAPABILITIES);
    assert.deepEqual(findDrift(parseCapabilities(GOOD)), []);
  });

  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', '{', /^capability registry is not valid JSON: /],
    ['a list', '[]', /^capability registry must be a JSON object/],
    [
      'another version',
      json(CAPABILITIES, { schemaVersion: 2 }),
      /^capability registry "schemaVersion" must be 1 \(got number\)\.$/,
    ],
    ['a key more', json(CAPABILITIES, { x: 1 }), /^capability registry carries unexpected key\(s\) "x"/],
    ['no backends', json(undefined), /^capability registry "backends" must be an object/],
    [
      'a backend less',
      json(WITHOUT_CODEX),
      /^capability registry must cover exactly antigravity, claude-code, codex, pi \(got antigravity, claude-code, pi\)\.$/,
    ],
    ['a backend more', json({ ...CAPABILITIES, gemini: codex }), /^capability registry must cover exactly .*gemini/],
    [
      'a backend that is none',
      json({ ...CAPABILITIES, pi: null }),
      /^capability for "pi" must be an object \(got null\)\.$/,
    ],
    [
      'a key more in one',
      json({ ...CAPABILITIES, pi: { ...codex, y: 1 } }),
      /^capability for "pi" carries unexpected key\(s\) "y"/,
    ],
    [
      'an unknown wake mode',
      json({ ...CAPABILITIES, codex: { ...codex, wakeMode: 'bell' } }),
      /^capability "codex\.wakeMode" must be self-fetch \| direct-inject \(got string "bell"\)\.$/,
    ],
    [
      'no level',
      json({ ...CAPABILITIES, codex: { ...codex, deliveryLevel: '' } }),
      /"codex\.deliveryLevel" must be a non-empty/,
    ],
    [
      'no label',
      json({ ...CAPABILITIES, codex: { ...codex, nativeIdLabel: undefined } }),
      /"codex\.nativeIdLabel" must be/,
    ],
  ];
  for (const [label, text, why] of bad) {
    test(`with ${label} is none`, () => assert.throws(() => parseCapabilities(text), { code: 'garden', message: why }));
  }

  test('that differs from what is built in says where', () => {
    const other = parseCapabilities(
      json({ ...CAPABILITIES, codex: { ...codex, wakeMode: 'self-fetch', deliveryLevel: 'D5' } }),
    );
    assert.deepEqual(findDrift(other), [
      'codex.wakeMode is "self-fetch", here "direct-inject"',
      'codex.deliveryLevel is "D5", here "D6"',
    ]);
  });

  test('is read from a regular file only, and one that is bad is a defect', () => {
    using files = scratch();
    const { disk } = handAt();
    const read = (name: string): unknown => readCapabilities(disk, files.at(name));
    writeFileSync(files.at('good'), GOOD);
    writeFileSync(files.at('bad'), '{}');
    symlinkSync('good', files.at('link'));
    execFileSync('mkfifo', [files.at('pipe')]);
    assert.deepEqual(read('good'), { is: 'capabilities', capabilities: CAPABILITIES });
    assert.deepEqual(read('none'), { is: 'absent' });
    assert.deepEqual(read('bad'), {
      is: 'defect',
      why: 'capability registry "schemaVersion" must be 1 (got undefined).',
    });
    assert.deepEqual(read('link'), { is: 'defect', why: 'is a symlink, which is never followed' });
    assert.deepEqual(read('pipe'), { is: 'defect', why: 'is a pipe, socket or device, not a file' });
  });
});
