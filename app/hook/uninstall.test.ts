import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { realRandom } from '../../core/ports/index.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { BACKUP } from './harness-settings-file.node.ts';
import { createInstaller, type HookInstallerNeeds } from './hook-installer.ts';
import { formatPlugin } from './opencode-plugin.ts';
import { createEntries, HARNESSES, type HarnessName, RECIPES } from './recipe.ts';

/** What a settings file may look like. `@EVENT@`, `@OTHER@` and `@OWN@` are in the form of each harness. */
interface Shape {
  readonly name: string;
  /** Null: there is no file. */
  readonly text?: string | null;
  readonly base64?: string;
  /** What an earlier version made of it. */
  readonly older?: string;
  /** The earlier version left none. */
  readonly backup?: false;
  readonly mode?: number;
  readonly link?: 'file' | 'chain' | 'folder';
  /** The code of the fault with which the file is left as it is. */
  readonly refused?: string;
}

const readShapes = <T>(name: string): readonly T[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'golden', name), 'utf8')) as readonly T[];

const SHAPES = readShapes<Shape>('uninstall-shapes.json');

/** Everything below a folder: bytes, modes and links. */
function listTree(dir: string): Readonly<Record<string, string>> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  return Object.fromEntries(
    names.toSorted().map((path) => {
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return [relative(dir, path), `-> ${readlinkSync(path)}`];
      return [relative(dir, path), stat.isDirectory() ? mode : `${mode} ${readFileSync(path).toString('base64')}`];
    }),
  );
}

/** A user of one harness, whose settings are of one shape after the other. */
function rig(harness: HarnessName, os: NodeJS.Platform = 'linux') {
  const home = scratch();
  const folders = Object.fromEntries(HARNESSES.map((name) => [name, home.at('user', name)])) as Record<
    HarnessName,
    string
  >;
  const projects = Object.fromEntries(
    HARNESSES.map((name) => [name, home.at('project', RECIPES[name].projectFolder)]),
  ) as Record<HarnessName, string>;
  const scriptPath = home.at('state/hook/hivebar-hook');
  const needs: HookInstallerNeeds = {
    os,
    managed: Object.fromEntries(HARNESSES.map((name) => [name, []])) as unknown as Record<HarnessName, string[]>,
    findVersion: () => null,
    tryCommand: async () => null,
    random: realRandom,
    run: home.at('state/run'),
    scriptPath,
    script: { node: '/n/node', otherNodes: [], entry: '/e/hivebar.cjs', state: home.at('state'), leads: {} },
    folders: { user: folders, project: projects },
  };
  const installer = createInstaller(needs);
  /** The same user with another HIVEBAR_HOME. */
  const other = createInstaller({
    ...needs,
    run: home.at('other/run'),
    scriptPath: home.at('other/hook/hivebar-hook'),
  });
  const recipe = RECIPES[harness];
  const event = Object.keys(recipe.events).at(-1) ?? '';
  const formatItem = (script: string, persona: string | null): string =>
    JSON.stringify(createEntries(recipe, event, { script, persona, os })[0]?.item);
  const fill = (text: string): string =>
    text
      .replaceAll('@EVENT@', event)
      .replaceAll('@OTHER@', formatItem('/opt/other/hook', null))
      .replaceAll('@OWN@', formatItem(scriptPath, 'earlier'))
      .replaceAll('@LONG@', 'long '.repeat(20_000));
  const folder = folders[harness];
  const project = join(projects[harness], recipe.files.project);
  return { home, installer, other, scriptPath, fill, folder, path: join(folder, recipe.files.user), project };
}

