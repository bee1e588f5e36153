import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { amqQueue } from '../../../test/kit/amq-queue.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { exactly, Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createMailboxEngine, parseJsonMessage } from './mailboxes.ts';
import type { ExternalSource } from './settings.ts';

const never = new AbortController().signal;

function openEngine(setting: Partial<ExternalSource>) {
  const clock = createJumpingClock(realClock);
  const host = { clock, disk: createRealDisk(silentLog), log: silentLog, contentChars: 220 };
  return { clock, engine: createMailboxEngine({ name: 'mail', is: 'maildir', ...setting }, host) };
}

test('each layout of source add lists its mailboxes with the prefix of the source', async () => {
  using store = amqQueue('data');
  using place = scratch();
  for (const folder of ['mail/ada/new', 'notes/bo']) mkdirSync(place.at(folder), { recursive: true });
  const cases = [
    [{ path: store.queue, layout: 'amq' }, 'mail-claude mail-codex mail-user'],
    [{ path: place.at('mail') }, 'mail-ada'],
    [{ path: place.at('notes'), layout: 'flat' }, 'mail-bo'],
  ] as const;
  for (const [setting, ids] of cases) {
    const { engine } = openEngine(setting);
    assert.equal((await engine.list(never)).map(({ id }) => id).join(' '), ids);
    assert.deepEqual(engine.report().state, 'up');
  }
});

test('a folder that is not there fails with its path, and is up again when it is', async () => {
  using place = scratch();
  const { engine } = openEngine({ path: place.at('mail') });
  assert.equal(engine.report().state, 'starting');
  await assert.rejects(engine.list(never), (error) => error instanceof Fault && error.scope.is === 'source');
  const { state, why } = engine.report();
  assert.ok(state === 'failing' && why?.includes(place.at('mail')));
  mkdirSync(place.at('mail'));
  await engine.list(never);
  assert.equal(engine.report().state, 'up');
});

test('mail that nobody takes for so long makes the agent stalled, until it is taken', async () => {
  using place = scratch();
  mkdirSync(place.at('ada', 'new'), { recursive: true });
  const path = place.at('ada', 'new', '1750000000.M1P1.host');
  writeFileSync(path, 'Subject: a\n\nb');
  const { engine, clock } = openEngine({ path: place.dir, stalledAfter: 60 });
  const poll = async () => await engine.poll(engine.named('ada'), { is: 'unset' }, never);
  assert.equal((await poll()).agentState.is, 'unknown');
  clock.jump(60_000);
  const { agentState, unread } = await poll();
  assert.deepEqual(
    [agentState.is, 'why' in agentState && agentState.why, unread],
    ['stalled', 'nobody takes it', exactly(1)],
  );
  rmSync(path);
  assert.equal((await poll()).agentState.is, 'unknown');
});

test('a JSON file says what an item says, and nothing that it may not', () => {
  const read = (value: unknown) => parseJsonMessage(JSON.stringify(value));
  assert.deepEqual(
    read({
      from: 'bo',
      subject: 'a\nb',
      content: 'c',
      created: '2026-11-29T09:00:00Z',
      urgent: true,
      kind: 'question',
      thread: 't',
    }),
    {
      ...{ appeared: 'question', from: 'bo', created: '2026-11-29T09:00:00.000000+00:00', order: [1795942800, 0] },
      ...{ content: 'c', extra: { subject: 'a b', thread: 't', priority: 'urgent' } },
    },
  );
  assert.equal(parseJsonMessage('{"subject": "ha'), null);
  for (const value of [[], 'text', 7, null]) assert.equal(read(value), null);
  const hostile = parseJsonMessage(
    '{"__proto__": {"x": 1}, "extra": {"__proto__": 2, "a": "b"}, "subject": "\\ud800"}',
  );
  assert.deepEqual({ ...hostile?.extra, subject: null }, { a: 'b', subject: null });
  assert.ok(JSON.stringify(hostile).isWellFormed());
  assert.equal(({} as { x?: number }).x, undefined);
  assert.equal(
    read({ persona: '../x', key: 7, state: 'gone', op: 'bye' })?.appeared,
    'new',
    'its place says who and which',
  );
});
