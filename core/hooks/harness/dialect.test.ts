import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../model/index.ts';
import { findHarness, refuseForeignEnv } from './index.ts';

const OWN = { session_id: 's', hook_event_name: 'Stop', cwd: '/w' };

/** What other programs write to the hooks of Claude Code, made from their documentation. */
const FOREIGN: Readonly<Record<string, object>> = {
  'VS Code': {
    timestamp: '2026-02-09T10:30:00.000Z',
    cwd: '/w',
    sessionId: 's',
    hookEventName: 'Stop',
    transcript_path: '/t',
  },
  'VS Code, with both': { ...OWN, sessionId: 's' },
  Cursor: {
    conversation_id: 'c',
    generation_id: 'g',
    hook_event_name: 'stop',
    cursor_version: '1.7.2',
    status: 'completed',
  },
  'Cursor, at a session': { ...OWN, hook_event_name: 'sessionStart', cursor_version: '1.7.2' },
  'no session': { hook_event_name: 'Stop', cwd: '/w' },
  'an empty session': { ...OWN, session_id: ' ' },
  'a session that is no text': { ...OWN, session_id: 5 },
};

describe('a program that runs our hooks by accident', () => {
  for (const name of ['claude', 'codex'])
    for (const [caller, input] of Object.entries(FOREIGN))
      test(`${name}: ${caller} is refused, with the reason`, () => {
        const turn = findHarness(name, null)?.readTurn(JSON.stringify(input), 'Stop');
        assert.ok(turn instanceof Fault);
        assert.match(turn.message, new RegExp(`^${name}: nothing is said to (Cursor|a program that )`));
      });

  test('claude and codex themselves are not', () => {
    for (const name of ['claude', 'codex'])
      assert.ok(!(findHarness(name, null)?.readTurn(JSON.stringify(OWN), 'Stop') instanceof Fault));
  });

  test('Cursor is known by its variable, unless Claude Code runs in its terminal', () => {
    assert.match(refuseForeignEnv('claude', { CURSOR_VERSION: '1.7.2' })?.message ?? '', /nothing is said to Cursor/);
    assert.equal(refuseForeignEnv('claude', { CURSOR_VERSION: '1.7.2', CLAUDECODE: '1' }), null);
    assert.equal(refuseForeignEnv('claude', { CURSOR_VERSION: '1.7.2', CLAUDE_CODE_SESSION_ID: 's' }), null);
    assert.equal(refuseForeignEnv('claude', {}), null);
    assert.equal(refuseForeignEnv('cursor', { CURSOR_VERSION: '1.7.2' }), null, 'its own hooks');
  });

  test('Copilot CLI, whose input is like that of Claude Code, is known by its variables, also when Claude Code started it', () => {
    const copilot = { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '/w' };
    const claude = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 's' };
    const says = (env: object): string => refuseForeignEnv('claude', { ...env })?.message ?? '';
    assert.match(says(copilot), /^claude: nothing is said to Copilot CLI/);
    assert.match(says({ COPILOT_CLI: '1' }), /nothing is said to Copilot CLI/);
    assert.match(says({ ...copilot, ...claude }), /nothing is said to Copilot CLI/, 'started by a tool of Claude Code');
    assert.equal(says({ COPILOT_CLI: '1', ...claude }), '', 'Claude Code, started by a tool of Copilot CLI');
    assert.equal(refuseForeignEnv('copilot', copilot), null, 'its own hooks');
  });
});
