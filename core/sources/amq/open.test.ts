import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { amqQueue } from '../../../test/kit/amq-queue.ts';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import type { Fact } from '../../board/index.ts';
import { realFiles, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { SourceHost, WatchedHive } from '../module.ts';
import { findQueuePlaces, openAmq } from './open.ts';
import { findQueues, nameQueues } from './queues.ts';

const never = new AbortController().signal;

function addQueue(place: Scratch, ...path: readonly string[]): string {
  mkdirSync(place.at(...path, 'agents', 'ada', 'inbox', 'new'), { recursive: true });
  return place.at(...path);
}

/** The search for queues as the tray process runs it; its hives are only listed. */
function openRig(place: Scratch, roots: readonly string[], folders: readonly string[] = []) {
  const clock = fakeClock(1_000_000);
  const stop = new AbortController();
  const hives: WatchedHive[] = [];
  const facts: Fact[] = [];
  const left: string[] = [];
  const host = {
    ...{ disk: createRealDisk(silentLog), clock, random: realRandom, log: silentLog, contentChars: 220 },
    ...{ state: place.at('state'), env: {}, put: (fact: Fact) => void facts.push(fact) },
    listSessionFolders: () => folders,
    watch(hive: WatchedHive) {
      hives.push(hive);
      return {
        release: async () => void hives.splice(hives.indexOf(hive), 1),
        leave: () => void left.push(hive.source.id),
      };
    },
  } as unknown as SourceHost;
  const opened = openAmq({ amq: { roots: [...roots] } }, host) ?? assert.fail('nothing is looked for');
  const running = opened.services?.[0]?.run(stop.signal);
  return {
    ...{ opened, hives, facts, left, clock },
    async pass(ms: number): Promise<void> {
      for (let step = 0; step < 10; step += 1) await clock.advance(ms / 10);
    },
    ids: async () => {
      const personas = await Promise.all(hives.map(({ source }) => source.personas(never)));
      return personas.flat().flatMap(({ id }) => (id.includes('user') ? [] : [id]));
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

test('a folder leads to its queues: itself, one per session, those of a project, and those that .amqrc names', () => {
  using place = scratch();
  const queue = addQueue(place, 'queue');
  const [first, second] = [addQueue(place, 'app', '.agent-mail', 'one'), addQueue(place, 'app', '.agent-mail', 'two')];
  const other = addQueue(place, 'elsewhere', 'mail');
  mkdirSync(place.at('other'));
  writeFileSync(place.at('other', '.amqrc'), JSON.stringify({ root: '../elsewhere/mail', project: 'demo' }));
  mkdirSync(place.at('app', '.agent-mail', 'no-queue'));
  symlinkSync(place.at('queue'), place.at('app', '.agent-mail', '.hidden'));
  const find = (...folders: readonly string[]) =>
    findQueues(
      realFiles,
      folders.map((folder) => place.at(folder)),
    ).map(({ path, name }) => [path, name]);
  assert.deepEqual(find('queue'), [[queue, 'queue']]);
  assert.deepEqual(find('app', 'app/.agent-mail'), [
    [first, 'one'],
    [second, 'two'],
  ]);
  assert.deepEqual(find('other'), [[other, 'demo']]);
  assert.deepEqual(find('nowhere'), []);
  for (const broken of ['{"root": ', '{"root": 7}', '[]', '{"root": "\\u0000"}']) {
    writeFileSync(place.at('other', '.amqrc'), broken);
    assert.deepEqual(find('other'), [], broken);
  }
  assert.deepEqual(
    findQueuePlaces({ roots: [place.at('app'), place.at('nowhere'), 'auto'] }, realFiles).map(({ found }) => found),
    ['2 queues', null, null],
  );
});

test('a queue that cannot be searched counts as there, so that its fault is shown', () => {
  using place = scratch();
  const queue = addQueue(place, 'queue');
  const { files, deny } = createGuardedFiles();
  deny(queue);
  assert.deepEqual(
    findQueues(files, [queue]).map(({ path }) => path),
    [queue],
  );
});

test('queues of the same name are told apart by a number, whatever stands in the name', () => {
  const queues = ['/a', '/b', '/c'].map((path) => ({ path, name: path === '/c' ? 'x/../ y\n' : 'collab' }));
  assert.deepEqual(
    nameQueues(queues, []).map(({ suffix }) => suffix),
    ['@collab', '@collab-2', '@x-..-y-'],
  );
  assert.deepEqual(nameQueues(queues.slice(0, 1), []), [{ path: '/a', suffix: '' }]);
});

test('one queue has plain ids and keeps them, also over a restart, when another one comes', async () => {
  using place = scratch();
  addQueue(place, 'app', '.agent-mail', 'one');
  {
    await using rig = openRig(place, [place.at('app')]);
    await rig.pass(0);
    assert.deepEqual(await rig.ids(), ['amq-ada']);
    addQueue(place, 'app', '.agent-mail', 'two');
    await rig.pass(10_000);
    assert.deepEqual(await rig.ids(), ['amq-ada', 'amq-ada@two']);
  }
  await using again = openRig(place, [place.at('app')]);
  await again.pass(0);
  assert.deepEqual(await again.ids(), ['amq-ada', 'amq-ada@two']);
});

test('several queues at the first start have the session or project in their ids', async () => {
  using place = scratch();
  addQueue(place, 'app', '.agent-mail', 'one');
  addQueue(place, 'lib', '.agent-mail');
  await using rig = openRig(place, ['auto'], [place.at('app'), place.at('lib'), place.at('none')]);
  await rig.pass(0);
  assert.deepEqual(await rig.ids(), ['amq-ada@one', 'amq-ada@lib']);
  const session = rig.opened.findSessions?.({ id: 'amq-ada@lib', source: 'amq@lib', agent: 'unknown' });
  assert.deepEqual(session, [{ persona: 'amq-ada@lib', id: 'ada', cwd: place.at('lib'), resume: null }]);
});

test('amq 9: a queue that is gone leaves the board, and one that is made anew at once does not', async () => {
  using place = scratch();
  const queue = addQueue(place, 'queue');
  await using rig = openRig(place, [queue]);
  await rig.pass(0);
  renameSync(queue, place.at('away'));
  const back = rig.clock.after(11_000, () => cpSync(place.at('away'), queue, { recursive: true }));
  await rig.pass(15_000);
  back[Symbol.dispose]();
  assert.deepEqual([await rig.ids(), rig.left], [['amq-ada'], []]);
  rmSync(queue, { recursive: true });
  await rig.pass(20_000);
  assert.deepEqual([rig.hives, rig.left, rig.facts.map(({ is }) => is)], [[], ['amq'], ['source', 'withdrawn']]);
  addQueue(place, 'queue');
  await rig.pass(10_000);
  assert.deepEqual(await rig.ids(), ['amq-ada']);
});

test('what the names of queues are saved in may be lost or broken', async () => {
  using place = scratch();
  using store = amqQueue('data');
  for (const text of [null, '', '{}', '[{"path": 7}]', '[{"path": "/x", "suffix": "../../x"}]']) {
    mkdirSync(place.at('state', 'amq'), { recursive: true, mode: 0o700 });
    if (text !== null) writeFileSync(join(place.at('state', 'amq'), 'queues.json'), text, { mode: 0o600 });
    await using rig = openRig(place, [store.project]);
    await rig.pass(0);
    assert.deepEqual(await rig.ids(), ['amq-claude', 'amq-codex'], String(text));
    rmSync(place.at('state'), { recursive: true });
  }
});

test('without roots nothing is looked for', () => {
  assert.equal(openAmq({ amq: { roots: [] } }, {} as SourceHost), null);
});
