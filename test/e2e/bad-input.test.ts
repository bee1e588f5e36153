import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { type Agent, agent, type ByShell, byShell, commandFor, type HarnessName } from '../kit/agent.ts';
import { programEntry } from '../kit/program.ts';
import { noPython } from '../kit/queue-writers.ts';
import { needs } from '../kit/require.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

/** What a harness is answered when something is wrong, through the hook that is installed in its settings. */
const ALL: Readonly<Record<HarnessName, readonly string[]>> = {
  claude: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreCompact', 'Stop'],
  codex: ['SessionStart', 'Stop'], // the same program and script: what it answers differs at a Stop
};
const HARNESSES: readonly HarnessName[] = ['claude', 'codex'];
/** A second for the hook, the rest for a busy machine. */
const IN_TIME_MS = 15_000;
const HIVEBAR = programEntry('hivebar');

async function installed(home: TrayHome, harness: HarnessName, ...more: readonly string[]): Promise<Agent> {
  const ada = agent(home, 'ada', harness);
  await ada.hivebar(['hook', 'install', '--harness', harness, ...more], harness === 'codex' ? 1 : 0); // not trusted yet
  return ada;
}

async function call(
  { settings, session, folder, home }: Agent,
  event: string,
  command = commandFor(settings, event),
): Promise<ByShell> {
  const stdin = JSON.stringify({ session_id: session, hook_event_name: event, cwd: folder, tool_name: 'Bash' });
  for (let left = 5; ; left -= 1) {
    const called = await byShell(
      command,
      stdin,
      { HOME: home.home, XDG_CACHE_HOME: home.env.XDG_CACHE_HOME, PATH: process.env.PATH },
      folder,
    );
    // On a busy machine it may have had no time to read stdin.
    if (left === 0 || !called.stderr.includes('must be a JSON object')) return called;
  }
}

/** The harness goes on, and at most one line says why. */
function letGo({ code, stdout, stderr, ms }: ByShell, about: string): void {
  assert.deepEqual([code, stdout], [0, ''], `${about}: ${stderr}`);
  assert.ok(stderr.split('\n').length <= 2, `${about}: more than a line: ${stderr}`);
  assert.ok(ms < IN_TIME_MS, `${about}: ${ms} ms`);
}

async function isStillPending(ada: Agent, text: string): Promise<void> {
  const [pending = ''] = await ada.hivebar(['inbox', 'list', 'ada', '--pending', '--json']);
  assert.deepEqual(
    (JSON.parse(pending) as readonly { content: string }[]).map(({ content }) => content),
    [text],
  );
}

for (const harness of HARNESSES) {
  const EVENTS = ALL[harness];
  describe(`an installed hook of ${harness} lets the harness go on`, () => {
    test('bad input 1: where nobody is known, and takes nothing of what waits for anybody', async () => {
      using home = trayHome();
      const ada = await installed(home, harness);
      await ada.hivebar(['inbox', 'push', '--to', 'ada', '--priority', '0', 'keep me']);
      for (const event of EVENTS) letGo(await call(ada, event), event);
      await isStillPending(ada, 'keep me');
    });

    test('bad input 2: without a store, with one that cannot be opened, and without all of its state', async () => {
      using home = trayHome();
      const ada = await installed(home, harness, '--persona', 'ada');
      const store = home.at('hivebar.sqlite');
      const clean = () => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${store}${end}`, { recursive: true, force: true });
        rmSync(home.at('run', 'pending'), { recursive: true, force: true });
      };
      clean();
      for (const event of EVENTS) letGo(await call(ada, event), `${event} without a store`);
      clean();
      mkdirSync(store);
      for (const event of EVENTS) {
        const ended = await call(ada, event);
        letGo(ended, `${event} with a folder as store`);
        assert.match(ended.stderr, /hivebar\.sqlite/, event);
      }
      const command = commandFor(ada.settings, 'Stop');
      for (const name of ['run', 'gates', 'hooks', 'hivebar.sqlite']) {
        rmSync(home.at(name), { recursive: true, force: true });
      }
      letGo(await call(ada, 'Stop', command), 'Stop without state');
    });

    test('bad input 3: while somebody has the store locked; what waits is told by a later one', async () => {
      using home = trayHome();
      const ada = await installed(home, harness, '--persona', 'ada');
      await ada.hivebar(['inbox', 'push', '--to', 'ada', '--priority', '0', 'keep me']);
      {
        using db = openDatabase(home.at('hivebar.sqlite'));
        db.exec('BEGIN IMMEDIATE');
        for (const event of EVENTS) letGo(await call(ada, event), event);
        const { stderr } = await call(ada, 'UserPromptSubmit');
        assert.match(stderr, /database is locked/);
        db.exec('ROLLBACK');
      }
      await isStillPending(ada, 'keep me');
      const { answer } = await ada.at('PostToolUse', { tool_name: 'Bash' });
      assert.match(JSON.stringify(answer), /keep me/);
    });

    test('bad input 4: after the tray process was killed; what was pushed since is told', async () => {
      using home = trayHome();
      const ada = await installed(home, harness, '--persona', 'ada');
      {
        await using tray = await home.start(['--no-tray', '--no-notifications']);
        for (const event of EVENTS) letGo(await call(ada, event), event);
        await tray.kill();
      }
      for (const event of EVENTS) letGo(await call(ada, event), event);
      await ada.hivebar(['inbox', 'push', '--to', 'ada', 'after its end']);
      const { answer, ids } = await ada.at('UserPromptSubmit', { prompt: 'x' });
      assert.match(JSON.stringify(answer), /after its end/);
      assert.equal(ids.length, 1);
      for (const event of EVENTS) letGo(await call(ada, event), event);
    });

    test('bad input 6: at an event, or of an agent, that it does not know, or with stdin that is no JSON', async () => {
      using home = trayHome();
      const ada = await installed(home, harness, '--persona', 'ada');
      await ada.hivebar(['inbox', 'push', '--to', 'ada', '--priority', '0', 'keep me']);
      const script = `'${home.at('hook', 'hivebar-hook')}'`;
      for (const command of [`${script} ${harness} Teatime ada`, `${script} nano Stop ada`, `${script}`]) {
        const ended = await call(ada, 'Teatime', command);
        letGo(ended, command);
        assert.notEqual(ended.stderr, '', command);
      }
      const env = { HOME: home.home };
      const ended = await byShell(commandFor(ada.settings, 'Stop'), 'no JSON', env, ada.folder);
      letGo(ended, 'no JSON');
      assert.match(ended.stderr, /stdin must be a JSON object/);
      await isStillPending(ada, 'keep me');
    });
  });
}

test('bad input 6: a person at a terminal is told what is wrong, with exit code 2', (t) => {
  if (needs(t, noPython)) return;
  using home = trayHome();
  const pty = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  for (const [args, words] of [
    [['--harness', 'claude', '--event', 'Teatime'], /--event Teatime/],
    [['--harness', 'nano', '--event', 'Stop'], /--harness nano: must be claude, codex,/],
  ] as const) {
    const ran = spawnSync('python3', ['-c', pty, process.execPath, HIVEBAR, 'hook', ...args], {
      encoding: 'utf8',
      env: { ...home.env, PATH: process.env.PATH },
      input: '',
    });
    assert.match(ran.stdout, words);
    assert.equal(ran.status, 2, ran.stdout + ran.stderr);
  }
});
