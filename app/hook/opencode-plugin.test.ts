import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ringWaiters } from '../../core/state/index.ts';
import { hookShell } from '../../test/kit/hook-shell.ts';
import { needs } from '../../test/kit/require.ts';
import { until } from '../../test/kit/until.ts';
import { findPluginOwner, formatPlugin } from './opencode-plugin.ts';
import { RECIPES } from './recipe.ts';

const { timeout } = RECIPES.opencode;
const GOLDEN = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../core/hooks/harness/golden/stdin/opencode.json'), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const SESSION = '7f3c-01';
const WORDS = 'hivebar: 1 item waits in your inbox';
const MODEL = { providerID: 'p', modelID: 'm' };
const NO_SHELL = process.platform === 'win32' ? 'there is no shell here' : null;

interface Part {
  readonly id: string;
  readonly text: string;
  readonly synthetic?: boolean;
}

interface Hooks {
  event(input: { event: { type: string; properties: object } }): Promise<void>;
  'chat.message'(
    input: { sessionID: string; variant?: string },
    output: { message: object; parts: Part[] },
  ): Promise<void>;
  'tool.execute.after'(input: { sessionID: string; tool: string }, output: object): Promise<void>;
  dispose(): Promise<void>;
}

type Plugin = (input: object) => Promise<Partial<Hooks>>;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // it has ended
  }
}

/** OpenCode as the plugin sees it, and the real script of the hooks with a program that answers what the test says. */
async function rig(more: { readonly script?: string; readonly get?: () => Promise<never> } = {}) {
  const h = hookShell();
  const log = h.state.at('log');
  const cwd = h.state.at('cwd');
  const program = [
    '#!/bin/sh',
    'case " $* " in *" --event Wait "*) event=Wait; input=null ;; *) event=; input=$(cat) ;; esac',
    `echo "$input" >>'${log}'`,
    `for name in $event $(echo "$input" | sed -n 's/.*"hook_event_name":"\\([A-Za-z]*\\)".*/\\1/p'); do`,
    `  cat '${h.state.at('answer-')}'$name 2>/dev/null`,
    'done',
  ];
  writeFileSync(h.state.at('node'), `${program.join('\n')}\n`);
  chmodSync(h.state.at('node'), 0o700);
  const path = h.state.write('hivebar.mjs', formatPlugin({ script: more.script ?? h.script, persona: 'ada' }, timeout));
  const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, Plugin>>;
  assert.deepEqual(Object.keys(module), ['Hivebar'], 'every export is a plugin to OpenCode');
  const prompts: object[] = [];
  const parents = new Map<string, string>();
  const client = {
    session: {
      get:
        more.get ??
        (async ({ path: { id } }: { path: { id: string } }) => ({ data: { id, parentID: parents.get(id) } })),
      promptAsync: async (prompt: object) => void prompts.push(prompt),
    },
  };
  const hooks = (await module.Hivebar?.({ client, directory: cwd })) as Hooks;
  const read = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  return {
    h,
    hooks,
    parents,
    prompts,
    /** What the program was given on stdin, with the folder of the golden file; null: a waiter asked. */
    asked: () =>
      read()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line.replace(cwd, '/tmp/project')) as { hook_event_name: string } | null),
    waits: () => read().includes('null'),
    clear: () => rmSync(log, { force: true }),
    answer: (event: string, text: string) => writeFileSync(h.state.at(`answer-${event}`), text),
    show: (event: string, additionalContext: string) =>
      writeFileSync(h.state.at(`answer-${event}`), `${JSON.stringify({ additionalContext })}\n`),
    /** The pid of a waiter that has a pipe; 0: there is none. */
    waiter(): number {
      const dir = h.state.at('run/waiters/ada');
      const pipe = existsSync(dir) ? readdirSync(dir).find((name) => /^7f3c-01\.\d+$/.test(name)) : undefined;
      return Number(pipe?.split('.')[1] ?? 0);
    },
    ring: () => ringWaiters(h.state.at('run/waiters'), ['ada']),
    event: (type: string, properties: object = {}) =>
      hooks.event({ event: { type, properties: { sessionID: SESSION, ...properties } } }),
    async prompt(sessionID = SESSION): Promise<readonly Part[]> {
      const parts: Part[] = [{ id: 'prt_1', text: 'go on' }];
      await hooks['chat.message']({ sessionID }, { message: { id: 'msg_1', agent: 'plan', model: MODEL }, parts });
      return parts;
    },
    async tool(output: object, sessionID = SESSION): Promise<object> {
      await hooks['tool.execute.after']({ sessionID, tool: 'bash' }, output);
      return output;
    },
    async [Symbol.asyncDispose]() {
      await hooks.dispose?.();
      h[Symbol.dispose]();
    },
  };
}

