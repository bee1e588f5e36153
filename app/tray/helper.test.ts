import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTHING_REPORTED, type PersonaView } from '../../core/board/index.ts';
import { chooseHelperBinary, decideRestart } from './helper-binary.ts';
import { buildTrayModel } from './menu.ts';
import { buildFlatMenu, getDialect } from './menu-object.ts';
import type { MenuEntry } from './model.ts';

const base = { platform: 'linux', arch: 'x64', hasGlibcLoader: true, hasRosetta: false };

test('a helper is only started where its processor and system are', () => {
  const name = (machine: Partial<typeof base>): string => {
    const found = chooseHelperBinary({ ...base, ...machine });
    return found.is === 'file' ? found.name : found.why;
  };
  assert.equal(name({}), 'tray_linux_release');
  assert.equal(name({ arch: 'arm64' }), 'no tray helper for linux arm64');
  assert.equal(name({ hasGlibcLoader: false }), 'no tray helper for linux x64 without glibc');
  assert.equal(name({ platform: 'darwin' }), 'tray_darwin_release');
  assert.equal(name({ platform: 'darwin', arch: 'arm64' }), 'no tray helper for darwin arm64 without Rosetta');
  assert.equal(name({ platform: 'darwin', arch: 'arm64', hasRosetta: true }), 'tray_darwin_release');
  assert.equal(name({ platform: 'win32', arch: 'arm64' }), 'tray_windows_release.exe');
  assert.equal(name({ platform: 'win32', arch: 'ia32' }), 'no tray helper for win32 ia32');
  assert.equal(name({ platform: 'freebsd' }), 'no tray helper for freebsd x64');
});

test('a helper that dies is started again after 1, 2, 4, 8 s, and no more after five deaths in ten minutes', () => {
  const minute = 60_000;
  assert.deepEqual(decideRestart([0]), { is: 'again', inMs: 1000 });
  assert.deepEqual(decideRestart([0, 1, 2]), { is: 'again', inMs: 4000 });
  assert.deepEqual(decideRestart([0, 1, 2, 3]), { is: 'again', inMs: 8000 });
  assert.deepEqual(decideRestart([0, 1, 2, 3, 4]), { is: 'stop' });
  assert.deepEqual(decideRestart([0, 1, 2, 3, 10 * minute]), { is: 'again', inMs: 8000 });
  assert.deepEqual(decideRestart([0, 1, 2, 3, 11 * minute]), { is: 'again', inMs: 1000 });
});

test('labels come out as they are on every system', () => {
  assert.equal(getDialect('linux').escape('dev_ops & co'), 'dev__ops & co');
  assert.equal(getDialect('win32').escape('dev_ops & co'), 'dev_ops && co');
  assert.equal(getDialect('darwin').escape('dev_ops & co'), 'dev_ops & co');
});

test('the number and order of lines never change, whatever the menu', () => {
  const entry = (key: string): MenuEntry => ({
    is: 'command',
    key,
    label: key,
    action: { name: 'open', params: { persona: key } },
  });
  const long = Array.from({ length: 50 }, (_, i) => entry(`p${i}`));
  const shape = (menu: readonly MenuEntry[]) =>
    buildFlatMenu(menu, getDialect('linux')).slots.map((slot) => `${slot.__id} ${slot.title === '<SEPARATOR>'}`);
  const line: MenuEntry = { is: 'separator', key: 'line' };
  assert.deepEqual(shape([]), shape([entry('a'), line, ...long, line, entry('z')]));
  assert.equal(buildFlatMenu([line, ...long], getDialect('linux')).dropped, 6);
});

test('in the place of a submenu stands its command; a checked entry is a real one where there are real ones', () => {
  const open = { name: 'page', params: {} };
  const instead = { is: 'command', key: 'more', label: '5 more', action: open } as const;
  const menu: MenuEntry[] = [
    { is: 'submenu', key: 'more', label: 'five more', entries: [], instead },
    { is: 'check', key: 'pause', label: 'Pause', checked: true, action: { name: 'resume', params: {} } },
  ];
  const linux = buildFlatMenu(menu, getDialect('linux'));
  assert.deepEqual([linux.actions.get(1), linux.slots[0]?.title], [open, '5 more']);
  assert.deepEqual([linux.slots[1]?.title, linux.slots[1]?.checked], ['✓ Pause', false]);
  const mac = buildFlatMenu(menu, getDialect('darwin'));
  assert.deepEqual([mac.slots[1]?.title, mac.slots[1]?.checked], ['Pause', true]);
});

test('a name that the helper would take for a line between rows is a name', () => {
  const { slots } = buildFlatMenu([{ is: 'text', key: 'source', label: '<SEPARATOR>' }], getDialect('linux'));
  assert.equal(slots[0]?.title, '<SEPARATOR> ');
});

test('the fullest menu of the model loses nothing: twenty rows, each under a heading of its own, and all switches', () => {
  const personas = Array.from({ length: 30 }, (_, i) => persona(`p${i}`, `source${i}`, false));
  const none = { is: 'exact', n: 0 } as const;
  const model = buildTrayModel(
    {
      rev: 0,
      personas: [...personas, persona('gone', 'source0', true)],
      causes: [],
      hives: [],
      projects: [],
      decisions: [],
      permissions: [],
      totals: { unread: none, urgent: none, up: 30, down: 0, personas: 30 },
      paused: { is: 'forever' },
      quietHours: true,
      quietTimes: null,
      quiet: { is: 'never' },
      autostart: true,
      tray: '',
      notifications: '',
    },
    0,
    () => '',
  );
  const flat = buildFlatMenu(model.menu, getDialect('darwin'));
  assert.equal(flat.dropped, 0);
  const shown = flat.slots
    .filter((slot) => !slot.hidden)
    .map(({ title, checked }) => (checked ? `[x] ${title}` : title));
  assert.deepEqual(shown.slice(0, 5), [
    'No unread messages, notifications paused',
    '<SEPARATOR>',
    'source0',
    'p0 - no unread',
    'source1',
  ]);
  assert.deepEqual(shown.slice(-10), [
    '10 more',
    'Hidden (1)',
    '<SEPARATOR>',
    'Open status page',
    'Poll now',
    '[x] Pause notifications',
    '[x] Quiet hours',
    '[x] Start at login',
    '<SEPARATOR>',
    'Quit',
  ]);
  const asked = (title: string): unknown =>
    flat.actions.get(flat.slots.find((slot) => slot.title === title)?.__id ?? 0);
  assert.deepEqual(asked('p0 - no unread'), { name: 'open', params: { persona: 'p0' } });
  assert.deepEqual(asked('10 more'), { name: 'page', params: {} });
  assert.deepEqual(asked('Pause notifications'), { name: 'resume', params: {} });
});

function persona(id: string, source: string, hidden: boolean): PersonaView {
  return {
    id,
    stem: id,
    source,
    label: id,
    health: { is: 'up', since: 0 },
    reason: null,
    since: null,
    agentState: { is: 'live' },
    unread: { is: 'exact', n: 0 },
    urgent: { is: 'exact', n: 0 },
    asOf: 0,
    staleAfter: 1,
    cursor: 0,
    lastEventId: null,
    lastMailAt: null,
    held: null,
    muted: { is: 'never' },
    hidden,
    ...NOTHING_REPORTED,
    canMarkRead: false,
    canReply: false,
    latestMessages: [],
    eventsFile: null,
  };
}
