import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWay } from '../../core/sources/claude/open.ts';
import type { Backend, MetaRecord } from '../../core/sources/garden/index.ts';
import { toCitizenSession } from '../../core/sources/garden/open.ts';
import { choosePlan } from '../open/placeholders.ts';
import { toSession } from './open-sources.ts';

const record = (backend: Backend, nativeSessionId = '7f3c; rm -rf ~'): MetaRecord => ({
  ...{ schemaVersion: 3, gardenId: '20260614T100037-aaaaaa', backend, nativeSessionId, cwd: '/fields/river' },
  ...{ model: null, transcriptPath: null, createdAt: 'c', recordUpdatedAt: 'u' },
});
const chooseSteps = (backend: Backend, agent: 'live' | 'gone' | 'unknown' = 'gone') =>
  choosePlan([toSession(toCitizenSession('garden-x', record(backend), agent))], { is: 'auto' }, () => 'unknown').steps;

test('each backend takes its own session up again, in a terminal, item by item', () => {
  const resumes: readonly (readonly [Backend, readonly string[]])[] = [
    ['claude-code', ['claude', '--resume']],
    ['codex', ['codex', 'resume']],
    ['antigravity', ['agy', '--conversation']],
    ['pi', ['pi', '--session']],
  ];
  for (const [backend, words] of resumes) {
    const [step] = chooseSteps(backend);
    assert.deepEqual(step, { is: 'terminal', resume: [...words, '7f3c; rm -rf ~'], terminal: null });
  }
  assert.equal(toCitizenSession('garden-x', record('pi'), 'gone').cwd, '/fields/river');
});

test('one whose agent is not known to live is taken up, one that lives is not', () => {
  assert.equal(chooseSteps('claude-code', 'unknown')[0].is, 'terminal');
  assert.deepEqual(chooseSteps('claude-code', 'live'), [{ is: 'page' }]);
});

test('an id that is an option, or breaks a line, is given to nobody', () => {
  for (const id of ['--dangerously', '-p', 'a\nb', 'a\u2028b', '\ud800']) {
    assert.throws(() => toCitizenSession('garden-x', record('codex', id), 'gone'), { code: 'exec-failed' });
  }
});

test('a session in a pane of tmux is shown there, and nothing else is taken for a pane', () => {
  const native = { persona: 'claude-1', id: 's', cwd: '/fields/river', resume: null } as const;
  const server = '/tmp/tmux-0/default,123,0';
  const pane = { socket: '/tmp/tmux-0/default', serverPid: 123, pane: '%7' };
  const session = toSession({ ...native, tmux: { server, pane: '%7' } });
  assert.deepEqual(choosePlan([session], { is: 'auto' }, () => 'unknown').steps, [
    { is: 'tmux', pane },
    { is: 'attach', pane, terminal: null },
    { is: 'page' },
  ]);
  for (const tmux of [
    { server, pane: 'in-process' },
    { server, pane: '%7; kill-server' },
    { server: 'x', pane: '%7' },
  ])
    assert.equal(toSession({ ...native, tmux }).pane, null);
});

test('claude: a session that ended is resumed, one of the background attached, one of VS Code shown there, and no other is started', () => {
  const file = {
    ...{
      pid: 2 ** 30,
      sessionId: 'aaaaaaaa-0000-4000-8000-000000000000',
      cwd: '/fields/river',
      procStart: '1',
      name: null,
    },
    ...{
      kind: 'interactive',
      entrypoint: 'cli',
      status: 'idle',
      waitingFor: null,
      statusUpdatedAt: null,
      startedAt: null,
    },
    ...{ socketPath: null, peerProtocol: 1, version: '2.1.332', jobId: null },
  } as const;
  const chooseClaudeSteps = (more: Partial<Parameters<typeof findWay>[0]['file']>, isGone = false) => {
    const goneAt = isGone ? { instant: 1, monotonic: 1 } : null;
    const way = findWay({ file: { ...file, ...more }, goneAt }, null);
    const native = { persona: 'claude-aaaaaaaa', id: file.sessionId, cwd: file.cwd, ...way };
    return choosePlan([toSession(native)], { is: 'auto' }, () => 'unknown').steps;
  };
  const page = { is: 'page' };
  const resume = ['claude', '--resume', file.sessionId];
  assert.deepEqual(chooseClaudeSteps({}, true), [{ is: 'terminal', resume, terminal: null }, page]);
  assert.deepEqual(chooseClaudeSteps({}), [page]);
  const attach = ['claude', 'attach', 'job1'];
  assert.deepEqual(chooseClaudeSteps({ kind: 'bg', jobId: 'job1' }), [
    { is: 'terminal', resume: attach, terminal: null },
    page,
  ]);
  assert.deepEqual(chooseClaudeSteps({ kind: 'bg', jobId: '--help' }), [page]);
  assert.deepEqual(chooseClaudeSteps({ entrypoint: 'claude-vscode' }), [
    { is: 'command', argv: ['code', '--', '{cwd}'] },
    page,
  ]);
});
