import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completeProgramPath, findProgramWith, readVariable, type Variables } from './ports.ts';

/** What npm and Windows leave on a machine. */
const FILES = [
  'C:\\Users\\Jörg Müller\\npm\\codex',
  'C:\\Users\\Jörg Müller\\npm\\codex.cmd',
  'C:\\Users\\Jörg Müller\\npm\\codex.ps1',
  'C:\\tools\\codex.exe',
  'C:\\tools\\both.cmd',
  'C:\\tools\\both.exe',
  'C:\\tools\\only-sh',
  'C:\\tools\\python3.11.exe',
];
const NPM = 'C:\\Users\\Jörg Müller\\npm';
const isThere = (file: string): boolean => FILES.some((path) => path.toLowerCase() === file.toLowerCase());
const find = (name: string, env: Variables): string | null => findProgramWith(isThere, name, env, 'win32');

describe('a program on PATH', () => {
  test('G2 is found in a copied environment of Windows, whatever the case of PATH, as the file that can be started', () => {
    for (const name of ['Path', 'PATH', 'path']) {
      const env = { ...{ [name]: `C:\\none;${NPM};C:\\tools` } };
      assert.equal(find('codex', env), `${NPM}\\codex.cmd`, name);
      assert.equal(find('codex.exe', env), 'C:\\tools\\codex.exe', name);
      assert.equal(find('CODEX.CMD', env), `${NPM}\\CODEX.CMD`, name);
      assert.equal(find('only-sh', env), null, 'a script for sh is no program of Windows');
      assert.equal(find('python3.11', env), 'C:\\tools\\python3.11.exe');
    }
  });

  test('G2 is the one that PATHEXT names first, and never a document or a file of the current folder', () => {
    const Path = 'C:\\tools';
    assert.equal(find('both', { Path }), 'C:\\tools\\both.exe');
    assert.equal(find('both', { Path, PathExt: '.JS;.CMD;.EXE' }), 'C:\\tools\\both.cmd');
    assert.equal(find('both', { Path, PATHEXT: '.JS;.PY' }), 'C:\\tools\\both.exe');
    assert.equal(find('codex', { Path: '"C:\\tools"' }), 'C:\\tools\\codex.exe', 'a folder in quotes');
    const anything = (name: string, path: string): string | null =>
      findProgramWith(() => true, name, { Path: path }, 'win32');
    assert.equal(anything('codex', ';.;tools;\\\\?'), '\\\\?\\codex.com');
    assert.equal(anything('codex', ';.;tools'), null);
    assert.equal(anything('..\\codex', 'C:\\tools'), null);
  });

  test('G2 elsewhere is named in full, and PATH is PATH', () => {
    const at = (name: string, env: Variables): string | null =>
      findProgramWith((file) => file === '/opt/a b/codex', name, env, 'linux', ['/opt/a b']);
    assert.equal(at('codex', { PATH: '/usr/bin' }), '/opt/a b/codex');
    assert.equal(
      findProgramWith(() => true, 'codex', { Path: '/usr/bin' }, 'linux'),
      null,
    );
    assert.equal(
      findProgramWith(() => true, 'codex', { PATH: ':.:bin:/usr/bin' }, 'darwin'),
      '/usr/bin/codex',
    );
    assert.equal(at('a/codex', { PATH: '/opt/a b' }), null);
  });

  test('G2 may be given by its path without the extension', () => {
    const complete = (file: string): string => completeProgramPath(isThere, file, {}, 'win32');
    assert.equal(complete(`${NPM}\\codex`), `${NPM}\\codex.cmd`);
    assert.equal(complete('C:\\tools\\codex.exe'), 'C:\\tools\\codex.exe');
    assert.equal(complete('C:\\tools\\none'), 'C:\\tools\\none');
    assert.equal(completeProgramPath(isThere, '/usr/bin/x', {}, 'linux'), '/usr/bin/x');
  });

  test('G2 names of variables have no case on Windows, and one elsewhere', () => {
    assert.equal(readVariable({ Path: undefined, pATH: 'a' }, 'PATH', 'win32'), 'a');
    assert.equal(readVariable({ Path: 'a' }, 'PATH', 'linux'), undefined);
  });
});
