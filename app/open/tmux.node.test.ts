import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { composerPane } from '../../test/kit/composer-pane.ts';
import { needs } from '../../test/kit/require.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import { checkLiveness, readStartKey } from './process-liveness.node.ts';
import type { Pane, Session } from './session.ts';
import { createSessionOpener } from './session-opener.node.ts';
import { buildAttachCommand, finishWords, pasteWords, readPane, showPane } from './tmux.node.ts';

const WORDS = 'hivebar: something waits in your inbox';

const env: ProgramEnv = { ...process.env, TERM: 'xterm', LC_ALL: 'C.UTF-8', TMUX: undefined, TMUX_PANE: undefined };
const platform = process.platform;

function noTmux(t: TestContext): boolean {
  return needs(t, programOnPath('tmux', env, platform) === null ? 'tmux is missing: apt-get install tmux' : null);
}

interface Server extends Disposable {
  readonly socket: string;
  ask(...args: string[]): string;
  pane(target: string): Pane;
  /** Each terminal that shows this server: its session, and the pane it shows. */
  shown(): string[];
}

/** A tmux server of this test's own. */
function server(space: Scratch, name: string): Server {
  const socket = space.at(name);
  const ask = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' }).trim();
  ask('new-session', '-d', '-s', 'base', '-x', '80', '-y', '24', 'exec sleep 60');
  return {
    socket,
    ask,
    pane: (target) => {
      const [pid, pane = ''] = ask('display-message', '-p', '-t', target, '#{pid} #{pane_id}').split(' ');
      return { socket, serverPid: Number(pid), pane };
    },
    shown: () =>
      ask('list-clients', '-F', '#{client_session} #{pane_id}')
        .split('\n')
        .filter((line) => line !== ''),
    [Symbol.dispose]: () => void spawnSync('tmux', ['-S', socket, 'kill-server'], { env, stdio: 'ignore' }),
  };
}

/** A terminal that shows `inner`: a window of another tmux, which is a terminal as good as any. */
async function check(outer: Server, inner: Server, session: string): Promise<void> {
  const before = inner.shown().length;
  outer.ask('new-window', '-d', `TMUX= exec tmux -S '${inner.socket}' attach-session -t ${session}`);
  while (inner.shown().length === before) await sleep(10);
}

test('the terminal used last is brought to the pane: another session, another window, another pane', async (t) => {
  if (noTmux(t)) return;
  using space = scratch();
  using inner = server(space, 'inner, 1');
  using outer = server(space, 'outer');
  inner.ask('new-session', '-d', '-s', 'ada', 'exec sleep 60');
  inner.ask('new-window', '-t', 'ada', 'exec sleep 60');
  inner.ask('split-window', '-t', 'ada', 'exec sleep 60');
  const pane = inner.pane('ada:1.0');
  inner.ask('select-window', '-t', 'ada:0');
  await check(outer, inner, 'base');
  assert.notDeepEqual(inner.shown(), [`ada ${pane.pane}`]);
  await showPane(pane, env, platform);
  assert.deepEqual(inner.shown(), [`ada ${pane.pane}`]);
  await showPane(inner.pane('base'), env, platform);
  assert.deepEqual(inner.shown(), [`base ${inner.pane('base').pane}`]);
});

test('a terminal that shows the session already is used before another', async (t) => {
  if (noTmux(t)) return;
  using space = scratch();
  using inner = server(space, 'inner');
  using outer = server(space, 'outer');
  inner.ask('new-session', '-d', '-s', 'ada', 'exec sleep 60');
  inner.ask('new-window', '-d', '-t', 'ada', 'exec sleep 60');
  await check(outer, inner, 'base');
  await check(outer, inner, 'ada');
  const pane = inner.pane('ada:1');
  const used = (): string => inner.ask('list-clients', '-t', 'base', '-F', '#{client_activity}');
  const before = used();
  while (used() === before) {
    outer.ask('send-keys', '-t', ':1', 'x'); // somebody types in the other
    await sleep(50);
  }
  await showPane(pane, env, platform);
  assert.deepEqual(inner.shown().sort(), [`ada ${pane.pane}`, `base ${inner.pane('base').pane}`]);
});

test('a pane that is gone, a server that is gone, and a pane number of another server are faults that say so', async (t) => {
  if (noTmux(t)) return;
  using space = scratch();
  using inner = server(space, 'inner');
  const pane = inner.pane('base');
  const failing = (which: Pane, message: RegExp) =>
    assert.rejects(showPane(which, env, platform), { code: 'exec-failed', message });
  await failing({ ...pane, pane: '%99' }, /%99/);
  await failing({ ...pane, serverPid: pane.serverPid + 1 }, /has no pane %0 any more/);
  await failing({ ...pane, socket: space.at('none') }, /none/);
  await failing(pane, /no terminal shows/);
  await assert.rejects(buildAttachCommand({ ...pane, pane: '%99' }, env, platform), { code: 'exec-failed' });
  await assert.rejects(showPane(pane, { PATH: space.dir }, 'win32'), {
    code: 'exec-failed',
    message: /tmux is not on PATH/,
  });
});

