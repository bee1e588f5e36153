import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { createMail, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { MessagesWire } from './wire.ts';

const bearer = { Authorization: `Bearer ${TOKEN}` };

let rig: StatusRig;
before(async () => {
  rig = await statusRig();
  for (const persona of ['ada', 'bo', 'cy']) rig.join(persona);
});
after(() => rig[Symbol.asyncDispose]());

async function ask(path: string): Promise<MessagesWire> {
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/personas/${path}`, { headers: bearer });
  assert.equal(answer.status, 200);
  const body: unknown = await answer.json();
  assert.deepEqual([...Value.Errors(MessagesWire, body)], []);
  return body as MessagesWire;
}

async function askAll(persona: string, limit: number): Promise<number[]> {
  const ids: number[] = [];
  for (let next: number | null = null, hasMore = true; hasMore; hasMore = next !== null) {
    const page: MessagesWire = await ask(`${persona}/messages?limit=${limit}${next === null ? '' : `&before=${next}`}`);
    ids.push(...page.messages.map(({ id }) => id));
    next = page.before;
  }
  return ids;
}

describe('GET /api/v1/personas/ID/messages', () => {
  test('given no token, or nobody of this name, it is refused', async () => {
    const url = `http://127.0.0.1:${rig.port}/api/v1/personas/ada/messages`;
    assert.equal((await fetch(url)).status, 401);
    assert.equal((await fetch(url.replace('ada', 'zed'), { headers: bearer })).status, 404);
    assert.equal((await fetch(`${url}?limit=0`, { headers: bearer })).status, 400);
  });

  test('given 120 messages of the local hive, all can be read page by page, and stay unread', async () => {
    for (let n = 1; n <= 120; n += 1)
      rig.hive.sendNow({ to: 'ada', from: 'ci', content: `text ${n}`, urgent: n === 1 });
    const first = await ask('ada/messages');
    assert.deepEqual([first.messages.length, first.before, first.from], [50, 71, 'store']);
    assert.deepEqual(
      await askAll('ada', 50),
      Array.from({ length: 120 }, (_, n) => 120 - n),
    );
    const [oldest] = (await ask('ada/messages?before=2')).messages;
    assert.deepEqual(oldest, {
      ...{
        id: 1,
        persona: 'ada',
        from: 'ci',
        to: 'ada',
        subject: '',
        text: 'text 1',
        truncated: false,
        at: oldest?.at,
      },
      ...{ urgent: true, priority: 1, unread: true, thread: null, conversation: null, question: false, link: false },
      ...{ url: null, replyTo: null, replies: [], own: false },
    });
  });

  test('given a long text, it is cut in a list and whole alone', async () => {
    const { id } = rig.hive.sendNow({ to: 'ada', from: 'ci', content: 'x'.repeat(30_000), urgent: false });
    const [cut] = (await ask('ada/messages?limit=2')).messages;
    assert.deepEqual([cut?.text.length, cut?.truncated], [20_000, true]);
    const [whole] = (await ask(`ada/messages?limit=1&before=${id + 1}`)).messages;
    assert.deepEqual([whole?.text.length, whole?.truncated], [30_000, false]);
  });

  test('given mail of another source, what was delivered is there page by page, with what the source says', async () => {
    await rig.mail('cy', ...Array.from({ length: 70 }, (_, n) => n + 1));
    assert.deepEqual(
      await askAll('cy', 20),
      Array.from({ length: 70 }, (_, n) => 70 - n),
    );
    const sink = rig.outbox.sinkFor('bo', 'bo');
    await sink.open();
    const extra = { subject: 'Build', link: 'https://h/1', message: 'gc-7', thread: 't1', priority: 'urgent' };
    await sink.take([{ ...createMail('bo', 1), ...extra }], {}, new AbortController().signal);
    const { messages, from } = await ask('bo/messages');
    assert.equal(from, 'events');
    const [message] = messages;
    assert.deepEqual(
      [message?.subject, message?.url, message?.urgent, message?.conversation, message?.replyTo, message?.unread],
      ['Build', 'https://h/1', true, 't1', null, null],
      'nobody can reply to bo from here',
    );
  });
});
