import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programEntry } from '../kit/program.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const AGENT = fileURLToPath(import.meta.resolve('../kit/stand-in-agent.mjs'));
const BASH = { tool_name: 'Bash', tool_input: { command: 'make' } };

/** A stand-in for Claude Code: a process that runs the packed hook program, as Claude Code calls it. */
function startAgent(home: TrayHome, session: string, persona: string) {
  const child = spawn(process.execPath, [AGENT, programEntry('hook'), 'claude', persona], {
    env: { ...process.env, ...home.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async hook(event: string, given: object = {}): Promise<void> {
      const input = {
        session_id: session,
        cwd: home.home,
        hook_event_name: event,
        permission_mode: 'default',
        ...given,
      };
      child.stdin.write(`${event} ${JSON.stringify(input)}\n`);
      const reply = await replies.next();
      assert.deepEqual(JSON.parse(reply.value ?? 'null'), { status: 0, stdout: '', stderr: '' }, event);
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function waitForAgent(tray: TrayProcess, is: string, reason: string | null = null) {
  return await tray.persona('ada', ({ agent, agentReason }) => agent === is && agentReason === reason, 10_000);
}

test('what hooks report is on the board at once, in the events once per wait, and still there after a restart', async () => {
  using home = trayHome();
  await home.run(['inbox', 'push', '--to', 'ada', '--source', 'ci', '--priority', '4', 'hello']);
  const waits = (): readonly unknown[] =>
    home
      .events('ada')
      .flatMap(({ event, reason, wake_class: wakes, cwd }) =>
        event === 'waiting' || event === 'resumed' ? [[event, reason, wakes, cwd]] : [],
      );
  const waited = ['waiting', 'permission', 'diagnostic', home.home];
  const went = ['resumed', 'permission', 'diagnostic', home.home];
  await using agent = startAgent(home, '5b8d0b2e-6d61-4e0e-9f7c-1f4e4a7f9a01', 'ada');
  {
    await using tray = await home.start();
    await tray.persona('ada', ({ agent: is }) => is === 'unknown');
    await agent.hook('PostToolUse', BASH); // hooks that were installed while the session ran
    await waitForAgent(tray, 'working');
    await agent.hook('PermissionRequest', BASH);
    const { agentSince, cwd } = await waitForAgent(tray, 'waiting', 'permission');
    assert.equal(cwd, home.home);
    assert.ok(Math.abs(Date.parse(agentSince ?? '') - Date.now()) < 10_000, String(agentSince));
    await tray.cli.until('the event', () => waits().length > 0);
  }
  {
    await using tray = await home.start();
    await waitForAgent(tray, 'waiting', 'permission');
    await agent.hook('Notification', { notification_type: 'permission_prompt' });
    await agent.hook('PostToolUse', BASH);
    await waitForAgent(tray, 'working');
    await tray.cli.until('the end of the wait', () => waits().length > 1);
    await agent.hook('PermissionRequest', { tool_name: 'AskUserQuestion', tool_input: {} });
    await waitForAgent(tray, 'waiting', 'input');
    await tray.cli.until('the question', () => waits().length > 2);
    await agent.hook('Stop');
    await waitForAgent(tray, 'idle');
    // What the script does by itself, while a stamp says that nothing waits.
    writeFileSync(home.at('run', 'activity', 'ada'), 'UserPromptSubmit\n');
    await waitForAgent(tray, 'working');
  }
  await agent[Symbol.asyncDispose]();
  await using tray = await home.start();
  await waitForAgent(tray, 'gone', 'process-ended');
  assert.deepEqual(waits(), [
    ...[waited, went],
    ['waiting', 'input', 'diagnostic', home.home],
    ['resumed', 'input', 'diagnostic', home.home],
  ]);
});
