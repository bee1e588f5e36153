import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { realRandom } from '../../core/ports/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { BACKUP } from './harness-settings-file.node.ts';
import { createInstaller, type HookInstallerNeeds } from './hook-installer.ts';

function rig(facts: { readonly node?: string } = {}) {
  const home = scratch();
  const folder = (name: string) => ({
    claude: home.at(name, '.claude'),
    codex: home.at(name, '.codex'),
    opencode: home.at(name, '.opencode'),
  });
  for (const dir of ['user', 'project', 'user/.claude', 'project/.claude']) mkdirSync(home.at(dir));
  const needs: HookInstallerNeeds = {
    os: 'linux',
    managed: { claude: [home.at('managed.json')], codex: [home.at('requirements.toml')] },
    findVersion: () => null,
    tryCommand: async () => null,
    random: realRandom,
    run: home.at('state/run'),
    scriptPath: home.at('state/hook/hivebar-hook'),
    script: { node: '/n/node', otherNodes: [], entry: '/e/hivebar.cjs', state: home.at('state'), leads: {}, ...facts },
    folders: { user: folder('user'), project: folder('project') },
  };
  return {
    home,
    needs,
    installer: createInstaller(needs),
    user: home.at('user/.claude/settings.json'),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

const mode = (path: string): number => statSync(path).mode & 0o777;

test('given no settings, install makes them, private, with a script that can be run; again it changes nothing', () => {
  using r = rig();
  assert.deepEqual(r.installer.install('codex', 'user', 'ada'), {
    path: r.home.at('user/.codex/hooks.json'),
    changed: true,
  });
  assert.equal(mode(r.home.at('user/.codex/hooks.json')), 0o600);
  assert.equal(mode(r.home.at('state/hook/hivebar-hook')), 0o700);
  assert.equal(mode(r.home.at('state/hook')), 0o700);
  assert.equal(mode(r.home.at('state/run/activity')), 0o700);
  assert.equal(mode(r.home.at('user/.codex/hivebar-hook')), 0o700);
  assert.deepEqual(readdirSync(r.home.at('user/.codex')).sort(), ['hivebar-hook', 'hooks.json']);
  assert.equal(r.installer.install('codex', 'user', 'ada').changed, false);
  const { trust, missing, ...status } = r.installer.readStatus('codex', 'user');
  assert.equal(missing, `${r.needs.scriptPath} names /n/node, which is gone`);
  assert.equal(trust?.is, 'untrusted');
  assert.deepEqual(status, {
    standing: 'installed',
    foreign: 0,
    persona: 'ada',
    script: 'right',
    command: `'${r.home.at('user/.codex/hivebar-hook')}' codex SessionStart`,
    obstacles: [],
    plugin: null,
    path: r.home.at('user/.codex/hooks.json'),
  });
});

test('what a user of Codex trusted stays the same for another persona, another place and the next version; only the launcher changes', () => {
  using r = rig();
  const settings = r.home.at('user/.codex/hooks.json');
  const launcher = r.home.at('user/.codex/hivebar-hook');
  const persona = () => r.installer.readStatus('codex', 'user').persona;
  r.installer.install('codex', 'user', "o'neil");
  const before = readFileSync(settings, 'utf8');
  assert.equal(persona(), "o'neil");
  assert.match(readFileSync(launcher, 'utf8'), /\npersona='o'\\''neil'\n/);
  for (const whose of ['bo', null, "o'neil"]) {
    assert.equal(r.installer.install('codex', 'user', whose).changed, true);
    assert.equal(persona(), whose);
    assert.equal(r.installer.install('codex', 'user', whose).changed, false);
  }
  const moved = createInstaller({ ...r.needs, scriptPath: r.home.at('elsewhere/hook/hivebar-hook') });
  assert.equal(moved.readStatus('codex', 'user').script, 'absent');
  moved.install('codex', 'user', 'ada');
  assert.equal(moved.readStatus('codex', 'user').script, 'right');
  assert.equal(r.installer.readStatus('codex', 'user').script, 'old', 'they run that of the other place');
  assert.equal(readFileSync(settings, 'utf8'), before);

  r.installer.install('codex', 'project', 'ada');
  const project = readFileSync(r.home.at('project/.codex/hooks.json'), 'utf8');
  assert.equal(r.installer.readStatus('codex', 'project').persona, 'ada');
  r.installer.install('codex', 'project', 'bo');
  assert.equal(readFileSync(r.home.at('project/.codex/hooks.json'), 'utf8'), project);
  assert.deepEqual(
    readdirSync(r.home.at('project/.codex')),
    ['hooks.json'],
    'no program in a folder that others share',
  );
  assert.match(project, /state\/hook\/hivebar-hook-[0-9a-f]{16}' codex Stop"/);

  r.installer.uninstall('codex', 'project');
  r.installer.uninstall('codex', 'user');
  assert.deepEqual(readdirSync(r.home.at('user/.codex')), []);
  assert.deepEqual(readdirSync(r.home.at('state/hook')), ['hivebar-hook']);
});

test('hooks of an earlier form, whose command names the persona, keep it and move none of the others when they are renewed', () => {
  using r = rig();
  mkdirSync(r.home.at('user/.codex'));
  const other = { hooks: [{ type: 'command', command: '/other' }] };
  const old = { hooks: [{ type: 'command', command: `'${r.needs.scriptPath}' codex Stop 'cy'`, timeout: 10 }] };
  r.home.write('user/.codex/hooks.json', JSON.stringify({ hooks: { Stop: [other, old, other] } }));
  const status = r.installer.readStatus('codex', 'user');
  assert.deepEqual([status.standing, status.persona, status.foreign], ['old', 'cy', 2]);
  r.installer.install('codex', 'user', status.persona);
  const { hooks } = JSON.parse(readFileSync(r.home.at('user/.codex/hooks.json'), 'utf8'));
  const command = `'${r.home.at('user/.codex/hivebar-hook')}' codex Stop`;
  assert.deepEqual(hooks.Stop, [other, { hooks: [{ type: 'command', command, timeout: 10 }] }, other]);
  assert.equal(r.installer.readStatus('codex', 'user').persona, 'cy');
  r.installer.uninstall('codex', 'user');
  assert.deepEqual(JSON.parse(readFileSync(r.home.at('user/.codex/hooks.json'), 'utf8')), {
    hooks: { Stop: [other, other] },
  });
});

test('given settings, their mode stays, and what they were is kept once: as before our hooks, not as before the last change', () => {
  using r = rig();
  const before = '{"model": "x"}';
  writeFileSync(r.user, before);
  chmodSync(r.user, 0o640);
  r.installer.install('claude', 'user', null);
  r.installer.install('claude', 'user', 'ada');
  assert.equal(mode(r.user), 0o640);
  assert.equal(mode(r.user + BACKUP), 0o640);
  assert.equal(readFileSync(r.user + BACKUP, 'utf8'), before);
  assert.deepEqual(readdirSync(r.home.at('user/.claude')).sort(), ['settings.json', `settings.json${BACKUP}`]);
  assert.deepEqual(r.installer.uninstall('claude', 'user'), { path: r.user, changed: true });
  assert.equal(readFileSync(r.user, 'utf8'), before);
  assert.equal(r.installer.uninstall('claude', 'user').changed, false);
  assert.equal(r.installer.readStatus('claude', 'user').standing, 'absent');
});

test('given a Claude Code that would ignore the whole file for an event that it does not know, that event is left out', () => {
  using r = rig();
  let version: readonly [number, number, number] | null = null;
  const installer = createInstaller({ ...r.needs, findVersion: () => version });
  const events = (): readonly string[] => Object.keys(JSON.parse(readFileSync(r.user, 'utf8')).hooks);
  const status = () => installer.readStatus('claude', 'user').standing;
  const leftOut = () => installer.listLeftOut('claude', 'user');
  for (const unsafe of [null, [2, 1, 77]] as const) {
    version = unsafe;
    installer.install('claude', 'user', 'ada');
    assert.equal(events().includes('StopFailure'), false);
    assert.deepEqual([status(), leftOut()], ['installed', ['StopFailure']]);
  }
  version = [2, 1, 78];
  assert.equal(status(), 'old');
  installer.install('claude', 'user', 'ada');
  assert.equal(events().at(-1), 'StopFailure');
  assert.deepEqual([status(), leftOut()], ['installed', []]);
  version = null; // started where it is not on PATH
  assert.deepEqual([status(), leftOut(), installer.install('claude', 'user', 'ada').changed], ['installed', [], false]);
  version = [2, 1, 77]; // an older one was put back
  assert.equal(status(), 'old');
  installer.install('claude', 'user', 'ada');
  assert.equal(events().includes('StopFailure'), false);
  version = [2, 1, 78];
  assert.match(installer.print('claude', 'user', 'ada').text, /"StopFailure"/);
  assert.deepEqual(installer.listLeftOut('codex', 'user'), []);
});

test('given nothing to take out, no file is made', () => {
  using r = rig();
  assert.equal(r.installer.uninstall('claude', 'project').changed, false);
  assert.deepEqual(readdirSync(r.home.at('project/.claude')), []);
});

test('given settings that cannot be parsed, they are refused byte by byte, with no backup', () => {
  using r = rig();
  for (const text of ['{"a": 1,}', '{"hooks": []}', 'not json']) {
    writeFileSync(r.user, text);
    assert.throws(() => r.installer.install('claude', 'user', 'ada'), { code: 'settings' });
    assert.throws(() => r.installer.readStatus('claude', 'user'), { code: 'settings' });
    assert.equal(readFileSync(r.user, 'utf8'), text);
  }
  writeFileSync(r.user, Buffer.from([0x7b, 0xff, 0x7d]));
  assert.throws(() => r.installer.install('claude', 'user', 'ada'), { code: 'unreadable' });
  assert.deepEqual(readdirSync(r.home.at('user/.claude')), ['settings.json']);
});

test('given a link of the user, the file it leads to is changed and the link stays; in a project it is refused', () => {
  using r = rig();
  mkdirSync(r.home.at('dotfiles'));
  const real = r.home.write('dotfiles/claude.json', '{}\n');
  symlinkSync(real, r.user);
  assert.equal(r.installer.install('claude', 'user', 'ada').changed, true);
  assert.ok(lstatSync(r.user).isSymbolicLink());
  assert.match(readFileSync(real, 'utf8'), /hivebar-hook' claude Stop 'ada'/);

  const local = r.home.at('project/.claude/settings.local.json');
  const victim = r.home.write('dotfiles/victim', '{}\n');
  symlinkSync(victim, local);
  assert.throws(() => r.installer.install('claude', 'project', 'ada'), {
    code: 'unreadable',
    message: /symbolic link/,
  });
  symlinkSync(r.home.at('dotfiles'), r.home.at('project/.codex'));
  assert.throws(() => r.installer.install('codex', 'project', 'ada'), { code: 'unreadable', message: /symbolic link/ });
  assert.equal(readFileSync(victim, 'utf8'), '{}\n');
  assert.deepEqual(readdirSync(r.home.at('dotfiles')).sort(), ['claude.json', `claude.json${BACKUP}`, 'victim']);
});

test('given a project whose folder of OpenCode is a link, or holds one, no plugin is written through it', () => {
  using r = rig();
  mkdirSync(r.home.at('dotfiles'));
  const link = r.home.at('project/.opencode');
  symlinkSync(r.home.at('dotfiles'), link);
  const refusal = { code: 'unreadable', message: /symbolic link/ };
  assert.throws(() => r.installer.install('opencode', 'project', 'ada'), refusal);
  rmSync(link);
  mkdirSync(link);
  symlinkSync(r.home.at('dotfiles'), r.home.at('project/.opencode/plugins'));
  assert.throws(() => r.installer.install('opencode', 'project', 'ada'), refusal);
  assert.deepEqual(readdirSync(r.home.at('dotfiles')), []);
});

test('given the plugin of OpenCode, its status is what its bytes are; what it runs and is gone is named', () => {
  using r = rig();
  const path = r.home.at('user/.opencode/plugins/hivebar.js');
  const read = () => r.installer.readStatus('opencode', 'user');
  assert.deepEqual(r.installer.install('opencode', 'user', 'ada'), { path, changed: true });
  assert.equal(r.installer.install('opencode', 'user', 'ada').changed, false);
  assert.deepEqual(readdirSync(r.home.at('user/.opencode/plugins')), ['hivebar.js']);
  const { missing, ...status } = read();
  assert.equal(missing, `${r.needs.scriptPath} names /n/node, which is gone`);
  assert.deepEqual(status, {
    ...{ standing: 'installed', foreign: 0, persona: 'ada', script: 'right', obstacles: [], path, trust: null },
    plugin: null,
    command: `'${r.needs.scriptPath}' opencode SessionStart 'ada'`,
  });
  rmSync(r.needs.scriptPath);
  assert.equal(read().missing, `${path}: SCRIPT names ${r.needs.scriptPath}, which is gone`);
  const ours = readFileSync(path, 'utf8');
  assert.equal(r.installer.print('opencode', 'user', 'ada').text, ours);
  writeFileSync(path, `${ours}// mine\n`);
  assert.equal(read().standing, 'old');
  assert.throws(() => r.installer.install('opencode', 'user', 'ada'), { code: 'settings', message: /changed after/ });
  assert.throws(() => r.installer.uninstall('opencode', 'user'), { code: 'settings', message: /changed after/ });
  writeFileSync(path, 'export const Mine = async () => ({});\n');
  assert.deepEqual([read().standing, read().foreign], ['absent', 1]);
  assert.throws(() => r.installer.install('opencode', 'user', 'ada'), { code: 'settings', message: /did not write/ });
  assert.equal(r.installer.uninstall('opencode', 'user').changed, false);
  assert.equal(readFileSync(path, 'utf8'), 'export const Mine = async () => ({});\n');
});

test('given a link that leads nowhere, or a folder in place of the file, it is said and nothing is made', () => {
  using r = rig();
  symlinkSync(r.home.at('gone/settings.json'), r.user);
  assert.throws(() => r.installer.install('claude', 'user', 'ada'), { code: 'unreadable', message: /nowhere/ });
  mkdirSync(r.home.at('project/.codex/hooks.json'), { recursive: true });
  assert.throws(() => r.installer.install('codex', 'project', 'ada'), {
    code: 'unreadable',
    message: /not a regular file/,
  });
});

test('given somebody who saves the settings meanwhile, what they saved is kept and ours is put into it', () => {
  using r = rig();
  writeFileSync(r.user, '{}\n');
  let saves = 1;
  // Random is asked for a name between reading and replacing.
  const meddling = createInstaller({
    random: {
      ...realRandom,
      hex(n) {
        if (saves-- > 0) writeFileSync(r.user, '{"saved": true}\n');
        return realRandom.hex(n);
      },
    },
    os: 'linux',
    managed: { claude: [], codex: [] },
    findVersion: () => null,
    tryCommand: async () => null,
    run: r.home.at('state/run'),
    scriptPath: join(r.home.dir, 'state/hook/hivebar-hook'),
    script: { node: '/n/node', otherNodes: [], entry: '/e', state: r.home.at('state'), leads: {} },
    folders: { user: { claude: r.home.at('user/.claude'), codex: '' }, project: { claude: '', codex: '' } },
  });
  r.installer.install('claude', 'project', null); // the script is there already, or it would take the name
  saves = 0;
  meddling.install('claude', 'user', null);
  saves = 2;
  assert.equal(meddling.install('claude', 'user', 'ada').changed, true);
  const made = JSON.parse(readFileSync(r.user, 'utf8'));
  assert.equal(made.saved, true);
  assert.equal(meddling.readStatus('claude', 'user').standing, 'installed');
});

test('given a program that has moved, the script is old, and install writes it anew without touching the settings', () => {
  using r = rig();
  r.installer.install('claude', 'user', 'ada');
  writeFileSync(r.home.at('state/hook/hivebar-hook'), '#!/bin/sh\n# older\n');
  assert.equal(r.installer.readStatus('claude', 'user').script, 'old');
  assert.equal(r.installer.install('claude', 'user', 'ada').changed, false);
  assert.equal(r.installer.readStatus('claude', 'user').script, 'right');
});

test('C7 uninstall leaves no file where none was, and the empty "hooks" of a user where it was', () => {
  using r = rig();
  r.installer.install('codex', 'user', 'ada');
  assert.deepEqual(r.installer.uninstall('codex', 'user'), {
    path: r.home.at('user/.codex/hooks.json'),
    changed: true,
  });
  assert.deepEqual(readdirSync(r.home.at('user/.codex')), []);
  for (const before of ['{"hooks": {}}', '{}\n', '{ "hooks" : { "Stop" : [] } }', '']) {
    writeFileSync(r.user, before);
    r.installer.install('claude', 'user', 'ada');
    r.installer.uninstall('claude', 'user');
    assert.equal(readFileSync(r.user, 'utf8'), before);
  }
  // What was kept of another time says nothing of a file that was not there.
  rmSync(r.user);
  r.installer.install('claude', 'user', 'ada');
  r.installer.uninstall('claude', 'user');
  assert.equal(existsSync(r.user), false);
});

test('C7 given settings that cannot be written, it is said with the file and nothing at all is done', () => {
  using r = rig();
  // A file in place of the folder: no mode holds for root.
  r.home.write('user/.codex', '');
  assert.throws(() => r.installer.check('codex', 'user'), { message: /hooks\.json/ });
  assert.throws(() => r.installer.install('codex', 'user', 'ada'), { message: /hooks\.json/ });
  assert.equal(existsSync(r.home.at('state')), false, 'neither script nor folders of ours');
  r.installer.check('claude', 'user');
  assert.deepEqual(readdirSync(r.home.at('user/.claude')), [], 'the check leaves nothing');
});

test('C6 what keeps a harness from running hooks is named with its file: its switches, and those of an administrator', () => {
  using r = rig();
  r.installer.install('claude', 'user', 'ada');
  r.installer.install('codex', 'user', 'ada');
  const obstacles = (harness: 'claude' | 'codex', scope: 'user' | 'project' = 'user') =>
    r.installer.readStatus(harness, scope).obstacles;
  assert.deepEqual([obstacles('claude'), obstacles('codex')], [[], []]);
  const settings = JSON.parse(readFileSync(r.user, 'utf8'));
  writeFileSync(r.user, JSON.stringify({ ...settings, disableAllHooks: true }));
  assert.deepEqual(obstacles('claude'), [`${r.user} says "disableAllHooks": true`]);
  assert.deepEqual(obstacles('claude', 'project'), obstacles('claude'), 'it holds for projects too');
  writeFileSync(r.user, JSON.stringify({ ...settings, disableAllHooks: false, allowManagedHooksOnly: true }));
  assert.deepEqual(obstacles('claude'), []);
  r.home.write('project/.claude/settings.json', '{"disableAllHooks": true}');
  assert.deepEqual([obstacles('claude').length, obstacles('claude', 'project').length], [0, 1]);
  r.home.write('project/.claude/settings.local.json', '{"disableAllHooks": false}');
  assert.deepEqual(obstacles('claude', 'project'), [], 'the last one decides');
  r.home.write('managed.json', '{"disableAllHooks": true}');
  assert.deepEqual(obstacles('claude', 'project'), [`${r.home.at('managed.json')} says "disableAllHooks": true`]);
  r.home.write('managed.json', '{"allowManagedHooksOnly": true}');
  assert.deepEqual(obstacles('claude'), [`${r.home.at('managed.json')} says "allowManagedHooksOnly": true`]);
  const toml = r.home.write(
    'user/.codex/config.toml',
    'model = "x"\n[features]\nhooks = false # no\n[other]\nhooks = false\n',
  );
  assert.deepEqual(obstacles('codex'), [`${toml} says features.hooks = false`]);
  writeFileSync(toml, 'features.codex_hooks = false\n');
  assert.deepEqual(obstacles('codex'), [`${toml} says features.codex_hooks = false`]);
  writeFileSync(toml, '[features]\nhooks = true\n');
  r.home.write('requirements.toml', 'allow_managed_hooks_only = true\n');
  assert.match(obstacles('codex').join(), /requirements\.toml says allow_managed_hooks_only = true/);
});

test('what the settings run and is gone, or may not be run, is named with the file and the key', () => {
  using r = rig();
  const node = r.home.write('node', '');
  const installer = createInstaller({ ...r.needs, script: { ...r.needs.script, node, entry: node } });
  const missing = (harness: 'claude' | 'codex') => installer.readStatus(harness, 'user').missing;
  assert.equal(missing('claude'), null, 'nothing is installed');
  installer.install('claude', 'user', 'ada');
  installer.install('codex', 'user', 'ada');
  assert.deepEqual([missing('claude'), missing('codex')], [null, null]);
  const script = r.needs.scriptPath;
  const launcher = r.home.at('user/.codex/hivebar-hook');
  chmodSync(script, 0o600);
  const key = `${r.user}: hooks.SessionStart[0].hooks[0]`;
  assert.equal(missing('claude'), `${key} names ${script}, which is not executable`);
  rmSync(script);
  assert.equal(missing('claude'), `${key} names ${script}, which is gone`);
  assert.equal(missing('codex'), `${launcher} names ${script}, which is gone`);
  rmSync(launcher);
  const hooks = r.home.at('user/.codex/hooks.json');
  assert.equal(missing('codex'), `${hooks}: hooks.SessionStart[0].hooks[0] names ${launcher}, which is gone`);
  installer.install('claude', 'user', 'ada');
  rmSync(node);
  assert.equal(missing('claude'), `${script} names ${node}, which is gone`);
});

test('G9 a script whose Node or program is gone is mended; one of another copy that is there is left', () => {
  using r = rig();
  const path = r.home.at('state/hook/hivebar-hook');
  const at = (node: string, entry: string) =>
    createInstaller({ ...r.needs, script: { ...r.needs.script, node: r.home.at(node), entry: r.home.at(entry) } });
  for (const name of ['old', "n'ew", 'e.cjs']) r.home.write(name, '');
  const old = at('old', 'e.cjs');
  const now = at("n'ew", 'e.cjs');
  assert.deepEqual([now.repair(), now.findMissing()], [false, null], 'nothing is installed');
  old.install('claude', 'user', 'ada');
  const text = readFileSync(path, 'utf8');
  assert.deepEqual([now.repair(), now.findMissing()], [false, null]);
  assert.equal(readFileSync(path, 'utf8'), text, 'another copy, which is there');
  rmSync(r.home.at('old'));
  assert.equal(now.findMissing(), r.home.at('old'));
  assert.equal(old.repair(), false, 'that of the program itself would be no better');
  assert.equal(at('nowhere', 'e.cjs').repair(), false, 'nor would that of a program whose Node is gone');
  assert.equal(now.repair(), true);
  assert.deepEqual([now.findMissing(), now.readStatus('claude', 'user').script], [null, 'right']);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/form \d/, 'form 1'));
  assert.equal(now.repair(), true, 'an older form of ours');
  writeFileSync(path, '#!/bin/sh\n# not ours\n');
  assert.equal(now.repair(), false);
});
