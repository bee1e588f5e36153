import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { describe, test } from 'node:test';
import { fakeStore, lines } from '../../../test/kit/queue-rig.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realClock, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import {
  findStrayQueues,
  listQueueFiles,
  type QueueSession,
  type TakeOverAllResult,
  takeOverAll,
  toQueuePath,
} from './queue-files.ts';

const disk = createRealDisk(silentLog);
const machine = { disk, clock: realClock, random: realRandom };
const session = (persona: string, id: string | null, cwd: string, announcedAt = 1): QueueSession => ({
  persona,
  id,
  cwd,
  announcedAt,
});

function rig() {
  const dir = scratch();
  const store = fakeStore();
  return {
    ...dir,
    store,
    state: dir.at('state'),
    put(path: string, text: string): string {
      const whole = dir.at(path);
      fs.mkdirSync(whole.slice(0, whole.lastIndexOf('/')), { recursive: true });
      fs.writeFileSync(whole, text);
      return whole;
    },
    takeAll: (sessions: readonly QueueSession[], persona: string | null = null): TakeOverAllResult =>
      takeOverAll({ machine, state: dir.at('state'), sessions, persona, insert: store.insert, waitMs: 250 }),
    /** `PERSONA: CONTENT` of what was taken. */
    accepted: () =>
      store.items.map(({ to, content }) => `${to.is === 'persona' ? to.name : 'everyone'}: ${content}`).sort(),
    [Symbol.dispose]: dir[Symbol.dispose],
  };
}

describe('where queues lie', () => {
  test('by the stem of the session in our own directory, by its name in each folder where the persona worked', () => {
    const paths = listQueueFiles('/s', [session('ada', 'Abc', '/w/a', 1), session('ada', 'd', '/w/b', 2)]).map(
      ({ path }) => path,
    );
    assert.deepEqual(paths, [
      toQueuePath('/s', 'Abc'),
      '/w/a/.runtime/inject-queue/Abc.jsonl',
      '/w/b/.runtime/inject-queue/Abc.jsonl',
      '/s/inject-queue/d.jsonl',
      '/w/a/.runtime/inject-queue/d.jsonl',
      '/w/b/.runtime/inject-queue/d.jsonl',
    ]);
  });

  test('a session whose name is no plain file name has a queue in our own directory only', () => {
    for (const id of ['../x', 'a/b', '..', '.hidden', 'a b', '', 'x'.repeat(200)]) {
      const places = listQueueFiles('/s', [session('ada', id, '/w')]);
      assert.deepEqual(
        places.map(({ folder }) => folder),
        [null],
        id,
      );
    }
    assert.deepEqual(listQueueFiles('/s', [session('ada', null, '/w')]), []);
  });

  test('a session that two personas announced is of the later', () => {
    const both = [session('new', 's', '/w', 9), session('old', 's', '/w', 3)];
    assert.deepEqual(new Set(listQueueFiles('/s', both).map(({ persona }) => persona)), new Set(['new']));
  });
});

