import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseKeys } from './top-screen.node.ts';
import { pressKey, TOP_KEYS, type TopEntry, type TopView } from './top-view.ts';

const VIEW: TopView = {
  ...{ columns: 80, rows: 12, hasColor: true, isGone: false, mode: 'list' },
  ...{ selected: null, filter: '', note: '', question: null },
};
const LISTED: readonly TopEntry[] = ['a', 'b', 'c', 'd'].map((id) => ({
  persona: { id, unread: id === 'd' ? 0 : 2, canMarkRead: id !== 'c' },
  isNeedy: id === 'a' || id === 'c',
}));

/** The view after some keys, and what the last of them asked for. */
function press(keys: readonly string[], view: TopView = VIEW) {
  let step: ReturnType<typeof pressKey> = { view, action: null };
  for (const key of keys) step = pressKey(step.view, key, LISTED);
  return step;
}

describe('the keys of top', () => {
  test('move within the list, and n goes round those that need a person', () => {
    for (const [keys, id] of [
      [['j'], 'b'],
      [['down', 'down', 'up'], 'b'],
      [['k'], 'a'],
      [['pagedown'], 'd'],
      [['G', 'j', 'j'], 'd'],
      [['end', 'home'], 'a'],
      [['n'], 'c'],
      [['n', 'n'], 'a'],
    ] as const)
      assert.equal(press(keys).view.selected, id, keys.join());
    const nobody = LISTED.map((entry) => ({ ...entry, isNeedy: false }));
    assert.equal(pressKey(VIEW, 'n', nobody).view.note, 'nobody has unread mail or needs you');
  });

  test('open the session or the page of the chosen persona, and quit', () => {
    assert.deepEqual(press(['j', 'enter']).action, { name: 'open', persona: 'b' });
    assert.deepEqual(press(['o']).action, { name: 'page', persona: 'a' });
    assert.equal(press(['q']).action, 'quit');
    assert.equal(press(['/', 'ctrl-c']).action, 'quit');
    assert.equal(pressKey(VIEW, 'enter', []).action, null);
  });

  test('mark as read only after a yes', () => {
    assert.deepEqual(press(['m', 'y']).action, { name: 'read', persona: 'a' });
    assert.deepEqual(press(['m', 'n']).action, null);
    assert.deepEqual(press(['m', 'n']).view.question, null);
    assert.equal(press(['n', 'm']).view.note, 'its inbox cannot be marked as read from here');
    assert.equal(press(['G', 'm']).view.note, 'it has no unread mail');
  });

  test('type a filter, correct it, end it and clear it', () => {
    const typed = press(['/', 'b', 'ö', 'q', 'backspace']).view;
    assert.deepEqual([typed.mode, typed.filter], ['filter', 'bö']);
    assert.deepEqual(press(['/', 'q', 'enter']).view.mode, 'list');
    assert.deepEqual(press(['/', 'q', 'enter', 'escape']).view.filter, '');
    assert.deepEqual(press(['/', 'q', 'escape']).view, VIEW);
  });

  test('the help shows every key, and any key leaves it', () => {
    assert.equal(press(['?']).view.mode, 'help');
    assert.deepEqual(press(['?', 'q']), { view: VIEW, action: null });
    assert.ok(TOP_KEYS.some(([key]) => key === '/'));
  });

  test('what a terminal sends becomes keys; what is unknown is left out', () => {
    const sent = 'j\u001b[A\u001bOB\u001b[5~\r\u007fö\u001b[200~\u0003\u001b\u0007';
    assert.deepEqual(parseKeys(sent), ['j', 'up', 'down', 'pageup', 'enter', 'backspace', 'ö', 'ctrl-c', 'escape']);
  });
});
