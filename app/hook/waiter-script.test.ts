import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dismissWaiter, removeStamp, ringWaiters } from '../../core/state/index.ts';
import { type HookShell, hookShell, SHELLS } from '../../test/kit/hook-shell.ts';
import { until } from '../../test/kit/until.ts';

const SESSION = '1b2c3d4e-0000-4000-8000-000000000001';
const CLAUDE = {
  PATH: process.env.PATH ?? '',
  AI_AGENT: 'claude-code_2-1-332_agent',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_SESSION_ID: SESSION,
};
const WORDS = 'hivebar: 1 item waits in your inbox';

/** Who runs a waiter, and the environment that it has there. */
interface Caller {
  readonly harness: string;
  readonly base: Readonly<Record<string, string>>;
}

interface Waiter extends Disposable {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Its exit code and what it wrote. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** A machine whose program answers what the test says. Claude Code is this process. */
function rig(shell: readonly string[]) {
  const h = hookShell();
  const asked = h.state.at('asked');
  writeFileSync(h.state.at('node'), `#!/bin/sh\necho x >>'${asked}'\ncat '${h.state.at('answer')}' 2>/dev/null\n`);
  chmodSync(h.state.at('node'), 0o700);
  const dir = h.state.at('run/waiters');
  const list = (persona = 'ada'): readonly string[] =>
    existsSync(join(dir, persona)) ? readdirSync(join(dir, persona)) : [];
  return {
    h,
    dir,
    list,
    answer: (text: string) => writeFileSync(h.state.at('answer'), text),
    asked: () => (existsSync(asked) ? readFileSync(asked, 'utf8').length / 2 : 0),
    ring: () => ringWaiters(dir, ['ada']),
    start(
      env: Readonly<Record<string, string>> = {},
      persona: string | null = 'ada',
      { harness, base }: Caller = { harness: 'claude', base: CLAUDE },
    ): Waiter {
      const [file = h.script, ...rest] = [...shell, h.script, harness, 'Wait', ...(persona === null ? [] : [persona])];
      const child = spawn(file, rest, { env: { ...base, ...env }, cwd: h.state.at('cwd') });
      child.stdin.on('error', () => {});
      child.stdin.end('{}\n');
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const ended = new Promise<Awaited<Waiter['ended']>>((resolve) =>
        child.on('close', (code) => resolve({ code, stdout, stderr })),
      );
      return { pid: child.pid ?? 0, child, ended, [Symbol.dispose]: () => void child.kill('SIGKILL') };
    },
    /** Waits until the waiter reads from its pipe and nothing runs beside it. */
    rests: ({ pid }: Waiter) => until(`${pid} rests`, () => isReading(pid) && list().includes(`${SESSION}.${pid}`)),
    [Symbol.dispose]: () => h[Symbol.dispose](),
  };
}

/** Linux says where a process waits; elsewhere its pipe is all that can be seen. */
function isReading(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    if (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '') return false;
    return /^\d+ \(.*\) S /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false; // it has ended
  }
}

const quiet = (h: HookShell): void => void h.stamp('ada');
const loud = (h: HookShell): void => void removeStamp(h.state.at('run/pending/ada'));

