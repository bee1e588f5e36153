import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTomlValue, parseToml } from './toml.ts';

const TEXT = `\ufeff# a comment = "no"
model = "gpt" # [features]
'quoted key' . "a.b\\u0041" = true
list = [ "[hooks]", 1, [ 2, ], # "]"
  { hooks = false } ]
date = 1979-05-27 07:32:00
long = """
[features]
hooks = false
quote \\""" """
raw = '''
x = "'' '''
[features]
hooks = false
inline = { a = { b = "c" }, d = [1] }\r
[[many]]
name = "one"
[[many]]
name = "two"
[hooks.state."/a b/hooks.json:stop:0:0"]
trusted_hash = "sha256:aa"
[hooks.state]
"/c/hooks.json:stop:0:1" = { trusted_hash = "sha256:bb", enabled = false }
'/d\\hooks.json:stop:1:0'.trusted_hash = 'sha256:cc'
`;

test('tables, strings and booleans are read however they are spelled, and nothing is read in a string, a list or a comment', () => {
  const toml = parseToml(TEXT);
  assert.ok(toml !== null);
  const at = (...path: readonly string[]) => findTomlValue(toml, ...path);
  assert.equal(at('model'), 'gpt');
  assert.equal(at('quoted key', 'a.bA'), true);
  assert.equal(at('features', 'hooks'), false);
  assert.equal(at('features', 'inline', 'a', 'b'), 'c');
  assert.equal(at('many', '1', 'name'), 'two');
  assert.equal(at('hooks', 'state', '/a b/hooks.json:stop:0:0', 'trusted_hash'), 'sha256:aa');
  assert.equal(at('hooks', 'state', '/c/hooks.json:stop:0:1', 'trusted_hash'), 'sha256:bb');
  assert.equal(at('hooks', 'state', '/c/hooks.json:stop:0:1', 'enabled'), false);
  assert.equal(at('hooks', 'state', '/d\\hooks.json:stop:1:0', 'trusted_hash'), 'sha256:cc');
  assert.equal(at('model', 'x'), undefined);
  assert.equal(at('__proto__'), undefined);
});

test('given tables in tables without end, it is no TOML', () => {
  assert.equal(parseToml(`a = ${'['.repeat(100_000)}`), null);
  assert.equal(parseToml(`a = ${'{a='.repeat(100_000)}`), null);
});

test('given what is not TOML, nothing is guessed', () => {
  for (const text of ['a', 'a =', '[a', '= 1', 'a = "x', 'a = [1', 'a = { b = 1', 'a = "x"\na.b = 1', '[[a]\n'])
    assert.equal(parseToml(text), null, text);
  assert.deepEqual({ ...parseToml('') }, {});
});
