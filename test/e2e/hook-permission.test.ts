import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionWire } from '../../app/status/wire.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const HOOK = ['hook', '--harness', 'claude', '--event', 'PermissionRequest', '--persona', 'ada'];
const TURN = {
  ...{ session_id: 's1', cwd: '/work', hook_event_name: 'PermissionRequest', permission_mode: 'default' },
  ...{ tool_name: 'Bash', tool_input: { command: 'npm test' } },
};

const callHook = (home: TrayHome, over: object = {}) => home.run(HOOK, { stdin: JSON.stringify({ ...TURN, ...over }) });

async function startTray(home: TrayHome): Promise<TrayProcess> {
  await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
  return await home.start(['--no-tray', '--no-notifications']);
}

async function waitForPrompt(tray: TrayProcess): Promise<PermissionWire> {
  await tray.until('the prompt', ({ permissions }) => permissions.length === 1);
  const headers = { authorization: `Bearer ${tray.token}` };
  const answer = await fetch(`${tray.url}/api/v1/permissions`, { headers });
  const [prompt] = ((await answer.json()) as { permissions: readonly PermissionWire[] }).permissions;
  assert.ok(prompt !== undefined);
  return prompt;
}

const isQuiet = ({ code, stdout }: { readonly code: number | null; readonly stdout: string }): void =>
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });

test('given no tray process, or one without the setting, the hook of a permission prompt waits for nobody and prints nothing', async () => {
  using home = trayHome();
  isQuiet(await callHook(home));
  await using tray = await startTray(home);
  isQuiet(await callHook(home));
  assert.deepEqual((await tray.status()).permissions, []);
});

test('given the setting, the hook waits for the answer and prints it, and its agent does not wait any more', async () => {
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  await using tray = await startTray(home);
  for (const answer of ['allow', 'deny', 'terminal'] as const) {
    const hook = callHook(home);
    const { id, text, tool, persona } = await waitForPrompt(tray);
    assert.deepEqual({ text, tool, persona }, { text: 'command: npm test', tool: 'Bash', persona: 'ada' });
    await tray.persona('ada', ({ agent }) => agent === 'waiting');
    await tray.post('/api/v1/actions/permit', { permission: id, answer });
    const { code, stdout } = await hook;
    assert.equal(code, 0);
    if (answer === 'terminal') {
      assert.equal(stdout, '', 'the dialog of the agent program decides');
      break;
    }
    const { hookSpecificOutput: output } = JSON.parse(stdout) as { hookSpecificOutput: { decision: object } };
    const message = { message: 'The person denied this in Hivebar.' };
    assert.deepEqual(output.decision, { behavior: answer, ...(answer === 'deny' && message) });
    await tray.persona('ada', ({ agent }) => agent === 'idle');
  }
  // Questions and plans are no permissions.
  isQuiet(await callHook(home, { tool_name: 'AskUserQuestion', tool_input: { questions: [] } }));
  // Nobody at a terminal answers here.
  const refused = await home.run(['permission', 'allow', '1']);
  assert.notEqual(refused.code, 0);
  const agent = await home.run(['permission', 'allow', '1'], { env: { CLAUDECODE: '1' } });
  assert.match(agent.stderr, /an agent cannot answer permission prompts: CLAUDECODE is set/);
});

test('a prompt ends with its hook: when its tool ran, when another hook says so, and when the tray process dies', async () => {
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  await using tray = await startTray(home);
  const typed = callHook(home);
  await waitForPrompt(tray);
  const after = { ...TURN, hook_event_name: 'PostToolUse' };
  await home.run(HOOK, { stdin: JSON.stringify(after) });
  isQuiet(await typed);
  await tray.until('it left', ({ permissions }) => permissions.length === 0);

  const left = callHook(home);
  await waitForPrompt(tray);
  await tray.kill();
  isQuiet(await left);
});

test('hivebar permission list shows the whole call, and nothing in it that a terminal would act on', async () => {
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  await using tray = await startTray(home);
  const hook = callHook(home, { tool_input: { command: 'echo \u001b[2K\u202e x\nrm y' } });
  const { id } = await waitForPrompt(tray);
  const { stdout } = await home.run(['permission', 'list']);
  assert.match(stdout, /^1 {2}ada \(claude\) asks to use Bash, .* left\n/);
  assert.ok(stdout.includes('   | command: echo \\u001b[2K\\u202e x\n   |     rm y\n'), stdout);
  const asJson = await home.run(['permission', 'list', '--json']);
  assert.equal((JSON.parse(asJson.stdout) as readonly PermissionWire[])[0]?.id, id);
  await tray.post('/api/v1/actions/permit', { permission: id, answer: 'deny' });
  await hook;
  assert.match((await home.run(['permission', 'list'])).stdout, /no agent waits/);
  await until('the log has it', () =>
    tray.log.some((line) => /: denied from the program: Bash: command: echo/.test(line)),
  );
});
