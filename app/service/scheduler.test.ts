import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Files, type ProcessEnd, realFiles, realRandom, silentLog } from '../../core/ports/index.ts';
import type { Disk } from '../../core/state/index.ts';
import { createDaemonService } from './daemon-service.ts';
import { createHeadlessService } from './headless-service.ts';
import { createLoginStart } from './login-start.ts';

const SCHTASKS = 'C:\\Windows\\System32\\schtasks.exe';
const STATE = 'C:\\Users\\ada\\AppData\\Local\\hivebar';
const TASK = `${STATE}\\logon-task.xml`;
const MONITOR = `${STATE}\\headless\\logon-task.xml`;

/** What is needed of a disk with Windows paths, which no path of this machine is. */
function windowsDisk(): { readonly disk: Disk; readonly has: Map<string, Buffer> } {
  const has = new Map([[SCHTASKS, Buffer.from('')]]);
  const open: string[] = [];
  const stat = (name: string) => {
    const bytes = has.get(name);
    const size = bytes?.length ?? 0;
    return bytes === undefined
      ? null
      : { kind: 'file' as const, size, mode: 0o600, uid: 0, dev: 1, ino: 1, ctimeMs: 0 };
  };
  const directory = { kind: 'directory' as const, size: 0, mode: 0o700, uid: 0, dev: 1, ino: 2, ctimeMs: 0 };
  const findOpenPath = (fd: number): string => open[fd] ?? '';
  const files: Files = {
    ...realFiles,
    open(path, flags) {
      if (flags !== 0 && path.endsWith('.tmp')) has.set(path, Buffer.from(''));
      return open.push(path) - 1;
    },
    read: (fd, into) => has.get(findOpenPath(fd))?.copy(into) ?? 0,
    write(fd, bytes) {
      has.set(findOpenPath(fd), Buffer.concat([has.get(findOpenPath(fd)) ?? Buffer.from(''), bytes]));
      return bytes.length;
    },
    fstat: (fd) => stat(findOpenPath(fd)) ?? directory,
    fsync: () => {},
    close: () => {},
    mkdirAll: () => {},
    rename(from, to) {
      has.set(to, has.get(from) ?? Buffer.from(''));
      has.delete(from);
    },
    unlink: (path) => void has.delete(path),
    lstat: stat,
  };
  return { disk: { files, log: silentLog, uid: null }, has };
}

/** A machine with Windows, whose `schtasks.exe` fails at what `fails` names. */
function scene(fails: string | readonly string[] = 'nothing', environment: Readonly<Record<string, string>> = {}) {
  const { disk, has } = windowsDisk();
  const calls: string[] = [];
  const needs = {
    os: 'win32' as const,
    env: { SystemRoot: 'C:\\Windows', PATH: 'C:\\evil', USERDOMAIN: 'PC', USERNAME: 'ada' },
    home: 'C:\\Users\\ada',
    uid: null,
    disk,
    random: realRandom,
    spawn: {
      async run({ file, args }: { readonly file: string; readonly args: readonly string[] }): Promise<ProcessEnd> {
        assert.equal(file, SCHTASKS);
        calls.push(args.join(' '));
        return {
          is: 'exited',
          code: args.some((arg) => [fails].flat().includes(arg)) ? 1 : 0,
          stderr: 'ERROR: Access is denied.\r\n',
        };
      },
    },
    program: { node: 'C:\\n\\node.exe', entry: 'C:\\h\\hivebar.cjs', state: STATE, environment },
  };
  return { needs, has, calls, login: createLoginStart(needs), service: createHeadlessService(needs) };
}

