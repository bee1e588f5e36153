import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../model/index.ts';
import {
  advanceSessionReport,
  combineSessionStates,
  findHarness,
  formatSessionReport,
  type NotedMoment,
  parseSessionReport,
  type SessionReport,
  toSessionState,
} from './index.ts';

const T0 = 1_000_000;
const RUNNER = { pid: 7, startKey: 'k', lock: null };
const claude = findHarness('claude', null);

/** What hooks of one session report, from the JSON that Claude Code sends. */
function createSession(persona: string | null = 'ada') {
  let report: SessionReport | null = null;
  let at = T0;
  let runners = 0;
  const findRunner = () => {
    runners += 1;
    return RUNNER;
  };
  const session = {
    /** Runs one hook `after` milliseconds. Returns what it does then. */
    hook(event: string, given: object = {}, after = 1000): string {
      at += after;
      const stdin = JSON.stringify({ session_id: 's1', cwd: '/w/shop', hook_event_name: event, ...given });
      const turn = claude?.readTurn(stdin, event);
      if (turn === undefined || turn instanceof Fault) throw turn;
      report = advanceSessionReport(report, turn, { harness: 'claude', persona, findRunner }, at);
      return session.does();
    },
    does(noted: NotedMoment | null = null): string {
      const state = report === null ? null : toSessionState(report, noted);
      return state === null
        ? '-'
        : `${state.is}${state.why === undefined ? '' : ` ${state.why}`} ${(state.since ?? 0) - T0}`;
    },
    get report() {
      return report;
    },
    get runners() {
      return runners;
    },
  };
  return session;
}

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } };

