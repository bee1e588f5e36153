import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../model/index.ts';
import { isAtLeast, parseVersion } from './harness.ts';
import { findHarness, type Harness, parseHookEvent } from './index.ts';

const claude = findHarness('claude', null) as Harness;

const readFault = (stdin: string, event = 'Stop'): string => {
  const turn = claude.readTurn(stdin, event);
  assert.ok(turn instanceof Fault, stdin);
  return turn.message;
};

describe('what a harness says', () => {
  test('is read into a turn', () => {
    const stdin = JSON.stringify({
      ...{ session_id: 's', cwd: '/tmp', hook_event_name: 'Stop', turn_id: 't', stop_hook_active: true },
      transcript_path: '/tmp/t.jsonl',
      ...{ last_assistant_message: 'done', agent_id: null, a_key_of_next_year: {} },
    });
    assert.deepEqual(claude.readTurn(stdin, 'SessionStart'), {
      ...{ event: 'Stop', session: 's', cwd: '/tmp', id: 't', transcript: '/tmp/t.jsonl' },
      ...{ persona: null, stopHookActive: true },
      ...{
        lastMessage: 'done',
        failure: null,
        tool: null,
        isSubagent: false,
        agent: null,
        isAsking: false,
        isContinued: false,
      },
      ...{ notification: null, start: null, model: null, permissionMode: null },
    });
  });

  test('a key that is missing or of another kind is not known, and nothing is made up for it', () => {
    const turn = claude.readTurn('{"session_id": "s", "cwd": "", "stop_hook_active": "yes", "turn_id": null}', 'stop');
    assert.deepEqual(turn, {
      ...{ event: 'Stop', session: 's', cwd: null, id: null, transcript: null, persona: null, stopHookActive: null },
      ...{
        lastMessage: null,
        failure: null,
        tool: null,
        isSubagent: false,
        agent: null,
        isAsking: false,
        isContinued: false,
      },
      ...{ notification: null, start: null, model: null, permissionMode: null },
    });
  });

  test('that the model cannot be asked is known at StopFailure, and at a Stop that says so', () => {
    const failure = (input: object): unknown => {
      const turn = claude.readTurn(JSON.stringify({ session_id: 's', ...input }), 'Stop');
      return turn instanceof Fault ? turn : turn.failure;
    };
    assert.equal(failure({ hook_event_name: 'StopFailure', error: 'rate_limit' }), 'rate_limit');
    assert.equal(failure({ hook_event_name: 'StopFailure' }), 'unknown');
    assert.equal(failure({ hook_event_name: 'Stop', error: 'billing_error' }), 'billing_error');
    assert.equal(failure({ hook_event_name: 'PostToolUse', error: 'of the tool' }), null);
  });

  test('what is no JSON object is a fault that shows it', () => {
    for (const stdin of ['', 'hello', '[]', 'null', '"Stop"', '{"a":', '7'])
      assert.match(readFault(stdin), /must be a JSON object/);
  });

  test('an event that is not known is a fault that names it', () => {
    assert.match(readFault('{"session_id": "s"}', 'Teatime'), /"Teatime"/);
    assert.match(readFault('{"session_id": "s", "hook_event_name": "TeammateIdle"}'), /"TeammateIdle"/);
  });

  test('an event is known in any spelling of its name', () => {
    assert.deepEqual(['stop', 'session-start', 'PRE_COMPACT', 'PostToolUse', 'stopp', ''].map(parseHookEvent), [
      ...['Stop', 'SessionStart', 'PreCompact', 'PostToolUse', null, null],
    ]);
  });
});

test('a version is found in what a program prints, and one that is not known is older than any', () => {
  assert.deepEqual(parseVersion('2.1.163 (Claude Code)'), [2, 1, 163]);
  assert.equal(parseVersion('latest'), null);
  const from = (text: string | null): boolean => isAtLeast(text === null ? null : parseVersion(text), [2, 1, 163]);
  assert.deepEqual(
    [from('2.1.163'), from('2.2.0'), from('3.0.0'), from('2.1.162'), from('1.9.999'), from(null)],
    [...[true, true, true, false, false, false]],
  );
});

test('no harness goes by another name', () => {
  for (const name of ['toString', 'Claude', '']) assert.equal(findHarness(name, null), null);
});
