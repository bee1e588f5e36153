import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { addHooks, findHookEntries, type HookWish, removeHooks } from './hook-entries.ts';
import { type HarnessName, RECIPES } from './recipe.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const wishFor = (harness: HarnessName, persona: string | null = 'ada'): HookWish => ({
  recipe: RECIPES[harness],
  script: '/srv/ada/.local/state/hivebar/hook/hivebar-hook',
  os: 'linux',
  persona,
  path: '/srv/ada/settings.json',
});
const claude = wishFor('claude');

for (const before of readdirSync(GOLDEN).filter((name) => name.endsWith('.before'))) {
  const name = before.replace('.before', '');
  const harness = name.split('-')[0] as HarnessName;
  const wish: HookWish = { ...wishFor(harness), version: harness === 'cursor' || harness === 'copilot' ? 1 : null };
  test(`golden ${name}: installed it reads as kept, again changes nothing, and uninstalled it is as before`, () => {
    const text = readFileSync(join(GOLDEN, before), 'utf8');
    const path = join(GOLDEN, `${name}.after`);
    const after = addHooks(text, wish);
    assert.equal(after, readFileSync(path, 'utf8'));
    assert.equal(addHooks(after, wish), after);
    assert.equal(findHookEntries(after, wish).standing, 'installed');
    const clean = removeHooks(after, wish);
    assert.equal(clean, removeHooks(text, wish));
    assert.equal(findHookEntries(clean, wish).standing, 'absent');
    assert.equal(findHookEntries(clean, wish).foreign, findHookEntries(text, wish).foreign);
  });
}

test('given no file or an empty one, the hooks of each event stand in a new text, with the matcher it wants', () => {
  for (const text of [null, '', ' \n']) {
    const made = JSON.parse(addHooks(text, claude)) as { hooks: Record<string, { matcher?: string }[]> };
    assert.deepEqual(Object.keys(made.hooks), Object.keys(RECIPES.claude.events));
    assert.equal(made.hooks.PostToolUse?.[0]?.matcher, '*');
    assert.ok(!('matcher' in (made.hooks.Stop?.[0] ?? {})));
  }
  assert.equal(removeHooks('', claude), '');
});

test('given another persona than at install, one entry of ours is left and names it', () => {
  const other = wishFor('claude', "o'neil $x");
  const both = addHooks(addHooks('{}\n', claude), other);
  assert.equal(both, addHooks('{}\n', other));
  const { command, ...rest } = findHookEntries(both, claude);
  assert.deepEqual(rest, { standing: 'installed', foreign: 0, persona: "o'neil $x" });
  assert.match(command ?? '', /claude SessionStart 'o'\\''neil \$x'$/);
  const nobody = addHooks(both, wishFor('claude', null));
  assert.equal(findHookEntries(nobody, claude).persona, null);
  assert.match(nobody, /hivebar-hook' claude Stop"/);
});

test('given settings that Claude Code saved with its keys in another order, the hooks are installed and nothing is changed', () => {
  const { hooks } = JSON.parse(addHooks('{}\n', claude)) as { hooks: Record<string, { hooks: object[] }[]> };
  const turn = (handler: object): object => Object.fromEntries(Object.entries(handler).toReversed());
  for (const groups of Object.values(hooks)) for (const group of groups) group.hooks = group.hooks.map(turn);
  const saved = JSON.stringify({ hooks });
  assert.equal(findHookEntries(saved, claude).standing, 'installed');
  assert.equal(addHooks(saved, claude), saved);
});

test('given an entry of ours that is gone, doubled or changed, it is old and is put right', () => {
  const right = addHooks('{}\n', claude);
  const breaks: readonly ((settings: {
    hooks: Record<string, { hooks: { timeout?: number }[]; matcher?: string }[]>;
  }) => void)[] = [
    ({ hooks }) => delete hooks.Stop,
    ({ hooks }) => hooks.Stop?.push(...(hooks.Stop ?? [])),
    ({ hooks }) => Object.assign(hooks.Stop?.[0]?.hooks[0] ?? {}, { timeout: 1 }),
    ({ hooks }) => Object.assign(hooks.PreToolUse?.[0] ?? {}, { matcher: 'Bash' }),
    ({ hooks }) => Object.assign(hooks, { Odd: hooks.Stop }),
  ];
  for (const change of breaks) {
    const settings = JSON.parse(right);
    change(settings);
    const broken = JSON.stringify(settings, null, 2);
    assert.equal(findHookEntries(broken, claude).standing, 'old', broken);
    assert.equal(findHookEntries(addHooks(broken, claude), claude).standing, 'installed');
  }
});

test('given what is not settings, it is refused with the file, and nothing is guessed', () => {
  for (const text of [
    '{',
    '// mine\n{}',
    '[]',
    '"x"',
    'null',
    '{"hooks": []}',
    '{"hooks": null}',
    '{"hooks": {"Stop": {}}}',
    '{"hooks": {"Stop": ["x"]}}',
    '{"hooks": {"Stop": [{"hooks": {}}]}}',
    '\ufeff{}',
  ]) {
    // Comments are read over: what a person added beside them is found.
    const reads = text.startsWith('//') ? [] : [findHookEntries];
    for (const act of [addHooks, removeHooks, ...reads]) {
      assert.throws(
        () => act(text, claude),
        { code: 'settings', message: /^\/srv\/ada\/settings.json is left as it is: / },
        text,
      );
    }
  }
});

test('given settings with comments, hooks that a person added there are found, and nothing is written', () => {
  const printed = addHooks(null, claude);
  const text = `// mine, with "quotes" and /* no comment\n${printed.replace('{', '{ /* before\n */ "url": "http://x",')}`;
  assert.equal(findHookEntries(text, claude).standing, 'installed');
  assert.throws(() => addHooks(text, claude), { code: 'settings', message: /hivebar hook print/ });
});

test('given entries instead of groups, other entries stay, ours carry no key that the program refuses, and the version is there', () => {
  const wish: HookWish = { ...wishFor('cursor'), version: 1 };
  const text = '{"hooks": {"stop": [{"command": "mine", "loop_limit": 3}]}}';
  const after = JSON.parse(addHooks(text, wish));
  assert.equal(after.version, 1);
  assert.deepEqual(Object.keys(after.hooks).sort(), Object.keys(RECIPES.cursor.events).sort());
  assert.deepEqual(after.hooks.stop[0], { command: 'mine', loop_limit: 3 });
  assert.deepEqual(Object.keys(after.hooks.stop[1]), ['command', 'timeout']);
  assert.equal(removeHooks(addHooks(text, wish), wish, text), text);
});

const key = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('hooks', 'a"b', '\\', '__proto__', 'toString'));
const foreign = fc.record({ type: fc.constant('command'), command: fc.string(), more: fc.jsonValue({ maxDepth: 1 }) });
const group = fc.record({ matcher: fc.string(), hooks: fc.array(foreign, { minLength: 1, maxLength: 2 }) });
const events = fc.dictionary(
  fc.constantFrom('Stop', 'PreToolUse', 'Notification', 'SessionEnd', 'Odd'),
  fc.array(group, { minLength: 1, maxLength: 2 }),
  { minKeys: 1 },
);
const settings = fc.record({
  top: fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })),
  hooks: fc.option(events),
  indent: fc.constantFrom(0, 1, 2, 4, '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
});

