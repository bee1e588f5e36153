import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { realRandom } from '../../core/ports/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { formatCmdScript } from './cmd-script.ts';
import { findNodeCandidates } from './hook-entries.ts';
import { createInstaller, type HookInstallerNeeds } from './hook-installer.ts';
import { formatLauncher } from './launcher.ts';
import { HARNESSES, type HarnessName } from './recipe.ts';
import { formatCmdCommand } from './windows-command.ts';

const FACTS = {
  node: 'C:\\Program Files\\nodejs\\node.exe',
  otherNodes: ['C:\\npm\\node.exe'],
  entry: 'C:\\npm\\node_modules\\hivebar\\dist\\hook.cjs',
  state: 'C:\\Users\\100% ada\\hivebar',
  leads: { HIVEBAR_HOME: 'C:\\Users\\100% ada\\hivebar' },
};

function rig() {
  const home = scratch();
  const tried: string[] = [];
  mkdirSync(home.at('user'));
  const folders = Object.fromEntries(HARNESSES.map((name) => [name, home.at('user', `.${name}`)]));
  const needs: HookInstallerNeeds = {
    random: realRandom,
    os: 'win32',
    managed: { claude: [], codex: [] },
    findVersion: () => null,
    tryCommand: async (command) => {
      tried.push(command);
      return 'it ended with 1 and said nothing';
    },
    run: home.at('state/run'),
    scriptPath: home.at('state/hook/hivebar-hook'),
    script: FACTS,
    folders: { user: folders, project: folders },
  };
  return { home, tried, installer: createInstaller(needs), [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('G6 on Windows Codex is given a command for cmd, which is tried; Claude Code keeps the one for its shell', async () => {
  using r = rig();
  r.installer.install('codex', 'user', 'ada');
  const script = r.home.at('state/hook/hivebar-hook');
  assert.ok(existsSync(script) && existsSync(`${script}.cmd`));
  const { hooks } = JSON.parse(readFileSync(r.home.at('user/.codex/hooks.json'), 'utf8'));
  const [handler] = hooks.Stop[0].hooks;
  const launcher = r.home.at('user/.codex/hivebar-hook');
  const command = `call "${launcher}.cmd" codex Stop`;
  assert.deepEqual(handler, { type: 'command', command, commandWindows: command, timeout: 10 });
  const status = r.installer.readStatus('codex', 'user');
  assert.partialDeepStrictEqual(status, { standing: 'installed', persona: 'ada', script: 'right' });
  assert.equal(await r.installer.probe(status), 'it ended with 1 and said nothing');
  assert.deepEqual(r.tried, [`call "${launcher}.cmd" codex SessionStart`]);
  const lines = readFileSync(`${launcher}.cmd`, 'utf8').split('\r\n');
  assert.ok(lines.includes(`set "SCRIPT=${script}.cmd"`) && lines.includes('set "PERSONA=ada"'));
  assert.ok(!existsSync(launcher), 'cmd runs no script of a shell');
  assert.equal(r.installer.install('codex', 'user', 'ada').changed, false);
  r.installer.install('claude', 'user', 'ada');
  const claude = JSON.parse(readFileSync(r.home.at('user/.claude/settings.json'), 'utf8'));
  assert.equal(claude.hooks.Stop[0].hooks[0].command, `'${script}' claude Stop 'ada'`);
  assert.ok(!('commandWindows' in claude.hooks.Stop[0].hooks[0]));
});

test('G6 an entry in the words of a shell, which an earlier Hivebar wrote for Codex on Windows, is old and is replaced', () => {
  using r = rig();
  const script = r.home.at('state/hook/hivebar-hook');
  mkdirSync(r.home.at('user/.codex'));
  const handler = { type: 'command', command: `'${script}' codex Stop 'ada'`, timeout: 10 };
  writeFileSync(r.home.at('user/.codex/hooks.json'), JSON.stringify({ hooks: { Stop: [{ hooks: [handler] }] } }));
  assert.partialDeepStrictEqual(r.installer.readStatus('codex', 'user'), {
    standing: 'old',
    persona: 'ada',
    script: 'absent',
  });
  r.installer.install('codex', 'user', 'ada');
  assert.doesNotMatch(readFileSync(r.home.at('user/.codex/hooks.json'), 'utf8'), /codex Stop 'ada'/);
  writeFileSync(`${script}.cmd`, '@echo off\r\n');
  assert.equal(r.installer.readStatus('codex', 'user').script, 'old');
  r.installer.uninstall('codex', 'user');
  assert.equal(r.installer.readStatus('codex', 'user').standing, 'absent');
});

test('G6 the script for cmd finds Node as the other one does, doubles percent signs, and ends with 0', () => {
  const lines = formatCmdScript(FACTS).split('\r\n');
  assert.equal(lines[0], '@echo off');
  assert.ok(lines.includes('set "NODE=C:\\Program Files\\nodejs\\node.exe"'));
  assert.ok(lines.includes('if not exist "%NODE%" set "NODE=C:\\npm\\node.exe"'));
  assert.ok(lines.includes('if not exist "%NODE%" for %%N in (node.exe) do set "NODE=%%~$PATH:N"'));
  const isNew = lines.findIndex((line) => line.startsWith('"%NODE%" -e "var n = process.versions.node'));
  assert.ok(isNew > lines.indexOf('if exist "%NODE%" goto known') && isNew < lines.indexOf(':known'));
  assert.match(lines[isNew] ?? '', /^"%NODE%" -e "[^"%]*" <nul >nul 2>nul$/);
  assert.equal(lines[isNew + 1], 'if errorlevel 1 goto gone');
  assert.ok(lines.includes('if "%HIVEBAR_HOME%"=="" set "HIVEBAR_HOME=C:\\Users\\100%% ada\\hivebar"'));
  assert.ok(lines.includes('"%NODE%" "%ENTRY%" hook --harness %~1 --event %~2 --persona "%~3"'));
  assert.equal(lines.filter((line) => line.startsWith('chcp')).length, 0);
  assert.ok(formatCmdScript({ ...FACTS, entry: 'C:\\Jörg\\hook.cjs' }).includes('chcp 65001 >nul'));
  for (const [at, line] of lines.entries())
    if (line.startsWith(':')) assert.match(lines[at - 1] ?? '', /^exit \/b 0$|^goto /);
  assert.throws(() => formatCmdScript({ ...FACTS, node: 'C:\\a"b' }), RangeError);
});

test('G6 a persona that cmd would take apart is refused with the way out', () => {
  const format = (persona: string): string =>
    formatCmdCommand('cmd', { script: 'C:\\s', harness: 'codex', event: 'Stop', persona });
  assert.equal(format('Zoë 2'), 'call "C:\\s.cmd" codex Stop "Zoë 2"');
  assert.throws(() => formatLauncher('win32', 'C:\\s', 'a&calc'), { code: 'usage', message: /HIVEBAR_PERSONA/ });
  for (const persona of ['a"b', 'a%PATH%', 'a&calc', 'a^b', 'a|b'])
    assert.throws(() => format(persona), {
      code: 'usage',
      message: /HIVEBAR_PERSONA/,
    });
});

/** What each of them writes for a persona, with `@` for the script; see the shells in `core/hooks/harness`. */
const COMMANDS: Readonly<Partial<Record<HarnessName, string>>> = {
  gemini: "& '@.cmd' gemini SessionStart 'ada'",
  qwen: "& '@.cmd' qwen SessionStart 'ada'",
  copilot: "& '@.cmd' copilot SessionStart 'ada'",
  cursor: 'cmd /d /c call "@.cmd" cursor SessionStart "ada"',
  goose: '@.cmd goose SessionStart ada',
};

for (const [name, words] of Object.entries(COMMANDS))
  test(`${name} on Windows is given a command for its shell, which is found again, tried and removed`, async () => {
    using r = rig();
    const harness = name as HarnessName;
    const script = r.home.at('state/hook/hivebar-hook');
    const command = words.replace('@', script);
    const { path } = r.installer.install(harness, 'user', 'ada');
    assert.ok(existsSync(`${script}.cmd`));
    const written = readFileSync(path, 'utf8');
    assert.ok(written.includes(JSON.stringify(command)), written);
    assert.equal(written.includes(`"powershell": ${JSON.stringify(command)}`), name === 'copilot');
    assert.equal(written.includes('"shell": "powershell"'), name === 'qwen');
    const status = r.installer.readStatus(harness, 'user');
    assert.partialDeepStrictEqual(status, { standing: 'installed', persona: 'ada', script: 'right', command });
    assert.match(status.missing ?? '', /which is gone$/, 'the Node of the test');
    await r.installer.probe(status);
    assert.deepEqual(r.tried, [command]);
    assert.equal(r.installer.install(harness, 'user', 'ada').changed, false);
    assert.equal(r.installer.install(harness, 'user', null).changed, true);
    assert.equal(r.installer.readStatus(harness, 'user').persona, null);
    assert.equal(r.installer.uninstall(harness, 'user').changed, true);
    assert.equal(existsSync(path), false);
  });

test('a path that a shell of Windows would change or take apart is refused, with the way out', () => {
  const format = (shell: Parameters<typeof formatCmdCommand>[0], script: string, persona: string | null = null) =>
    formatCmdCommand(shell, { script, harness: 'goose', event: 'Stop', persona });
  const refused = { code: 'usage', message: /HIVEBAR_HOME/ } as const;
  assert.equal(format('powershell', "C:\\o'neil & $x"), "& 'C:\\o''neil & $x.cmd' goose Stop");
  assert.equal(format('cmd or powershell', 'C:\\a b', 'Zoë 2'), 'cmd /d /c call "C:\\a b.cmd" goose Stop "Zoë 2"');
  assert.equal(format('cmd, no quotes', 'C:\\PROGRA~1\\x', 'ada'), 'C:\\PROGRA~1\\x.cmd goose Stop ada');
  for (const path of ['C:\\a$b', 'C:\\a`b', 'C:\\a%b']) assert.throws(() => format('cmd or powershell', path), refused);
  for (const path of ['C:\\a b', 'C:\\a&b', 'C:\\Jörg']) assert.throws(() => format('cmd, no quotes', path), refused);
  assert.throws(() => format('cmd, no quotes', 'C:\\a', 'Zoë 2'), refused);
  for (const shell of ['powershell', 'cmd or powershell'] as const)
    assert.throws(() => format(shell, 'C:\\a', "o'neil"), { code: 'usage', message: /HIVEBAR_PERSONA/ });
});

test('the script for cmd says at a start that Hivebar is gone, but not to programs that show no such message', () => {
  const lines = formatCmdScript(FACTS).split('\r\n');
  const gone = lines.slice(lines.indexOf(':gone'));
  assert.deepEqual(
    gone.slice(1, 4),
    ['copilot', 'cursor', 'goose'].map((name) => `if /i "%~1"=="${name}" exit /b 0`),
  );
  assert.match(gone[4] ?? '', /^if \/i "%~2"=="SessionStart" echo \{"systemMessage"/);
});

test('G9 the Nodes of a package are those in and beside its folder, and the one of its prefix', () => {
  assert.deepEqual(findNodeCandidates('/opt/homebrew/lib/node_modules/hivebar', 'darwin'), [
    '/opt/homebrew/lib/node_modules/hivebar/node_modules/node/bin/node',
    '/opt/homebrew/lib/node_modules/node/bin/node',
    '/opt/homebrew/bin/node',
  ]);
  assert.deepEqual(findNodeCandidates('/src/hivebar', 'linux'), ['/src/hivebar/node_modules/node/bin/node']);
  assert.equal(findNodeCandidates('C:\\npm\\node_modules\\hivebar', 'win32').at(-1), 'C:\\npm\\node.exe');
});
