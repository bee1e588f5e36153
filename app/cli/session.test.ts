import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { COMMANDS } from './commands.ts';
import { dispatch } from './dispatch.ts';

/** One command line in a home of its own, with no tray process there. */
async function hivebar({ dir }: Scratch, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let stdout = '';
  let stderr = '';
  const code = await dispatch(
    ['session', ...args],
    {
      env: { HIVEBAR_HOME: dir, ...env },
      out: (text) => {
        stdout += text;
      },
      err: (text) => {
        stderr += text;
      },
      input: () => assert.fail('reads no stdin'),
    },
    COMMANDS,
  );
  return { code, stdout, stderr };
}

async function good(space: Scratch, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await hivebar(space, args, env);
  assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  return stdout;
}

async function listed(space: Scratch, ...args: string[]): Promise<Record<string, unknown>[]> {
  return JSON.parse(await good(space, ['list', ...args, '--json'])) as Record<string, unknown>[];
}

describe('session', () => {
  test('set takes what it is not told from where it runs', async () => {
    using space = scratch();
    assert.equal(await good(space, ['set', 'ada']), `ada: session in ${process.cwd()}\n`);
    const [{ announcedAt, ...session } = {}] = await listed(space);
    assert.deepEqual(session, {
      persona: 'ada',
      id: null,
      state: 'live',
      cwd: process.cwd(),
      tmux: null,
      pid: process.ppid,
      resume: null,
      endedAt: null,
    });
    assert.match(String(announcedAt), /^\d{4}-\d\d-\d\dT/);
  });

  test('set keeps what it is told; behind -- everything is the command that resumes', async () => {
    using space = scratch();
    const resume = ['claude', '--resume', '--id', "it's $(x)", '--', ''];
    const flags = ['--id', '7f3c', '--cwd', 'app/..', '--pid', `${process.pid}`, '--tmux-pane', '%4'];
    await good(space, ['set', 'ada', ...flags, '--', ...resume], { TMUX: '/tmp/tmux-0/default,77,1', TMUX_PANE: '%9' });
    const [session] = await listed(space, 'ada');
    assert.deepEqual(
      [session?.id, session?.cwd, session?.pid, session?.tmux, session?.resume],
      ['7f3c', process.cwd(), process.pid, { socket: '/tmp/tmux-0/default', serverPid: 77, pane: '%4' }, resume],
    );
  });

  test('the pane comes from TMUX_PANE, and is none where no tmux is named', async () => {
    using space = scratch();
    await good(space, ['set', 'ada', '--id', 'in'], { TMUX: '/s,77,1', TMUX_PANE: '%9' });
    await good(space, ['set', 'ada', '--id', 'left'], { TMUX_PANE: '%9' });
    const panes = (await listed(space, 'ada')).map(({ tmux }) => tmux);
    assert.deepEqual(panes, [null, { socket: '/s', serverPid: 77, pane: '%9' }]);
  });

  test('the session is the process that runs the command', async () => {
    using space = scratch();
    const env = { ...process.env, HIVEBAR_HOME: space.dir };
    const ran = spawnSync('scripts/hivebar', ['session', 'set', 'ada'], { env, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr);
    const [session] = await listed(space);
    assert.deepEqual([session?.pid, session?.state], [process.pid, 'live']);
  });

  test('end: it is over, is still listed, and a second end says that there is none', async () => {
    using space = scratch();
    await good(space, ['set', 'ada', '--id', '7f3c', '--', 'claude']);
    assert.equal(await good(space, ['end', 'ada', '--id', '7f3c']), `ada: the session in ${process.cwd()} is over\n`);
    const [session] = await listed(space);
    assert.deepEqual([session?.state, session?.resume, typeof session?.endedAt], ['gone', ['claude'], 'string']);
    const again = await hivebar(space, ['end', 'ada']);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /ada has no session that is not over: see hivebar session list/);
    const other = await hivebar(space, ['end', 'ada', '--id', 'x']);
    assert.match(other.stderr, /ada has no session x:/);
  });

  test('list is a line a session, and no terminal acts on it', async () => {
    using space = scratch();
    assert.equal(await good(space, ['list']), 'no session is recorded\n');
    await good(space, ['set', '\u202eada', '--id', '\u202eid', '--', 'claude', '\u202e', 'a b']);
    await good(space, ['set', 'bo']);
    const lines = (await good(space, ['list'])).trimEnd().split('\n');
    assert.equal(lines.length, 2);
    assert.ok(!lines.join('').includes('\u202e'));
    assert.match(
      lines[1] ?? '',
      /^live {5}\S+Z {2}\\u202eada {2}\\u202eid {2}.* {2}resumed by "claude" "\\u202e" "a b"$/,
    );
    assert.deepEqual(
      (await listed(space, 'bo')).map(({ persona }) => persona),
      ['bo'],
    );
  });
});

describe('a wrong session command exits 2, names the value, and touches nothing', () => {
  const wrong: readonly (readonly [args: readonly string[], words: RegExp, env?: Readonly<Record<string, string>>])[] =
    [
      [[], /expected set, end or list: see/],
      [['open', 'ada'], /expected set, end or list, not open/],
      [['set'], /session set: PERSONA is missing/],
      [['end', ''], /session end: PERSONA is missing/],
      [['set', 'ada', 'claude'], /unexpected argument claude; a command comes after --/],
      [['set', 'ada', '--pid', '12x'], /--pid 12x: must be the number/],
      [['set', 'ada', '--pid', '1073741824'], /--pid 1073741824: no such process/],
      [['set', 'ada', '--tmux-pane', '%1'], /--tmux-pane %1: the variable TMUX does not name/],
      [['set', 'ada', '--loud'], /--loud/],
      [['set', 'ada', '--json'], /session set: unknown flag --json/],
      [['end', 'ada', '--cwd', '/'], /session end: unknown flag --cwd/],
      [['end', 'ada', '--', 'x'], /session end: unexpected command after --/],
      [['list', '--id', 'x'], /session list: unknown flag --id/],
    ];
  for (const [args, words, env] of wrong) {
    test(`hivebar session ${args.join(' ')}`, async () => {
      using space = scratch();
      const { code, stdout, stderr } = await hivebar(space, args, env);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, words);
      assert.match(stderr, /: see hivebar session --help\n$/);
      assert.equal(existsSync(space.at('hivebar.sqlite')), false);
    });
  }

  test('names and panes that are none', async () => {
    using space = scratch();
    for (const [args, words, env] of [
      [['set', 'a\nb'], /PERSONA "a\\nb" holds control characters/, {}],
      [['set', 'ada', '--id', 'x'.repeat(201)], /201 characters, over 200/, {}],
      [['set', 'ada', '--', '-x'], /which is an option/, {}],
      [['set', 'ada'], /"3" is not a pane/, { TMUX: '/s,1,1', TMUX_PANE: '3' }],
    ] as const) {
      const { code, stderr } = await hivebar(space, args, env);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
    assert.deepEqual(await listed(space), []);
  });
});
