import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { createDaemonService } from './daemon-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-daemon-service-'));
after(() => rmSync(folder, { recursive: true }));

const UNIT = 'prism-daemon-acme-ada';
const FILE = `.config/systemd/user/${UNIT}.service`;
const PLIST = `Library/LaunchAgents/${UNIT}.plist`;
let homes = 0;

/** A home where systemctl, launchctl and loginctl write down what they are asked, and fail at what `fails` names. */
function scene(os: NodeJS.Platform = 'linux', fails = 'never', env: Readonly<Record<string, string>> = {}) {
  homes += 1;
  const home = join(folder, `home${homes}`);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  const calls = join(home, 'said');
  for (const name of ['systemctl', 'launchctl', 'loginctl']) {
    const text = `echo "${name} $*" >>'${calls}'\ncase "$*" in *${fails}*) echo not for you >&2; exit 1;; esac`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const program = { node: '/opt/node', entry: '/opt/hivebar.cjs', state: join(home, 'state'), environment: {} };
  const needs = {
    os,
    env: { PATH: `${bin}:/bin:/usr/bin`, ...env },
    home,
    uid: env.SUDO_USER === undefined ? 501 : 0,
    disk: createRealDisk(silentLog),
    random: realRandom,
    spawn: realSpawn,
  };
  const daemon = { program, tenant: 'acme', identity: 'ada', project: '/p' };
  const at = (name: string): string => join(home, name);
  const service = (node = program.node, entry = program.entry) =>
    createDaemonService(needs, { ...daemon, program: { ...program, node, entry } }, at('state/daemons/acme-ada'));
  const callLines = (): readonly string[] =>
    existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').slice(0, -1) : [];
  return { service, callLines, at };
}

test('systemd: written and started, old once node moved, paused, gone; linger is not touched at the end', async () => {
  const { service, callLines, at } = scene();
  await service().install();
  assert.match(readFileSync(at(FILE), 'utf8'), /"--identity" "ada" "--project" "\/p"\n/);
  assert.partialDeepStrictEqual(await service().check(), { is: 'ours', path: at(FILE), isOld: false });
  assert.partialDeepStrictEqual(await service('/opt/node26').check(), { is: 'ours', path: at(FILE), isOld: true });
  assert.equal(await service().isRunning(), true);
  await service().pause();
  assert.equal(existsSync(at(FILE)), true);
  await service().uninstall();
  assert.deepEqual(await service().check(), { is: 'absent' });
  assert.equal(await service().isRunning(), null);
  await service().pause(); // nothing is there: nobody is asked
  assert.deepEqual(callLines(), [
    'systemctl --user daemon-reload',
    `systemctl --user reenable ${UNIT}.service`,
    `systemctl --user restart ${UNIT}.service`,
    `systemctl --user is-active --quiet ${UNIT}.service`,
    `systemctl --user disable ${UNIT}.service`,
    `systemctl --user stop ${UNIT}.service`,
    `systemctl --user stop ${UNIT}.service`,
    'systemctl --user daemon-reload',
    `systemctl --user reset-failed ${UNIT}.service`,
  ]);
});

test('G9 a unit that starts a Node that is gone is written anew and started; one that starts what is there is left', async () => {
  const { service, callLines, at } = scene();
  for (const name of ['old', 'new', 'hivebar.cjs']) writeFileSync(at(name), '');
  const by = (node: string) => service(at(node), at('hivebar.cjs'));
  assert.equal(await by('new').repair(), null, 'nothing is installed');
  await by('old').install();
  const before = callLines().length;
  assert.equal(await by('new').repair(), null);
  assert.equal(callLines().length, before);
  rmSync(at('old'));
  assert.partialDeepStrictEqual(await by('new').check(), { is: 'ours', gone: at('old') });
  assert.equal(await by('new').repair(), at('old'));
  assert.ok(readFileSync(at(FILE), 'utf8').includes(`"${at('new')}"`));
  assert.equal(callLines().at(-1), `systemctl --user restart ${UNIT}.service`);
  assert.partialDeepStrictEqual(await by('new').check(), { is: 'ours', isOld: false, gone: null });
});

test('launchd: in the session of this user, enabled again after a pause; not run on macOS', async () => {
  const { service, callLines, at } = scene('darwin');
  await service().install();
  assert.ok(existsSync(at(PLIST)));
  assert.equal(await service().isRunning(), true);
  await service().pause();
  await service().enableLinger(); // no question there
  await service().uninstall();
  assert.equal(existsSync(at(PLIST)), false);
  const target = `gui/501/${UNIT}`;
  assert.deepEqual(callLines(), [
    `launchctl bootout ${target}`,
    `launchctl enable ${target}`,
    `launchctl bootstrap gui/501 ${at(PLIST)}`,
    `launchctl print ${target}`,
    `launchctl disable ${target}`,
    `launchctl bootout ${target}`,
    `launchctl bootout ${target}`,
  ]);
});

describe('persona daemon check 17: linger', () => {
  test('it is set for the user', async () => {
    const { service, callLines } = scene();
    await service().enableLinger();
    assert.deepEqual(callLines(), ['loginctl enable-linger']);
  });

  test('a refusal is said with the command', async () => {
    const { service } = scene('linux', 'enable-linger');
    await assert.rejects(service().enableLinger(), {
      code: 'exec-failed',
      message: 'loginctl enable-linger: ended with 1: not for you',
    });
  });

  test('a refusal is none when somebody else has switched it on', async () => {
    const { service, at } = scene();
    writeFileSync(at('bin/loginctl'), '#!/bin/sh\n[ "$1" = enable-linger ] && exit 1\necho Linger=yes\n');
    await service().enableLinger();
  });
});

test('a unit of that name that somebody else wrote is neither overwritten, stopped nor removed', async () => {
  const { service, callLines, at } = scene();
  mkdirSync(dirname(at(FILE)), { recursive: true });
  writeFileSync(at(FILE), '[Service]\n');
  assert.equal((await service().check()).is, 'foreign');
  await assert.rejects(service().install(), /left as it is/);
  await assert.rejects(service().uninstall(), /left as it is/);
  await service().pause();
  assert.deepEqual([readFileSync(at(FILE), 'utf8'), callLines()], ['[Service]\n', []]);
});

test('a unit that could not be started is taken away again', async () => {
  const { service, at } = scene('linux', 'restart');
  await assert.rejects(service().install(), /restart prism-daemon-acme-ada.service: ended with 1: not for you/);
  assert.equal(existsSync(at(FILE)), false);
});

test('a form for the system is refused: root by sudo is told whose it would be', async () => {
  const { service, callLines } = scene('linux', 'never', { SUDO_USER: 'ada' });
  await assert.rejects(service().install(), { code: 'usage', message: /run it as ada, without sudo/ });
  assert.deepEqual(callLines(), []);
});