/** Puts the file where the links of the shape lead to. */
function place(home: Scratch, folder: string, path: string, { link, mode = 0o600 }: Shape): (bytes: Buffer) => string {
  for (const name of ['user', 'dotfiles']) {
    rmSync(home.at(name), { recursive: true, force: true });
    mkdirSync(home.at(name));
  }
  rmSync(home.at('.agents'), { recursive: true, force: true }); // where Goose finds its plugins
  if (link === 'folder') symlinkSync(home.at('dotfiles'), folder);
  mkdirSync(dirname(path), { recursive: true });
  const real = link === 'file' || link === 'chain' ? home.at('dotfiles/real') : path;
  if (link === 'chain') symlinkSync(real, home.at('dotfiles/between'));
  if (link === 'chain') symlinkSync(home.at('dotfiles/between'), path);
  if (link === 'file') symlinkSync(real, path);
  return (bytes) => {
    writeFileSync(real, bytes);
    chmodSync(real, mode);
    return real;
  };
}

const TARGETS = HARNESSES.filter((name) => RECIPES[name].form.is !== 'plugin').flatMap((harness) =>
  (['linux', 'win32'] as const).map((os) => [harness, os] as const),
);

for (const [harness, os] of TARGETS)
  describe(`${harness} on ${os}: uninstall gives back the settings byte for byte, with their mode, and leaves nothing`, () => {
    const { home, installer, fill, folder, path } = rig(harness, os);
    after(() => home[Symbol.dispose]());
    for (const shape of SHAPES)
      test(shape.name, () => {
        const put = place(home, folder, path, shape);
        const { text = '', base64, older, refused } = shape;
        const original = base64 === undefined ? Buffer.from(fill(text ?? '')) : Buffer.from(base64, 'base64');
        if (text !== null) put(original);
        const listOfUser = () => [listTree(home.at('user')), listTree(home.at('dotfiles'))];
        const before = listOfUser();
        if (older !== undefined) {
          const real = put(Buffer.from(fill(older)));
          if (shape.backup !== false) writeFileSync(real + BACKUP, original, { mode: statSync(real).mode });
        }
        if (refused !== undefined) {
          assert.throws(() => installer.install(harness, 'user', 'ada'), { code: refused });
          assert.throws(() => installer.uninstall(harness, 'user'), { code: refused });
          return assert.deepEqual(listOfUser(), before);
        }
        installer.install(harness, 'user', 'ada');
        installer.install(harness, 'user', 'bo');
        assert.equal(installer.readStatus(harness, 'user').standing, 'installed');
        assert.equal(installer.uninstall(harness, 'user').changed, true);
        assert.deepEqual(listOfUser(), before);
      });
  });

/** What the folder of plugins may hold. `@OWN@` and others are plugins of ours. */
interface PluginShape extends Omit<Shape, 'backup'> {
  /** Other files of the folder of settings. */
  readonly files?: Readonly<Record<string, string>>;
  /** What is written in place of what, everywhere in the text. */
  readonly swap?: readonly [string, string];
  /** The file is not ours: `install` refuses it, and `uninstall` finds nothing. */
  readonly foreign?: true;
}

