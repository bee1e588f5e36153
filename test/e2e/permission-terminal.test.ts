import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { agentTerminals } from '../kit/agent-terminal.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

const HOOK = ['hook', '--harness', 'claude', '--event', 'PermissionRequest', '--persona', 'ada'];
const TURN = {
  ...{ session_id: 's1', cwd: '/work', hook_event_name: 'PermissionRequest', permission_mode: 'default' },
  ...{ tool_name: 'Bash', tool_input: { command: 'npm test' } },
};

test('a person at a terminal is shown the call and asked: yes allows or denies it, anything else answers nothing', async (t) => {
  if (spawnSync('tmux', ['-V']).status !== 0) return void needs(t, 'tmux is missing: apt-get install tmux');
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await using terminals = agentTerminals(home.home);
  const env = { HIVEBAR_HOME: home.dir };
  const nextNumber = async (): Promise<number> => {
    const { permissions } = await tray.until('the prompt', ({ permissions }) => permissions.length === 1);
    return permissions[0]?.number ?? 0;
  };
  /** Begins to answer at a terminal of its own, as a person whose shell stays afterwards. */
  const begin = (name: string, answer: string, number: number): void => {
    const words = `'${process.execPath}' '${programEntry('hivebar')}' permission ${answer} ${number}`;
    terminals.start(name, home.home, env, ['sh', '-c', `${words}; echo "exit $?"; exec sleep 600`]);
  };

  const hook = home.run(HOOK, { stdin: JSON.stringify(TURN) });
  const first = await nextNumber();
  begin('hesitating', 'allow', first);
  await terminals.shows('hesitating', /\| command: npm test[\s\S]*Allow exactly this call, once\? \[y\/N\]/);
  terminals.key('hesitating', 'Enter');
  await terminals.shows('hesitating', /nothing was answered\s+exit 1/);
  assert.equal(await nextNumber(), first, 'it still waits');
  begin('sure', 'allow', first);
  await terminals.shows('sure', /Allow exactly this call, once\?/);
  await terminals.say('sure', 'y');
  await terminals.shows('sure', /allowed\s+exit 0/);
  assert.match((await hook).stdout, /"behavior":"allow"/);

  const other = home.run(HOOK, { stdin: JSON.stringify(TURN) });
  const second = await nextNumber();
  begin('late', 'allow', first);
  await terminals.shows('late', new RegExp(`there is no prompt ${first}`));
  begin('denying', 'deny', second);
  await terminals.shows('denying', /Deny this call\?/);
  await terminals.say('denying', 'yes');
  await terminals.shows('denying', /denied\s+exit 0/);
  assert.match((await other).stdout, /"behavior":"deny"/);
});