for (const shell of process.platform === 'win32' ? [] : SHELLS) {
  const name = shell.join(' ');

  test(`${name}: given nothing waits, a waiter starts no program; rung for mail it ends with 2 and the words`, async () => {
    using r = rig(shell);
    quiet(r.h);
    using waiter = r.start();
    await r.rests(waiter);
    assert.deepEqual(r.ring(), [SESSION], 'and looks again');
    await r.rests(waiter);
    assert.equal(r.asked(), 0);
    r.answer(`wake ada ${WORDS}\n`);
    loud(r.h);
    r.ring();
    assert.deepEqual(await waiter.ended, { code: 2, stdout: '', stderr: `${WORDS}\n` });
    assert.deepEqual(r.list(), [SESSION], 'its pipe is gone');
  });

  test(`${name}: given mail that came before it, a waiter wakes at once`, async () => {
    using r = rig(shell);
    r.answer(`wake ada ${WORDS}\n`);
    using waiter = r.start();
    assert.equal((await waiter.ended).code, 2);
  });

  test(`${name}: given a newer waiter of the session, the older one leaves, and also of two that begin at once one stays`, async () => {
    using r = rig(shell);
    quiet(r.h);
    using first = r.start();
    await r.rests(first);
    using second = r.start();
    assert.equal((await first.ended).code, 0);
    await r.rests(second);
    using third = r.start();
    using fourth = r.start();
    assert.equal((await second.ended).code, 0);
    const left = await Promise.race([third.ended.then(() => fourth), fourth.ended.then(() => third)]);
    await r.rests(left);
    assert.deepEqual(r.list().length, 2, `${r.list()}: the note and one pipe`);
  });

  test(`${name}: given a waiter that was killed, its pipe holds up nobody and the next one removes it`, async () => {
    using r = rig(shell);
    quiet(r.h);
    using first = r.start();
    await r.rests(first);
    first.child.kill('SIGKILL');
    await first.ended;
    assert.deepEqual(r.ring(), []);
    using second = r.start();
    await r.rests(second);
    assert.deepEqual(r.list().toSorted(), [SESSION, `${SESSION}.${second.pid}`]);
    second.child.kill('SIGTERM');
    assert.equal((await second.ended).code, 0);
    assert.deepEqual(r.list(), [SESSION]);
  });

  test(`${name}: given the end of its session, a waiter leaves without a word`, async () => {
    using r = rig(shell);
    quiet(r.h);
    using waiter = r.start();
    await r.rests(waiter);
    dismissWaiter(r.dir, ['ada'], SESSION);
    assert.deepEqual(await waiter.ended, { code: 0, stdout: '', stderr: '' });
    assert.deepEqual(r.list(), []);
  });

  test(`${name}: given a persona that only the program knows, the waiter is rung where the program says`, async () => {
    using r = rig(shell);
    r.answer('wait cy~123abc\n');
    using waiter = r.start({}, null);
    await until('its pipe', () => r.list('cy~123abc').includes(`${SESSION}.${waiter.pid}`));
    await until('it looked again', () => r.asked() === 2);
    r.answer(`wake cy~123abc ${WORDS}\n`);
    await until('rung', () => ringWaiters(r.dir, 'everyone').length > 0);
    assert.equal((await waiter.ended).code, 2);
  });

  test(`${name}: given a program that is not Claude Code, one without a person, or no answer, it ends at once with 0`, async () => {
    using r = rig(shell);
    const others = [{ AI_AGENT: '' }, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }, { CLAUDE_CODE_SESSION_ID: '../x' }];
    const answers = ['', 'leave\n', 'wake ../x words\n', 'wake\n', 'nonsense ada\n'];
    const cases = [
      ...others.map((env) => ({ env, text: `wake ada ${WORDS}\n` })),
      ...answers.map((text) => ({ env: {}, text })),
    ];
    for (const { env, text } of cases) {
      r.answer(text);
      using waiter = r.start(env);
      assert.deepEqual(await waiter.ended, { code: 0, stdout: '', stderr: '' }, `${JSON.stringify(env)} ${text}`);
    }
  });

  test(`${name}: given the plugin of OpenCode, the waiter is that of the session it names; other programs have none`, async () => {
    using r = rig(shell);
    const session = 'ses_07aF3c_Zz-1';
    const base = { PATH: process.env.PATH ?? '' };
    quiet(r.h);
    using waiter = r.start({ HIVEBAR_SESSION: session }, 'ada', { harness: 'opencode', base });
    await until('its pipe', () => r.list().includes(`${session}.${waiter.pid}`) && isReading(waiter.pid));
    r.answer(`wake ada ${WORDS}\n`);
    loud(r.h);
    assert.deepEqual(r.ring(), [session]);
    assert.deepEqual(await waiter.ended, { code: 2, stdout: '', stderr: `${WORDS}\n` });
    for (const [harness, env] of [
      ['opencode', {}],
      ['opencode', { HIVEBAR_SESSION: '../x' }],
      ['gemini', { HIVEBAR_SESSION: session }],
    ] as const) {
      using other = r.start(env, 'ada', { harness, base });
      assert.deepEqual(await other.ended, { code: 0, stdout: '', stderr: '' }, harness);
    }
  });

  test(`${name}: given no place for its pipe, it ends with 0 and wakes nobody`, async () => {
    using r = rig(shell);
    quiet(r.h);
    r.h.state.write('run/waiters', 'a file');
    using first = r.start();
    assert.deepEqual((await first.ended).code, 0);
    rmSync(r.dir);
    mkdirSync(join(r.dir, 'ada', SESSION), { recursive: true }); // where its note belongs
    using second = r.start();
    assert.deepEqual((await second.ended).code, 0);
  });
}