test('the plugin is this file, byte for byte, and its first line says whose it is', () => {
  const facts = { script: '/srv/ada/.local/state/hivebar/hook/hivebar-hook', persona: 'o\'neil "x" $&' };
  const text = formatPlugin(facts, timeout);
  const path = join(import.meta.dirname, 'golden', 'opencode-none.after');
  if (process.env.HIVEBAR_WRITE_GOLDEN === '1') writeFileSync(path, text);
  assert.equal(text, readFileSync(path, 'utf8'));
  assert.deepEqual(findPluginOwner(text), { is: 'ours', facts });
  for (const changed of [`${text}\n`, text.replaceAll('\n', '\r\n'), text.replace('10000', '1'), text.slice(0, 40)])
    assert.equal(findPluginOwner(changed).is, 'changed');
  for (const foreign of ['', ' ', `// mine\n${text}`, 'export const A = async () => ({});\n'])
    assert.equal(findPluginOwner(foreign).is, 'foreign');
});

test('given each event of OpenCode, the hook is given what the golden files hold', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  const isAsked = async (...events: readonly string[]): Promise<void> => {
    const inputs = r.asked().filter((input) => input !== null);
    assert.deepEqual(
      inputs,
      events.map((name) => GOLDEN[name]),
    );
    r.clear();
  };
  await r.prompt();
  await isAsked('SessionStart', 'UserPromptSubmit');
  await r.tool({ output: 'a' });
  await isAsked('PostToolUse');
  await r.event('permission.asked', { id: 'per_1', permission: 'bash' });
  await isAsked('Notification');
  await r.event('permission.replied', { requestID: 'per_1', reply: 'once' });
  assert.deepEqual(r.asked(), [{ session_id: SESSION, cwd: '/tmp/project', hook_event_name: 'PostToolUse' }]);
  r.clear();
  await r.event('session.status', { status: { type: 'busy' } });
  await r.event('session.status', { status: { type: 'idle' } });
  await r.event('session.idle');
  await isAsked('Stop');
  await r.prompt();
  await isAsked('UserPromptSubmit');
  await r.event('session.error', { error: { name: 'APIError' } });
  await r.event('session.idle');
  await isAsked('StopFailure');
  await r.event('session.deleted', { sessionID: undefined, info: { id: SESSION } });
  await isAsked('SessionEnd');
  await r.event('session.idle');
  await r.event('message.part.updated');
  await isAsked();
});

test('given mail, it is a part behind the words of the person, which OpenCode hides from them', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  r.show('SessionStart', 'FIRST');
  r.show('UserPromptSubmit', 'SECOND');
  const [first, second, ...others] = await r.prompt();
  assert.deepEqual([first, others], [{ id: 'prt_1', text: 'go on' }, []]);
  assert.ok((second?.id ?? '') > 'prt_1');
  const rest = { sessionID: SESSION, messageID: 'msg_1', type: 'text', text: 'FIRST\nSECOND', synthetic: true };
  assert.deepEqual({ ...second, id: '' }, { id: '', ...rest });
  r.answer('UserPromptSubmit', '');
  assert.equal((await r.prompt()).length, 1);
});

test('given mail during a turn, it is behind what a tool returned; a result without a place is not asked for', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  await r.prompt();
  r.show('PostToolUse', 'MAIL');
  assert.deepEqual(await r.tool({ output: 'a', title: 't' }), { output: 'a\nMAIL', title: 't' });
  const content = [{ type: 'text', text: 'a' }];
  assert.deepEqual(await r.tool({ content }), {
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'MAIL' },
    ],
  });
  r.clear();
  assert.deepEqual(await r.tool({ title: 't' }), { title: 't' });
  assert.deepEqual(r.asked(), []);
});

