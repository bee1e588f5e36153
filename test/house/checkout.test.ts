import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');

test('G7 a checkout has the command line for Windows too, which starts what the script for sh starts', () => {
  const script = (name: string): string => readFileSync(join(ROOT, 'scripts', name), 'utf8').replaceAll('\\', '/');
  for (const file of ['package-lock.json', 'scripts/setup.mjs', 'app/cli/hivebar.node.ts']) {
    assert.ok(existsSync(join(ROOT, file)), file);
    for (const name of ['hivebar', 'hivebar.cmd']) assert.ok(script(name).includes(file), `${name}: ${file}`);
  }
  const own = 'node_modules/.installed-lock.json';
  for (const name of ['hivebar', 'hivebar.cmd']) assert.ok(script(name).includes(own), name);
  assert.match(
    script('hivebar.cmd'),
    /"%ROOT%\/app\/cli\/hivebar\.node\.ts" %\*/,
    'all arguments, in their own quotes',
  );
  assert.match(script('hivebar.cmd'), /exit \/b %ERRORLEVEL%/, 'and its exit code');
});

test('G7 README says of a click on the icon what each platform does', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8').replaceAll('\n', ' ');
  assert.match(text, /On Linux a left click opens the status page/);
  assert.match(text, /on macOS and Windows every click opens the menu, in which Open status page is a line/);
});
