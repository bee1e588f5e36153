import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { skipUnless } from '../../test/kit/desktop/index.ts';
import {
  createDaemonTaskKind,
  type DaemonUnit,
  formatDaemonLaunchAgent,
  formatDaemonSystemdUnit,
  formatDaemonTaskName,
  formatDaemonUnitName,
} from './daemon-service.ts';
import { decodeText, encodeText, formatLogonTask } from './login-entries.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-daemon-units-'));
after(() => rmSync(folder, { recursive: true }));

const ADA: DaemonUnit = {
  program: { node: '/opt/node', entry: '/opt/hivebar.cjs', state: '/s', environment: { HIVEBAR_HOME: '/s' } },
  tenant: 'acme',
  identity: 'ada',
  project: '/p/engine',
};
const ON_WINDOWS: DaemonUnit = {
  ...ADA,
  program: { node: 'C:\\Program Files\\n\\node.exe', entry: 'D:\\a&b\\hivebar.cjs', state: 'C:\\s', environment: {} },
  project: 'C:\\Users\\Zoë\\engine\\',
};
/** Everything that means something to one of the readers. */
const ODD = `/a b/100%/$HOME/"quoted"/back\\slash/'single'/<é>&--/%%/#;`;
const odd: DaemonUnit = {
  ...ADA,
  program: { ...ADA.program, entry: `${ODD}/hivebar.cjs`, environment: { HIVEBAR_HOME: ODD } },
  project: ODD,
};

const missing = (program: string, brings: string): string | null =>
  spawnSync(program, ['--version']).error === undefined ? null : `${program} is missing: apt-get install ${brings}`;
const analyze = skipUnless(missing('systemd-analyze', 'systemd'));
const python = skipUnless(missing('python3', 'python3'));

test('names are those of tenant and identity, and never a UUID', () => {
  assert.equal(formatDaemonUnitName(ADA), 'prism-daemon-acme-ada');
  assert.equal(formatDaemonTaskName(ADA), '\\Hivebar\\prism-daemon-acme-ada');
});

describe('the text of a persona daemon, whole (persona daemon, contract 7)', () => {
  test('a systemd unit of the user', () => {
    assert.equal(
      formatDaemonSystemdUnit(ADA),
      `# Written by Hivebar for /s. \`hivebar daemon uninstall acme-ada\` removes it.
[Unit]
Description=Persona daemon of ada at acme, by Hivebar
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=simple
ExecStart="/opt/node" "/opt/hivebar.cjs" "daemon" "run" "--tenant" "acme" "--identity" "ada" "--project" "/p/engine"
Environment="HIVEBAR_HOME=/s"
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=78
KillMode=mixed
TimeoutStopSec=5
RuntimeDirectory=prism-daemon/acme-ada
RuntimeDirectoryMode=0700
UMask=0077
SyslogIdentifier=prism-daemon-acme-ada
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`,
    );
  });

  test('a LaunchAgent of macOS, not run here', () => {
    assert.equal(
      formatDaemonLaunchAgent(ADA),
      `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by Hivebar for /s. \`hivebar daemon uninstall acme-ada\` removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key><string>prism-daemon-acme-ada</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/node</string>
    <string>/opt/hivebar.cjs</string>
    <string>daemon</string>
    <string>run</string>
    <string>--tenant</string>
    <string>acme</string>
    <string>--identity</string>
    <string>ada</string>
    <string>--project</string>
    <string>/p/engine</string>
    <string>--stays-down</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HIVEBAR_HOME</key><string>/s</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>5</integer>
  <key>ProcessType</key><string>Background</string>
  <key>Umask</key><integer>63</integer>
  <key>LimitLoadToSessionType</key>
  <array>
    <string>Aqua</string>
    <string>Background</string>
  </array>
</dict>
</plist>
`,
    );
  });

  test('persona daemon check 16: a task of the Task Scheduler, not run here', () => {
    assert.equal(
      formatLogonTask(ON_WINDOWS.program, 'PC\\ada', createDaemonTaskKind(ON_WINDOWS)),
      `<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by Hivebar for C:\\s. \`hivebar daemon uninstall acme-ada\` removes it. -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Author>Hivebar</Author></RegistrationInfo>
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled><UserId>PC\\ada</UserId><Delay>PT10S</Delay></LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>PC\\ada</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>C:\\Program Files\\n\\node.exe</Command>
      <Arguments>&#34;D:\\a&#38;b\\hivebar.cjs&#34; &#34;daemon&#34; &#34;run&#34; &#34;--tenant&#34; &#34;acme&#34; &#34;--identity&#34; &#34;ada&#34; &#34;--project&#34; &#34;C:\\Users\\Zo&#235;\\engine\\\\&#34; &#34;--stays-down&#34;</Arguments>
    </Exec>
  </Actions>
</Task>
`,
    );
  });
});