describe('what the hooks of a session know of what it does', () => {
  test('a session that begins is idle, a prompt sets it to work, and a Stop ends that', () => {
    const session = createSession();
    assert.equal(session.hook('SessionStart', { source: 'startup', model: 'opus' }), 'idle 1000');
    assert.equal(session.hook('UserPromptSubmit'), 'working 2000');
    assert.equal(session.hook('PreToolUse', bash), 'working 2000');
    assert.equal(session.hook('PostToolUse', bash), 'working 2000');
    assert.equal(session.hook('Stop'), 'idle 5000');
    assert.equal(session.hook('SessionEnd', { reason: 'other' }), 'gone session-ended 6000');
    assert.deepEqual([session.report?.model, session.report?.cwd, session.report?.persona], ['opus', '/w/shop', 'ada']);
    assert.equal(session.runners, 1);
  });

  test('a permission prompt is a wait until its tool ran; the notification seconds later is the same wait', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    session.hook('PreToolUse', bash);
    assert.equal(session.hook('PermissionRequest', bash), 'waiting permission 3000');
    assert.equal(
      session.hook('Notification', { notification_type: 'permission_prompt' }, 6000),
      'waiting permission 3000',
    );
    assert.equal(session.hook('PostToolUse', bash), 'working 10000');
    assert.equal(session.hook('PreToolUse', bash), 'working 10000');
  });

  test('claude-code 8.1: a question and a plan are told from a permission by their tool', () => {
    const session = createSession();
    assert.equal(session.hook('PermissionRequest', { tool_name: 'AskUserQuestion' }), 'waiting input 1000');
    assert.equal(session.hook('PostToolUse', { tool_name: 'AskUserQuestion' }), 'working 2000');
    assert.equal(session.hook('PermissionRequest', { tool_name: 'ExitPlanMode' }), 'waiting decision 3000');
  });

  test('a tool that runs beside the question does not answer it, one that begins later does', () => {
    const session = createSession();
    session.hook('PermissionRequest', bash);
    assert.equal(session.hook('PreToolUse', { tool_name: 'Read' }, 50), 'waiting permission 1000');
    assert.equal(session.hook('PostToolUse', { tool_name: 'Read' }, 5000), 'waiting permission 1000');
    assert.equal(session.hook('PreToolUse', { tool_name: 'Read' }, 5000), 'working 11050');
  });

  test('of two questions about one tool, each answer ends one', () => {
    const session = createSession();
    session.hook('PermissionRequest', bash);
    session.hook('PermissionRequest', bash, 10);
    assert.equal(session.hook('PostToolUse', bash), 'waiting permission 1010');
    assert.equal(session.hook('PostToolUse', bash), 'working 3010');
  });

  test('the question of a subagent is one of the session, and ends with the subagent', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    const helper = { agent_id: 'a1' };
    assert.equal(session.hook('PermissionRequest', { ...bash, ...helper }), 'waiting permission 2000');
    assert.equal(session.hook('PostToolUse', bash), 'waiting permission 2000');
    assert.equal(session.hook('SubagentStop', helper), 'working 4000');
    assert.equal(session.hook('Stop'), 'idle 5000');
    assert.equal(session.hook('PostToolUse', { ...bash, ...helper }), 'idle 5000');
  });

  test('who was interrupted is idle when the agent program says so', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    session.hook('PermissionRequest', bash);
    assert.equal(session.hook('Notification', { notification_type: 'idle_prompt' }, 60_000), 'idle 62000');
    assert.equal(
      session.hook('Notification', { message: 'Claude needs your permission to use Bash' }),
      'waiting permission 63000',
    );
    assert.equal(session.hook('UserPromptSubmit'), 'working 64000');
  });

  test('a turn that failed is a wait with its reason, until a prompt, a tool or a Stop; the same failure again is the same wait', () => {
    for (const [event, after] of [
      ['UserPromptSubmit', 'working 5000'],
      ['PreToolUse', 'working 5000'],
      ['PostToolUse', 'working 5000'],
      ['Stop', 'idle 5000'],
      ['SessionStart', 'idle 5000'],
    ] as const) {
      const session = createSession();
      session.hook('UserPromptSubmit');
      const failed = 'waiting failed-rate-limit 2000';
      assert.equal(session.hook('StopFailure', { error: 'rate_limit' }), failed);
      assert.equal(session.hook('StopFailure', { error: 'rate_limit' }), failed);
      assert.equal(session.hook('Notification', { notification_type: 'idle_prompt' }, 500), failed);
      assert.equal(session.does({ moment: 'UserPromptSubmit', at: T0 + 9000 }), failed, 'the program is asked then');
      const end = session.hook(event, bash, 500);
      assert.match(end, new RegExp(`^${after.split(' ')[0]} `), event);
      assert.equal(session.report?.waits.length, 0, event);
    }
  });

  test('the reason of a failure is one word of plain letters; a turn that a person broke off has failed in nothing', () => {
    const reason = (given: object, event = 'StopFailure'): string | undefined => {
      const session = createSession();
      session.hook(event, given);
      return session.report?.waits[0]?.reason;
    };
    assert.equal(reason({ error: 'Billing_Error' }), 'failed-billing-error');
    assert.equal(reason({}), 'failed-unknown');
    assert.equal(reason({ error: '\u202e <b>' }), 'failed-b');
    assert.equal(reason({ error: '\u202e' }), 'failed-unknown');
    assert.equal(reason({ error: 'x'.repeat(500) })?.length, 67);
    assert.equal(reason({ error: 'error' }, 'Stop'), 'failed-error');
    assert.equal(reason({ error: 'aborted' }, 'Stop'), undefined);
    assert.equal(reason({ error: 'rate_limit', agent_id: 'a1' }), undefined, 'a subagent');
  });

  test('a turn that a person broke off is over, with what it asked', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    session.hook('PermissionRequest', bash);
    assert.equal(session.hook('Interrupt'), 'idle 3000');
  });

  test('a compaction in the middle of a turn begins no session', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    assert.equal(session.hook('SessionStart', { source: 'compact' }), 'working 1000');
    assert.equal(session.hook('SessionStart', { source: 'resume' }), 'idle 3000');
    assert.equal(session.runners, 2);
  });

  test('a call that says nothing new is the same report, so nothing is written', () => {
    const session = createSession();
    session.hook('UserPromptSubmit');
    const before = session.report;
    session.hook('PreToolUse', bash);
    session.hook('PostToolUse', { ...bash, cwd: '/w/shop/deeper' });
    assert.equal(session.report, before);
  });

  test('a moment that the script noted by itself counts when it is newer, and never ends a question', () => {
    const session = createSession();
    session.hook('SessionStart');
    assert.equal(session.does({ moment: 'UserPromptSubmit', at: T0 + 1500 }), 'working 1500');
    assert.equal(session.does({ moment: 'Stop', at: T0 + 1500 }), 'idle 1000');
    assert.equal(session.does({ moment: 'PostToolUse', at: T0 + 500 }), 'idle 1000');
    session.hook('PermissionRequest', bash);
    assert.equal(session.does({ moment: 'PostToolUse', at: T0 + 9000 }), 'waiting permission 2000');
  });

  test('a report comes back from its file as it was, and anything else is none', () => {
    const session = createSession(null);
    session.hook('PermissionRequest', bash);
    assert.deepEqual(parseSessionReport(formatSessionReport(session.report ?? assert.fail())), session.report);
    for (const text of ['', '{', 'null', '[]', '{"schema":2}', '{"schema":1,"session":"s"}'])
      assert.equal(parseSessionReport(text), null, text);
  });
});

test('of several sessions the one that asks comes first, and they are gone only together', () => {
  const waiting = { is: 'waiting', why: 'permission', since: 5 } as const;
  const gone = { is: 'gone', why: 'session-ended', since: 9 } as const;
  const idle = { is: 'idle', since: 3 } as const;
  assert.equal(combineSessionStates([idle, gone, waiting]), waiting);
  assert.equal(combineSessionStates([gone, idle]), idle);
  assert.equal(combineSessionStates([{ is: 'working', since: 2 }, idle]), idle);
  assert.equal(combineSessionStates([gone, { ...gone, since: 1 }]), gone);
  assert.equal(combineSessionStates([]), null);
});
