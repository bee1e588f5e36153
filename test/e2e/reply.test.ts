import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { agentTerminals } from '../kit/agent-terminal.ts';
import { calledProgram } from '../kit/called-program.ts';
import { createCodexHome } from '../kit/codex-queue.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

const SECRET = 'SECRET-WORDS --force';

test('reply: only a person sends one, at a terminal that asks or with the token, and the log has no text of it', async (t) => {
  if (needs(t, spawnSync('tmux', ['-V']).status === 0 ? null : 'tmux is missing: apt-get install tmux')) return;
  using codex = createCodexHome();
  using program = calledProgram('codex'); // stands for Codex
  const thread = codex.addThread('ada');
  codex.enqueue(thread, 'one');
  const persona = `codex-${thread.slice(-12)}`;
  using home = trayHome({
    ...{ primary: { is: 'local' }, tray: 'none', agmsg: { is: 'off' } },
    codex: { is: 'auto', home: codex.home, actions: true },
  });
  await using tray = await home.start([], program.env);
  const { canReply } = await tray.persona(persona);
  assert.equal(canReply, true);

  const post = async (headers: object, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    return await fetch(`${tray.url}/api/v1/actions/reply`, { ...init, body: JSON.stringify(body) });
  };
  const own = { authorization: `Bearer ${tray.token}` };
  assert.equal((await post({}, { persona, text: SECRET })).status, 401);
  assert.equal((await post({ ...own, origin: 'http://evil.example' }, { persona, text: SECRET })).status, 403);
  for (const text of ['', '  \n', 'a\0b', 'x'.repeat(100_001)])
    assert.equal((await post(own, { persona, text })).status, 400, JSON.stringify(text.slice(0, 9)));
  assert.equal((await post(own, { persona, text: 'x', message: '../x' })).status, 400);
  const silent = await home.run(['reply', persona, SECRET]);
  assert.equal(silent.code, 2);
  assert.match(silent.stderr, /a reply is sent only by a person at a terminal/);
  assert.equal(program.args(), null, 'so far nothing was sent');

  await using terminals = agentTerminals(home.home);
  const env = { ...home.env, PATH: process.env.PATH ?? '' };
  const ask = (name: string): void =>
    terminals.start(name, home.home, env, [
      ...['sh', '-c', '"$@"; echo "ended with $?"; exec sleep 600', 'sh'],
      ...[process.execPath, programEntry('hivebar'), 'reply', persona, '--', ...SECRET.split(' ')],
    ]);
  ask('no');
  await terminals.shows('no', /Send this to codex-\w+ as you\? \[y\/N\]/);
  assert.match(terminals.screen('no'), new RegExp(SECRET), 'what is sent is shown before');
  terminals.key('no', 'n', 'Enter');
  await terminals.shows('no', /nothing was sent\s+ended with 1/);
  assert.equal(program.args(), null);
  ask('yes');
  await terminals.shows('yes', /as you\?/);
  terminals.key('yes', 'y', 'Enter');
  await terminals.shows('yes', /stored, not delivered:[\s\S]*ended with 0/);
  assert.deepEqual(program.args(), ['queue', '--thread', thread, `--message=${SECRET}`]);

  program.end(1, 'Error: attempt to write a readonly database\n');
  const refused = await post(own, { persona, text: SECRET });
  const { error } = (await refused.json()) as { readonly error: { readonly message: string } };
  assert.match(error.message, /readonly database.*outside of a sandbox/);
  const lines = tray.log.filter((line) => line.includes('reply of a person'));
  assert.deepEqual(
    lines.map((line) => line.split(': ').slice(0, 2).join(': ').replace(persona, 'P')),
    [
      'reply of a person to P: 20 characters',
      'reply of a person to P: stored',
      'reply of a person to P: 20 characters',
      'reply of a person to P: not sent',
    ],
  );
  assert.ok(!tray.log.some((line) => line.includes('SECRET-WORDS')));
});
