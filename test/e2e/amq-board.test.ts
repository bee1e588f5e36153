import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AMQ_EXPECTED, amqQueue } from '../kit/amq-queue.ts';
import { readLines } from '../kit/read-lines.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { CHANGES, hasStrace, LOCKS, OPENS_TO_WRITE } from '../kit/strace.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const WORKER = fileURLToPath(import.meta.resolve('../kit/amq-worker.ts'));
const COUNT = 30;

test('amq 3, 5: beside two writers and a drainer each name is new once and read once, and nothing below the root is changed', async (t) => {
  if (needs(t, hasStrace() ? null : 'strace: apt-get install strace')) return;
  using store = amqQueue('data');
  using apart = scratch();
  const log = apart.at('strace');
  using home = trayHome({ primary: { is: 'local' }, tray: 'none', amq: { roots: [store.project] } });
  // The tracer is a grandchild (-D), so that the process is the one that the test started.
  const strace = ['strace', '-D', '-f', '-y', '-e', 'trace=%file,%desc', '-o', log];
  await using tray = await home.start([], {}, strace);
  for (const [handle, { unread, urgent = 0, you = false }] of Object.entries(AMQ_EXPECTED)) {
    const persona = await tray.persona(`amq-${handle}`, (each) => each.unread === unread);
    assert.deepEqual([persona.urgent, persona.label, persona.state], [urgent, you ? 'you' : handle, 'UP']);
  }
  const inbox = store.at('claude', 'inbox');
  const work = (kind: string, count: number, pause: number): Promise<readonly string[]> =>
    readLines<string>([WORKER, inbox, kind, `${count}`, `${pause}`]);
  const delivered = (
    await Promise.all([work('deliver', COUNT, 15), work('deliver', COUNT, 20), work('drain', 12, 60)])
  ).flat();
  store.drain('claude');
  assert.equal(delivered.length, 2 * COUNT);
  const list = (event: string) => home.events('amq-claude').filter((each) => each.event === event);
  await until(
    () => `each is read: ${list('read').length}`,
    () => list('read').length >= 2 * COUNT + 3,
  );
  await tray.persona('amq-claude', ({ unread }) => unread === 0);
  const news = list('new');
  assert.deepEqual(news.map(({ content }) => content).sort(), delivered.toSorted());
  const ids = news.map(({ id }) => id);
  assert.equal(new Set(ids).size, 2 * COUNT);
  const reads = list('read').map(({ id }) => id);
  assert.equal(new Set(reads).size, reads.length, 'each is read once');
  assert.deepEqual(
    ids.filter((id) => !reads.includes(id)),
    [],
  );
  await tray.stop();

  const calls = readFileSync(log, 'utf8').split('\n');
  const below = calls.filter((line) => line.includes(store.project));
  assert.ok(
    below.some((line) => line.includes('/inbox/new')),
    'the trace saw how it was read',
  );
  const isChange = (line: string): boolean => CHANGES.test(line) || OPENS_TO_WRITE.test(line) || LOCKS.test(line);
  assert.deepEqual(below.filter(isChange).slice(0, 5), []);
  assert.ok(calls.some(isChange), 'the trace sees changes where there are some');
  assert.deepEqual(readdirSync(store.at('claude', 'inbox', 'tmp')), [
    '2026-08-22T10-00-05.000Z_pid100_0000aa05.md.attempt-1',
  ]);
});

test('auto finds the queue of an announced session, and mail is on the board within a second', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  using home = trayHome({ primary: { is: 'local' }, tray: 'none', amq: { roots: ['auto'], actions: true } });
  using bin = scratch();
  // Stands for AMQ: it writes what it is called with, and refuses to send.
  const program = bin.write(
    'amq',
    `#!/bin/sh\n[ "$1" = send ] && { echo 'pinned' >&2; exit 5; }\nprintf '%s\\n' "$@" >'${bin.at('args')}'\n`,
  );
  chmodSync(program, 0o700);
  await using tray = await home.start([], { PATH: `${bin.dir}:${process.env.PATH}` });
  assert.equal((await home.run(['session', 'set', 'me', '--cwd', store.project])).code, 0);
  await tray.post('/api/v1/actions/poll', {});
  await tray.persona('amq-ada');
  const name = store.send('ada', { header: { subject: 'now', priority: 'urgent' } });
  const sent = performance.now();
  await until('its event', () => home.mail('amq-ada').length === 1);
  assert.ok(performance.now() - sent < 1000, `${performance.now() - sent} ms`);
  await tray.persona('amq-ada', ({ unread, urgent }) => unread === 1 && urgent === 1);
  store.claim('ada', name);
  await tray.persona('amq-ada', ({ unread }) => unread === 0, 1000);

  store.addAgent('user');
  const question = store.send('user', { header: { kind: 'question', subject: 'Deploy?' } });
  await until('the question', () => home.events('amq-user').some(({ event }) => event === 'question'));
  await tray.persona('amq-user', ({ unread, urgent }) => unread === 1 && urgent === 1);
  const [asked] = home.events('amq-user').filter(({ event }) => event === 'question');
  await tray.post('/api/v1/actions/amq', {
    persona: 'amq-user',
    do: 'reply',
    message: asked?.message,
    text: 'Yes.\nGo.',
  });
  assert.deepEqual(bin.text('args').split('\n'), [
    ...[
      'reply',
      '--root',
      store.queue,
      '--me',
      'user',
      '--id',
      question.replace('.md', ''),
      '--body',
      'Yes.',
      'Go.',
      '',
    ],
  ]);
  await assert.rejects(
    tray.post('/api/v1/actions/amq', { persona: 'amq-ada', do: 'send', text: 'x' }),
    /ended with 5: .*pinned/,
  );
  await assert.rejects(
    tray.post('/api/v1/actions/amq', { persona: 'amq-ada', do: 'read', message: name.replace('.md', '') }),
    /its own/,
  );
});