describe('all queues', () => {
  test('inbox-gates 8.10b: a session that was rotated strands nothing: lines in the file of the old one reach the persona', () => {
    using r = rig();
    const sessions = [
      session('ada', 'old', r.at('w'), 1),
      session('ada', 'new', r.at('w'), 2),
      session('bo', 'b', r.at('w'), 3),
    ];
    r.put('w/.runtime/inject-queue/old.jsonl', lines('late'));
    r.put('w/.runtime/inject-queue/new.jsonl', lines('now'));
    r.put('state/inject-queue/old.jsonl', lines('own'));
    r.put('w/.runtime/inject-queue/b.jsonl', lines('for bo'));
    assert.deepEqual(r.takeAll(sessions, 'ada'), { items: 3, bad: 0, held: [], faults: [] });
    assert.deepEqual(r.accepted(), ['ada: late', 'ada: now', 'ada: own']);
    assert.ok(r.store.items.every((item) => item.session === null));
    assert.equal(r.takeAll(sessions).items, 1);
    assert.deepEqual(r.takeAll(sessions), { items: 0, bad: 0, held: [], faults: [] });
  });

  test('inbox-gates 8.11a: a message that is in a queue and was pushed as well is there once', () => {
    using r = rig();
    const line = JSON.stringify({ content: 'x', dedup_key: 'decision:1' });
    const pushed = {
      type: 'decision',
      source: 'o',
      content: 'x',
      priority: 2,
      session: null,
      created: 1,
      expires: null,
    } as const;
    r.store.insert([{ ...pushed, to: { is: 'persona', name: 'ada' }, dedupKey: 'decision:1' }]);
    r.put('w/.runtime/inject-queue/s.jsonl', `${line}\n`);
    r.put('state/inject-queue/s.jsonl', `${line}\n`);
    r.takeAll([session('ada', 's', r.at('w'))]);
    assert.deepEqual(r.accepted(), ['ada: x']);
  });

  test('a broadcast that lies in the queue of each persona under one key is one broadcast, for all', () => {
    using r = rig();
    const line = `${JSON.stringify({ content: 'all', dedup_key: 'broadcast:1' })}\n`;
    r.put('a/.runtime/inject-queue/s1.jsonl', line);
    r.put('b/.runtime/inject-queue/s2.jsonl', line);
    r.takeAll([session('ada', 's1', r.at('a')), session('bo', 's2', r.at('b'))]);
    assert.deepEqual(r.accepted(), ['everyone: all']);
  });

  test("a file of no known session is nobody's: in a folder it is not looked at, in our own directory it is told", () => {
    using r = rig();
    const other = r.put('w/.runtime/inject-queue/other.jsonl', lines('came with a download'));
    r.put('state/inject-queue/gone.jsonl', lines('x'));
    r.put('state/inject-queue/empty.jsonl', '');
    r.put('state/inject-queue/s.jsonl', '');
    r.put('state/inject-queue/half.jsonl.draining', 'x');
    r.put('state/inject-queue/s.jsonl.draining', lines('mine'));
    const sessions = [session('ada', 's', r.at('w'))];
    const strays = ['gone.jsonl', 'half.jsonl.draining'].map((name) => r.at('state/inject-queue', name));
    assert.deepEqual(findStrayQueues(disk, r.state, sessions), strays);
    r.takeAll(sessions);
    assert.deepEqual(r.accepted(), ['ada: mine']);
    assert.equal(fs.readFileSync(other, 'utf8'), lines('came with a download'));
    assert.deepEqual(findStrayQueues(disk, r.at('nowhere'), sessions), []);
  });

  for (const link of ['w/.runtime', 'w/.runtime/inject-queue'] as const) {
    test(`${link} that is a symlink is refused: the transcript of the session has its name, and stays`, () => {
      using r = rig();
      const transcript = r.put('home/projects/s.jsonl', '{"role":"user"}\n');
      r.put('home/inject-queue/s.jsonl', '{"role":"user"}\n');
      fs.mkdirSync(r.at(link, '..'), { recursive: true });
      fs.symlinkSync(r.at(link === 'w/.runtime' ? 'home' : 'home/projects'), r.at(link));
      r.put('v/.runtime/inject-queue/s.jsonl', lines('good'));
      const all = r.takeAll([session('ada', 's', r.at('w'), 1), session('ada', 's2', r.at('v'), 2)]);
      assert.deepEqual(
        all.faults.map(({ code }) => code),
        ['unreadable'],
      );
      assert.match(all.faults[0]?.message ?? '', /is not a directory but a symlink/);
      assert.equal(fs.readFileSync(transcript, 'utf8'), '{"role":"user"}\n');
      assert.equal(fs.readFileSync(r.at('home/inject-queue/s.jsonl'), 'utf8'), '{"role":"user"}\n');
      assert.deepEqual(r.accepted(), ['ada: good'], 'the other folder is looked at all the same');
    });
  }

  test('a queue that is a symlink, a directory or of no room is a fault of its own; the others are taken', () => {
    using r = rig();
    fs.mkdirSync(r.at('state/inject-queue'), { recursive: true });
    r.put('elsewhere', lines('not a queue'));
    fs.symlinkSync(r.at('elsewhere'), r.at('state/inject-queue/a.jsonl'));
    fs.mkdirSync(r.at('state/inject-queue/b.jsonl'));
    r.put('state/inject-queue/c.jsonl', lines('good'));
    const all = r.takeAll(['a', 'b', 'c'].map((id) => session('ada', id, r.at('w'))));
    assert.deepEqual(
      all.faults.map(({ code }) => code),
      ['unwritable', 'unwritable'],
    );
    assert.deepEqual([r.accepted(), all.items], [['ada: good'], 1]);
    assert.equal(r.text('elsewhere'), lines('not a queue'));
  });

  test('a store that fails is a fault, and its lines are there the next time', () => {
    using r = rig();
    r.put('state/inject-queue/s.jsonl', lines('a'));
    const sessions = [session('ada', 's', r.at('w'))];
    const insert = () => {
      throw new Error('the database is locked');
    };
    const all = takeOverAll({ machine, state: r.state, sessions, persona: null, insert, waitMs: 250 });
    assert.match(all.faults[0]?.message ?? '', /the database is locked/);
    assert.equal(r.takeAll(sessions).items, 1);
  });
});
