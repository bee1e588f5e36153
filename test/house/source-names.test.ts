import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SOURCE_LIST, SOURCE_PREFIXES } from '../../core/sources/derived.ts';
import { programFiles, sourceFile } from './source-file.ts';
import { foreignNames, type NameException, unusedExceptions } from './source-names.ts';

/** Sources whose name is also that of a program, which other rooms name: `hivebar daemon`, and agent programs with hooks. */
const PROGRAMS: readonly string[] = ['daemon', 'claude', 'codex'];
const NAMES = SOURCE_LIST.map(({ name }) => name).filter((name) => !PROGRAMS.includes(name));

const CONTRACT = 'the headless watch is the Kijito inbox monitor, and follows revision 6 of its specification';
const PREDECESSOR = 'the public Kijito inbox monitor, whose files and units are found and taken over';
const COMMANDS = 'commands of the source, which still stand with the other commands';
const PAGE = 'the page calls a route and an action by their names in the contract';
const CODES = 'one table holds all fault codes, from which exit codes, HTTP status and docs derive';

const COINCIDENCE = 'the name of the source is in the word streamQuery by chance';

const EXCEPTIONS: readonly NameException[] = [
  { path: 'core/sources/external/', name: 'amq', why: 'a folder of mailboxes may lie as that source has them' },
  { path: 'core/sources/external/http.ts', name: 'kijito', why: 'a server of the settings may speak that contract' },
  ...['app/headless/', 'app/config/watch/', 'app/service/', 'core/sinks/'].map((path) => ({
    path,
    name: 'kijito',
    why: CONTRACT,
  })),
  ...['app/cli/watch.ts', 'app/cli/service.ts', 'app/cli/service-run.ts', 'app/cli/follow.ts'].map((path) => ({
    path,
    name: 'kijito',
    why: CONTRACT,
  })),
  ...['app/cli/migrate.ts', 'app/cli/migrate-positions.ts', 'app/cli/deployed/', 'app/cli/doctor/probes.node.ts'].map(
    (path) => ({
      path,
      name: 'kijito',
      why: PREDECESSOR,
    }),
  ),
  { path: 'app/cli/commands.ts', name: 'kijito', why: PREDECESSOR },
  { path: 'app/sources/local-hive.ts', name: 'kijito', why: 'the local hive speaks the Kijito inbox contract' },
  { path: 'app/sources/hive-watchers.ts', name: 'kijito', why: 'the events of a log have the kind of this contract' },
  { path: 'core/sources/index.ts', name: 'kijito', why: 'the adapter of the contract that the local hive speaks too' },
  { path: 'app/cli/hive.ts', name: 'kijito', why: COMMANDS },
  ...['app/status/app.node.ts', 'app/status/queries.ts'].map((path) => ({ path, name: 'amq', why: COINCIDENCE })),
  { path: 'ui-static/', name: 'brainclaw', why: PAGE },
  { path: 'app/status/wire-projects.ts', name: 'brainclaw', why: PAGE },
  ...['kijito', 'garden', 'brainclaw', 'amail'].map((name) => ({ path: 'core/model/fault.ts', name, why: CODES })),
  { path: 'core/daemon/run.ts', name: 'gas', why: 'the word pending asks has these letters in a row' },
  ...['kijito', 'garden', 'brainclaw'].map((name) => ({ path: 'core/model/fault.ts', name, why: CODES })),
];

describe('names of sources', () => {
  test('a source is named in its folder and in the registry alone', () => {
    assert.deepEqual(foreignNames(programFiles(), NAMES, EXCEPTIONS), []);
  });

  test('an exception that nothing needs is taken out', () => {
    assert.deepEqual(unusedExceptions(programFiles(), EXCEPTIONS), []);
  });

  test('the folder of the daemons is imported by nobody but the registry', () => {
    const importers = programFiles()
      .filter(({ path }) => path !== 'core/sources/registry.ts' && !path.startsWith('core/sources/daemon/'))
      .filter(({ imports }) => imports.some(({ target }) => target?.startsWith('core/sources/daemon/')));
    assert.deepEqual(
      importers.map(({ path }) => path),
      [],
    );
  });

  test('an identifier, a text and a path are found, and a comment is not', () => {
    const found = (text: string): number => foreignNames([sourceFile('app/tray/a.ts', text)], NAMES, []).length;
    for (const name of NAMES) {
      assert.equal(found(`export const ${name}Rows = [];`), 1, 'identifier');
      assert.equal(found(`export const a = '${name}';`), 1, 'text');
      assert.equal(found(`export const a = (b: string) => \`${name}-\${b}\`;`), 1, 'template');
      assert.equal(found(`import { a } from '../../core/sources/${name}/index.ts'; a();`), 1, 'path');
      assert.equal(found(`/** As a ${name} has it. */ export const a = 1;`), 0, 'comment');
    }
  });

  test('each prefix is its own, so that no id belongs to two sources', () => {
    assert.equal(new Set(SOURCE_PREFIXES).size, SOURCE_PREFIXES.length);
    for (const prefix of SOURCE_PREFIXES) assert.match(prefix, /^[a-z0-9]+-$/);
  });
});
