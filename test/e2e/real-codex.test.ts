import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { agentTerminals, listProcesses, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { createTestNudger } from '../kit/nudger.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

interface SessionListing {
  readonly persona: string;
  readonly id: string | null;
  readonly state: string;
  readonly tmux: unknown;
}

test('C9 C2 two TUIs of the real Codex at once: each is told its own mail alone, by its queue and never by keys', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const folders = ['ada', 'cy'].map((name) => join(home.home, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const [adas = '', cys = ''] = folders;
  const escapes = { cmd: `touch ${home.home}/X`, sandbox_permissions: 'require_escalated', justification: 'Push?' };
  await using model = await modelServer(({ fresh }) =>
    fresh.includes('Push it') ? [{ tool: 'exec_command', input: escapes }] : null,
  );
  const env = { ...prepareCodex(home.home, folders, model.url), HIVEBAR_HOME: home.dir };
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, args.includes('install') ? 1 : 0, stderr); // hooks that nobody trusted yet
    return stdout;
  };
  const push = (to: string, text: string) => run('inbox', 'push', '--to', to, '--type', 'event', text);
  const sessions = async () => JSON.parse(await run('session', 'list', '--json')) as readonly SessionListing[];
  await run('hook', 'install', '--harness', 'codex');
  // Whose a thread is, is told by its folder.
  await run('session', 'set', 'ada', '--cwd', adas, '--pid', `${process.pid}`);
  await run('session', 'set', 'cy', '--cwd', cys, '--pid', `${process.pid}`);
  await push('ada', 'secret for ada');
  await push('cy', 'mail for cy');

  await using terminals = agentTerminals(home.home);
  const askedWith = (text: string) => model.asks.filter(({ fresh }) => fresh.includes(text));
  const start = async (name: string, cwd: string, persona: string): Promise<void> => {
    terminals.start(name, cwd, { ...env, HIVEBAR_PERSONA: persona }, [client.program]);
    if (name === 'one') await trustCodexHooks(terminals, name);
    await waitForCodex(terminals, name);
  };
  const prompt = async (name: string, text: string): Promise<string> => {
    await terminals.say(name, text);
    await until(
      () => `${text}:\n${terminals.screen(name)}`,
      () => askedWith(text).length > 0,
      90_000,
    );
    return askedWith(text)[0]?.fresh ?? '';
  };

  // All of them are served by the server of the first, with its environment: ada's.
  await start('one', adas, 'ada');
  assert.match(await prompt('one', 'hello from one'), /secret for ada/);
  await push('ada', 'another secret');
  await start('two', cys, 'cy');
  const second = await prompt('two', 'hello from two');
  assert.match(second, /mail for cy/);
  assert.doesNotMatch(second, /secret/);
  assert.equal(countPending('ada'), 1, 'shown to nobody else, and not marked');
  const known = await sessions();
  assert.deepEqual(
    known.filter(({ id }) => id !== null).map(({ persona, state, tmux }) => [persona, state, tmux]),
    [
      ['ada', 'live', null],
      ['cy', 'live', null],
    ],
  );

  using nudger = createTestNudger(home, { ...process.env, PATH: `${dirname(client.program)}:${process.env.PATH}` });
  await until('the end of the turn of cy', () => noted('cy') === 'Stop');
  // A person's draft stays, and the message becomes a turn beside it.
  terminals.ask('send-keys', '-t', 'two', '-l', '--', 'please do NOT delete the');
  await terminals.shows('two', /please do NOT delete the/);
  await push('cy', 'a second mail for cy');
  assert.deepEqual(await nudger.check('cy'), { is: 'nudged' });
  await until('its turn', () => askedWith('a second mail for cy').length > 0, 90_000);
  assert.match(askedWith('a second mail for cy')[0]?.fresh ?? '', /hivebar: 1 item waits in your inbox/);
  assert.match(terminals.screen('two'), /› please do NOT delete the/);
  assert.equal(askedWith('please do NOT').length, 0, 'the draft was not sent');
  for (let n = 0; n < 24; n += 1) terminals.key('two', 'BSpace');

  // It asks its person, since an hour.
  await terminals.say('two', 'Push it');
  await terminals.shows('two', /Push\?/);
  await push('cy', 'a third mail for cy');
  utimesSync(home.at('run/activity/cy'), 1, 1);
  const shown = terminals.screen('two');
  for (let n = 0; n < 5; n += 1) assert.deepEqual(await nudger.check('cy'), { is: 'not' });
  assert.equal(terminals.screen('two'), shown);
  assert.equal(existsSync(join(home.home, 'X')), false, 'nothing was approved');
  assert.equal(countPending('ada'), 1);

  // The server of all of them ends, and with it their sessions.
  for (const pid of listProcesses(home.home).filter(isServer)) process.kill(pid, 'SIGKILL');
  await until('no lock is left', () => listProcesses(home.home).filter(isServer).length === 0);
  const over = (await sessions()).filter(({ id }) => id !== null).map(({ state }) => state);
  assert.deepEqual(over, ['gone', 'gone']);

  function noted(persona: string): string {
    const path = home.at('run/activity', persona);
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  }

  function countPending(persona: string): number {
    using db = openDatabase(home.at('hivebar.sqlite'));
    return openItems({ db, clock: realClock })
      .pending(persona, null)
      .reduce((sum, count) => sum + count, 0);
  }

  function isServer(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('app-server');
    } catch {
      return false; // it ended
    }
  }
});
