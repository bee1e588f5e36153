import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { agentTerminals } from '../kit/agent-terminal.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const TRAY = ['--no-tray', '--no-notifications'];

test('given a terminal, top shows who needs a person, follows mail, restarts and a new size, and gives the terminal back', async (t) => {
  if (spawnSync('tmux', ['-V']).status !== 0) return void needs(t, 'tmux is missing: apt-get install tmux');
  using home = trayHome({ primary: { is: 'local' } });
  const send = async (to: string, ...words: readonly string[]): Promise<void> => {
    const sent = await home.run(['send', '--to', to, '--from', 'me', ...words]);
    assert.equal(sent.code, 0, sent.stderr);
  };
  await send('ada', 'hello ada');
  await send('bo', 'the build of bo is red');
  await using terminals = agentTerminals(home.home);
  let tray = await home.start(TRAY);
  try {
    await tray.persona('bo', ({ unread }) => unread === 1);
    const top = `'${process.execPath}' '${programEntry('hivebar')}' top`;
    const shell = `echo before; ${top}; echo "exit $?"; ${top}; echo "exit $?"; exec sleep 600`;
    terminals.start('top', home.home, { HIVEBAR_HOME: home.dir }, ['bash', '-c', shell]);
    const shows = (pattern: RegExp): Promise<void> => terminals.shows('top', pattern);

    await shows(/^2 unread, 2 up, 0 down\n[\s\S]*bo .*me: the build of bo is red/);
    assert.doesNotMatch(terminals.screen('top'), /before/, 'it has a screen of its own');
    await send('cy', 'and cy is new');
    await shows(/^3 unread, 3 up[\s\S]*^> UP +1 +cy .*me: and cy is new/m);

    terminals.key('top', 'j', 'm');
    await shows(/Mark all messages of bo as read\?.* y\/n/);
    terminals.key('top', 'y');
    await shows(/marked 1 of bo as read/);
    await shows(/^> UP +0 +bo /m);
    terminals.key('top', '/');
    await terminals.say('top', 'ad');
    await until('the filter', () => !/ cy /.test(terminals.screen('top')) && / ada /.test(terminals.screen('top')));
    terminals.key('top', 'Escape');
    await shows(/ cy /);

    terminals.ask('resize-window', '-t', 'top', '-x', '80', '-y', '24');
    await until('the keys in the last of 24 lines', () =>
      /^j\/k move/.test(terminals.screen('top').split('\n')[23] ?? ''),
    );
    await tray.stop();
    await shows(/^Hivebar does not answer; trying again\n[\s\S]* ada /);
    tray = await home.start(TRAY);
    await shows(/^2 unread, 3 up, 0 down\n/);

    terminals.key('top', 'q');
    await shows(/before\s+exit 0/);
    await shows(/^2 unread/);
    const pid = Number(terminals.ask('list-panes', '-t', 'top', '-F', '#{pane_pid}'));
    const [child = ''] = spawnSync('pgrep', ['-P', `${pid}`], { encoding: 'utf8' }).stdout.split('\n');
    process.kill(Number(child), 'SIGTERM');
    await shows(/before\s+exit 0\s+exit 0/);
    assert.match(terminals.ask('display', '-p', '-t', 'top', '#{cursor_flag} #{alternate_on}'), /^1 0/);
  } finally {
    await tray[Symbol.asyncDispose]();
  }
});

test('given no terminal, top says so and ends', async () => {
  using home = trayHome();
  const piped = await home.run(['top']);
  assert.deepEqual(
    [piped.code, piped.stdout, piped.stderr],
    [2, '', 'hivebar top: there is no terminal: use hivebar status, or --watch with it\n'],
  );
});
