import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRET_VARIABLES, SOURCE_LIST } from '../../core/sources/derived.ts';
import type { Machine } from '../host/machine.node.ts';
import { hideSecrets } from './open-sources.ts';

const env: Record<string, string> = {
  PATH: '/bin',
  ...Object.fromEntries(SECRET_VARIABLES.map((name) => [name, 's3cret'])),
};
const machine = { env } as unknown as Machine; // nothing else of it is read

test('a secret of a source is hidden from all others, however it is asked for', () => {
  assert.ok(SECRET_VARIABLES.length > 0);
  const { env: seen } = hideSecrets(machine);
  assert.deepEqual({ ...seen }, { PATH: '/bin' });
  for (const name of SECRET_VARIABLES) {
    assert.deepEqual([seen[name], name in seen], [undefined, false]);
    assert.equal(seen[name.toLowerCase()], undefined, 'as Windows may spell it');
  }
});

test('a source sees its own secrets and those of no other', () => {
  for (const { secrets = [] } of SOURCE_LIST) {
    const { env: seen } = hideSecrets(machine, secrets);
    assert.deepEqual(Object.keys(seen).sort(), ['PATH', ...secrets].sort());
  }
});
