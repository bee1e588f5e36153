import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { skipUnless } from '../../test/kit/desktop/index.ts';
import { formatAutostartEntry, formatLogonTask, isEnabledEntry, type ServiceProgram } from './login-entries.ts';
import { formatLaunchAgent, formatSystemdUnit } from './supervised-unit.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-units-'));
after(() => rmSync(folder, { recursive: true }));

const PLAIN: ServiceProgram = {
  node: '/opt/node/bin/node',
  entry: '/opt/hivebar/hivebar.cjs',
  state: '/s',
  environment: {},
};
/** Everything that means something to one of the readers, in each place. */
const ODD = `/a b/100%/$HOME/"quoted"/back\\slash/'single'/\`tick\`/<é>&--/%%/#;`;
const odd: ServiceProgram = {
  node: `${ODD}/node`,
  entry: `${ODD}/hivebar.cjs`,
  state: `${ODD}/state`,
  environment: { HIVEBAR_HOME: `${ODD}/state` },
};

/** A program that says how it was started. */
function recorder(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '#!/bin/sh\nprintf "%s\\n" "$@" "HOME=$HIVEBAR_HOME"\n');
  chmodSync(path, 0o755);
}

describe('the text, whole', () => {
  test('a systemd unit of a desktop: with the session, again on failure, never after 2 and 3', () => {
    assert.equal(
      formatSystemdUnit(PLAIN, 'graphical-session.target'),
      `# Written by Hivebar for /s. \`hivebar service uninstall\` removes it.
[Unit]
Description=Hivebar, the inboxes of the agents on this machine
After=graphical-session.target
PartOf=graphical-session.target

[Service]
ExecStart="/opt/node/bin/node" "/opt/hivebar/hivebar.cjs" "run"
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3

[Install]
WantedBy=graphical-session.target
`,
    );
  });

  test('a systemd unit without a desktop, of a Hivebar with a home of its own', () => {
    assert.equal(
      formatSystemdUnit({ ...PLAIN, environment: { HIVEBAR_HOME: '/s' } }, 'default.target'),
      `# Written by Hivebar for /s. \`hivebar service uninstall\` removes it.
[Unit]
Description=Hivebar, the inboxes of the agents on this machine

[Service]
ExecStart="/opt/node/bin/node" "/opt/hivebar/hivebar.cjs" "run"
Environment="HIVEBAR_HOME=/s"
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3

[Install]
WantedBy=default.target
`,
    );
  });

  test('an autostart entry', () => {
    assert.equal(
      formatAutostartEntry({ ...PLAIN, icon: '/opt/hivebar/icon.png', environment: { HIVEBAR_HOME: '/s' } }),
      `# Written by Hivebar for /s. \`hivebar service uninstall\` removes it.
[Desktop Entry]
Type=Application
Name=Hivebar
Comment=The inboxes of the agents on this machine
Icon=/opt/hivebar/icon.png
Exec="/usr/bin/env" "HIVEBAR_HOME=/s" "/opt/node/bin/node" "/opt/hivebar/hivebar.cjs" "run"
TryExec=/opt/node/bin/node
Terminal=false
X-GNOME-Autostart-enabled=true
`,
    );
  });

  test('a LaunchAgent: the label of the issue, in the desktop only, again on failure, once a minute at most', () => {
    assert.equal(
      formatLaunchAgent({ ...PLAIN, environment: { HIVEBAR_HOME: '/s' } }),
      `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by Hivebar for /s. \`hivebar service uninstall\` removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key><string>hivebar</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/node/bin/node</string>
    <string>/opt/hivebar/hivebar.cjs</string>
    <string>run</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HIVEBAR_HOME</key><string>/s</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>60</integer>
  <key>LimitLoadToSessionType</key><string>Aqua</string>
  <key>ProcessType</key><string>Interactive</string>
</dict>
</plist>
`,
    );
  });

  test('a logon task: for one user, no administrator, no limit of time, three more starts', () => {
    assert.equal(
      formatLogonTask({ ...PLAIN, node: 'C:\\n\\node.exe', entry: 'C:\\h\\hivebar.cjs' }, 'PC\\ada'),
      `<?xml version="1.0"?>
<!-- Written by Hivebar for /s. \`hivebar service uninstall\` removes it. -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Author>Hivebar</Author></RegistrationInfo>
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled><UserId>PC\\ada</UserId></LogonTrigger>
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
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\\System32\\conhost.exe</Command>
      <Arguments>--headless &#34;C:\\n\\node.exe&#34; &#34;C:\\h\\hivebar.cjs&#34; &#34;run&#34;</Arguments>
    </Exec>
  </Actions>
</Task>
`,
    );
  });
});

