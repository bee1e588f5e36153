import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { type FakeHive, type FakeHiveOptions, fakeHive } from '../../../test/kit/fake-hive.ts';
import { exactly, Fault, UNKNOWN } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createHttpHive, type Fetcher, type HiveClient, parseHiveUrl, parseInboxUrl } from './index.ts';

const SCOPE = { is: 'source', key: 'kijito' } as const;
const never = new AbortController().signal;
const ADA = '/api/inbox?persona=ada&mark_read=false';

interface Choices {
  readonly contentChars?: number | null;
  readonly longPoll?: boolean;
  readonly deadlineMs?: number;
  /** A `--url` of this path instead of the whole hive. */
  readonly single?: string;
}

function createClient(
  base: string,
  { contentChars = 220, longPoll = false, deadlineMs = 5000, single }: Choices = {},
): HiveClient {
  const fetcher = createHttpClient({
    url: base,
    policy: AS_WRITTEN,
    scope: SCOPE,
    userAgent: 'hivebar/0.0.0-test',
    credential: null,
    deadlineMs,
  });
  const hive = single === undefined ? parseHiveUrl(base, SCOPE) : parseInboxUrl(base + single, SCOPE);
  return createHttpHive({ hive, fetcher, clock: realClock, contentChars, longPoll, scope: SCOPE, log: silentLog });
}

async function withHive(
  options: FakeHiveOptions & Choices,
  run: (hive: FakeHive, client: HiveClient) => Promise<void>,
): Promise<void> {
  await using hive = await fakeHive({ personas: ['ada'], ...options });
  await using client = createClient(hive.url, options);
  await run(hive, client);
}

const deliver = (hive: FakeHive, count: number, persona = 'ada'): number[] =>
  Array.from({ length: count }, () => hive.deliver(persona));

const idsAfter = async (client: HiveClient, after: number): Promise<number[]> =>
  (await client.window('ada', after, never)).messages.map(({ id }) => id);

async function catchCode(work: unknown): Promise<string> {
  try {
    await work;
    return 'healthy';
  } catch (error) {
    assert.ok(error instanceof Fault, `not a Fault: ${error}`);
    return error.code;
  }
}

test('without a cursor one request tells the largest id, the counts, and the newest rows', async () => {
  await withHive({ window: 3 }, async (hive, client) => {
    deliver(hive, 10);
    const window = await client.window('ada', null, never);
    const { messages: rows, ...rest } = window;
    assert.deepEqual(
      rows.map(({ id }) => id),
      [8, 9, 10],
    );
    assert.deepEqual(rest, { max: 10, unread: exactly(10), urgent: UNKNOWN, hidden: { unread: 7, floor: 8 } });
    assert.deepEqual(
      hive.requests.map(({ url }) => url),
      [ADA],
    );
  });
});

test('an empty inbox has the largest id 0 and nothing unread', async () => {
  await withHive({}, async (_hive, client) => {
    assert.deepEqual(await client.window('ada', 0, never), {
      messages: [],
      max: 0,
      unread: exactly(0),
      urgent: UNKNOWN,
      hidden: { unread: 0, floor: null },
    });
  });
});

test('a window is walked back to the cursor, each page before the oldest row of the one above it', async () => {
  await withHive({ window: 3 }, async (hive, client) => {
    deliver(hive, 10);
    assert.deepEqual(await idsAfter(client, 3), [4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(
      hive.requests.map(({ url }) => url),
      [ADA, `${ADA}&before_id=8`, `${ADA}&before_id=5`],
    );
  });
});

test('a window that reaches the cursor is not walked, although it withholds older rows', async () => {
  await withHive({ window: 3 }, async (hive, client) => {
    deliver(hive, 10);
    for (const after of [7, 8, 9, 10, 99]) {
      assert.deepEqual(
        await idsAfter(client, after),
        [8, 9, 10].filter((id) => id > after),
      );
    }
    assert.equal(hive.requests.filter(({ url }) => url.includes('before_id')).length, 0);
  });
});

test('a walk to the first row knows how much is unread exactly, also where the server does not say it', async () => {
  await withHive({ window: 3 }, async (hive, client) => {
    deliver(hive, 10);
    hive.markRead('ada', [1, 5, 10]);
    hive.fail({ is: 'edit', edit: (answer) => ({ ...answer, unread_not_shown: undefined }) });
    assert.deepEqual((await client.window('ada', 0, never)).unread, exactly(7));
    assert.deepEqual((await client.window('ada', 6, never)).unread, { is: 'atLeast', n: 2 });
  });
});

test('a hive without window fields sends everything, and is believed (D13)', async () => {
  await withHive({ window: 'legacy' }, async (hive, client) => {
    deliver(hive, 300);
    assert.equal((await idsAfter(client, 0)).length, 300);
    assert.equal(hive.requests.length, 1);
  });
});

test('every row above any cursor comes once, ascending, through any window', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 12 }),
      fc.nat(62),
      async (ids, window, after) => {
        await withHive({ window }, async (hive, client) => {
          for (const id of ids) hive.deliver('ada', { id });
          const want = ids.filter((id) => id > after).sort((a, b) => a - b);
          assert.deepEqual(await idsAfter(client, after), want);
        });
      },
    ),
    { numRuns: 60 },
  );
});