test('systemd itself reads the unit without a complaint, odd paths too', { skip: analyze }, () => {
  for (const daemon of [ADA, { ...odd, identity: 'odd' }]) {
    const name = `${formatDaemonUnitName(daemon)}.service`;
    const path = join(folder, name);
    const real = { ...daemon, program: { ...daemon.program, node: process.execPath } };
    writeFileSync(path, formatDaemonSystemdUnit(real));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder }, // without it verify itself fails
    });
    assert.deepEqual(
      `${stdout}${stderr}`.split('\n').filter((text) => text.includes(name)),
      [],
    );
  }
});

test('systemd would complain of a key that it does not know', { skip: analyze }, () => {
  const path = join(folder, 'prism-daemon-bad.service');
  writeFileSync(
    path,
    formatDaemonSystemdUnit({ ...ADA, program: { ...ADA.program, node: process.execPath } }).replace(
      'KillMode',
      'KlilMode',
    ),
  );
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  assert.match(`${stdout}${stderr}`, /prism-daemon-bad\.service.*KlilMode/);
});

test('the plist is read back by a parser, word for word', { skip: python }, () => {
  const read = 'import sys,json,plistlib;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
  const plist = JSON.parse(
    execFileSync('python3', ['-c', read], { input: formatDaemonLaunchAgent(odd), encoding: 'utf8' }),
  );
  assert.deepEqual(plist, {
    Label: 'prism-daemon-acme-ada',
    ProgramArguments: [
      '/opt/node',
      `${ODD}/hivebar.cjs`,
      ...['daemon', 'run', '--tenant', 'acme', '--identity', 'ada', '--project', ODD, '--stays-down'],
    ],
    EnvironmentVariables: { HIVEBAR_HOME: ODD },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 5,
    ProcessType: 'Background',
    Umask: 0o077,
    LimitLoadToSessionType: ['Aqua', 'Background'],
  });
});

test('persona daemon check 16: the task is UTF-16 with its mark, and a parser finds each field of the schema', {
  skip: python,
}, () => {
  const text = formatLogonTask(ON_WINDOWS.program, 'PC\\ada', createDaemonTaskKind(ON_WINDOWS));
  const bytes = encodeText(text);
  assert.deepEqual([...bytes.subarray(0, 4)], [0xff, 0xfe, 0x3c, 0x00]);
  assert.equal(decodeText(bytes), text);
  const read = `
import sys, json, xml.etree.ElementTree as e
n = '{http://schemas.microsoft.com/windows/2004/02/mit/task}'
t = e.fromstring(sys.stdin.buffer.read())
assert t.tag == n + 'Task'
find = lambda path: t.find('/'.join(n + p for p in path.split('/'))).text
print(json.dumps({path: find(path) for path in sys.argv[1:]}))`;
  const fields = {
    'Triggers/LogonTrigger/UserId': 'PC\\ada',
    'Triggers/LogonTrigger/Delay': 'PT10S',
    'Principals/Principal/LogonType': 'InteractiveToken',
    'Principals/Principal/RunLevel': 'LeastPrivilege',
    'Settings/MultipleInstancesPolicy': 'IgnoreNew',
    'Settings/ExecutionTimeLimit': 'PT0S',
    'Settings/DisallowStartIfOnBatteries': 'false',
    'Settings/StopIfGoingOnBatteries': 'false',
    'Settings/StartWhenAvailable': 'true',
    'Settings/RestartOnFailure/Interval': 'PT1M',
    'Settings/RestartOnFailure/Count': '999',
    'Actions/Exec/Command': 'C:\\Program Files\\n\\node.exe',
    'Actions/Exec/Arguments':
      '"D:\\a&b\\hivebar.cjs" "daemon" "run" "--tenant" "acme" "--identity" "ada" "--project" "C:\\Users\\Zoë\\engine\\\\" "--stays-down"',
  };
  const found = execFileSync('python3', ['-c', read, ...Object.keys(fields)], { input: bytes, encoding: 'utf8' });
  assert.deepEqual(JSON.parse(found), fields);
});

test('a project with a line break makes no unit at all', () => {
  const bad = { ...ADA, project: '/p\nExecStart=/bin/evil' };
  assert.throws(() => formatDaemonSystemdUnit(bad), RangeError);
  assert.throws(() => formatDaemonLaunchAgent(bad), RangeError);
  assert.throws(() => formatLogonTask(bad.program, 'u', createDaemonTaskKind(bad)), RangeError);
});
