import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly } from '../../core/model/index.ts';
import { persona, snapshot, text, trayModel } from '../../test/kit/menu-samples.ts';
import { listDrawnPersonas } from './menu.ts';
import { buildFlatMenu, getDialect } from './menu-object.ts';

/** Personas of some hives, of which every tenth has mail. */
const crowd = (count: number, hives: number) =>
  Array.from({ length: count }, (_, i) =>
    persona(`p${String(i).padStart(4, '0')}`, { source: `hive${i % hives}`, unread: exactly(i % 10 === 0 ? 1 : 0) }),
  );
const rows = (count: number, hives: number): string[] => {
  const all = text(trayModel(snapshot(crowd(count, hives))).menu).filter((row) => !row.startsWith(' '));
  return all.slice(2, all.indexOf('---', 2));
};

test('given 40 personas of two hives, then those that need a person stay above one submenu for each hive', () => {
  assert.deepEqual(rows(40, 2), [
    ...['p0000', 'p0010', 'p0020', 'p0030'].map((id) => `${id} - 1 unread`),
    'hive0 - 16 personas',
    'hive1 - 20 personas',
  ]);
  assert.ok(rows(39, 2).includes('p0001 - no unread'), 'one persona less has no groups');
});

test('given one hive, then the rest is behind "more" as before', () => {
  assert.equal(rows(40, 1).at(-1), '20 more');
});

test('given 1,000 personas, then the menu is short, and bounded also behind its groups', () => {
  const all = snapshot(crowd(1000, 3));
  const shown = rows(1000, 3);
  assert.equal(shown.length, 15 + 3);
  assert.match(shown.at(-1) ?? '', /^hive\d - 3\d\d personas, \d+ unread$/);
  const { menu } = trayModel(all);
  const groups = menu.flatMap((entry) => (entry.is === 'submenu' && entry.key.startsWith('group ') ? [entry] : []));
  for (const { entries } of groups) {
    assert.equal(entries.length, 34);
    assert.match(text(entries).at(-1) ?? '', /^\d+ more on the status page$/);
  }
  assert.equal(listDrawnPersonas(all).length, 15 + 3 * 33);
  assert.equal(rows(1000, 100).at(-1), '80 more groups on the status page');
});

test('where there are no submenus, a group opens the page, and everything has room', () => {
  const { menu } = trayModel(snapshot(crowd(1000, 100)));
  assert.equal(buildFlatMenu(menu, getDialect('darwin')).dropped, 0);
  const group = menu.find(({ key }) => key.startsWith('group '));
  assert.ok(group?.is === 'submenu');
  assert.deepEqual([group.instead.label, group.instead.action.name], [group.label, 'page']);
});