test('mail that arrives during a walk is left to the next look, and then comes once', async () => {
  await withHive({ window: 3 }, async (hive, client) => {
    deliver(hive, 7);
    hive.fail({
      is: 'edit',
      edit: (answer, url) => {
        if (url.searchParams.has('before_id')) hive.deliver('ada');
        return answer;
      },
    });
    const first = await idsAfter(client, 0);
    assert.deepEqual(first, [1, 2, 3, 4, 5, 6, 7]);
    await hive.heal();
    assert.deepEqual(await idsAfter(client, 7), [8, 9]);
  });
});

test('S6: a page of the walk that fails leaves a hole and what was had, and the next look has the rest', async () => {
  await withHive({ window: 2 }, async (hive, client) => {
    deliver(hive, 6);
    let asked = 0;
    hive.fail({
      is: 'edit',
      edit: (answer) => {
        asked += 1;
        return asked === 2 ? { result: 'nonsense' } : answer;
      },
    });
    const { messages: rows, gap } = await client.window('ada', 0, never);
    assert.deepEqual(
      rows.map(({ id }) => id),
      [5, 6],
    );
    assert.match(gap?.why ?? '', /"result" is a string/);
    const { why: _, ...rest } = gap ?? { why: '' };
    assert.deepEqual(rest, { spans: [{ from: 5, to: 6 }], omitted: null, floor: 5, walked: 0 });
    assert.deepEqual(await idsAfter(client, 0), [1, 2, 3, 4, 5, 6]);
  });
});

const onWalkPages = (change: object) => (answer: Record<string, unknown>, url: URL) =>
  url.searchParams.has('before_id') ? { ...answer, ...change } : answer;

for (const [name, change] of [
  ['a continuation below its oldest row (trap 18)', { next_before_id: 1 }],
  ['an empty page that points further back (trap 19)', { result: [], next_before_id: 3 }],
  ['withheld rows and no continuation (trap 20)', { truncated: true, next_before_id: null }],
  ['a continuation with nothing withheld (trap 21)', { truncated: false, size_dropped: 0 }],
  ['a continuation that is absent (trap 17)', { next_before_id: undefined }],
  ['a continuation that is no number (trap 17)', { next_before_id: '3' }],
  ['the same rows again', { result: [{ id: 7 }, { id: 8 }], next_before_id: 7 }],
] as const) {
  test(`a walk page with ${name} leaves a hole, and is never the end of the walk`, async () => {
    await withHive({ window: 2 }, async (hive, client) => {
      deliver(hive, 8);
      hive.fail({ is: 'edit', edit: onWalkPages(change) });
      const { gap, messages: rows } = await client.window('ada', 0, never);
      assert.ok(gap !== undefined);
      assert.equal(hive.requests.length, 2, 'it is found on the page itself, not by walking on');
      const isIn = (id: number): boolean => gap.spans.some(({ from, to }) => from <= id && id <= to);
      assert.ok(rows.length >= 2 && rows.every(({ id }) => isIn(id)) && !isIn(1));
      assert.equal((await client.window('ada', 6, never)).gap, undefined);
    });
  });
}

