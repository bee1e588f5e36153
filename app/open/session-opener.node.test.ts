import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { describe, test } from 'node:test';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import type { OpenerSetting } from './placeholders.ts';
import type { Session } from './session.ts';
import { createSessionOpener, type SessionOpenerNeeds } from './session-opener.node.ts';
import type { Click } from './url-opener.node.ts';

/** S7: what a name may try on a shell, on AppleScript, and on a template. */
const HOSTILE = [
  "'; touch PWNED; '",
  '$(touch PWNED)',
  '`touch PWNED`',
  '" & (do shell script "touch PWNED") & "',
  'ends in a backslash \\',
  '{session} %s é 😀',
];

const project = process.cwd();

interface ProgramStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly parent: number;
  readonly env: Readonly<Record<string, string>>;
  /** Open files beyond stdin, stdout and stderr that are no business of a Node's own. */
  readonly inherited: readonly string[];
}

/** Writes down how it was started. It is no shell script: the arguments are seen as the system gave them. */
const STAND_IN = `#!${process.execPath}
const fs = require('node:fs');
const fds = fs.existsSync('/proc/self/fd') ? fs.readdirSync('/proc/self/fd').flatMap((fd) => {
  try { return Number(fd) > 2 ? [fs.readlinkSync('/proc/self/fd/' + fd)] : []; } catch { return []; }
}) : [];
const seen = { argv: process.argv.slice(2), cwd: process.cwd(), parent: process.ppid, env: process.env,
  inherited: fds.filter((to) => to.startsWith('/') && !to.startsWith('/proc/') && !to.startsWith('/dev/') && to !== __filename) };
fs.writeFileSync(__filename + '.part', JSON.stringify(seen));
fs.renameSync(__filename + '.part', __filename + '.seen');
fs.appendFileSync(__filename + '.runs', '.');
process.exit(Number(process.env.STAND_IN_EXIT ?? 0));
`;

