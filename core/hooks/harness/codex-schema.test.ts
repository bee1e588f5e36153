import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { Fault } from '../../model/index.ts';
import { findHarness, HOOK_EVENTS, type HookAnswer, type HookEvent, type HookTurn } from './index.ts';

/** What Codex reads at each event, written from its own schemas: nothing else may be in it (contract 5). */
const COMMON = {
  continue: { type: 'boolean' },
  stopReason: { type: ['string', 'null'] },
  suppressOutput: { type: 'boolean' },
  systemMessage: { type: ['string', 'null'] },
};
const DECISION = { decision: { const: 'block' }, reason: { type: 'string', pattern: '.*\\S.*' } };
const BLOCK_SAYS_WHY = { dependencies: { decision: ['reason'] } };

const closed = (properties: object, more: object = {}): object => ({
  type: 'object',
  additionalProperties: false,
  properties: { ...COMMON, ...properties },
  ...more,
});
const specific = (event: string, properties: object, required: readonly string[]): object => ({
  hookSpecificOutput: {
    type: 'object',
    additionalProperties: false,
    properties: { hookEventName: { const: event }, ...properties },
    required: ['hookEventName', ...required],
  },
});
const createContextSchema = (event: string): object => specific(event, { additionalContext: { type: 'string' } }, []);

const SCHEMAS: Readonly<Record<HookEvent, object | null>> = {
  SessionStart: closed(createContextSchema('SessionStart')),
  UserPromptSubmit: closed({ ...DECISION, ...createContextSchema('UserPromptSubmit') }, BLOCK_SAYS_WHY),
  PreToolUse: closed(
    specific('PreToolUse', { permissionDecision: { const: 'deny' }, permissionDecisionReason: { type: 'string' } }, [
      'permissionDecision',
      'permissionDecisionReason',
    ]),
  ),
  PostToolUse: closed({ ...DECISION, ...createContextSchema('PostToolUse') }, BLOCK_SAYS_WHY),
  PreCompact: closed({}),
  Stop: closed(DECISION, BLOCK_SAYS_WHY),
  StopFailure: closed({}),
  Interrupt: null,
  SessionEnd: null,
  PermissionRequest: closed({}),
  Notification: null,
  SubagentStop: closed({}),
};

const ajv = new Ajv({ strict: false });
const validators = new Map(
  HOOK_EVENTS.map((event) => {
    const schema = SCHEMAS[event];
    return [event, schema === null ? null : ajv.compile(schema)];
  }),
);

const harness = findHarness('codex', null);
assert.ok(harness !== null);
const codex = harness;

function turnAt(event: HookEvent): HookTurn {
  const turn = codex.readTurn(JSON.stringify({ session_id: 's', turn_id: 't', hook_event_name: event }), event);
  assert.ok(!(turn instanceof Fault));
  return turn;
}

function accepts(event: HookEvent, stdout: string): boolean {
  if (stdout === '') return true;
  const validate = validators.get(event);
  return validate?.(JSON.parse(stdout)) === true;
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '\n\t', '\u00a0', '{"a":1}'));
const answers: fc.Arbitrary<HookAnswer> = fc.oneof(
  fc.record({ is: fc.constant('allow' as const), note: fc.option(text) }),
  fc.record({ is: fc.constantFrom('inject' as const, 'ring' as const), text }),
  fc.record({ is: fc.constant('block' as const), reason: text }),
);

describe("Codex's closed schemas", () => {
  test('whatever is answered at whichever event, Codex accepts it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...HOOK_EVENTS), answers, (event, answer) => {
        const { stdout, stderr, exit } = codex.formatReply(turnAt(event), answer);
        assert.ok(accepts(event, stdout), `${event}: ${stdout}`);
        assert.deepEqual([stderr, exit], ['', 0]); // 2 with an empty stderr is a failure to Codex, as any other is
      }),
    );
  });

  test('the schemas would refuse what Claude Code takes', () => {
    const claude = findHarness('claude', '2.1.163');
    assert.ok(claude !== null);
    const { stdout } = claude.formatReply(turnAt('Stop'), { is: 'inject', text: 'x' });
    assert.match(stdout, /hookSpecificOutput/);
    assert.equal(accepts('Stop', stdout), false);
    assert.equal(accepts('Stop', '{"decision":"block","reason":" "}'), false);
    assert.equal(accepts('Stop', '{"decision":"block"}'), false);
    assert.equal(accepts('PreCompact', '{"decision":"block","reason":"x"}'), false);
  });
});