test('trap 16: fifty pages are walked; what lies behind them is a hole that names the cursor, and the next look goes on there', async () => {
  await withHive({ window: 1 }, async (hive, client) => {
    deliver(hive, 50);
    assert.equal((await idsAfter(client, 0)).length, 50);
    deliver(hive, 1);
    const { gap, messages: rows } = await client.window('ada', 0, never);
    assert.match(gap?.why ?? '', /the cursor 0 is not reached within 50 pages/);
    assert.deepEqual([rows[0]?.id, rows.length, gap?.spans, gap?.walked], [2, 50, [{ from: 2, to: 51 }], 49]);
    hive.requests.length = 0;
    const rest = await client.window('ada', 0, never, [{ from: 2, to: 51 }]);
    assert.deepEqual(
      [rest.messages.map(({ id }) => id), rest.gap, hive.requests.length],
      [[1], undefined, 2],
      'what is done is passed over',
    );
    assert.equal((await idsAfter(client, 1)).length, 50);
  });
});

test('a fault of one inbox is about that persona, a fault of the connection about the hive', async () => {
  await withHive({}, async (hive, client) => {
    hive.fail({ is: 'body', body: '{"result":7}' });
    await assert.rejects(async () => client.window('ada', 0, never), { scope: { is: 'persona', key: 'kijito/ada' } });
    await hive.refuse();
    await assert.rejects(async () => client.window('ada', 0, never), { code: 'refused', scope: SCOPE });
  });
});

test('unchanged bytes are not parsed again, unless a cursor below needs the rows', async (t) => {
  await withHive({ window: 50 }, async (hive, client) => {
    deliver(hive, 5);
    const first = await client.window('ada', 5, never);
    const parse = t.mock.method(JSON, 'parse');
    assert.deepEqual(await client.window('ada', 5, never), first);
    assert.equal(parse.mock.callCount(), 0);
    assert.deepEqual(await idsAfter(client, 3), [4, 5]);
    assert.equal(parse.mock.callCount(), 1);
    hive.markRead('ada', [2]);
    assert.deepEqual((await client.window('ada', 5, never)).unread, exactly(4));
  });
});

test('trap 19: an empty page that continues is a hole each time it comes, in the same bytes too', async () => {
  const body = Buffer.from('{"result":[],"truncated":true,"size_dropped":0,"next_before_id":2,"unread_not_shown":1}');
  const fetcher: Fetcher = { get: async () => ({ body }), [Symbol.asyncDispose]: async () => {} };
  const hive = parseHiveUrl('http://127.0.0.1:1', SCOPE);
  await using client = createHttpHive({
    hive,
    fetcher,
    clock: realClock,
    contentChars: 220,
    longPoll: false,
    scope: SCOPE,
    log: silentLog,
  });
  for (let poll = 1; poll <= 3; poll += 1) {
    const { messages: rows, gap } = await client.window('ada', 0, never, [{ from: 2, to: 2 }]);
    assert.deepEqual([rows, gap?.spans], [[], []], `look ${poll}`);
    assert.match(gap?.why ?? '', /it is empty, and continues before 2/);
  }
});

test('content is cut at the edge, or not kept at all', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  hive.deliver('ada', { content: 'x'.repeat(1_000_000) });
  await using short = createClient(hive.url, { contentChars: 10 });
  assert.equal((await short.window('ada', 0, never)).messages[0]?.content, 'xxxxxxxxxx');
  await using none = createClient(hive.url, { contentChars: null });
  assert.equal((await none.window('ada', 0, never)).messages[0]?.content, null);
});

test('the directory gives names as the hive spells them', async () => {
  await withHive({ personas: ['Ada', 'ada', '../../x'] }, async (hive, client) => {
    assert.deepEqual(await client.personas?.(never), ['Ada', 'ada', '../../x']);
    hive.fail({ is: 'body', body: '{"result":[]}' });
    assert.equal(await catchCode(Promise.resolve(client.personas?.(never))), 'shape');
  });
});

test('pending is asked at its slash path; a persona that is absent has none unread', async () => {
  await withHive({}, async (hive, client) => {
    hive.deliver('ada', { urgent: true });
    hive.deliver('ada', { from: 'ada' });
    hive.addPersona('bo');
    const levels = await client.pending?.(null, never);
    assert.deepEqual(levels?.byAddress, new Map([['ada', { unread: exactly(1), urgent: exactly(1) }]]));
    assert.equal(levels?.cursor, null);
    assert.deepEqual(
      hive.requests.map(({ url }) => url),
      ['/api/notify/pending'],
    );
  });
});