describe('the Task Scheduler, start at login', () => {
  test('on, on again and off: the task and our copy of its text', async () => {
    const { login, calls, has } = scene();
    assert.deepEqual(await login.check(), { is: 'off', path: null });
    await login.set(true);
    assert.match(has.get(TASK)?.toString() ?? '', /<UserId>PC\\ada<\/UserId>/);
    assert.partialDeepStrictEqual(await login.check(), { is: 'on', by: 'logon-task', path: TASK, isOld: false });
    await login.set(true);
    await login.set(false);
    assert.deepEqual([has.has(TASK), await login.state()], [false, false]);
    assert.deepEqual(calls, [
      `/Create /TN \\Hivebar\\Start at login /XML ${TASK}`, // without /F: a task whose text we do not have is not ours
      '/Query /TN \\Hivebar\\Start at login',
      `/Create /TN \\Hivebar\\Start at login /XML ${TASK} /F`,
      '/Delete /TN \\Hivebar\\Start at login /F',
    ]);
  });

  test('after node moved it is old', async () => {
    const { login, needs } = scene();
    await login.set(true);
    const program = { ...needs.program, node: 'C:\\n26\\node.exe' };
    assert.partialDeepStrictEqual(await createLoginStart({ ...needs, program }).check(), {
      is: 'on',
      by: 'logon-task',
      path: TASK,
      isOld: true,
    });
  });

  test('refused by the scheduler: our copy goes too, and the error says why', async () => {
    const { login, has } = scene('/Create');
    await assert.rejects(login.set(true), /schtasks\.exe \/Create .*: ended with 1: ERROR: Access is denied\.$/);
    assert.equal(has.has(TASK), false);
  });

  test('off is refused by the scheduler: said, and not taken for done', async () => {
    const { login, has } = scene('/Delete');
    await login.set(true);
    const text = has.get(TASK)?.toString();
    for (let twice = 0; twice < 2; twice += 1) {
      await assert.rejects(login.set(false), /\/Delete .*: ended with 1: ERROR: Access is denied\.$/);
      assert.deepEqual([has.get(TASK)?.toString(), await login.state()], [text, true]);
    }
  });

  test('G7 a task that was deleted in the Task Scheduler starts nothing, and installing it again brings it back', async () => {
    const fails: string[] = [];
    const { login, calls, service } = scene(fails);
    await login.set(true);
    assert.equal(await login.state(), true);
    fails.push('/Query');
    assert.deepEqual(await login.check(), {
      is: 'off',
      path: TASK,
      why: 'the task \\Hivebar\\Start at login is no longer in the Task Scheduler',
    });
    assert.equal(await login.state(), false);
    assert.equal((await login.repair()).is, 'off', 'what a person deleted does not come back by itself');
    await login.set(true);
    assert.match(calls.at(-1) ?? '', /^\/Create .* \/F$/);
    assert.equal(await service.findLost(), 'the task \\Hivebar\\Kijito inbox monitor');
    fails.pop();
    assert.equal(await service.findLost(), null);
    assert.equal(await login.state(), true);
  });

  test('off of a task that somebody deleted by hand', async () => {
    const { login, has } = scene(['/Delete', '/Query']);
    await login.set(true);
    await login.set(false);
    assert.deepEqual([has.has(TASK), await login.state()], [false, false]);
  });

  test('a Hivebar with a home of its own has none, and the next step is named', async () => {
    const { login, has, calls } = scene('nothing', { HIVEBAR_HOME: STATE });
    await assert.rejects(login.set(true), /cannot carry HIVEBAR_HOME: set it for the whole account \(setx\)/);
    assert.deepEqual([has.has(TASK), calls], [false, []]);
  });
});

