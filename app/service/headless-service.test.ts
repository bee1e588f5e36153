import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { skipUnless } from '../../test/kit/desktop/index.ts';
import {
  createHeadlessService,
  formatHeadlessLaunchAgent,
  formatHeadlessSystemdUnit,
  type HeadlessNeeds,
  listHeadlessTaskWords,
} from './headless-service.ts';
import { formatLogonTask, type ServiceProgram, TRAY_TASK } from './login-entries.ts';
import { createLoginStart } from './login-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-headless-'));
after(() => rmSync(folder, { recursive: true }));

const PLAIN: ServiceProgram = { node: '/opt/node', entry: '/opt/hivebar.cjs', state: '/s', environment: {} };
const FLAGS = ['--state-file', '/s/headless/hive.json', '--token-file', '/home/zoë/to ken', '--heartbeat', '120'];
const headless = { program: PLAIN, flags: FLAGS, directory: '/s/headless' };

const missing = (program: string, brings: string): string | null =>
  spawnSync(program, ['--version']).error === undefined ? null : `${program} is missing: apt-get install ${brings}`;
const analyze = skipUnless(missing('systemd-analyze', 'systemd'));
const python = skipUnless(missing('python3', 'python3'));

describe('the text of the headless unit', () => {
  test('systemd: never again after 2 and 4, 15 s after any other death, private files', () => {
    assert.equal(
      formatHeadlessSystemdUnit(headless),
      `# Written by Hivebar for /s. \`hivebar service uninstall --headless\` removes it.
[Unit]
Description=Kijito inbox monitor: every inbox into its event file, by Hivebar
Wants=network-online.target
After=network-online.target

[Service]
ExecStart="/opt/node" "/opt/hivebar.cjs" "service" "run" "--headless" "--" "--state-file" "/s/headless/hive.json" "--token-file" "/home/zoë/to ken" "--heartbeat" "120"
Restart=on-failure
RestartSec=15
RestartPreventExitStatus=2 4
UMask=0077

[Install]
WantedBy=default.target
`,
    );
  });

  test('launchd: a death that a restart mends nothing of is a success to it', () => {
    assert.equal(
      formatHeadlessLaunchAgent(headless, '/s/headless/watch.err'),
      `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by Hivebar for /s. \`hivebar service uninstall -&#45;headless\` removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key><string>com.kijito.inbox-monitor</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/node</string>
    <string>/opt/hivebar.cjs</string>
    <string>service</string>
    <string>run</string>
    <string>--headless</string>
    <string>--stays-down</string>
    <string>--log</string>
    <string>/s/headless/watch.err</string>
    <string>--</string>
    <string>--state-file</string>
    <string>/s/headless/hive.json</string>
    <string>--token-file</string>
    <string>/home/zo&#235;/to ken</string>
    <string>--heartbeat</string>
    <string>120</string>
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardErrorPath</key><string>/s/headless/watch.err</string>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>
`,
    );
  });

  test('systemd itself reads it without a complaint, odd paths too', { skip: analyze }, () => {
    const path = join(folder, 'kijito-inbox-monitor.service');
    const program = { ...PLAIN, node: process.execPath, entry: `/a b/100%/$HOME/"q"/hivebar.cjs` };
    writeFileSync(path, formatHeadlessSystemdUnit({ ...headless, program }));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    assert.deepEqual(
      `${stdout}${stderr}`.split('\n').filter((text) => text.includes('kijito-inbox-monitor')),
      [],
    );
  });

  test('the plist is read back by a parser, word for word', { skip: python }, () => {
    const odd = ['--exec', `a & b < "c" > 'd'`, '--persona', 'zoë'];
    const text = formatHeadlessLaunchAgent({ ...headless, flags: odd }, '/s/x');
    const read = 'import sys,json,plistlib;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const plist = JSON.parse(execFileSync('python3', ['-c', read], { input: text, encoding: 'utf8' }));
    assert.deepEqual(plist.ProgramArguments.slice(-4), odd);
    assert.deepEqual([plist.KeepAlive, plist.ThrottleInterval, plist.Umask], [{ SuccessfulExit: false }, 10, 0o077]);
    assert.deepEqual([plist.Label, plist.RunAtLoad], ['com.kijito.inbox-monitor', true]);
    assert.deepEqual([plist.StandardErrorPath, plist.StandardOutPath], ['/s/x', undefined]); // no rotator owns a file of events
  });

  test('the task is XML, and its words come apart again as Windows takes them apart', { skip: python }, () => {
    const words = listHeadlessTaskWords(
      { ...headless, flags: ['--exec', 'say "a\\\\"', '--state-file', 'C:\\x\\'] },
      'C:\\l',
    );
    const text = formatLogonTask(PLAIN, 'PC\\zoë', { ...TRAY_TASK, words, removedBy: 'x', restarts: 255 });
    const read = `
import sys, xml.etree.ElementTree as e
n = '{http://schemas.microsoft.com/windows/2004/02/mit/task}'
t = e.parse(sys.stdin.buffer).getroot()
print(t.find(f'.//{n}RestartOnFailure/{n}Count').text)
print(t.find(f'.//{n}Arguments').text)`;
    const [count, line = ''] = execFileSync('python3', ['-c', read], { input: text, encoding: 'utf8' }).split('\n');
    assert.equal(count, '255');
    assert.deepEqual(asWindows(line).slice(-5), ['--', '--exec', 'say "a\\\\"', '--state-file', 'C:\\x\\']);
  });

  test('a line break in a flag makes no unit at all', () => {
    const bad = { ...headless, flags: ['--persona', 'a\nExecStart=/bin/evil'] };
    assert.throws(() => formatHeadlessSystemdUnit(bad), RangeError);
    assert.throws(() => formatHeadlessLaunchAgent(bad, '/x'), RangeError);
  });
});