test('a pending list that did not change says when it was asked again, and one that did is read anew', async () => {
  await withHive({}, async (hive, client) => {
    hive.deliver('ada');
    const first = await client.pending?.(null, never);
    await setTimeout(5);
    const second = await client.pending?.(null, never);
    assert.equal(second?.byAddress, first?.byAddress, 'the same bytes are not read again');
    assert.ok((second?.at ?? 0) > (first?.at ?? 0));
    hive.deliver('ada');
    const third = await client.pending?.(null, never);
    assert.deepEqual(third?.byAddress.get('ada')?.unread, exactly(2));
    hive.fail({ is: 'body', body: '{"result":[{"unread":1}]}' });
    assert.equal(await catchCode(Promise.resolve(client.pending?.(null, never))), 'shape');
    assert.equal(await catchCode(Promise.resolve(client.pending?.(null, never))), 'shape');
  });
});

test('a hive without a pending list says not-found', async () => {
  await withHive({ pending: 'absent' }, async (_hive, client) => {
    assert.equal(await catchCode(Promise.resolve(client.pending?.(null, never))), 'not-found');
  });
});

test('a hold returns when mail arrives, with a cursor for the next one', async () => {
  await withHive({ longPoll: true }, async (hive, client) => {
    const before = await client.pending?.(null, never);
    assert.equal(hive.requests.at(-1)?.url, '/api/notify/pending?wait=1');
    const cursor = before?.cursor ?? assert.fail('no cursor');
    const held = client.pending?.({ cursor, ms: 20_000 }, never);
    await setTimeout(50);
    const sent = performance.now();
    hive.deliver('ada');
    const after = await held;
    assert.ok(performance.now() - sent < 200);
    assert.deepEqual(after?.byAddress.get('ada')?.unread, exactly(1));
    assert.notEqual(after?.cursor, cursor);
    assert.equal(hive.requests.at(-1)?.url, `/api/notify/pending?wait=20&cursor=${cursor}`);
  });
});

test('a hold that is aborted ends within milliseconds (D6)', async () => {
  await withHive({ longPoll: true }, async (_hive, client) => {
    const { cursor } = (await client.pending?.(null, never)) ?? assert.fail('no pending list');
    const controller = new AbortController();
    const held = client.pending?.({ cursor: cursor ?? '', ms: 20_000 }, controller.signal);
    await setTimeout(30);
    const start = performance.now();
    controller.abort();
    await assert.rejects(Promise.resolve(held), { name: 'AbortError' });
    assert.ok(performance.now() - start < 50);
  });
});

test('a hive that does not long-poll gives no cursor', async () => {
  await withHive({ longPoll: true, pending: 'plain' }, async (_hive, client) => {
    assert.equal((await client.pending?.(null, never))?.cursor, null);
  });
});

/** A hive whose inbox answers are given by where they are asked for; what was asked, in order. */
function pagesBy(formatPage: (before: string | null) => string) {
  const asked: (string | null)[] = [];
  let turns = 0;
  const fetcher: Fetcher = {
    get: async (path) => {
      const before = new URL(path, 'http://h').searchParams.get('before_id');
      asked.push(before);
      return { body: Buffer.from(formatPage(before)) };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const clock = {
    ...realClock,
    sleep: async (ms: number, signal: AbortSignal) => {
      if (ms === 0) turns += 1;
      await realClock.sleep(ms, signal);
    },
  };
  const hive = parseHiveUrl('http://h/', SCOPE);
  const client = createHttpHive({
    hive,
    fetcher,
    clock,
    contentChars: 10,
    longPoll: false,
    scope: SCOPE,
    log: silentLog,
  });
  return { client, asked, turns: () => turns };
}

test('the page after an older one is asked for while that is not read yet, and what it says is not believed', async () => {
  const page = (ids: number[], next: number | null, extra = '') =>
    `{"result":[${ids.map((id) => `{"id":${id},"read":true}`).join()}${extra}],"truncated":${next !== null},"size_dropped":0,"next_before_id":${next}}`;
  const { client, asked } = pagesBy((before) =>
    before === null ? page([8, 9], 8) : before === '8' ? page([6, 7], 6, ',{') : page([], null),
  );
  await using _ = client;
  const { messages: rows, gap } = await client.window('ada', 1, never);
  assert.deepEqual(asked, [null, '8', '6'], 'the broken page ends with a hint of where it goes on');
  assert.deepEqual(
    rows.map(({ id }) => id),
    [8, 9],
  );
  assert.match(gap?.why ?? '', /before_id=8.* is not JSON/);
});

test('others have turns while an answer of thousands of rows is parsed, checked and trimmed', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => ({ id: i + 1, read: false, content: 'x'.repeat(100) }));
  const { client, turns } = pagesBy(() => JSON.stringify({ result: rows }));
  await using _ = client;
  const window = await client.window('ada', 0, never);
  assert.equal(window.messages.length, 5000);
  assert.ok(turns() >= 30, `${turns()} turns`);
  assert.equal((await client.window('ada', 5000, never)).max, 5000);
});

