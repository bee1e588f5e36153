import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../model/index.ts';
import { findHarness, type Harness, HOOK_EVENTS, type HookAnswer, type HookEvent } from './index.ts';

/** Each harness and version with a table of its own; its file holds what goes in and what comes out, byte for byte. */
const GOLDEN: readonly (readonly [file: string, name: string, version: string | null])[] = [
  ['claude.txt', 'claude', null],
  ['claude-2.1.104.txt', 'claude', '2.1.104 (Claude Code)'],
  ['claude-2.1.162.txt', 'claude', '2.1.162 (Claude Code)'],
  ['claude-2.1.163.txt', 'claude', '2.1.163 (Claude Code)'],
  ['codex.txt', 'codex', null],
];

const TEXT = '<system-reminder>\n"quoted" \\ back, é 漢 \u{1f41d}, line\u2028break\n</system-reminder>';

const ANSWERS: readonly (readonly [string, HookAnswer])[] = [
  ['nothing', { is: 'allow', note: null }],
  ['nothing, with a note', { is: 'allow', note: 'commit-push: there are changes (commit them)' }],
  ['inject', { is: 'inject', text: TEXT }],
  ['ring', { is: 'ring', text: 'hivebar: 1 item waits' }],
  ['block', { is: 'block', reason: 'decision: none was asked for' }],
  ['inject of nothing', { is: 'inject', text: ' \n' }],
  ['block without a reason', { is: 'block', reason: ' \n' }],
];

/** What each harness sends at an event, as the field reports it (inbox and gates, contract 5). */
function stdinAt(name: string, event: HookEvent): string {
  const common = {
    session_id: '7f3c-01',
    transcript_path: name === 'codex' ? null : '/tmp/t.jsonl',
    cwd: '/tmp/project',
    hook_event_name: event,
    permission_mode: 'default',
    ...(name === 'codex' ? { turn_id: 'turn-9', model: 'm' } : {}),
  };
  const more: Readonly<Record<HookEvent, object>> = {
    SessionStart: { source: 'startup' },
    UserPromptSubmit: { prompt: 'go on' },
    PreToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' } },
    PostToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: 'a' } },
    PreCompact: { trigger: 'auto', custom_instructions: '' },
    Stop: { stop_hook_active: false, last_assistant_message: 'done' },
    StopFailure: { error: 'rate_limit', error_details: null, last_assistant_message: null },
    SessionEnd: { reason: 'exit' },
    PermissionRequest: { tool_name: 'Write', tool_input: {}, agent_id: 'a1', agent_type: 'general-purpose' },
    Notification: { notification_type: 'permission_prompt', message: 'Claude needs your permission' },
    SubagentStop: { stop_hook_active: false, agent_id: 'a1', agent_type: 'general-purpose' },
  };
  return JSON.stringify({ ...common, ...more[event] });
}

function writeTranscript(harness: Harness): string {
  return HOOK_EVENTS.flatMap((event) => {
    const stdin = stdinAt(harness.name, event);
    const turn = harness.readTurn(stdin, event);
    assert.ok(!(turn instanceof Fault));
    const output = ANSWERS.map(([label, answer]) => {
      const { stdout, stderr, exit } = harness.formatReply(turn, answer);
      assert.equal(stderr, '');
      return `${label} -> exit ${exit}\n${stdout}`;
    });
    return [`== ${event}\n${stdin}\n`, ...output];
  }).join('');
}

function harness(name: string, version: string | null): Harness {
  const found = findHarness(name, version);
  assert.ok(found !== null);
  return found;
}

describe('stdin in, bytes out', () => {
  for (const [file, name, version] of GOLDEN) {
    test(file, () => {
      const path = fileURLToPath(import.meta.resolve(`./golden/${file}`));
      const now = writeTranscript(harness(name, version));
      if (process.env.HIVEBAR_WRITE_GOLDEN === '1') writeFileSync(path, now);
      assert.equal(now, readFileSync(path, 'utf8'));
    });
  }

  test('inbox-gates 8.2a: what an event does not carry is never printed, so that nothing counts as shown', () => {
    for (const [, name, version] of GOLDEN) {
      const versioned = harness(name, version);
      for (const event of HOOK_EVENTS) {
        const turn = versioned.readTurn(stdinAt(name, event), event);
        assert.ok(!(turn instanceof Fault));
        const carries = versioned.carries(turn);
        assert.equal(
          versioned.formatReply(turn, { is: 'inject', text: 'x' }).stdout !== '',
          carries.text,
          `${name} ${event}`,
        );
        assert.equal(
          versioned.formatReply(turn, { is: 'block', reason: 'x' }).stdout !== '',
          carries.block,
          `${name} ${event}`,
        );
      }
    }
  });

  test('inbox-gates 8.2a: never as plain text, which the model is not shown at PostToolUse, Stop and PreCompact', () => {
    for (const [, name, version] of GOLDEN) {
      const versioned = harness(name, version);
      for (const event of HOOK_EVENTS) {
        const turn = versioned.readTurn(stdinAt(name, event), event);
        assert.ok(!(turn instanceof Fault));
        for (const [, answer] of ANSWERS) {
          const { stdout, exit } = versioned.formatReply(turn, answer);
          assert.equal(exit, 0); // on exit 2 stdout counts for nothing
          if (stdout !== '') assert.equal(typeof JSON.parse(stdout), 'object');
        }
      }
    }
  });
});
