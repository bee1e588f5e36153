import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeEventsPaths, computeStatePaths } from './stem.ts';

const computeStatePath = (base: string, persona: string): string | undefined =>
  computeStatePaths(base, [persona]).get(persona);

test('BASE.json and a persona become BASE.PERSONA.json', () => {
  assert.equal(computeStatePath('/s/hive.json', 'argus'), '/s/hive.argus.json');
  assert.equal(computeStatePath('/s/hive', 'argus'), '/s/hive.argus.json');
  assert.equal(computeStatePath('/s.d/hive', 'argus'), '/s.d/hive.argus.json');
  assert.equal(computeStatePath('/s/hive.state', 'argus'), '/s/hive.argus.state');
});

test('a base that ends in .PERSONA or is PERSONA is used as it is', () => {
  for (const base of ['/s/hive.argus.json', '/s/argus.json', '/s/hive.argus', '/s/argus']) {
    assert.equal(computeStatePath(base, 'argus'), base);
  }
  assert.equal(computeStatePath('/s/hive.argus.json', 'gus'), '/s/hive.argus.gus.json');
});

test('folded, a name is in lower case and finds the base that ends in it; two that fall together are still two files', () => {
  const folded = (base: string, ...personas: readonly string[]): Map<string, string> =>
    computeStatePaths(base, personas, new Map(), (name) => name.toLowerCase());
  assert.equal(folded('/s/hive.json', 'Argus').get('Argus'), '/s/hive.argus.json');
  assert.equal(folded('/s/hive.Argus.json', 'Argus').get('Argus'), '/s/hive.Argus.json');
  const both = folded('/s/hive.json', 'Argus', 'argus');
  assert.equal(both.get('argus'), '/s/hive.argus.json');
  assert.match(both.get('Argus') ?? '', /^\/s\/hive\.argus~[0-9a-f]+\.json$/);
});

test('Unicode letters and digits stay, everything else becomes _', () => {
  assert.equal(computeStatePath('/s/hive.json', 'ünïcode٣'), '/s/hive.ünïcode٣.json');
  assert.equal(computeStatePath('/s/hive.json', '../../x'), '/s/hive..._.._x.json');
  assert.equal(computeStatePath('/s/hive.json', 'a/b c😀'), '/s/hive.a_b_c_.json');
  assert.equal(computeStatePath('/s/hive.json', 'CON'), '/s/hive.CON.json');
});

test('every {persona} of a template is replaced, and no persona is a way out of the folder', () => {
  const paths = computeEventsPaths('/e/{persona}/events.{persona}.ndjson', ['ada', '..', '$&']);
  assert.equal(paths.get('ada'), '/e/ada/events.ada.ndjson');
  assert.match(paths.get('..') ?? '', /^\/e\/\.\.~[0-9a-f]{6}\//);
  assert.equal(paths.get('$&'), '/e/__/events.__.ndjson');
});

test('D21: where two names fall together, the plainly spelled one keeps the name and the others get a hash', () => {
  const paths = computeStatePaths('/s/hive.json', ['Claude-chat', 'claude-chat', 'a b', 'a_b', 'solo']);
  assert.equal(paths.get('claude-chat'), '/s/hive.claude-chat.json');
  assert.match(paths.get('Claude-chat') ?? '', /^\/s\/hive\.Claude-chat~[0-9a-f]{6}\.json$/);
  assert.equal(paths.get('a_b'), '/s/hive.a_b.json');
  assert.match(paths.get('a b') ?? '', /^\/s\/hive\.a_b~[0-9a-f]{6}\.json$/);
  assert.equal(paths.get('solo'), '/s/hive.solo.json');
});

test('the answer does not depend on the order of the directory', () => {
  const names = ['A b', 'a_B', 'a b', 'Ab'];
  const forward = computeStatePaths('/s/hive.json', names);
  const back = computeStatePaths('/s/hive.json', names.toReversed());
  for (const name of names) assert.equal(forward.get(name), back.get(name));
});

test('a persona that joins later never takes a path that is in use', () => {
  const saved = computeStatePaths('/s/hive.json', ['Alice']);
  assert.equal(saved.get('Alice'), '/s/hive.Alice.json');
  const more = computeStatePaths('/s/hive.json', ['Alice', 'alice'], saved);
  assert.equal(more.get('Alice'), '/s/hive.Alice.json');
  assert.match(more.get('alice') ?? '', /^\/s\/hive\.alice~[0-9a-f]{6}\.json$/);
});

test('a name that is too long for a disk is cut at a character and gets a hash', () => {
  const path = computeStatePath('/s/hive.json', 'あ'.repeat(300)) ?? '';
  assert.match(path, /^\/s\/hive\.あ{60}~[0-9a-f]{6}\.json$/);
});

test('trap 41: two personas never get one file, also on a case-blind or normalising disk', () => {
  const unit = fc.constantFrom('a', 'A', 'é', 'e\u0301', 'b', '.', ' ', '_', '/', 'ß', 's', 'k', '\u212a');
  const names = fc.uniqueArray(fc.string({ unit, maxLength: 4 }), { maxLength: 12 });
  fc.assert(
    fc.property(names, fc.constantFrom('/s/hive.json', '/s/a', '/s/hive.a.b.json', '/s/b.json'), (personas, base) => {
      const paths = [...computeStatePaths(base, personas).values()].map((p) => p.normalize('NFKD').toLowerCase());
      assert.equal(new Set(paths).size, personas.length);
    }),
    { numRuns: 2000 },
  );
});