test('given mail for an idle agent, its waiter begins one turn with the agent and the model of before', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  r.answer('Wait', 'wait ada\n');
  await r.prompt();
  await r.event('session.idle');
  await until('it waits', () => r.waits());
  r.answer('Wait', `wake ada ${WORDS}\n`);
  await until('rung', () => r.ring().includes(SESSION));
  await until('woken', () => r.prompts.length > 0);
  const body = { agent: 'plan', model: MODEL, parts: [{ type: 'text', text: WORDS }] };
  assert.deepEqual(r.prompts, [{ path: { id: SESSION }, body }]);
});

test('given a next prompt, the end of the session or of the plugin, the waiter of an idle agent ends', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  r.answer('Wait', 'wait ada\n');
  const ends = [
    () => r.prompt(),
    () => r.event('session.deleted', { sessionID: undefined, info: { id: SESSION } }),
    () => r.hooks.dispose(),
  ];
  for (const end of ends) {
    await r.prompt();
    await r.event('session.idle');
    await until('it waits', () => r.waiter() > 0);
    const pid = r.waiter();
    await end();
    await until(`${end} ended it`, () => !isAlive(pid));
  }
  assert.deepEqual(r.prompts, []);
});

test('given a turn that failed or was interrupted, nothing wakes the agent; one whose turn was whole is woken', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  r.answer('Wait', `wake ada ${WORDS}\n`);
  await r.prompt();
  await r.event('session.error', { error: { name: 'MessageAbortedError' } });
  await r.event('session.idle');
  assert.equal(r.asked().at(-1)?.hook_event_name, 'Stop', 'a person who interrupts is no failure');
  await r.prompt('other');
  await r.event('session.idle', { sessionID: 'other' });
  await until('woken', () => r.prompts.length > 0);
  assert.deepEqual(
    r.prompts.map((prompt) => (prompt as { path: object }).path),
    [{ id: 'other' }],
  );
});

test('given a subagent, it is shown nothing, and what it asks its person for is reported as its own until each was answered', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using r = await rig();
  r.parents.set('sub', SESSION);
  await r.prompt();
  r.clear();
  r.show('UserPromptSubmit', 'MAIL');
  r.show('PostToolUse', 'MAIL');
  assert.equal((await r.prompt('sub')).length, 1);
  assert.deepEqual(await r.tool({ output: 'a' }, 'sub'), { output: 'a' });
  await r.event('session.idle', { sessionID: 'sub' });
  assert.deepEqual(r.asked(), []);
  await r.event('permission.asked', { sessionID: 'sub', id: 'per_1' });
  await r.event('question.asked', { id: 'que_1' });
  await r.event('permission.replied', { sessionID: 'sub', requestID: 'per_1' });
  await r.event('permission.replied', { sessionID: 'sub', requestID: 'per_1' });
  await r.event('question.rejected', { requestID: 'que_1' });
  const common = { session_id: SESSION, cwd: '/tmp/project' };
  assert.deepEqual(r.asked(), [
    { ...common, hook_event_name: 'Notification', notification_type: 'permission_prompt', agent_id: 'sub' },
    { ...common, hook_event_name: 'Notification', notification_type: 'elicitation_dialog' },
    { ...common, hook_event_name: 'PostToolUse', agent_id: 'sub' },
    { ...common, hook_event_name: 'Notification', notification_type: 'elicitation_dialog' },
    { ...common, hook_event_name: 'PostToolUse' },
  ]);
});

test('given no Hivebar, one that goes away, nonsense from it or from OpenCode, nothing is thrown and nothing changes', async (t) => {
  if (needs(t, NO_SHELL)) return;
  await using gone = await rig({ script: '/nowhere/hivebar-hook' });
  assert.deepEqual(gone.hooks, {});
  await using r = await rig();
  for (const answer of ['nonsense', 'null', '{"additionalContext": 3', '{"other": "x"}']) {
    r.answer('UserPromptSubmit', answer);
    assert.equal((await r.prompt()).length, 1, answer);
  }
  await r.hooks['chat.message']({ sessionID: SESSION }, { message: {}, parts: [] });
  await r.hooks.event({ event: { type: 'session.idle' } } as never);
  rmSync(r.h.script);
  assert.equal((await r.prompt()).length, 1);
  assert.deepEqual(await r.tool({ output: 'a' }), { output: 'a' });
  await r.event('session.idle');
  const unknown = await rig({ get: () => Promise.reject(new Error('gone')) });
  await using _ = unknown;
  unknown.show('UserPromptSubmit', 'MAIL');
  assert.equal((await unknown.prompt()).length, 1, 'it may be a subagent');
  assert.deepEqual(unknown.asked(), []);
});
