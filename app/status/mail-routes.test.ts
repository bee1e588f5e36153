import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import type { FoundMessageWire } from './wire.ts';

interface Answer {
  readonly messages: readonly FoundMessageWire[];
  readonly next: number | null;
  readonly complete: boolean;
}

async function ask(
  rig: StatusRig,
  path: string,
  token = TOKEN,
): Promise<{ status: number; text: string; json: Answer }> {
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/${path}`, { headers });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) as Answer };
}

test('the feed is the mail of all sources, each message once, newest first', async () => {
  await using rig = await statusRig();
  rig.join('ada');
  rig.join('zed');
  await rig.hive.send({ to: 'ada', from: 'bo', content: 'from the local hive', urgent: true });
  await rig.mail('ada', 1); // the event about it
  await rig.mail('zed', 7); // of another source
  const { json } = await ask(rig, 'feed');
  assert.deepEqual(
    json.messages.map(({ persona, id, from, to, urgent, unread }) => [persona, id, from, to, urgent, unread]),
    [
      ['ada', 1, 'bo', 'ada', true, true],
      ['zed', 7, json.messages[1]?.from, 'zed', false, null],
    ],
  );
  assert.equal(json.messages[0]?.text, 'from the local hive');
  assert.deepEqual([json.next, json.complete], [null, true]);
});

test('a search shows the part of a long text that matches, with the place of each match', async () => {
  await using rig = await statusRig();
  await rig.hive.send({
    to: 'ada',
    from: 'bo',
    content: `${'long '.repeat(500)}needle ${'hay '.repeat(500)}`,
    urgent: false,
  });
  const { json } = await ask(rig, 'search?q=needle');
  const [message] = json.messages;
  assert.ok(message !== undefined && message.text.length <= 302, message?.text);
  assert.match(message.text, /^…long .*needle hay.*…$/s);
  const [mark] = message.marks.text;
  assert.equal(message.text.slice(mark?.[0], mark?.[1]), 'needle');
  assert.deepEqual((await ask(rig, 'search?q=nothing')).json.messages, []);
});

test('older messages follow with next, to the first of all', async () => {
  await using rig = await statusRig();
  for (let i = 1; i <= 5; i += 1) await rig.hive.send({ to: 'ada', from: 'bo', content: `mail ${i}`, urgent: false });
  const seen: string[] = [];
  for (let before = ''; ; ) {
    const { json } = await ask(rig, `feed?limit=2${before}`);
    seen.push(...json.messages.map(({ text }) => text));
    if (json.next === null) break;
    before = `&before=${json.next}`;
  }
  assert.deepEqual(seen, ['mail 5', 'mail 4', 'mail 3', 'mail 2', 'mail 1']);
});

test('a broadcast is one message, to nobody in particular', async () => {
  await using rig = await statusRig();
  for (const to of ['ada', 'cy']) await rig.hive.send({ to, from: 'bo', content: 'hello', urgent: false });
  rig.db.exec(
    "INSERT INTO inbox (persona, from_, priority, urgent, created, content) VALUES ('', 'bo', 2, 0, 5, 'to all')",
  );
  const { messages } = (await ask(rig, 'search?q="to all" everybody')).json;
  assert.deepEqual(
    messages.map(({ persona, to, unread, text }) => [persona, to, unread, text]),
    [['', '', null, 'to all']],
  );
});

test('both need the token, and say what is wrong with a query', async () => {
  await using rig = await statusRig();
  await rig.hive.send({ to: 'ada', from: 'bo', content: 'SECRET', urgent: false });
  for (const path of ['feed', 'search?q=SECRET']) {
    const refused = await ask(rig, path, '');
    assert.equal(refused.status, 401);
    assert.doesNotMatch(refused.text, /SECRET.*SECRET/);
    assert.doesNotMatch(refused.text, /"from"/);
  }
  for (const path of [
    'search',
    'search?q=',
    'feed?q=a',
    'feed?limit=0',
    'feed?limit=201',
    'feed?before=-1',
    'feed?before=x',
  ])
    assert.equal((await ask(rig, path)).status, 400, path);
  for (const q of ['"', 'a AND', 'NEAR(', '*', '\u0000', "'; --"])
    assert.equal((await ask(rig, `search?q=${encodeURIComponent(q)}`)).status, 200, q);
});
