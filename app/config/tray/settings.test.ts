import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Fault } from '../../../core/model/index.ts';
import { openSettings } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-settings-'));
const path = join(folder, 'config.json');
after(() => rmSync(folder, { recursive: true, force: true }));

test('settings that are wrong are an error that names file and fault; the file stays as it is', () => {
  for (const [text, words] of [
    ['{"port": 7475,', /JSON/],
    ['', /JSON/],
    ['[]', /must hold an object.*not \[\]/],
    ['null', /must hold an object.*not null/],
    ['7475', /must hold an object.*not 7475/],
    ['{"port": "7475"}', /port.*integer/],
    ['{"port": 65536}', /port.*65535/],
    ['{"prot": 7475}', /prot/],
    ['{"primary": {"is": "far"}}', /primary/],
    ['{"primary": {"is": "kijito"}}', /primary/],
  ] as const) {
    writeFileSync(path, text);
    assert.throws(
      () => openSettings(folder),
      (error) => {
        assert.ok(error instanceof Fault, text);
        assert.equal(error.code, 'settings');
        assert.ok(error.message.startsWith(`${path}: `));
        assert.match(error.message, words);
        return true;
      },
    );
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});

test('a missing file means the defaults; the first decision writes it, for its owner alone', () => {
  rmSync(path);
  const file = openSettings(folder);
  assert.deepEqual([file.settings.port, file.settings.pollSeconds, file.settings.primary], [7475, 60, undefined]);
  file.decide({ is: 'local' });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(openSettings(folder).settings.primary, { is: 'local' });
});

test("a person's own settings stay theirs: the decision is added, and nothing they did not write", () => {
  writeFileSync(path, '{"port": 7000}');
  const file = openSettings(folder);
  assert.equal(file.settings.port, 7000);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { port: 7000 });
  file.decide({ is: 'local' });
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { port: 7000, primary: { is: 'local' } });
  assert.ok(existsSync(path));
});
