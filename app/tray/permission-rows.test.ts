import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenPermission } from '../../core/board/index.ts';
import { NOW, persona, snapshot, trayModel } from '../../test/kit/menu-samples.ts';
import type { MenuEntry } from './model.ts';

function prompt(over: Partial<OpenPermission> = {}): OpenPermission {
  return {
    ...{ id: 'secret', number: 1, persona: 'ada', harness: 'claude', isSubagent: false, cwd: null, tool: 'Bash' },
    ...{ text: 'command: npm test\ndescription: Run tests', cut: 0, created: NOW, expires: NOW + 1000 },
    ...over,
  };
}

function draw(...permissions: readonly OpenPermission[]): readonly MenuEntry[] {
  return trayModel(snapshot([persona('ada')], { permissions })).menu;
}

function open(entry: MenuEntry | undefined): readonly MenuEntry[] {
  assert.equal(entry?.is, 'submenu');
  return entry.is === 'submenu' ? entry.entries : [];
}

const listLabels = (entries: readonly MenuEntry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.is === 'separator' ? [] : [entry.label]));

test('a permission prompt is the first row of the menu, with its whole call and an entry per answer', () => {
  const [row] = draw(prompt());
  assert.equal(row?.is === 'submenu' && row.label, 'ada asks to use Bash');
  const entries = open(row);
  assert.deepEqual(listLabels(entries), [
    ...['command: npm test', 'description: Run tests'],
    ...['Allow once', 'Deny', 'Answer in the terminal', 'Answer on the page'],
  ]);
  const actions = entries.flatMap((entry) => (entry.is === 'command' ? [entry.action] : []));
  const permit = (answer: string) => ({ name: 'permit', params: { permission: 'secret', answer, from: 'menu' } });
  assert.deepEqual(actions.slice(0, 3), [permit('allow'), permit('deny'), permit('terminal')]);
});

test('given a call that the rows cannot show to its end, then no entry allows it', () => {
  for (const over of [
    { cut: 1 },
    { text: 'x'.repeat(101) },
    { text: Array.from({ length: 11 }, (_, i) => `line ${i}`).join('\n') },
    { text: 'command: a\tb' },
    { text: 'command: \u05d0' },
    { tool: 'x'.repeat(41) },
  ]) {
    const labels = listLabels(open(draw(prompt(over))[0]));
    assert.ok(!labels.includes('Allow once'), JSON.stringify(over));
    assert.ok(labels.includes('Deny') && labels.includes('Read all of it and answer on the page'));
  }
});

test('given more prompts than rows, then the rest is on the page', () => {
  const menu = draw(...Array.from({ length: 7 }, (_, i) => prompt({ id: `secret-${i}`, number: i + 1 })));
  assert.equal(menu.filter((entry) => entry.is === 'submenu' && entry.key.startsWith('permission ')).length, 5);
  assert.ok(listLabels(menu).includes('2 more permission prompts for you'));
});
