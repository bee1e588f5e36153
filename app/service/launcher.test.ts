import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { getAssetPath, ICON } from '../package.node.ts';
import { programOnPath } from '../programs.node.ts';
import { formatLauncher } from './launcher.ts';
import { createLoginStart } from './login-start.ts';

const ENTRY = '.config/autostart/hivebar.desktop';
const LAUNCHER = '.local/share/applications/hivebar.desktop';
const PROGRAM = { node: process.execPath, entry: '/opt/hive bar/hivebar.cjs', icon: getAssetPath(ICON) };

function scene(env: Record<string, string> = { DISPLAY: ':0' }) {
  const home = scratch();
  const program = { ...PROGRAM, state: home.at('state'), environment: {} };
  const login = createLoginStart({
    ...{ os: 'linux' as const, env: { PATH: '', ...env }, home: home.at(''), program },
    ...{ disk: createRealDisk(silentLog), random: realRandom, spawn: realSpawn },
  });
  const text = (name: string): string => readFileSync(home.at(name), 'utf8');
  return { home, login, program, text, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

/** Reads a desktop entry strictly: one group, known keys, each once. */
function parseEntry(text: string): Readonly<Record<string, string>> {
  const [group, ...lines] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(group, '[Desktop Entry]');
  const pairs = lines.map((line) => /^([A-Za-z][A-Za-z0-9-]*)=(.*)$/.exec(line)?.slice(1) as [string, string]);
  assert.equal(new Set(pairs.map(([key]) => key)).size, pairs.length, text);
  return Object.fromEntries(pairs);
}

test('start at login comes with an entry in the menu of applications, and both have a name, a comment and an icon that exists', async () => {
  using s = scene();
  await s.login.set(true);
  for (const name of [ENTRY, LAUNCHER]) {
    const entry = parseEntry(s.text(name));
    assert.deepEqual(
      [entry.Type, entry.Name, entry.Comment, entry.Terminal],
      ['Application', 'Hivebar', 'The inboxes of the agents on this machine', 'false'],
    );
    assert.ok(statSync(entry.Icon ?? '').isFile(), entry.Icon);
    const validate = programOnPath('desktop-file-validate', { PATH: process.env.PATH }, 'linux');
    if (validate !== null) assert.equal(execFileSync(validate, [s.home.at(name)], { encoding: 'utf8' }), '');
  }
  assert.match(parseEntry(s.text(LAUNCHER)).Exec ?? '', /^"[^"]+" "\/opt\/hive bar\/hivebar\.cjs" "run" "--open"$/);
  await s.login.set(false);
  assert.deepEqual(
    [ENTRY, LAUNCHER].filter((name) => existsSync(s.home.at(name))),
    [],
  );
});

test('an entry of that name that is not ours is neither replaced nor removed', async () => {
  using s = scene();
  mkdirSync(dirname(s.home.at(LAUNCHER)), { recursive: true });
  writeFileSync(s.home.at(LAUNCHER), '[Desktop Entry]\nName=Mine\n');
  await s.login.set(true);
  await s.login.set(false);
  assert.equal(s.text(LAUNCHER), '[Desktop Entry]\nName=Mine\n');
});

test('XDG_DATA_HOME says where it is written', async () => {
  using data = scratch();
  using s = scene({ DISPLAY: ':0', XDG_DATA_HOME: data.at('share') });
  await s.login.set(true);
  assert.equal(readFileSync(data.at('share/applications/hivebar.desktop'), 'utf8'), formatLauncher(s.program));
  assert.ok(!existsSync(s.home.at(LAUNCHER)));
});
