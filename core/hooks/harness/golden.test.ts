import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../model/index.ts';
import {
  findHarness,
  HARNESS_MODULES,
  HARNESS_NAMES,
  type Harness,
  HOOK_EVENTS,
  type HookAnswer,
  type HookEvent,
} from './index.ts';

/** Each harness and version with a table of its own; its file holds what goes in and what comes out, byte for byte. */
const GOLDEN: readonly (readonly [file: string, name: string, version: string | null])[] = [
  ['claude.txt', 'claude', null],
  ['claude-2.1.104.txt', 'claude', '2.1.104 (Claude Code)'],
  ['claude-2.1.162.txt', 'claude', '2.1.162 (Claude Code)'],
  ['claude-2.1.163.txt', 'claude', '2.1.163 (Claude Code)'],
  ['codex.txt', 'codex', null],
  ...['gemini', 'qwen', 'copilot', 'cursor', 'goose', 'opencode'].map((name) => [`${name}.txt`, name, null] as const),
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

/** What a harness sends at each event, as its documentation gives it (golden/README.md). */
function readDocumented(name: string): Readonly<Partial<Record<HookEvent, object>>> | null {
  if (name === 'claude' || name === 'codex') return null;
  return JSON.parse(readFileSync(fileURLToPath(import.meta.resolve(`./golden/stdin/${name}.json`)), 'utf8'));
}

/** The events that a harness has. */
function listEvents(name: string): readonly HookEvent[] {
  const documented = readDocumented(name);
  return documented === null ? HOOK_EVENTS : HOOK_EVENTS.filter((event) => Object.hasOwn(documented, event));
}

/** What each harness sends at an event, as the field reports it (inbox and gates, contract 5), or its documentation. */
function stdinAt(name: string, event: HookEvent): string {
  const documented = readDocumented(name);
  if (documented !== null) return JSON.stringify(documented[event]);
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
    Interrupt: { reason: 'user' },
    SessionEnd: { reason: 'exit' },
    PermissionRequest: { tool_name: 'Write', tool_input: {}, agent_id: 'a1', agent_type: 'general-purpose' },
    Notification: { notification_type: 'permission_prompt', message: 'Claude needs your permission' },
    SubagentStop: { stop_hook_active: false, agent_id: 'a1', agent_type: 'general-purpose' },
  };
  return JSON.stringify({ ...common, ...more[event] });
}

function writeTranscript(harness: Harness): string {
  return listEvents(harness.name)
    .flatMap((event) => {
      const stdin = stdinAt(harness.name, event);
      const turn = harness.readTurn(stdin, event);
      assert.ok(!(turn instanceof Fault));
      const output = ANSWERS.map(([label, answer]) => {
        const { stdout, stderr, exit } = harness.formatReply(turn, answer);
        assert.equal(stderr, '');
        return `${label} -> exit ${exit}\n${stdout}`;
      });
      return [`== ${event}\n${stdin}\n`, ...output];
    })
    .join('');
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
      for (const event of listEvents(name)) {
        const turn = versioned.readTurn(stdinAt(name, event), event);
        assert.ok(!(turn instanceof Fault));
        const carries = versioned.carries(turn);
        const shows = (is: 'inject' | 'ring'): boolean => versioned.formatReply(turn, { is, text: 'x' }).stdout !== '';
        assert.deepEqual(
          [shows('ring'), shows('inject')],
          [carries.text, carries.text && carries.onlyRings !== true],
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
      for (const event of listEvents(name)) {
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

  test('the plugin of OpenCode says with a PostToolUse without a tool that a question was answered, where no text has a place', () => {
    const opencode = harness('opencode', null);
    const input = { session_id: '7f3c-01', cwd: '/tmp/project', hook_event_name: 'PostToolUse' };
    const turn = opencode.readTurn(JSON.stringify(input), 'PostToolUse');
    assert.ok(!(turn instanceof Fault));
    assert.equal(opencode.carries(turn).text, false);
    assert.equal(opencode.formatReply(turn, { is: 'inject', text: 'x' }).stdout, '');
  });
});

describe('the registry', () => {
  test('has a row per harness whose name, guide and events agree', () => {
    for (const [name, { name: own, guide, create, setup }] of Object.entries(HARNESS_MODULES)) {
      assert.equal(name, own);
      assert.equal(create(null).name, own);
      assert.ok(existsSync(fileURLToPath(import.meta.resolve(`../../../docs/guides/${guide}.md`))), guide);
      for (const { event } of Object.values(setup.events)) assert.ok(HOOK_EVENTS.includes(event), event);
    }
  });

  test('reads each event of a harness under the name that its settings have', () => {
    for (const name of HARNESS_NAMES) {
      const documented = readDocumented(name);
      if (documented === null) continue;
      for (const [native, { event }] of Object.entries(HARNESS_MODULES[name].setup.events)) {
        const input = documented[event] as { hook_event_name?: string; event?: string } | undefined;
        assert.equal(input?.hook_event_name ?? input?.event, native, name);
        const turn = harness(name, null).readTurn(JSON.stringify(input), 'SessionEnd');
        assert.ok(!(turn instanceof Fault));
        assert.deepEqual([turn.event, turn.session], [event, '7f3c-01'], name);
      }
    }
  });
});