test('property: whatever stands there, install leaves it, is idempotent, and uninstall gives the same bytes back', () => {
  fc.assert(
    fc.property(settings, ({ top, hooks, indent, eol }) => {
      const { hooks: _, ...rest } = top;
      const value = hooks === null ? rest : { ...rest, hooks };
      const text = JSON.stringify(value, null, indent).replaceAll('\n', eol);
      const after = addHooks(text, claude);
      assert.equal(addHooks(after, claude), after);
      assert.equal(removeHooks(after, claude), text);
      const made = JSON.parse(after);
      for (const [name, groups] of Object.entries(hooks ?? {})) {
        assert.deepEqual(made.hooks[name].slice(0, groups.length), JSON.parse(JSON.stringify(groups)));
      }
      delete made.hooks;
      assert.deepEqual(made, JSON.parse(JSON.stringify(rest)));
    }),
    { numRuns: 150 },
  );
});

test('C7 property: uninstall with what was there before gives the same bytes back, whatever was empty and however it was spelled', () => {
  const empty = fc.dictionary(
    fc.constantFrom('Stop', 'PreToolUse', 'Notification', 'Odd'),
    fc.oneof(fc.constant([]), fc.array(group, { minLength: 1, maxLength: 2 })),
  );
  fc.assert(
    fc.property(fc.record({ top: settings, hooks: fc.option(empty) }), ({ top: { top, indent, eol }, hooks }) => {
      const { hooks: _, ...rest } = top;
      const text = JSON.stringify(hooks === null ? rest : { ...rest, hooks }, null, indent).replaceAll('\n', eol);
      assert.equal(removeHooks(addHooks(text, claude), claude, text), text);
    }),
    { numRuns: 100 },
  );
  for (const text of ['{ }', '{"hooks": { }}', '{"hooks":{}, "model" : "x"}\n', ''])
    assert.equal(removeHooks(addHooks(text, claude), claude, text), text);
});

test('C7 given settings that were changed since, the change stays, and so does an empty "hooks" of the user', () => {
  const after = addHooks('{"hooks": {}}', claude).replace('"hooks"', '"model": "x", "hooks"');
  assert.deepEqual(JSON.parse(removeHooks(after, claude, '{"hooks": {}}')), { model: 'x', hooks: {} });
  assert.deepEqual(JSON.parse(removeHooks(after, claude, '{}')), { model: 'x' });
  assert.deepEqual(JSON.parse(removeHooks(after, claude, 'not json')), { model: 'x' });
});
