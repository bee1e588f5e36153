import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import type { SourceSettings } from '../../core/sources/derived.ts';
import { openDatabase } from '../../core/state/index.ts';
import { openLocal } from './local-hive.ts';

const SETTINGS = { primary: { is: 'local' }, hives: [] } as unknown as SourceSettings;

test('what a person replies is stored as said by Hivebar, for the sender or the persona, and stands at the message', async () => {
  using db = openDatabase(':memory:');
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: 220 });
  const { source } = openLocal(hive, SETTINGS, realClock);
  const reply = async (persona: string, text: string, message: string | null) =>
    await source.reply?.(
      { id: persona, address: persona, label: persona },
      { text, message, subject: null },
      AbortSignal.abort(),
    );
  hive.sendNow({ to: 'ada', from: 'bo', content: 'hi', urgent: false });
  const { id } = hive.sendNow({ to: 'bo', from: 'ada', content: 'which branch?', urgent: false });
  assert.deepEqual(await reply('bo', 'main', String(id)), {
    ...{ is: 'stored', says: 'stored, not delivered: ada gets it when it next reads its inbox' },
  });
  await reply('bo', 'hello', null);
  const [toAda, toBo] = [hive.older('ada', null), hive.older('bo', null)].map((mail) => [...mail][0]);
  assert.deepEqual(
    [toAda, toBo].map((mail) => [mail?.from, mail?.content, mail?.origin, mail?.answers]),
    [
      ['operator', 'main', 'hivebar', id],
      ['operator', 'hello', 'hivebar', null],
    ],
  );
  assert.equal(
    source.markRead?.({ id: 'bo', address: 'bo', label: 'bo' }, 'all'),
    1,
    'what was said to the agent waits for it',
  );
  const replies = [...hive.older('bo', id + 1)][0]?.replies.map(({ to, content }) => [to, content]);
  assert.deepEqual(replies, [['ada', 'main']]);
  await assert.rejects(reply('bo', 'x', '9999'), /bo has no message 9999/);
  const stray = hive.sendNow({ to: 'bo', from: 'cron', content: 'x', urgent: false });
  await assert.rejects(reply('bo', 'x', String(stray.id)), /"cron" has no inbox here: write to bo instead/);
});