/** A PATH of its own with stand-ins for these programs, and an opener on it. */
function desk(space: Scratch, programs: readonly string[], more: Partial<SessionOpenerNeeds> = {}) {
  const bin = space.at('bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(space.at('work'), { recursive: true });
  for (const name of programs) writeFileSync(`${bin}/${name}`, STAND_IN, { mode: 0o755 });
  const pages: Click[] = [];
  const urls: (readonly [string, string | null])[] = [];
  const opener = (setting: OpenerSetting, sessions: readonly Session[], over: Partial<SessionOpenerNeeds> = {}) =>
    createSessionOpener({
      setting,
      urlSchemes: ['https'],
      sessions: () => sessions,
      about: () => ({ source: 'kijito', newestId: 12 }),
      page: { name: 'page', open: async (click) => (pages.push(click) > 0 ? 'page' : 'none') },
      openUrl: async (url, token) => void urls.push([url, token]),
      platform: 'linux',
      env: { PATH: bin },
      clock: realClock,
      log: silentLog,
      ...more,
      ...over,
    });
  const seen = (name: string): ProgramStart => JSON.parse(readFileSync(`${bin}/${name}.seen`, 'utf8')) as ProgramStart;
  const ran = (name: string): boolean => existsSync(`${bin}/${name}.seen`);
  const forget = (name: string): void => rmSync(`${bin}/${name}.seen`, { force: true });
  return { bin, work: space.at('work'), pages, urls, opener, seen, ran, forget };
}

const click = (persona: string, activationToken: string | null = null): Click => ({
  opens: { is: 'persona', persona },
  activationToken,
});

const NOBODY = { pid: 2 ** 30, startKey: 'boot:1' };
const session = (more: Partial<Session> = {}): Session => ({
  persona: 'ada',
  id: '7f3c',
  cwd: '/',
  pane: null,
  runner: NOBODY,
  resume: null,
  announcedAt: 0,
  endedAt: null,
  ...more,
});

test('E6 given a click, it is said what was opened: a command, a terminal, the page, or nothing again', async () => {
  using space = scratch();
  const { work, opener } = desk(space, ['show', 'kitty', 'agent']);
  const gone = [session({ cwd: work, resume: ['agent'] })];
  const open = (setting: OpenerSetting, sessions: readonly Session[]) => opener(setting, sessions).open(click('ada'));
  assert.equal(await open({ is: 'command', argv: ['show', '{persona}'] }, gone), 'command');
  assert.equal(await open({ is: 'command', argv: ['show', '{session}'] }, []), 'page', 'its value is not known');
  assert.equal(await open({ is: 'url', template: 'https://h/{persona}' }, gone), 'url');
  assert.equal(await open({ is: 'auto' }, []), 'page');
  const resumes = opener({ is: 'auto' }, gone);
  assert.deepEqual([await resumes.open(click('ada')), await resumes.open(click('ada'))], ['terminal', 'none']);
});

describe('command', () => {
  test('S7: hostile names are single arguments byte for byte, with no shell between, no open file, in the folder of the session', async () => {
    using space = scratch();
    const { work, opener, seen, forget, bin } = desk(space, ['show']);
    const argv = ['show', '{persona}', '--as', '{persona}', '{source}', '{id}', '{session}', '{cwd}'];
    for (const persona of HOSTILE) {
      forget('show');
      await opener({ is: 'command', argv }, [session({ cwd: work })]).open(click(persona, 'token-1'));
      const { env, ...rest } = seen('show');
      assert.deepEqual(rest, {
        argv: [persona, '--as', persona, 'kijito', '12', '7f3c', work],
        cwd: work,
        parent: process.pid,
        inherited: [],
      });
      assert.deepEqual(
        [env.HIVEBAR_PERSONA, env.HIVEBAR_MESSAGE, env.XDG_ACTIVATION_TOKEN, env.DESKTOP_STARTUP_ID],
        [persona, '12', 'token-1', 'token-1'],
      );
    }
    for (const folder of [work, bin, project, homedir()]) assert.ok(!existsSync(`${folder}/PWNED`), folder);
  });

  test('without a session it runs in the home folder; when it asks for what is not known, the page is opened', async () => {
    using space = scratch();
    const { opener, seen, ran, forget, pages } = desk(space, ['show']);
    await opener({ is: 'command', argv: ['show', '{persona}'] }, []).open(click('ada'));
    const { cwd, env } = seen('show');
    assert.deepEqual([cwd, 'HIVEBAR_SESSION' in env, 'XDG_ACTIVATION_TOKEN' in env], [homedir(), false, false]);
    forget('show');
    await opener({ is: 'command', argv: ['show', '{session}'] }, []).open(click('ada'));
    assert.deepEqual([ran('show'), pages], [false, [click('ada')]]);
  });

  test('a program that is missing, relative, planted in the current folder, or fails is a fault that says so', async () => {
    using space = scratch();
    const { opener, bin, pages } = desk(space, ['show'], {});
    const failing = (argv: readonly string[], message: RegExp, env: Record<string, string> = { PATH: bin }) =>
      assert.rejects(opener({ is: 'command', argv }, [], { env }).open(click('ada')), { code: 'exec-failed', message });
    await failing(['nothing'], /the program nothing is not on PATH/);
    await failing(['./show'], /neither an absolute path nor a name on PATH/);
    await failing([`${bin}/nothing`], /nothing is not an executable program/);
    process.chdir(bin);
    await failing(['show'], /is not on PATH/, { PATH: ':.:../bin' });
    process.chdir(project);
    await failing(['show'], /show ended with 3/, { PATH: bin, STAND_IN_EXIT: '3' });
    const option = opener({ is: 'command', argv: ['show', '{persona}'] }, []).open(click('--help'));
    await assert.rejects(option, { code: 'settings' });
    assert.deepEqual(pages, [], 'what the settings ask for is not replaced in silence');
  });
});

describe('url', () => {
  test('the address is handed to the desktop with the activation token', async () => {
    using space = scratch();
    const { opener, urls, pages } = desk(space, []);
    await opener({ is: 'url', template: 'https://h/{persona}?s={session}' }, [session()]).open(click('a/b', 'token-1'));
    assert.deepEqual(urls, [['https://h/a%2Fb?s=7f3c', 'token-1']]);
    await opener({ is: 'url', template: 'https://h/{session}' }, []).open(click('ada'));
    assert.deepEqual(pages, [click('ada')]);
    const other = opener({ is: 'url', template: 'ftp://h/' }, []).open(click('ada'));
    await assert.rejects(other, { code: 'settings', message: /urlSchemes/ });
  });
});

describe('a new terminal', () => {
  const RESUME = ['agent', '--resume', ...HOSTILE];

  for (const [name, args] of [
    ['x-terminal-emulator', (_: string, run: string[]) => ['-e', ...run]],
    ['gnome-terminal', (cwd: string, run: string[]) => [`--working-directory=${cwd}`, '--', ...run]],
    ['konsole', (cwd: string, run: string[]) => ['--workdir', cwd, '-e', ...run]],
    ['xfce4-terminal', (cwd: string, run: string[]) => [`--working-directory=${cwd}`, '-x', ...run]],
    ['kitty', (cwd: string, run: string[]) => ['--directory', cwd, ...run]],
    ['alacritty', (cwd: string, run: string[]) => ['--working-directory', cwd, '-e', ...run]],
    ['foot', (cwd: string, run: string[]) => [`--working-directory=${cwd}`, ...run]],
    ['wezterm', (cwd: string, run: string[]) => ['start', '--cwd', cwd, '--', ...run]],
  ] as const) {
    test(`${name} gets the folder and what resumes, item by item, the program by its absolute path`, async () => {
      using space = scratch();
      const { bin, work, opener, seen } = desk(space, [name, 'agent']);
      await opener({ is: 'auto' }, [session({ cwd: work, resume: RESUME })]).open(click('ada', 'token-1'));
      const { argv, cwd, parent, env } = seen(name);
      assert.deepEqual(argv, args(work, [`${bin}/agent`, '--resume', ...HOSTILE]));
      assert.deepEqual([cwd, parent, env.XDG_ACTIVATION_TOKEN], [work, process.pid, 'token-1']);
      assert.ok(!existsSync(`${work}/PWNED`));
    });
  }

  test('TERMINAL comes before those of the desktop, and the setting before both', async () => {
    using space = scratch();
    const { bin, work, opener, seen, ran } = desk(space, ['x-terminal-emulator', 'st', 'mine', 'agent']);
    const gone = [session({ cwd: work, resume: ['agent'] })];
    const env = { PATH: bin, TERMINAL: 'st' };
    await opener({ is: 'auto' }, gone, { env }).open(click('ada'));
    assert.deepEqual(seen('st').argv, ['-e', `${bin}/agent`]);
    await opener({ is: 'terminal', argv: ['mine', '--title', '{persona}', '-e'] }, gone, { env }).open(click('$(x)'));
    assert.deepEqual(
      [seen('mine').argv, ran('x-terminal-emulator')],
      [['--title', '$(x)', '-e', `${bin}/agent`], false],
    );
  });

  test('a session that lives is not resumed: the terminal has a shell in its folder', async () => {
    using space = scratch();
    const { work, opener, seen } = desk(space, ['gnome-terminal', 'agent']);
    const runner = { pid: process.pid, startKey: null };
    await opener({ is: 'terminal' }, [session({ cwd: work, resume: ['agent'], runner })]).open(click('ada'));
    assert.deepEqual(seen('gnome-terminal').argv, [`--working-directory=${work}`]);
  });

  test('two clicks resume once', async () => {
    using space = scratch();
    const { bin, work, opener, ran, forget } = desk(space, ['kitty', 'agent']);
    let now = 0;
    const clock = { ...realClock, monotonic: () => now };
    const sessionOpener = opener({ is: 'auto' }, [session({ cwd: work, resume: ['agent'] })], { clock });
    await Promise.all([sessionOpener.open(click('ada')), sessionOpener.open(click('ada'))]);
    assert.equal(readFileSync(`${bin}/kitty.runs`, 'utf8'), '.');
    forget('kitty');
    now = 9_999;
    await sessionOpener.open(click('ada'));
    assert.equal(ran('kitty'), false, 'the agent is starting');
    now = 10_000;
    await sessionOpener.open(click('ada'));
    assert.equal(ran('kitty'), true, 'it did not come');
  });

  test('when that fails the page is opened: no terminal, no program, a folder that is gone, a terminal that ends badly', async () => {
    using space = scratch();
    const { bin, work, opener, pages, ran } = desk(space, ['kitty', 'agent']);
    const output: string[] = [];
    const log = { ...silentLog, info: (line: string) => void output.push(line) };
    const auto = (more: Partial<Session>, env: Record<string, string>) =>
      opener({ is: 'auto' }, [session({ cwd: work, resume: ['agent'], ...more })], { env, log }).open(click('ada'));
    await auto({ resume: [`${bin}/agent`] }, { PATH: space.at('empty') });
    await auto({ resume: ['nothing'] }, { PATH: bin });
    await auto({ cwd: space.at('gone') }, { PATH: bin });
    assert.equal(ran('kitty'), false);
    await auto({}, { PATH: bin, STAND_IN_EXIT: '1' });
    assert.equal(pages.length, 4);
    const why = [
      /no terminal program is on PATH/,
      /nothing is not on PATH/,
      /folder .*gone no longer exists/,
      /kitty ended with 1/,
    ];
    assert.equal(output.length, why.length);
    for (const [i, words] of why.entries()) assert.match(output[i] ?? '', words);
    const explicit = opener({ is: 'terminal' }, [session({ cwd: space.at('gone') })]).open(click('ada'));
    await assert.rejects(explicit, { code: 'exec-failed', message: /no longer exists/ });
  });
});

test('a click on no persona opens the page, and asks for no session', async () => {
  using space = scratch();
  const { opener, pages } = desk(space, []);
  const overview: Click = { opens: { is: 'overview' }, activationToken: 'token-1' };
  await opener({ is: 'auto' }, [], { sessions: () => assert.fail() }).open(overview);
  assert.deepEqual(pages, [overview]);
});