const missing = (program: string, brings: string): string | null =>
  spawnSync(program, ['--version']).error === undefined ? null : `${program} is missing: apt-get install ${brings}`;
const analyze = skipUnless(missing('systemd-analyze', 'systemd'));
const python = skipUnless(missing('python3', 'python3'));
test('systemd itself reads the unit without a complaint, also with odd paths', { skip: analyze }, () => {
  for (const [index, program] of [PLAIN, odd].entries()) {
    const real = { ...program, node: index === 0 ? process.execPath : join(folder, `n o%de$x`) };
    if (index === 1) recorder(real.node);
    const path = join(folder, `hivebar${index}.service`);
    writeFileSync(path, formatSystemdUnit(real, 'graphical-session.target'));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    const about = `${stdout}${stderr}`.split('\n').filter((text) => text.includes(`hivebar${index}`));
    assert.deepEqual(about, []);
  }
});

test('an autostart entry starts exactly the words it was made of', { skip: python }, () => {
  const real = { ...odd, node: join(folder, `n "o\\de" $x \`y\``) };
  recorder(real.node);
  const path = join(folder, 'hivebar.desktop');
  writeFileSync(path, formatAutostartEntry(real));
  const calls = execFileSync('python3', ['-c', EXEC_LIKE_A_DESKTOP, path], { encoding: 'utf8' }).split('\n');
  assert.deepEqual(calls, [real.entry, 'run', `HOME=${odd.environment.HIVEBAR_HOME}`, '']);
});

/** The rules of the Desktop Entry Specification: string escapes, then quoted arguments, then field codes. */
const EXEC_LIKE_A_DESKTOP = `
import re, subprocess, sys
line = [l for l in open(sys.argv[1], encoding='utf8').read().split('\\n') if l.startswith('Exec=')][0][5:]
line = re.sub(r'\\\\(.)', lambda m: {'s': ' ', 'n': '\\n', 't': '\\t', 'r': '\\r', '\\\\': '\\\\'}[m.group(1)], line)
words = [re.sub(r'\\\\(.)', r'\\1', w) for w in re.findall(r'"((?:[^"\\\\]|\\\\.)*)"', line)]
print(subprocess.run([w.replace('%%', '%') for w in words], capture_output=True, text=True).stdout, end='')
`;

test('a switch in the settings of the desktop is respected', () => {
  const entry = formatAutostartEntry(PLAIN);
  assert.equal(isEnabledEntry(entry), true);
  assert.equal(isEnabledEntry(`${entry}Hidden=true\n`), false);
  assert.equal(isEnabledEntry(entry.replace('enabled=true', 'enabled=false')), false);
});

describe('XML', { skip: python }, () => {
  test('a LaunchAgent is well-formed and holds exactly the words it was made of', () => {
    const text = formatLaunchAgent(odd);
    assert.match(text, /^[\x20-\x7e\n]*$/);
    const plist = JSON.parse(
      execFileSync(
        'python3',
        ['-c', 'import sys,json,plistlib;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'],
        {
          input: text,
          encoding: 'utf8',
        },
      ),
    );
    assert.deepEqual(plist.ProgramArguments, [odd.node, odd.entry, 'run']);
    assert.deepEqual(plist.EnvironmentVariables, odd.environment);
    assert.deepEqual([plist.RunAtLoad, plist.KeepAlive], [true, { SuccessfulExit: false }]);
    assert.equal(plist.LimitLoadToSessionType, 'Aqua');
    assert.equal(plist.Label, 'hivebar');
  });

  test('a logon task is well-formed, for one user, without limit of time', () => {
    const text = formatLogonTask(
      { ...PLAIN, node: 'C:\\Program Files\\node\\node.exe', entry: 'D:\\a&b\\hivebar.cjs' },
      'PC\\Zoë',
    );
    assert.match(text, /^[\x20-\x7e\n]*$/);
    assert.match(text, /<UserId>PC\\Zo&#235;<\/UserId>/);
    assert.match(text, /<ExecutionTimeLimit>PT0S</);
    assert.match(
      text,
      /<Arguments>--headless &#34;C:\\Program Files\\node\\node.exe&#34; &#34;D:\\a&#38;b\\hivebar.cjs&#34; &#34;run&#34;</,
    );
    execFileSync('python3', ['-c', 'import sys,xml.dom.minidom as m;m.parse(sys.stdin.buffer)'], { input: text });
  });
});

test('a path with a line break makes no unit at all', () => {
  const bad = { ...PLAIN, entry: '/a\nExecStart=/bin/evil' };
  for (const make of [
    () => formatSystemdUnit(bad, 'default.target'),
    () => formatAutostartEntry(bad),
    () => formatLaunchAgent(bad),
    () => formatLogonTask(bad, 'u'),
  ])
    assert.throws(make, RangeError);
});
