import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { createMail, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { NewestAnswer } from './answer-schemas.ts';
import type { MessageWire } from './wire.ts';

const bearer = { Authorization: `Bearer ${TOKEN}` };

let rig: StatusRig;
before(async () => {
  rig = await statusRig();
  for (const persona of ['ada', 'bo', 'cy']) rig.join(persona);
});
after(() => rig[Symbol.asyncDispose]());

async function askNewest(): Promise<Readonly<Record<string, MessageWire>>> {
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/newest`, { headers: bearer });
  assert.equal(answer.status, 200);
  const body: unknown = await answer.json();
  assert.deepEqual([...Value.Errors(NewestAnswer, body)], []);
  return (body as { newest: Record<string, MessageWire> }).newest;
}

function deliver(persona: string, id: number, extra: object = {}): void {
  rig.board.put({ is: 'delivered', at: Date.now(), persona, events: [{ ...createMail(persona, id), ...extra }] });
}

describe('GET /api/v1/newest', () => {
  test('given no token, it is refused: it has senders and text', async () => {
    const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/newest`);
    assert.equal(answer.status, 401);
    assert.doesNotMatch(await answer.text(), /SECRET/);
  });

  test('given mail of a source, the newest of each persona is there as the source tells it', async () => {
    deliver('ada', 1);
    deliver('ada', 2, {
      ...{ content: '\n  first line \nsecond', subject: 'Build', link: 'https://h/1' },
      ...{ urgent: true, event: 'question' },
    });
    const { ada, ...others } = await askNewest();
    assert.deepEqual(others, {}, 'who has no mail is left out');
    assert.deepEqual(ada, {
      ...{ id: 2, persona: 'ada', from: 'SECRET-SENDER', to: 'ada', subject: 'Build', text: 'first line' },
      ...{ at: '2026-06-20T09:59:59.000000+00:00', urgent: true, priority: null, unread: null, thread: null },
      ...{ link: true, question: true },
    });
  });

  test('given an inbox without unread mail, its newest is read; with unread mail nobody can say which', async () => {
    rig.poll('ada', 0);
    assert.equal((await askNewest()).ada?.unread, false);
    rig.poll('ada', 1);
    assert.equal((await askNewest()).ada?.unread, null);
  });

  test('given mail of the local hive, the store says whether it is urgent and unread, also after it was read', async () => {
    const { id } = await rig.hive.send({ to: 'bo', from: 'ci', content: 'red', urgent: true });
    deliver('bo', id, { content: 'red' });
    const pick = async () => {
      const { bo } = await askNewest();
      return [bo?.urgent, bo?.priority, bo?.unread];
    };
    assert.deepEqual(await pick(), [true, 1, true]);
    rig.hive.markRead('bo', [id]);
    assert.deepEqual(await pick(), [true, 1, false]);
  });

  test('given a text or a time that is no use, what is shown is short and never later than now', async () => {
    deliver('cy', 3, { content: `${'x'.repeat(199)}🐝`, created: '2999-01-01T00:00:00Z' });
    const { cy } = await askNewest();
    assert.equal(cy?.text.length, 200);
    assert.ok(cy.text.isWellFormed());
    assert.ok(Date.parse(cy.at ?? '') <= Date.now() + 1000);
    deliver('cy', 4, { content: undefined, created: 'yesterday' });
    assert.deepEqual([(await askNewest()).cy?.text, (await askNewest()).cy?.at], ['', null]);
  });
});
