import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CHECKS, checkGate, type Gate, type GateMark, HOOKS, MARK_PROVENANCES, MODES, MOST_NAME } from './gate.ts';
import { formatGate, MOST_FILE_BYTES, parseGate } from './gate-files.ts';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 1000 }).filter((value) => value.trim() !== '');
const session = fc.string({ unit: 'binary', minLength: 1, maxLength: MOST_NAME });
const gates: fc.Arbitrary<Gate> = fc.record(
  {
    id: fc.stringMatching(/^[a-z0-9_]{1,20}$/).map((id) => `g${id}`),
    hook: fc.constantFrom(...HOOKS),
    mode: fc.constantFrom(...MODES),
    description: text,
    hint: fc.option(text),
    check: fc.option(fc.constantFrom(...CHECKS)),
    matcher: fc.option(
      fc.record(
        { tool: fc.option(fc.constantFrom('Bash', 'Edit|Write', 'mcp__*')), command: fc.constant('git push') },
        { noNullPrototype: true },
      ),
    ),
    ttlSeconds: fc.option(fc.integer({ min: 1, max: 86_400 })),
  },
  { noNullPrototype: true },
);
const marks: fc.Arbitrary<GateMark | null> = fc.option(
  fc.record(
    {
      by: fc.constantFrom(...MARK_PROVENANCES),
      at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      session: fc.option(session),
      terminal: fc.option(session),
    },
    { noNullPrototype: true },
  ),
);

test('every gate that can be registered, with every mark, is read as it was written', () => {
  fc.assert(
    fc.property(gates, marks, fc.boolean(), (given, mark, registered) => {
      const gate = given.hook === 'PreToolUse' ? given : { ...given, matcher: null };
      const bytes = Buffer.from(formatGate({ gate: checkGate(gate), mark, isBuiltIn: !registered }), 'utf8');
      assert.deepEqual(parseGate(gate.id, bytes), { is: 'gate', registered, gate, mark });
    }),
  );
  const longest = '\u0000'.repeat(MOST_NAME);
  const gate = { id: 'g', hook: 'Stop', mode: 'soft', check: null, matcher: null, ttlSeconds: null } as const;
  const mark = { by: 'cli', at: 0, session: longest, terminal: longest } as const;
  const wordy = { ...gate, description: `${'\u0000'.repeat(999)}x`, hint: `${'\u0000'.repeat(999)}x` };
  assert.ok(Buffer.byteLength(formatGate({ gate: checkGate(wordy), mark, isBuiltIn: false })) < MOST_FILE_BYTES);
});

test('whatever bytes a file holds, it is a gate or said to be none', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((json) => Buffer.from(json)),
      ),
      (bytes) => {
        const read = parseGate('g', bytes);
        assert.ok(read.is === 'gate' || read.why !== '');
      },
    ),
  );
});

test("keys that are missing are null, keys of others are nobody's concern", () => {
  const file = { hook: 'Stop', mode: 'strict', description: 'd', further: [1] };
  assert.deepEqual(parseGate('g', Buffer.from(JSON.stringify(file))), {
    is: 'gate',
    registered: null,
    gate: {
      id: 'g',
      hook: 'Stop',
      mode: 'strict',
      description: 'd',
      hint: null,
      check: null,
      matcher: null,
      ttlSeconds: null,
    },
    mark: null,
  });
});
