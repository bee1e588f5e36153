import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLineSource, unread } from '../kit/outside-sources.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

describe('a click on a persona of a source outside of Hivebar', () => {
  let home: TrayHome;
  let tray: TrayProcess;
  let place: Scratch;

  before(async () => {
    home = trayHome({ primary: { is: 'local' } });
    place = scratch();
    // A terminal notes what it is given, and runs it. A browser does nothing.
    const terminal = place.write(
      'terminal',
      `#!/bin/sh\nprintf '%s\\n' "$@" >> '${place.at('shown')}'\nshift\n"$@"\nexit 0\n`,
    );
    mkdirSync(place.at('bin'));
    for (const path of [terminal, place.write('bin/xdg-open', '#!/bin/sh\n')]) chmodSync(path, 0o700);
    const PATH = `${place.at('bin')}${delimiter}${process.env.PATH}`;
    tray = await home.start(['--no-tray', '--no-notifications'], { PATH, TERMINAL: terminal, TMUX_TMPDIR: place.dir });
  });

  after(async () => {
    if (hasTmux) tmux('kill-server');
    await tray[Symbol.asyncDispose]();
    place[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  const open = async (persona: string): Promise<string> => {
    const { result } = (await tray.post('/api/v1/actions/open', { persona })) as { result: { opened: string } };
    return result.opened;
  };
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await home.run(['source', ...args]);
    assert.equal(code, 0, stderr);
  };
  const tmux = (...args: readonly string[]): string =>
    spawnSync('tmux', ['-f', '/dev/null', ...args], {
      env: { ...process.env, TMUX: undefined, TMUX_PANE: undefined, TMUX_TMPDIR: place.dir },
      encoding: 'utf8',
    }).stdout.trim();

  test('external: what it names is refused by name without opens, and run with it, in a terminal and never by a shell', async () => {
    const strange = place.at('ran $(touch x); it');
    const lines = [
      { op: 'persona', persona: 'ada', agent: 'gone', resume: ['touch', place.at('resumed')] },
      { op: 'persona', persona: 'bo', agent: 'idle', resume: ['touch', place.at('never')] },
      unread('bo', 'older', { open: { argv: ['touch', place.at('never')] } }),
      unread('bo', 'newer', { open: { argv: ['touch', strange] } }),
    ];
    const source = createLineSource(place, 'ext', { lines });
    await run('add', 'ext', '--yes', '--', ...source.argv);
    await tray.persona('ext-bo', ({ unread: count }) => count === 2);
    await assert.rejects(open('ext-ada'), /ext may not run .*touch .*resumed.*ext-ada.*source remove NAME.*--opens/);
    await assert.rejects(open('ext-bo'), /ext may not run .*touch .*ran /);
    assert.equal(existsSync(place.at('shown')), false, 'no terminal was opened');

    await run('remove', 'ext');
    await run('add', 'ext', '--yes', '--opens', '--', ...source.argv);
    await until('both are run', async () => {
      for (const persona of ['ext-ada', 'ext-bo']) await open(persona).catch(() => 'not watched yet');
      return existsSync(place.at('resumed')) && existsSync(strange);
    });
    assert.match(readFileSync(place.at('shown'), 'utf8'), /^-e\n\/.*\/touch\n/);
    assert.equal(
      existsSync(place.at('never')),
      false,
      'an agent that lives is not resumed, and the newest item counts',
    );
  });

  test('external: the pane that it names is shown, also without opens, on that very server and nowhere else', async (t) => {
    if (needs(t, hasTmux ? null : 'tmux is missing: apt-get install tmux')) return;
    tmux('new-session', '-d', '-s', 'base', '-x', '80', '-y', '24', 'exec sleep 600');
    tmux('split-window', '-t', 'base', 'exec sleep 600');
    const [socket = '', pid = '', pane = ''] = tmux(
      ...['display-message', '-p', '-t', 'base:.{top}', '#{socket_path} #{pid} #{pane_id}'],
    ).split(' ');
    const active = (): string => tmux('display-message', '-p', '-t', 'base', '#{pane_id}');
    assert.notEqual(active(), pane);
    using foreign = scratch();
    const elsewhere = foreign.at('socket');
    const askElsewhere = (...args: readonly string[]): string =>
      spawnSync('tmux', ['-S', elsewhere, '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout.trim();
    askElsewhere('new-session', '-d', 'exec sleep 600');
    using _server = { [Symbol.dispose]: () => void askElsewhere('kill-server') };
    const name = (persona: string, server: string): object => ({
      ...{ op: 'persona', persona, agent: 'working', pane: `${server} ${pane}` },
    });
    const lines = [
      name('ada', `${socket},${pid},0`),
      name('restarted', `${socket},${Number(pid) + 1},0`),
      name('elsewhere', `${elsewhere},${askElsewhere('display-message', '-p', '#{pid}')},0`),
      { op: 'persona', persona: 'bare', pane },
    ];
    const source = createLineSource(place, 'panes', { lines });
    await run('add', 'panes', '--yes', '--', ...source.argv);
    await tray.persona('panes-elsewhere');
    for (const persona of ['restarted', 'elsewhere', 'bare']) {
      assert.notEqual(await open(`panes-${persona}`), 'tmux', persona);
      assert.notEqual(active(), pane, persona);
    }
    assert.equal(await open('panes-ada'), 'tmux');
    assert.equal(active(), pane);
    await until('a terminal shows it', () => /attach-session/.test(readFileSync(place.at('shown'), 'utf8')));
    const { stdout } = await home.run(['source', 'show', 'panes']);
    assert.match(stdout, /note .*pane "%\d+" is not "\$TMUX \$TMUX_PANE"/);
  });
});
