import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Scratch, scratch } from '../../../../test/kit/scratch.ts';
import { realFiles } from '../../../ports/index.ts';
import { assignIds, findProjects, type Project, type ProjectSearchResult, toSafeId } from './projects.ts';

/** A project with this id; null: its configuration says none. */
function project(place: Scratch, path: string, id: string | null = null): string {
  const root = place.at(path);
  mkdirSync(join(root, '.brainclaw'), { recursive: true });
  if (id !== null) writeFileSync(join(root, '.brainclaw', 'config.yaml'), `version: 1\nproject_id: ${id}\n`);
  return root;
}
const find = (options: {
  projects?: readonly string[];
  roots?: readonly string[];
  depth?: number;
}): Promise<ProjectSearchResult> =>
  findProjects(realFiles, { projects: [], roots: [], depth: 3, ...options }, async () => {});
const at = (root: string, id: string): Project => ({ root, store: join(root, '.brainclaw'), id });
const NOBODY = (): null => null;

describe('brainclaw projects', () => {
  test('that are named are found, with the id of their configuration or the name of their folder', async () => {
    using place = scratch();
    const first = project(place, 'one', 'prj_1');
    const second = project(place, 'two');
    const { projects, troubles } = await find({ projects: [second, first, place.at('none')] });
    assert.deepEqual(projects, [
      { ...at(first, 'prj_1'), isNamed: true },
      { ...at(second, 'two'), isNamed: true },
    ]);
    assert.deepEqual(troubles, []);
  });

  test('below a root are found down to the depth, also one in another', async () => {
    using place = scratch();
    const roots = [place.at('w')];
    const all = ['w', 'w/a', 'w/a/b', 'w/a/b/c'].map((path) => project(place, path));
    project(place, 'w/a/b/c/d');
    assert.deepEqual(
      (await find({ roots })).projects.map(({ root }) => root),
      all,
    );
    assert.deepEqual(
      (await find({ roots, depth: 0 })).projects.map(({ root }) => root),
      all.slice(0, 1),
    );
  });

  test('no symlink is followed, and folders of packages and hidden ones are passed over', async () => {
    using place = scratch();
    const roots = [place.at('w')];
    for (const path of ['elsewhere/x', 'w/.git/x', 'w/node_modules/x']) project(place, path);
    symlinkSync(place.at('elsewhere'), place.at('w/link'));
    mkdirSync(place.at('w/y'));
    symlinkSync(place.at('elsewhere/x/.brainclaw'), place.at('w/y/.brainclaw'));
    mkdirSync(place.at('w/z'));
    writeFileSync(place.at('w/z/.brainclaw'), '');
    assert.deepEqual(await find({ roots }), { projects: [], troubles: [] });
  });

  test('one store is one project, by whatever path it is found', async () => {
    using place = scratch();
    const path = project(place, 'w/one');
    symlinkSync(place.at('w'), place.at('v'));
    const { projects } = await find({ projects: [place.at('v/one')], roots: [place.at('w'), place.at('v')] });
    assert.deepEqual(
      projects.map(({ root, isNamed }) => [root, isNamed]),
      [[place.at('v/one'), true]],
    );
    assert.deepEqual(
      (await find({ roots: [place.at('w')] })).projects.map(({ root }) => root),
      [path],
    );
  });

  test('what cannot be looked into is said, and hides no other', async () => {
    using place = scratch();
    project(place, 'w/one');
    mkdirSync(place.at('w/shut'));
    const files = {
      ...realFiles,
      readdir(path: string) {
        if (path.endsWith('/shut')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
        return realFiles.readdir(path);
      },
    };
    const places = { projects: [], roots: [place.at('w')], depth: 3 };
    const { projects, troubles } = await findProjects(files, places, async () => {});
    assert.equal(projects.length, 1);
    assert.match(troubles.join('\n'), /^\S+\/w\/shut: .*$/);
  });

  test('an id is safe in ids of ours', () => {
    assert.deepEqual(['prj_lab0001', '../Up é', 'x'.repeat(90)].map(toSafeId), [
      'prj_lab0001',
      '___up__',
      'x'.repeat(64),
    ]);
  });

  test('two copies of one project have ids of their own, in whatever order they are found', () => {
    const [a, b] = [at('/w/a', 'prj'), at('/w/b', 'prj')];
    const ids = (all: readonly Project[], holder: (id: string) => string | null = NOBODY): Record<string, string> =>
      Object.fromEntries(assignIds(all, [], holder).map(({ root, id }) => [root, id]));
    const both = ids([a, b]);
    assert.equal(both['/w/a'], 'prj');
    assert.match(both['/w/b'] ?? '', /^prj_[0-9a-f]{6}$/);
    assert.deepEqual(ids([b, a]), both);
    assert.equal(ids([a, b], () => b.store)['/w/b'], 'prj', 'who had it keeps it');
    assert.match(ids([a, b], () => b.store)['/w/a'] ?? '', /^prj_[0-9a-f]{6}$/);
    assert.match(assignIds([a], ['prj'], NOBODY)[0]?.id ?? '', /^prj_/, 'who has it keeps it');
  });

  test('no board has the id of an agent of another project', () => {
    const [first, second] = assignIds([at('/w/a', 'web'), at('/w/b', 'web-codex')], [], NOBODY);
    assert.equal(first?.id, 'web');
    assert.match(second?.id ?? '', /^web_codex_[0-9a-f]{6}$/);
  });
});
