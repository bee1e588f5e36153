import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SOURCES } from '../../core/sources/registry.ts';
import { ROOT } from './source-file.ts';

/** The conformance test of a source; null when it has none. */
function findSuite(name: string): string | null {
  const path = join(ROOT, 'core', 'sources', name, 'conformance.test.ts');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

describe('the conformance suite', () => {
  for (const [name, { name: own }] of Object.entries(SOURCES)) {
    test(`the source ${name} runs it`, () => {
      assert.equal(own, name);
      assert.ok(findSuite(name)?.includes(`describeSource('${name}', {`), `core/sources/${name}/conformance.test.ts`);
    });
  }

  test('a source without it would be found', () => {
    assert.equal(findSuite('spool-of-nobody'), null);
  });
});