test('E6 a click goes to the pane where the session lives; with no terminal there, a new one shows it', async (t) => {
  if (noTmux(t)) return;
  using space = scratch();
  using inner = server(space, 'inner');
  using outer = server(space, 'outer');
  inner.ask('new-session', '-d', '-s', 'ada', 'exec sleep 60');
  inner.ask('new-window', '-d', '-t', 'ada', 'exec sleep 60');
  const pane = inner.pane('ada:1');
  const pid = Number(inner.ask('display-message', '-p', '-t', pane.pane, '#{pane_pid}'));
  // The stand-in terminal is a window of the outer tmux that runs what follows `-e`.
  mkdirSync(space.at('bin'));
  const terminal = `#!/bin/sh\nshift\nTMUX= exec tmux -S '${outer.socket}' new-window "$@"\n`;
  writeFileSync(space.at('bin', 'x-terminal-emulator'), terminal, { mode: 0o755 });
  const session: Session = {
    persona: 'ada',
    id: null,
    cwd: space.dir,
    pane,
    runner: { pid, startKey: readStartKey(pid, platform) },
    resume: ['touch', space.at('resumed')],
    announcedAt: 0,
    endedAt: null,
  };
  const pages: unknown[] = [];
  const opener = createSessionOpener({
    setting: { is: 'auto' },
    urlSchemes: [],
    sessions: () => [session],
    about: () => null,
    page: { name: 'page', open: async (click) => (pages.push(click) > 0 ? 'page' : 'none') },
    openUrl: async () => assert.fail(),
    platform: 'linux',
    env: { ...env, TERMINAL: undefined, PATH: `${space.at('bin')}:${env.PATH}` },
    clock: realClock,
    log: silentLog,
  });
  const click = { opens: { is: 'persona', persona: 'ada' }, activationToken: null } as const;
  assert.deepEqual(inner.shown(), []);
  assert.equal(await opener.open(click), 'tmux');
  while (inner.shown().length === 0) await sleep(10);
  assert.deepEqual(inner.shown(), [`ada ${pane.pane}`], 'in a new terminal');
  inner.ask('select-window', '-t', 'ada:0');
  assert.equal(await opener.open(click), 'tmux');
  assert.deepEqual(inner.shown(), [`ada ${pane.pane}`], 'in the terminal that is there');
  inner.ask('kill-pane', '-t', pane.pane);
  while (checkLiveness(session.runner, platform) !== 'gone') await sleep(10);
  assert.equal(await opener.open(click), 'terminal');
  while (!existsSync(space.at('resumed'))) await sleep(10);
  assert.deepEqual(pages, []);
});

test('C2 words are pasted, and Enter pressed, only while the pane is as it was seen; into one that is gone, nothing', async (t) => {
  if (noTmux(t)) return;
  using space = scratch();
  await using tmux = await composerPane(space, 's1');
  const { pane, runner } = tmux;
  const shown = { view: 'composer', text: '', at: 0, status: 'idle' } as const;
  await tmux.show(shown);
  const empty = await readPane(pane, runner.pid, env, platform);
  assert.deepEqual(
    [empty.cursor, empty.isInMode, empty.takesKeys, empty.hasAgentInFront],
    [{ x: 2, y: 3 }, false, true, true],
  );
  assert.equal((await readPane(pane, process.pid, env, platform)).hasAgentInFront, false, 'another process');
  assert.equal(await pasteWords(pane, WORDS, { x: 3, y: 3 }, env, platform), false, 'the cursor is elsewhere');
  tmux.ask('copy-mode', '-t', pane.pane);
  assert.equal(await pasteWords(pane, WORDS, empty.cursor, env, platform), false, 'it is scrolled back');
  tmux.ask('copy-mode', '-q', '-t', pane.pane);
  assert.equal(await finishWords(pane, WORDS, 'enter', empty.cursor, env, platform), false, 'nothing stands there');
  assert.equal(await pasteWords(pane, WORDS, empty.cursor, env, platform), true);
  const after = { x: 2 + WORDS.length, y: 3 };
  while ((await readPane(pane, runner.pid, env, platform)).cursor.x !== after.x) await sleep(10);
  assert.equal(await finishWords(pane, WORDS, 'take back', after, env, platform), true);
  while ((await readPane(pane, runner.pid, env, platform)).cursor.x !== 2) await sleep(10);
  assert.equal(await pasteWords(pane, WORDS, empty.cursor, env, platform), true);
  while ((await readPane(pane, runner.pid, env, platform)).cursor.x !== after.x) await sleep(10);
  assert.equal(await finishWords(pane, WORDS, 'enter', after, env, platform), true);
  await until('the words are sent', () => tmux.did.length > 0);
  assert.deepEqual(tmux.did, [{ sent: WORDS }]);
  assert.equal(tmux.ask('list-buffers'), '');
  await assert.rejects(readPane({ ...pane, serverPid: pane.serverPid + 1 }, runner.pid, env, platform), {
    code: 'exec-failed',
  });
});
