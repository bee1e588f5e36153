import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { SHELLS } from '../../test/kit/hook-shell.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';

const SCRIPTS = join(import.meta.dirname, '..', '..', 'assets', 'plugin', 'scripts');
const SILENT = { code: 0, stdout: '', stderr: '' };

function write(home: Scratch, name: string, text: string): string {
  mkdirSync(dirname(home.at(name)), { recursive: true });
  return home.write(name, text);
}

function writeProgram(home: Scratch, name: string, text: string): void {
  chmodSync(write(home, name, `#!/bin/sh\n${text}`), 0o755);
}

/** A home in which the hook script says what it was given, and ends as a waiter that wakes. */
function rig(shell: readonly string[]) {
  const home = scratch();
  mkdirSync(home.at('project/below'), { recursive: true });
  const env = { HOME: home.dir, PATH: `${home.at('bin')}:/usr/bin:/bin`, CLAUDECODE: '1' };
  const start = (script: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const [file = 'sh', ...rest] = [...shell, join(SCRIPTS, script), ...args];
    const options = {
      encoding: 'utf8',
      env: { ...env, ...more },
      input: 'INPUT',
      cwd: home.at('project/below'),
    } as const;
    const { status: code, stdout, stderr } = spawnSync(file, rest, options);
    return { code, stdout, stderr };
  };
  return {
    home,
    start,
    install: (state = '.local/state/hivebar') =>
      writeProgram(home, `${state}/hook/hivebar-hook`, 'echo "RAN $*"\ncat\nexit 2\n'),
    hook: (harness: string, event = 'Stop', more = {}) => start('hook.sh', [harness, event], more),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

const ran = (harness: string, event = 'Stop') => ({ code: 2, stdout: `RAN ${harness} ${event}\nINPUT`, stderr: '' });

for (const shell of SHELLS) {
  const name = shell.join(' ');

  test(`${name}: given the script of an installed Hivebar, the hook of the plugin becomes it, wherever the state is`, () => {
    using r = rig(shell);
    assert.deepEqual(r.hook('claude'), SILENT, 'nothing is installed');
    r.install();
    for (const harness of ['claude', 'codex']) assert.deepEqual(r.hook(harness), ran(harness));
    r.install("o'ther state");
    for (const variable of ['HIVEBAR_HOME', 'XDG_STATE_HOME'] as const) {
      const value = r.home.at(variable === 'HIVEBAR_HOME' ? "o'ther state" : 'xdg');
      if (variable === 'XDG_STATE_HOME') r.install('xdg/hivebar');
      assert.deepEqual(r.hook('claude', 'Stop', { [variable]: value }), ran('claude'));
    }
    assert.deepEqual(r.hook('claude', 'Stop', { HIVEBAR_HOME: r.home.at('nowhere') }), SILENT);
  });

  test(`${name}: given a Hivebar whose script was never written, the first moment of a session writes it`, () => {
    using r = rig(shell);
    const script = r.home.at('.local/state/hivebar/hook');
    const lines = [
      `[ "$*" = 'hook print claude' ] || exit 1`,
      `mkdir -p '${script}'`,
      `printf '#!/bin/sh\\necho "RAN $*"\\ncat\\nexit 2\\n' >'${script}/hivebar-hook'`,
      `chmod 755 '${script}/hivebar-hook'`,
      'echo "what stands in settings"',
    ];
    writeProgram(r.home, 'bin/hivebar', `${lines.join('\n')}\n`);
    assert.deepEqual(r.hook('claude', 'PostToolUse'), SILENT, 'no program is started in a turn');
    assert.deepEqual(r.hook('claude', 'SessionStart'), ran('claude', 'SessionStart'));
  });

  test(`${name}: given the hook of this moment in settings, that of the plugin is silent, and at other moments it is not`, () => {
    using r = rig(shell);
    r.install();
    const written = (harness: string): string =>
      JSON.stringify({ command: `'/s/hook/hivebar-hook' ${harness} Stop 'ada'` });
    const files = {
      claude: ['.claude/settings.json', 'project/.claude/settings.json', 'project/.claude/settings.local.json'],
      codex: ['.codex/hooks.json', 'project/.codex/hooks.json', 'project/below/.codex/hooks.json'],
    } as const;
    const env = { CLAUDE_PROJECT_DIR: r.home.at('project') };
    for (const harness of ['claude', 'codex'] as const)
      for (const file of files[harness]) {
        write(r.home, file, written(harness));
        assert.deepEqual(r.hook(harness, 'Stop', env), SILENT, file);
        assert.deepEqual(r.hook(harness, 'PreCompact', env), ran(harness, 'PreCompact'), file);
        r.home.write(file, written(harness === 'claude' ? 'codex' : 'claude'));
        assert.deepEqual(r.hook(harness, 'Stop', env), ran(harness), file);
      }
    write(
      r.home,
      'project/.codex/hooks.json',
      written('codex').replace('hivebar-hook', 'hivebar-hook-0a1b2c3d4e5f6071'),
    );
    assert.deepEqual(r.hook('codex'), SILENT, 'the launcher of a project');
    const moved = { CLAUDE_CONFIG_DIR: r.home.at('elsewhere'), CODEX_HOME: r.home.at('elsewhere') };
    write(r.home, 'elsewhere/settings.json', written('claude'));
    assert.deepEqual(r.hook('claude', 'Stop', moved), SILENT);
  });

  test(`${name}: given a program that reads plugins of Claude Code, its hook is silent, and answers a probe`, () => {
    using r = rig(shell);
    r.install();
    assert.deepEqual(r.hook('claude', 'Stop', { CLAUDECODE: '' }), SILENT);
    assert.deepEqual(r.hook('claude', 'Stop', { CLAUDECODE: '', CLAUDE_CODE_SESSION_ID: 's' }), ran('claude'));
    assert.deepEqual(r.hook('claude', 'Stop', { CLAUDECODE: '', HIVEBAR_HOOK_PROBE: '1' }), ran('claude'));
  });

  test(`${name}: given no Hivebar on PATH, the MCP server of the plugin refuses its client with one sentence`, () => {
    using r = rig(shell);
    const request = JSON.stringify({
      method: 'initialize',
      params: { clientInfo: { id: 'x' } },
      jsonrpc: '2.0',
      id: 7,
    });
    const [file = 'sh', ...rest] = [...shell, join(SCRIPTS, 'mcp.sh')];
    const { status, stdout, stderr } = spawnSync(file, rest, {
      encoding: 'utf8',
      env: { PATH: '/nowhere' },
      input: `${request}\n`,
    });
    const message = 'Hivebar is not on the PATH of this program: install it and start this program again';
    assert.deepEqual(JSON.parse(stdout), { jsonrpc: '2.0', id: 7, error: { code: -32000, message } });
    assert.deepEqual([status, stderr], [1, `${message}\n`]);
    writeProgram(r.home, 'bin/hivebar', 'echo "MCP $*"\ncat\n');
    assert.deepEqual(r.start('mcp.sh', []), { code: 0, stdout: 'MCP mcp\nINPUT', stderr: '' });
  });
}
