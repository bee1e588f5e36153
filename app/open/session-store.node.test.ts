import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { parseTmuxServer, type SessionAnnouncement } from './session.ts';
import { openSessionStore } from './session-store.node.ts';

const PLAIN: SessionAnnouncement = {
  persona: 'ada',
  id: 'one',
  cwd: '/w',
  pane: null,
  runner: { pid: 11, startKey: 'boot:1' },
  resume: null,
};

function openStored() {
  return openSessionStore(openDatabase(':memory:'), 'linux');
}

describe('kept sessions', () => {
  test('come back as they were announced, byte for byte', () => {
    const sessions = openStored();
    const full: SessionAnnouncement = {
      persona: 'ada\'s "$(x)" `y` \\ é 😀',
      id: "'; DROP TABLE sessions; --",
      cwd: '/w/a b/$(x)',
      pane: { socket: '/tmp/a,b/default', serverPid: 77, pane: '%12' },
      runner: { pid: 4_000_000, startKey: 'boot:123' },
      resume: ['claude', '--resume', "it's", '', '$(x)', '\\'],
    };
    sessions.set(full, 1000);
    assert.deepEqual(sessions.list(full.persona), [{ ...full, announcedAt: 1000, endedAt: null }]);
    assert.deepEqual(sessions.list('ada'), []);
  });

  test('newest first, whatever the clock did; the same session again is the newest, not a second one', () => {
    const sessions = openStored();
    for (const [id, at] of [
      ['one', 3000],
      ['two', 2000],
      ['three', 1000],
      ['one', 500],
    ] as const)
      sessions.set({ ...PLAIN, id }, at);
    assert.deepEqual(
      sessions.list('ada').map(({ id, announcedAt }) => [id, announcedAt]),
      [
        ['one', 500],
        ['three', 1000],
        ['two', 2000],
      ],
    );
  });

  test('a session without a name is known by its process; a process with its pid again is another', () => {
    const sessions = openStored();
    const nameless = { ...PLAIN, id: null };
    sessions.set(nameless, 1);
    sessions.set({ ...nameless, cwd: '/v' }, 2);
    sessions.set({ ...nameless, runner: { pid: 11, startKey: 'boot:2' } }, 3);
    sessions.set({ ...nameless, runner: { pid: 12, startKey: null } }, 4);
    sessions.set({ ...nameless, runner: { pid: 12, startKey: null } }, 5);
    assert.deepEqual(
      sessions.list('ada').map(({ announcedAt }) => announcedAt),
      [5, 3, 2],
    );
  });

  test('whose session it is stands in a file for the script of the hooks, as it was announced last', () => {
    using home = scratch();
    const db = openDatabase(home.at('hivebar.sqlite'));
    const sessions = openSessionStore(db, 'linux');
    const owner = (id: string): string => home.text(`run/owners/${id}`);
    sessions.set(PLAIN, 1);
    assert.equal(owner('one'), 'ada\n');
    sessions.set({ ...PLAIN, persona: 'bo' }, 2);
    assert.equal(owner('one'), 'bo\n');
    sessions.set(PLAIN, 1);
    assert.equal(owner('one'), '', 'bo announced it later');
    sessions.set({ ...PLAIN, id: '../x' }, 3);
    assert.deepEqual(readdirSync(home.at('run/owners')), []);
    for (let at = 4; at < 20; at += 1) sessions.set({ ...PLAIN, id: `s${at}` }, at);
    assert.equal(readdirSync(home.at('run/owners')).length, 10, 'those that are stored');
    db[Symbol.dispose]();
  });

  test('ten of each persona are kept', () => {
    const sessions = openStored();
    sessions.set({ ...PLAIN, persona: 'bo' }, 0);
    for (let n = 1; n <= 15; n += 1) sessions.set({ ...PLAIN, id: `${n}` }, n);
    assert.deepEqual(
      sessions.list('ada').map(({ id }) => id),
      ['15', '14', '13', '12', '11', '10', '9', '8', '7', '6'],
    );
    assert.deepEqual(
      sessions.listAll().map(({ persona }) => persona),
      [...Array(10).fill('ada'), 'bo'],
    );
  });

  test('who works in a folder is kept however many sessions begin there, until a person ends it', () => {
    const sessions = openStored();
    for (const [cwd, pid] of [
      ['/w', 11],
      ['/w', 12],
      ['/v', 13],
    ] as const)
      sessions.set({ ...PLAIN, id: null, cwd, runner: { pid, startKey: 'boot:1' } }, 1);
    const begin = (): void => {
      for (let n = 1; n <= 15; n += 1) sessions.set({ ...PLAIN, id: `${n}` }, n);
    };
    const list = () => sessions.list('ada').flatMap(({ id, cwd, runner }) => (id === null ? [[cwd, runner.pid]] : []));
    begin();
    assert.deepEqual(list(), [
      ['/v', 13],
      ['/w', 12],
    ]);
    assert.equal(sessions.list('ada').length, 12);
    for (let n = 15; n >= 6; n -= 1) sessions.end('ada', `${n}`, 20);
    sessions.end('ada', null, 20);
    begin();
    assert.deepEqual(list(), [['/w', 12]]);
  });

  test('end: the one that is named, else the newest that is not over; the first end counts', () => {
    const sessions = openStored();
    for (const id of ['one', 'two', 'three']) sessions.set({ ...PLAIN, id }, 1);
    assert.equal(sessions.end('ada', 'two', 10)?.id, 'two');
    assert.equal(sessions.end('ada', 'two', 20)?.endedAt, 10);
    assert.equal(sessions.end('ada', null, 30)?.id, 'three');
    assert.equal(sessions.end('ada', null, 40)?.id, 'one');
    assert.equal(sessions.end('ada', null, 50), null);
    assert.equal(sessions.end('ada', 'four', 50), null);
    assert.deepEqual(
      sessions.list('ada').map(({ endedAt }) => endedAt),
      [30, 10, 40],
    );
    sessions.set({ ...PLAIN, id: 'two' }, 60);
    assert.equal(sessions.list('ada')[0]?.endedAt, null, 'announced again, it runs again');
  });

  test('who announced a session is found by its id, until it ends', () => {
    const sessions = openStored();
    assert.equal(sessions.findPersona('s1'), null);
    sessions.set({ ...PLAIN, persona: 'ada', id: 's1' }, 1);
    sessions.set({ ...PLAIN, persona: 'bo', id: 's1' }, 2);
    assert.equal(sessions.findPersona('s1'), 'bo');
    sessions.end('bo', 's1', 3);
    assert.equal(sessions.findPersona('s1'), 'ada');
    sessions.end('ada', 's1', 3);
    assert.equal(sessions.findPersona('s1'), null);
  });

  test('an announcement that is not fit is refused with its field, and nothing is kept', () => {
    const sessions = openStored();
    const pane = { socket: '/s', serverPid: 1, pane: '%1' };
    const bad: readonly (readonly [Partial<SessionAnnouncement>, RegExp])[] = [
      [{ persona: '' }, /PERSONA is empty/],
      [{ persona: 'a\nb' }, /PERSONA "a\\nb" holds control characters/],
      [{ persona: '\u001b[31m' }, /control characters/],
      [{ persona: 'a\u2028b' }, /control characters/],
      [{ persona: '\ud800' }, /not well-formed/],
      [{ persona: 'x'.repeat(201) }, /201 characters, over 200/],
      [{ id: ' ' }, /--id is empty/],
      [{ id: 'a\0' }, /control characters/],
      [{ cwd: 'w' }, /--cwd "w" is not an absolute path/],
      [{ cwd: `/${'x'.repeat(4096)}` }, /over 4096/],
      [{ pane: { ...pane, pane: '3' } }, /--tmux-pane "3" is not a pane/],
      [{ pane: { ...pane, pane: '%1;kill-server' } }, /is not a pane/],
      [{ pane: { ...pane, socket: '-x' } }, /socket in TMUX "-x" is not an absolute path/],
      [{ runner: { pid: 0, startKey: null } }, /--pid 0/],
      [{ runner: { pid: 2 ** 31, startKey: null } }, /--pid 2147483648/],
      [{ resume: [''] }, /the resume program is empty/],
      [{ resume: ['--help'] }, /cannot be "--help", which is an option/],
      [{ resume: ['x', 'a\u0007'] }, /control characters/],
      [{ resume: ['x', ...Array(64).fill('y')] }, /65 items, over 64/],
      [{ resume: ['x', ...Array(5).fill('y'.repeat(4000))] }, /20001 characters, over 16384/],
    ];
    for (const [wrong, message] of bad) {
      assert.throws(() => sessions.set({ ...PLAIN, ...wrong }, 1), { code: 'usage', message });
    }
    assert.deepEqual(sessions.listAll(), []);
  });
});

test("tmux's own variable: the socket may hold commas", () => {
  assert.deepEqual(parseTmuxServer('/tmp/tmux-0/default,123,0'), { socket: '/tmp/tmux-0/default', serverPid: 123 });
  assert.deepEqual(parseTmuxServer('/tmp/a,1,2/s,123,0'), { socket: '/tmp/a,1,2/s', serverPid: 123 });
  for (const text of ['', '/tmp/s', '/tmp/s,x,0', ',1,0']) assert.equal(parseTmuxServer(text), null, text);
});