describe('the Task Scheduler, headless', () => {
  test('installed, started, stopped and gone', async () => {
    const { service, calls, has, needs } = scene();
    await service.install(['--no-content']);
    assert.match(
      has.get(MONITOR)?.toString() ?? '',
      /&#34;--stays-down&#34; &#34;--log&#34; &#34;[^;]*\\headless\\watch\.err&#34; &#34;--&#34; &#34;--no-content&#34;/,
    );
    assert.partialDeepStrictEqual(service.check(), { is: 'ours', path: MONITOR, isOld: false });
    const moved = createHeadlessService({ ...needs, program: { ...needs.program, entry: 'D:\\hivebar.cjs' } });
    assert.partialDeepStrictEqual(moved.check(), { is: 'ours', path: MONITOR, isOld: true });
    await service.install([]);
    assert.equal(await service.isLingering(), null);
    await service.uninstall();
    await service.uninstall();
    assert.deepEqual([has.has(MONITOR), service.check().is], [false, 'absent']);
    const name = '/TN \\Hivebar\\Kijito inbox monitor';
    assert.deepEqual(calls, [
      `/Create ${name} /XML ${MONITOR}`,
      `/Run ${name}`,
      `/Create ${name} /XML ${MONITOR} /F`,
      `/Run ${name}`,
      `/End ${name}`,
      `/Delete ${name} /F`,
    ]);
  });

  test('one of the two at a time', async () => {
    const { service, login } = scene();
    await service.install([]);
    await assert.rejects(login.set(true), /hivebar service uninstall --headless/);
  });

  test('a task that could not be started is taken away again; one that was there before stays', async () => {
    const { service, calls, has } = scene('/Run');
    await assert.rejects(service.install([]), /\/Run .*: ended with 1/);
    assert.deepEqual([has.has(MONITOR), calls.at(-1)], [false, '/Delete /TN \\Hivebar\\Kijito inbox monitor /F']);
    has.set(MONITOR, Buffer.from((await service.print([])).text));
    await assert.rejects(service.install([]), /\/Run .*: ended with 1/);
    assert.deepEqual([has.has(MONITOR), calls.at(-1)], [true, '/Run /TN \\Hivebar\\Kijito inbox monitor']);
  });

  test('a task of the same name that is not ours is not deleted', async () => {
    const { service, calls } = scene('/Create');
    await assert.rejects(service.install([]), /\/Create .*: ended with 1/);
    assert.equal(calls.length, 1);
  });

  test('a task that does not run can still be removed', async () => {
    const { service, has } = scene('/End');
    await service.install([]);
    await service.uninstall();
    assert.equal(has.has(MONITOR), false);
  });
});

describe('the Task Scheduler, a persona daemon', () => {
  const DIR = `${STATE}\\daemons\\acme-ada`;
  const NAME = '\\Hivebar\\prism-daemon-acme-ada';
  const createDaemon = ({ needs }: ReturnType<typeof scene>, environment: Readonly<Record<string, string>> = {}) =>
    createDaemonService(
      needs,
      { tenant: 'acme', identity: 'ada', project: 'C:\\p', program: { ...needs.program, environment } },
      DIR,
    );

  test('its text is UTF-16 with a byte order mark, known again as ours; paused, and gone', async () => {
    const the = scene();
    const daemon = createDaemon(the);
    await daemon.install();
    assert.deepEqual([...(the.has.get(`${DIR}\\logon-task.xml`) ?? []).slice(0, 4)], [0xff, 0xfe, 0x3c, 0x00]);
    assert.partialDeepStrictEqual(await daemon.check(), { is: 'ours', path: `${DIR}\\logon-task.xml`, isOld: false });
    await daemon.pause();
    await daemon.install();
    await daemon.uninstall();
    assert.equal((await daemon.check()).is, 'absent');
    const create = `/Create /TN ${NAME} /XML ${DIR}\\logon-task.xml`;
    assert.deepEqual(the.calls, [
      create,
      `/Run /TN ${NAME}`,
      `/Change /TN ${NAME} /DISABLE`,
      `/End /TN ${NAME}`,
      `${create} /F`,
      `/Run /TN ${NAME}`,
      `/End /TN ${NAME}`,
      `/Delete /TN ${NAME} /F`,
    ]);
  });

  test('one that cannot be taken away keeps its text, as it was written', async () => {
    const the = scene('/Delete');
    const daemon = createDaemon(the);
    await daemon.install();
    const bytes = the.has.get(`${DIR}\\logon-task.xml`);
    await assert.rejects(daemon.uninstall(), /Access is denied/);
    assert.deepEqual(the.has.get(`${DIR}\\logon-task.xml`), bytes);
  });

  test('what needs variables is refused', async () => {
    const the = scene();
    await assert.rejects(createDaemon(the, { HIVEBAR_HOME: 'C:\\h' }).install(), /a task cannot carry HIVEBAR_HOME/);
    assert.deepEqual(the.calls, []);
  });
});