describe('opencode: uninstall removes our plugin and no other byte, and a file that a person changed stays', () => {
  const { home, installer, scriptPath, folder, path } = rig('opencode');
  after(() => home[Symbol.dispose]());
  const { timeout } = RECIPES.opencode;
  const olderBody = 'const SCRIPT = "/gone";\nconst PERSONA = "earlier";\n';
  const digest = createHash('sha256').update(olderBody).digest('hex').slice(0, 16);
  const plugins: Readonly<Record<string, string>> = {
    '@OWN@': formatPlugin({ script: scriptPath, persona: 'earlier' }, timeout),
    '@NOBODY@': formatPlugin({ script: scriptPath, persona: null }, timeout),
    '@ELSEWHERE@': formatPlugin({ script: '/elsewhere/hook/hivebar-hook', persona: 'earlier' }, timeout),
    '@OLDER@': `// Hivebar plugin for OpenCode, ${digest}. An older one.\n${olderBody}`,
    '@LONG@': 'long '.repeat(20_000),
  };
  const fill = (text: string, [from, to]: readonly [string, string] = ['', '']): string => {
    const filled = Object.entries(plugins).reduce((now, [name, plugin]) => now.replaceAll(name, () => plugin), text);
    return from === '' ? filled : filled.replaceAll(from, () => to);
  };
  for (const shape of readShapes<PluginShape>('plugin-shapes.json'))
    test(shape.name, () => {
      const { text, base64, older, swap, files = {}, foreign, refused } = shape;
      const put = place(home, folder, path, shape);
      if (shape.link !== 'file') rmSync(dirname(path), { recursive: true });
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), fill(content));
      }
      const putFile = (bytes: Buffer): void => {
        mkdirSync(dirname(path), { recursive: true });
        put(bytes);
      };
      if (text !== undefined && text !== null) putFile(Buffer.from(fill(text, swap)));
      if (base64 !== undefined) putFile(Buffer.from(base64, 'base64'));
      const listOfUser = () => [listTree(home.at('user')), listTree(home.at('dotfiles'))];
      const before = listOfUser();
      if (foreign === true || refused !== undefined) {
        assert.throws(() => installer.install('opencode', 'user', 'ada'), { code: refused ?? 'settings' });
        if (foreign === true) assert.equal(installer.uninstall('opencode', 'user').changed, false);
        else assert.throws(() => installer.uninstall('opencode', 'user'), { code: refused ?? '' });
        return assert.deepEqual(listOfUser(), before);
      }
      if (older !== undefined) {
        putFile(Buffer.from(fill(older)));
        assert.notEqual(installer.readStatus('opencode', 'user').standing, 'absent');
      }
      installer.install('opencode', 'user', 'ada');
      installer.install('opencode', 'user', 'bo');
      const { standing, persona } = installer.readStatus('opencode', 'user');
      assert.deepEqual([standing, persona], ['installed', 'bo']);
      assert.equal(installer.uninstall('opencode', 'user').changed, true);
      assert.deepEqual(listOfUser(), before);
    });
});

for (const harness of HARNESSES.filter((name) => RECIPES[name].form.is !== 'plugin'))
  describe(`${harness}: two installations give back what was before both, in whichever order they go`, () => {
    const { home, installer, other, fill, folder, path, project } = rig(harness);
    after(() => home[Symbol.dispose]());
    const readable = SHAPES.filter((shape) => shape.refused === undefined && shape.older === undefined && !shape.link);
    for (const shape of readable) {
      const original = Buffer.from(fill(shape.text ?? ''));
      test(`${shape.name}: of two Hivebars`, () => {
        // The program of a trusted hook is one per user: the last install has it.
        const pairs = [
          [installer, other],
          [other, installer],
        ] as const;
        for (const [first, second] of pairs) {
          const put = place(home, folder, path, shape);
          if (shape.text !== null) put(original);
          const before = listTree(home.at('user'));
          installer.install(harness, 'user', 'ada');
          other.install(harness, 'user', 'bo');
          first.uninstall(harness, 'user');
          second.uninstall(harness, 'user');
          assert.deepEqual(listTree(home.at('user')), before);
        }
      });

      test(`${shape.name}: of the user and of a project`, () => {
        for (const scopes of [['user', 'project'] as const, ['project', 'user'] as const]) {
          const put = place(home, folder, path, shape);
          rmSync(home.at('project'), { recursive: true, force: true });
          // Goose has a folder of its own for us, which goes with our files.
          const isOwnFolder = shape.text === null && harness === 'goose';
          mkdirSync(isOwnFolder ? home.at('project/.agents/plugins') : dirname(project), { recursive: true });
          if (shape.text !== null) put(original);
          if (shape.text !== null) writeFileSync(project, original);
          const trees = () => [listTree(home.at('user')), listTree(home.at('project'))];
          const before = trees();
          installer.install(harness, 'user', 'ada');
          installer.install(harness, 'project', 'ada');
          for (const scope of scopes) installer.uninstall(harness, scope);
          assert.deepEqual(trees(), before);
        }
      });
    }
  });