/** The rules of CommandLineToArgvW. */
function asWindows(line: string): readonly string[] {
  return [...line.matchAll(/"((?:\\+"|[^"])*)"|([^\s"]+)/g)].map(([, quoted, bare]) =>
    (bare ?? quoted ?? '')
      .replace(/(\\*)"/g, (_, s: string) => `${s.slice(0, s.length / 2)}"`)
      .replace(/(\\+)$/, (s) => s.slice(s.length / 2)),
  );
}

let homes = 0;

/** A home where systemctl, launchctl and loginctl write down what they are asked. */
function scene(os: NodeJS.Platform = 'linux', linger = 'Linger=no', fails = 'never') {
  homes += 1;
  const home = join(folder, `home${homes}`);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['systemctl', 'launchctl', 'loginctl']) {
    const path = join(bin, name);
    const answer =
      name === 'loginctl'
        ? `echo '${linger}'`
        : `case "$*" in *${fails}*) echo no manager >&2; exit 1;; *is-active*) exit 3;; esac`;
    writeFileSync(path, `#!/bin/sh\necho "${name} $*" >>'${home}/said'\n${answer}\n`);
    chmodSync(path, 0o755);
  }
  const program = { ...PLAIN, state: join(home, 'state') };
  const needs: HeadlessNeeds = {
    os,
    env: { PATH: `${bin}:/bin:/usr/bin` },
    home,
    uid: 501,
    disk: createRealDisk(silentLog),
    random: realRandom,
    spawn: realSpawn,
    program,
  };
  const calls = (): readonly string[] =>
    existsSync(join(home, 'said')) ? readFileSync(join(home, 'said'), 'utf8').split('\n').slice(0, -1) : [];
  return {
    needs,
    service: createHeadlessService(needs),
    login: createLoginStart(needs),
    calls,
    at: (n: string) => join(home, n),
  };
}

const UNIT = '.config/systemd/user/kijito-inbox-monitor.service';

test('installed, started, stopped and gone, by systemd', async () => {
  const { service, calls, at, needs } = scene();
  await service.install(FLAGS);
  assert.match(readFileSync(at(UNIT), 'utf8'), /"--heartbeat" "120"/);
  assert.equal(statSync(service.directory).mode & 0o777, 0o700);
  assert.partialDeepStrictEqual(service.check(), { is: 'ours', path: at(UNIT), isOld: false });
  const moved = createHeadlessService({ ...needs, program: { ...needs.program, node: '/opt/node26' } });
  assert.partialDeepStrictEqual(moved.check(), { is: 'ours', path: at(UNIT), isOld: true });
  await service.uninstall();
  assert.deepEqual(service.check(), { is: 'absent' });
  assert.deepEqual(calls(), [
    'systemctl --user daemon-reload',
    'systemctl --user reenable kijito-inbox-monitor.service',
    'systemctl --user restart kijito-inbox-monitor.service',
    'systemctl --user stop kijito-inbox-monitor.service',
    'systemctl --user daemon-reload',
    'systemctl --user reset-failed kijito-inbox-monitor.service',
  ]);
});

test('a unit that could not be started is taken away again, and the error says why', async () => {
  const { service, at, calls } = scene('linux', '', 'restart');
  const wants = at('.config/systemd/user/default.target.wants');
  mkdirSync(wants, { recursive: true });
  symlinkSync('../kijito-inbox-monitor.service', join(wants, 'kijito-inbox-monitor.service')); // as reenable makes it
  await assert.rejects(service.install(FLAGS), /restart kijito-inbox-monitor.service: ended with 1: no manager/);
  assert.deepEqual([existsSync(at(UNIT)), readdirSync(wants)], [false, []]);
  assert.deepEqual(calls().slice(-3), [
    'systemctl --user stop kijito-inbox-monitor.service',
    'systemctl --user daemon-reload',
    'systemctl --user reset-failed kijito-inbox-monitor.service',
  ]);
});

test('one that could not be started anew stays enabled: it was there before', async () => {
  const { service, needs, at } = scene();
  await service.install(FLAGS);
  writeFileSync(at('bin/systemctl'), '#!/bin/sh\n[ "$2" = stop ] && touch "$0.stopped"; [ "$2" != restart ]\n');
  await assert.rejects(createHeadlessService(needs).install(FLAGS), /restart .*: ended with 1/);
  assert.deepEqual([existsSync(at(UNIT)), existsSync(at('bin/systemctl.stopped'))], [true, false]);
});

test('launchd is told of it, in the session of this user', async () => {
  const { service, calls, at } = scene('darwin');
  const plist = at('Library/LaunchAgents/com.kijito.inbox-monitor.plist');
  await service.install(FLAGS);
  assert.ok(existsSync(plist));
  await service.uninstall();
  assert.equal(existsSync(plist), false);
  assert.deepEqual(calls(), [
    'launchctl bootout gui/501/com.kijito.inbox-monitor',
    'launchctl enable gui/501/com.kijito.inbox-monitor',
    `launchctl bootstrap gui/501 ${plist}`,
    'launchctl bootout gui/501/com.kijito.inbox-monitor',
  ]);
});

test('launchd: one that was installed before the log was bounded is old, and installing it again mends it', async () => {
  const { service, at } = scene('darwin');
  const plist = at('Library/LaunchAgents/com.kijito.inbox-monitor.plist');
  await service.install(FLAGS);
  assert.partialDeepStrictEqual(service.check(), { is: 'ours', path: plist, isOld: false });
  const log = `    <string>--log</string>\n    <string>${service.directory}/watch.err</string>\n`;
  const text = readFileSync(plist, 'utf8');
  assert.ok(text.includes(log));
  writeFileSync(plist, text.replace(log, ''));
  assert.partialDeepStrictEqual(service.check(), { is: 'ours', path: plist, isOld: true });
  await service.install(FLAGS);
  assert.deepEqual([readFileSync(plist, 'utf8'), service.check().is], [text, 'ours']);
});

test('launchd: one that could not be started anew stays, and the error says why', async () => {
  const { service, needs, at } = scene('darwin');
  await service.install(FLAGS);
  writeFileSync(at('bin/launchctl'), '#!/bin/sh\n[ "$1" != bootstrap ] || { echo Bootstrap failed: 5 >&2; exit 5; }\n');
  await assert.rejects(service.install(['--no-content']), /bootstrap gui\/501 .*: ended with 5: Bootstrap failed: 5/);
  assert.deepEqual([service.check().is, createHeadlessService(needs).check().is], ['ours', 'ours']);
});

test('a supervisor that does not hear of the end: the unit is gone all the same, and it is said that it may still run', async () => {
  const { needs, at } = scene('darwin', '', 'bootout');
  const lines: string[] = [];
  const log = { ...silentLog, info: (line: string) => void lines.push(line) };
  const service = createHeadlessService({ ...needs, disk: createRealDisk(log) });
  await service.install(FLAGS);
  await service.uninstall();
  assert.equal(service.check().is, 'absent');
  rmSync(at('bin/launchctl'));
  await assert.rejects(service.install(FLAGS), /launchctl bootstrap gui\/501 .*: not-started/);
  assert.equal(service.check().is, 'absent');
  assert.deepEqual(lines, [
    'launchctl bootout gui/501/com.kijito.inbox-monitor: ended with 1: no manager: what already runs may continue',
  ]);
});

test('a place that cannot be looked at is said to be so, and is not taken for empty', () => {
  const { service, at } = scene('darwin');
  mkdirSync(at('Library'));
  symlinkSync('LaunchAgents', at('Library/LaunchAgents'));
  assert.throws(() => service.check(), { code: 'unreadable' });
});

test('print writes nothing, and says what install would write', async () => {
  const { service, at, calls } = scene();
  const printed = await service.print(FLAGS);
  assert.deepEqual([existsSync(at('.config')), existsSync(service.directory), calls()], [false, false, []]);
  await service.install(FLAGS);
  assert.deepEqual(printed, { path: at(UNIT), text: readFileSync(at(UNIT), 'utf8') });
});

test('the plist of the monitor that was there before is neither overwritten nor removed', async () => {
  const { service, at } = scene('darwin');
  const plist = at('Library/LaunchAgents/com.kijito.inbox-monitor.plist');
  mkdirSync(dirname(plist), { recursive: true });
  writeFileSync(plist, '<plist/>');
  assert.equal(service.check().is, 'foreign');
  await assert.rejects(service.install(FLAGS), /left as it is/);
  await assert.rejects(service.uninstall(), /left as it is/);
  assert.equal(readFileSync(plist, 'utf8'), '<plist/>');
});

test('start at login is refused while the headless service is there, from the menu too', async () => {
  const { service, login, at } = scene();
  await service.install(FLAGS);
  await assert.rejects(login.set(true), /hivebar service uninstall --headless/);
  assert.equal(await login.state(), false);
  await service.uninstall();
  await login.set(true);
  assert.ok(existsSync(at('.config/systemd/user/hivebar.service')));
});

describe('trap 69: a user unit stops at logout, which is said', () => {
  for (const [answer, lingers] of [
    ['Linger=no', false],
    ['Linger=yes', true],
    ['Failed to get user: User ID 501 is not logged in or lingering', false],
    ['something else', null],
  ] as const)
    test(`${answer}: ${lingers}`, async () => {
      const { service, calls } = scene('linux', answer);
      assert.equal(await service.isLingering(), lingers);
      assert.deepEqual(calls(), ['loginctl show-user 501 --property=Linger']);
    });

  test('without a loginctl that answers it is not known', async () => {
    const { needs } = scene();
    const asked = createHeadlessService({ ...needs, env: { PATH: '' } });
    assert.equal(await asked.isLingering(), null);
  });

  test('not asked on macOS', async () => {
    assert.equal(await scene('darwin').service.isLingering(), null);
  });
});
