import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPreparations, toVenvEnv } from './run.ts';

const commands = (...files: readonly string[]) =>
  listPreparations(files).map(({ program, args }) => [program, ...args].join(' '));

test("given a project's files, the command of its package manager is run, one of each family", () => {
  assert.deepEqual(commands('README.md'), []);
  assert.deepEqual(commands('package.json'), ['npm install']);
  assert.deepEqual(commands('package.json', 'package-lock.json'), ['npm ci']);
  assert.deepEqual(commands('package-lock.json', 'package.json', 'pnpm-lock.yaml', 'requirements.txt', 'uv.lock'), [
    'pnpm install --frozen-lockfile',
    'uv sync',
  ]);
  assert.deepEqual(commands('go.mod', 'Cargo.toml'), ['go mod download', 'cargo fetch']);
});

test('G2 an activated virtual environment keeps the PATH of a copied environment of Windows, under one name', () => {
  const env = { Path: 'C:\\Windows', PythonHome: 'C:\\py', A: 'b' };
  assert.deepEqual(toVenvEnv(env, 'C:\\p\\.venv', 'win32'), {
    PATH: 'C:\\p\\.venv\\Scripts;C:\\Windows',
    VIRTUAL_ENV: 'C:\\p\\.venv',
    A: 'b',
  });
});

test('an activated virtual environment comes first on the path, and no other Python is meant', () => {
  assert.deepEqual(toVenvEnv({ PATH: '/bin', PYTHONHOME: '/py', A: 'b' }, '/p/.venv', 'linux'), {
    PATH: '/p/.venv/bin:/bin',
    VIRTUAL_ENV: '/p/.venv',
    A: 'b',
  });
  assert.deepEqual(toVenvEnv({}, 'C:\\p\\.venv', 'win32'), {
    PATH: 'C:\\p\\.venv\\Scripts',
    VIRTUAL_ENV: 'C:\\p\\.venv',
  });
});
