import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { createEntries, RECIPES } from '../../app/hook/recipe.ts';
import { ROOT } from './source-file.ts';

const MARKETPLACE = '.claude-plugin/marketplace.json';
const PLUGIN = 'assets/plugin';

const text = { type: 'string', minLength: 1 };
/** From the folder of the plugin, as both programs want it. */
const path = { type: 'string', pattern: '^\\./[\\w./-]+$' };

const object = (properties: Readonly<Record<string, object>>, optional: readonly string[] = []): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  additionalProperties: false,
});
const list = (items: object): object => ({ type: 'array', items, minItems: 1 });
const map = (values: object): object => ({ type: 'object', additionalProperties: values, minProperties: 1 });

const author = object({ name: text });
const manifest = {
  ...{ name: { const: 'hivebar' }, version: text, description: text, author, license: text },
  ...{ hooks: path, mcpServers: path },
};
const command = { type: { const: 'command' }, command: text, timeout: { type: 'integer', minimum: 1 } };
const isOn = { const: true };
const createHooksSchema = (handler: object): object =>
  object({ description: text, hooks: map(list(object({ matcher: text, hooks: list(handler) }, ['matcher']))) });
const createServersSchema = (more: Readonly<Record<string, object>> = {}): object =>
  object({ mcpServers: map(object({ command: text, args: list(text), ...more })) });
const INTERFACE = object({ displayName: text, shortDescription: text, developerName: text, category: text });

/** Codex refuses keys that it does not know, and Claude Code warns of them. */
const SCHEMAS: Readonly<Record<string, object>> = {
  [MARKETPLACE]: object({
    ...{ name: { const: 'hivebar' }, owner: author, description: text },
    plugins: list(object({ name: { const: 'hivebar' }, source: { const: `./${PLUGIN}` }, description: text })),
  }),
  [`${PLUGIN}/.claude-plugin/plugin.json`]: object(manifest),
  [`${PLUGIN}/.codex-plugin/plugin.json`]: object({ ...manifest, skills: path, interface: INTERFACE }),
  [`${PLUGIN}/claude-mcp.json`]: createServersSchema(),
  [`${PLUGIN}/codex-mcp.json`]: createServersSchema({ env_vars: list(text) }),
  [`${PLUGIN}/hooks/claude.json`]: createHooksSchema(
    object({ ...command, async: isOn, asyncRewake: isOn }, ['async', 'asyncRewake']),
  ),
  [`${PLUGIN}/hooks/codex.json`]: createHooksSchema(object({ ...command, commandWindows: text })),
};

const readJson = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Record<string, unknown>;

test('every JSON file of the plugin has its form, and names files that are there', () => {
  const names = readdirSync(join(ROOT, PLUGIN), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.json')).map((name) => `${PLUGIN}/${name}`);
  assert.deepEqual([...files, MARKETPLACE].toSorted(), Object.keys(SCHEMAS).toSorted());
  const ajv = new Ajv({ allErrors: true });
  for (const [file, schema] of Object.entries(SCHEMAS)) {
    const content = readFileSync(join(ROOT, file), 'utf8');
    assert.ok(ajv.validate(schema, JSON.parse(content)), `${file}: ${ajv.errorsText()}`);
    const inPlugin = [...content.matchAll(/"(\.\/[\w./-]+)"/g)].map(([, name = '']) => name);
    const scripts = [...content.matchAll(/PLUGIN_ROOT\}(?:\\")?\/([\w./-]+)/g)].map(([, name = '']) => name);
    for (const name of [...inPlugin, ...scripts])
      assert.ok(existsSync(join(ROOT, file === MARKETPLACE ? '' : PLUGIN, name)), `${file}: ${name}`);
  }
});

test('the version of the plugin is that of Hivebar', () => {
  const { version } = readJson('package.json');
  for (const program of ['claude', 'codex'])
    assert.equal(readJson(`${PLUGIN}/.${program}-plugin/plugin.json`).version, version, program);
});

/** Codex forgets the trust of a hook whose command or timeout changes. */
test('the hooks of the plugin are those that hook install puts into settings, without a path and a persona', () => {
  for (const [harness, variable] of [
    ['claude', 'CLAUDE_PLUGIN_ROOT'],
    ['codex', 'PLUGIN_ROOT'],
  ] as const) {
    const recipe = RECIPES[harness];
    const installed = Object.keys(recipe.events).map((event) => {
      const entries = createEntries(recipe, event, { script: 'SCRIPT', persona: null, os: 'linux' });
      return [event, entries.map(({ item }) => item)];
    });
    const expected = JSON.stringify(Object.fromEntries(installed)).replaceAll(
      /"command":"'SCRIPT' ([^"]*)"/g,
      (_, words: string) => {
        const own = JSON.stringify(`sh "\${${variable}}"/scripts/hook.sh ${words}`);
        return `"command":${own}${harness === 'codex' ? ',"commandWindows":"exit /b 0"' : ''}`;
      },
    );
    assert.deepEqual(readJson(`${PLUGIN}/hooks/${harness}.json`).hooks, JSON.parse(expected), harness);
  }
});

test('the skill is one page with a name and a description', () => {
  const skill = readFileSync(join(ROOT, PLUGIN, 'skills/mail/SKILL.md'), 'utf8');
  const [, head = '', page = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];
  assert.match(head, /^name: mail\ndescription: .{20,1024}$/);
  assert.ok(page.split('\n').length <= 60);
});