test('a hold has ten seconds more than it asks for, any other request the deadline of the client', async () => {
  const asked: [path: string, deadlineMs: number | undefined][] = [];
  const fetcher: Fetcher = {
    get: async (path, _signal, options) => {
      asked.push([path, options?.deadlineMs]);
      return { body: Buffer.from('{"result":[{"persona":"ada","unread":0}],"cursor":"a&b"}') };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const hive = parseHiveUrl('http://h/', SCOPE);
  await using client = createHttpHive({
    hive,
    fetcher,
    clock: realClock,
    contentChars: 0,
    longPoll: false,
    scope: SCOPE,
    log: silentLog,
  });
  await client.pending?.(null, never);
  await client.pending?.({ cursor: 'a&b', ms: 50_000 }, never);
  await client.personas?.(never);
  assert.deepEqual(asked, [
    ['/api/notify/pending', undefined],
    ['/api/notify/pending?wait=50&cursor=a%26b', 60_000],
    ['/api/personas', undefined],
  ]);
});

test('a --url is one inbox: peeked at, walked back, without directory or pending list', async () => {
  await withHive({ window: 2, single: '/api/inbox?persona=ada&mark_read=true' }, async (hive, client) => {
    deliver(hive, 5);
    const { messages: rows, max } = await client.window('', 0, never);
    assert.deepEqual([rows.length, max], [5, 5]);
    assert.ok(hive.listRows('ada').every(({ read }) => !read));
    assert.deepEqual(
      hive.requests.map(({ url }) => url),
      [ADA, `${ADA}&before_id=4`, `${ADA}&before_id=2`],
    );
    assert.deepEqual([client.personas, client.pending], [undefined, undefined]);
  });
});

test('one inbox that hangs delays no other (D8)', async () => {
  await withHive({ deadlineMs: 600 }, async (hive, client) => {
    hive.deliver('bo');
    hive.fail({ is: 'hang' }, { persona: 'ada' });
    const start = performance.now();
    const hanging = catchCode(client.window('ada', 0, never));
    for (let i = 0; i < 10; i += 1) await client.window('bo', 0, never);
    assert.ok(performance.now() - start < 400);
    assert.equal(await hanging, 'timeout');
  });
});

for (const [name, fault, code] of [
  ['HTML', { is: 'body', body: '<html>' }, 'not-json'],
  ['a body cut in the middle that still parses', { is: 'body', body: '{"result":[{"from":"x"}]}' }, 'shape'],
  ['a body cut in the middle', { is: 'truncated' }, 'broken'],
  ['204', { is: 'status', status: 204 }, 'status'],
  ['304', { is: 'status', status: 304 }, 'status'],
  ['404', { is: 'status', status: 404 }, 'not-found'],
  ['a redirect', { is: 'redirect', to: '/api/inbox?persona=bo' }, 'redirect'],
  ['a negative id (D20)', { is: 'body', body: '{"result":[{"id":-1}]}' }, 'shape'],
] as const) {
  test(`${name} is the fault ${code} for every question, never "no mail"`, async () => {
    await withHive({}, async (hive, client) => {
      hive.deliver('ada');
      hive.fail(fault);
      assert.equal(await catchCode(client.window('ada', 0, never)), code);
      assert.equal(await catchCode(client.window('ada', null, never)), code);
      assert.equal(await catchCode(Promise.resolve(client.personas?.(never))), code);
      assert.equal(await catchCode(Promise.resolve(client.pending?.(null, never))), code);
    });
  });
}

test('a byte-order mark before the answer is accepted (D20)', async () => {
  await withHive({}, async (hive, client) => {
    hive.fail({ is: 'body', body: '\ufeff{"result":[{"id":3,"content":{"a":[1]}}]}' });
    const { messages: rows } = await client.window('ada', 0, never);
    assert.deepEqual(rows, [{ id: 3, from: '', created: '', content: '{"a":[1]}', read: false }]);
  });
});
