import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { formatEventLine } from '../../core/events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import type { OutboxRow } from '../../core/sinks/outbox/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createMail, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { createCurrentStatus } from './current-status.ts';
import { createStream, type EventLog } from './stream.ts';

interface Message {
  readonly id: string | null;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A client on a real socket that keeps what it was sent. */
async function listen(
  rig: StatusRig,
  { since, query, token, events }: { since?: string; query?: string; token?: true; events?: false } = {},
) {
  const socket: Socket = connect(rig.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {}); // the far end may cut
  const params = new URLSearchParams({
    ...(query === undefined ? {} : { since: query }),
    ...(events === undefined ? {} : { events: 'false' }),
  });
  const path = `/api/v1/stream${params.size === 0 ? '' : `?${params}`}`;
  const headers = [`Host: 127.0.0.1:${rig.port}`, 'Accept: text/event-stream'];
  if (since !== undefined) headers.push(`Last-Event-ID: ${since}`);
  if (token === true) headers.push(`Authorization: Bearer ${TOKEN}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  const messages = (): Message[] =>
    // chunk sizes are lines of hex digits alone, which no field of ours is
    text
      .replace(/^[\s\S]*?\r\n\r\n/, '')
      .replace(/\r\n[0-9a-f]+\r\n|^[0-9a-f]+\r\n/g, '')
      .split('\n\n')
      .slice(0, -1)
      .flatMap((block) => {
        const field = (name: string): string | null => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
        const data = field('data');
        return data === null ? [] : [{ id: field('id'), event: field('event') ?? 'message', data: JSON.parse(data) }];
      });
  const until = async (ok: (all: Message[]) => boolean): Promise<Message[]> => {
    for (let i = 0; i < 300; i += 1) {
      if (ok(messages())) return messages();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`not seen in 3 s: ${text.slice(0, 2000)}`);
  };
  await until((all) => all.some(({ event }) => event === 'status'));
  return {
    socket,
    until,
    ids: (): (string | null)[] =>
      messages()
        .filter(({ event }) => event === 'event')
        .map(({ id }) => id),
    raw: (): string => text,
  };
}
const news = (all: Message[]): Message[] => all.filter(({ event }) => event === 'event');

test('a reader gets the status at once, then every change and every event', async () => {
  await using rig = await statusRig();
  rig.join('ada');
  const reader = await listen(rig);
  rig.poll('ada', 3);
  await rig.mail('ada', 1);
  const all = await reader.until(
    (m) =>
      news(m).length === 1 && m.some(({ data }) => 'rev' in data && (data.totals as { unread: number }).unread === 3),
  );
  assert.equal(all[0]?.event, 'hello');
  assert.equal(news(all)[0]?.id, 'ada:new:1');
  reader.socket.destroy();
});

test('a reader that wants no events gets only the status', async () => {
  await using rig = await statusRig();
  rig.join('ada');
  const [bare, whole] = [await listen(rig, { events: false }), await listen(rig)];
  rig.poll('ada', 3);
  await rig.mail('ada', 1);
  await whole.until((m) => news(m).length === 1);
  const all = await bare.until((m) =>
    m.some(({ data }) => 'rev' in data && (data.totals as { unread: number }).unread === 3),
  );
  assert.deepEqual([...new Set(all.map(({ event }) => event))], ['hello', 'status']);
  bare.socket.destroy();
  whole.socket.destroy();
});

test('without the token an event has no sender and no text, with it both', async () => {
  await using rig = await statusRig();
  const [open, owner] = [await listen(rig), await listen(rig, { token: true })];
  await rig.mail('ada', 1);
  const [seen] = news(await open.until((m) => news(m).length === 1));
  assert.deepEqual(Object.keys(seen?.data ?? {}), [
    'event',
    'source',
    'ts',
    'id',
    'created',
    'persona',
    'event_id',
    'wake_class',
    'nonce',
    'emitted',
  ]);
  assert.doesNotMatch(open.raw(), /SECRET/);
  const [whole] = news(await owner.until((m) => news(m).length === 1));
  assert.deepEqual([whole?.data.from, whole?.data.content], ['SECRET-SENDER', 'SECRET-TEXT 1']);
  open.socket.destroy();
  owner.socket.destroy();
});

test('S6: a reader that is cut and comes back has every event once and in order, by header and by query', async () => {
  await using rig = await statusRig();
  const first = await listen(rig);
  await rig.mail('ada', 1233, 1234);
  await first.until((m) => news(m).length === 2);
  first.socket.destroy();
  await rig.mail('ada', 1235);
  await rig.mail('bo', 7);
  await rig.mail('ada', 1236);
  for (const back of [await listen(rig, { since: 'ada:new:1234' }), await listen(rig, { query: 'ada:new:1234' })]) {
    await back.until((m) => news(m).length >= 3);
    assert.deepEqual(back.ids().slice(0, 3), ['ada:new:1235', 'bo:new:7', 'ada:new:1236']);
    back.socket.destroy();
  }
});

test('S6: cut at 1234, mail while cut, and the first catch-up fails: 1235, 1236 and 1237 come once each, in order', async () => {
  await using rig = await statusRig();
  const since = rig.outbox.since;
  let asked = 0;
  rig.outbox.since = (...parameters) => {
    asked += 1;
    if (asked === 1) throw new Error('the first catch-up fails');
    return since(...parameters);
  };
  const first = await listen(rig);
  await rig.mail('ada', 1234);
  await first.until((m) => news(m).length === 1);
  first.socket.destroy();
  await rig.mail('ada', 1235, 1236);
  const headers = { 'Last-Event-ID': 'ada:new:1234' };
  const refused = await fetch(`http://127.0.0.1:${rig.port}/api/v1/stream`, { headers });
  assert.equal(refused.status, 500, 'told as an answer, so that a client knows to come again');
  assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'internal');
  const back = await listen(rig, { since: 'ada:new:1234' });
  await rig.mail('ada', 1237);
  await back.until((m) => news(m).length === 3);
  assert.deepEqual(back.ids(), ['ada:new:1235', 'ada:new:1236', 'ada:new:1237']);
  assert.equal(asked, 2);
  back.socket.destroy();
});

test('S6: where the catch-up fails half-way the stream is cut, and what was missed comes to who comes back', async () => {
  await using rig = await statusRig();
  await rig.bulk('ada', 1, 600);
  const after = rig.outbox.after;
  let asked = 0;
  rig.outbox.after = (...parameters) => {
    asked += 1;
    if (asked === 2) throw new Error('the disk is away');
    return after(...parameters);
  };
  const lost = await fetch(`http://127.0.0.1:${rig.port}/api/v1/stream?since=ada:new:1`)
    .then((answer) => answer.text())
    .catch((error: Error) => error);
  assert.ok(lost instanceof Error, 'a hole is never passed over in silence');
  const other = await listen(rig);
  await rig.mail('bo', 1);
  await other.until((m) => news(m).length === 1);
  const back = await listen(rig, { since: 'ada:new:1' });
  await back.until((m) => news(m).length === 600);
  const all = Array.from({ length: 599 }, (_, i) => `ada:new:${i + 2}`);
  assert.deepEqual(back.ids(), [...all, 'bo:new:1']);
  for (const { socket } of [other, back]) socket.destroy();
});

test('an empty id is the beginning of all that is kept', async () => {
  await using rig = await statusRig();
  await rig.mail('ada', 1, 2);
  for (const back of [await listen(rig, { query: '' }), await listen(rig, { since: '' })]) {
    const all = await back.until((m) => news(m).length === 2);
    assert.deepEqual(back.ids(), ['ada:new:1', 'ada:new:2']);
    assert.deepEqual(all[0]?.data, { since: null });
    back.socket.destroy();
  }
});

test('a query that is none of the stream is 400: a misspelt since must not pass for none', async () => {
  await using rig = await statusRig();
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/stream?sinse=ada:new:1`);
  assert.equal(answer.status, 400);
});

test('a reader cut before its first event comes back to where it stood', async () => {
  await using rig = await statusRig();
  await rig.mail('ada', 1);
  const first = await listen(rig);
  const [hello] = await first.until((m) => m.length > 0);
  assert.equal(hello?.id, 'ada:new:1');
  first.socket.destroy();
  await rig.mail('ada', 2);
  const back = await listen(rig, { since: hello?.id ?? '' });
  await back.until((m) => news(m).length === 1);
  assert.deepEqual(back.ids(), ['ada:new:2']);
  back.socket.destroy();
});

test('an id that nobody knows is said to be a gap, and the news goes on', async () => {
  await using rig = await statusRig();
  const reader = await listen(rig, { since: 'ada:new:99' });
  await rig.mail('ada', 100);
  const all = await reader.until((m) => news(m).length === 1);
  assert.deepEqual(all.find(({ event }) => event === 'gap')?.data, { since: 'ada:new:99' });
  reader.socket.destroy();
});

test('ids are UTF-8 in the header too', async () => {
  await using rig = await statusRig();
  await rig.mail('zoë 🐝', 1, 2);
  const reader = await listen(rig, { since: 'zoë 🐝:new:1' });
  await reader.until((m) => news(m).length === 1);
  assert.deepEqual(reader.ids(), ['zoë 🐝:new:2']);
  reader.socket.destroy();
});

test('while events pour in, a reader that joins with an id misses none and gets none twice', async () => {
  await using rig = await statusRig();
  await rig.mail('ada', 1);
  const pouring = (async () => {
    for (let id = 2; id <= 300; id += 1) await rig.mail('ada', id);
  })();
  const readers = [];
  for (let i = 0; i < 5; i += 1) readers.push(await listen(rig, { since: 'ada:new:1' }));
  await pouring;
  const all = Array.from({ length: 299 }, (_, i) => `ada:new:${i + 2}`);
  for (const reader of readers) {
    await reader.until((m) => news(m).length >= 299);
    assert.deepEqual(reader.ids(), all);
    reader.socket.destroy();
  }
});

test('a reader that stops reading holds up nobody, and has everything when it reads again', async () => {
  await using rig = await statusRig();
  const [slow, quick] = [await listen(rig, { token: true }), await listen(rig)];
  slow.socket.pause();
  for (let id = 1; id <= 3000; id += 500) await rig.bulk('ada', id, 500);
  await quick.until((m) => news(m).length === 3000);
  assert.ok(slow.raw().length < 1_000_000);
  slow.socket.resume();
  await slow.until((m) => news(m).length === 3000);
  assert.deepEqual(slow.ids(), quick.ids());
  slow.socket.destroy();
  quick.socket.destroy();
});

test('a stalled reader that leaves is forgotten, and a stop does not wait for one that stays', async () => {
  await using rig = await statusRig();
  const [leaves, stays] = [await listen(rig, { token: true }), await listen(rig, { token: true })];
  leaves.socket.pause();
  stays.socket.pause();
  for (let id = 1; id <= 3000; id += 500) await rig.bulk('ada', id, 500);
  leaves.socket.destroy();
  const started = performance.now();
  await rig.server[Symbol.asyncDispose](); // the server alone: what the rig has to write to its database is another matter
  assert.ok(performance.now() - started < 400);
  stays.socket.destroy();
});

test('of 500 idle streams 200 are served; the others are told why, and everything else still answers', async () => {
  await using rig = await statusRig();
  rig.join('ada');
  const sockets: Socket[] = [];
  const heads = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const socket = connect(rig.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {}); // those that are refused are closed
      socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nConnection: close\r\n\r\n`);
      return await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('utf8'))));
    }),
  );
  const served = heads.filter((head) => head.startsWith('HTTP/1.1 200'));
  const refused = heads.filter((head) => head.startsWith('HTTP/1.1 503'));
  assert.deepEqual([served.length, refused.length], [200, 300]);
  for (const head of refused) assert.match(head, /"too-many-streams".*"next":"close one/);
  const from = performance.now();
  assert.equal((await fetch(`http://127.0.0.1:${rig.port}/status.json`)).status, 200);
  rig.poll('ada', 1);
  assert.ok(performance.now() - from < 1000);
  for (const socket of sockets) socket.destroy();
  const again = await listen(rig);
  again.socket.destroy();
});

/** A stream under a clock that stands still, and one reader whose far end the test plays. */
test('B5 given 200 readers without a token, token holders and the owner-only socket are served, 1,000 of each', async () => {
  await using rig = await statusRig();
  rig.join('ada');
  const sockets: Socket[] = [];
  const status = (to: number | string, headers: readonly string[]): Promise<number> => {
    const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
    sockets.push(socket);
    socket.on('error', () => {}); // those that are refused are closed
    socket.write(`GET /api/v1/stream HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    return new Promise((resolve) =>
      socket.once('data', (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]))),
    );
  };
  const tcp = `Host: 127.0.0.1:${rig.port}`;
  const many = async (count: number, ask: () => Promise<number>): Promise<string> => {
    const all = await Promise.all(Array.from({ length: count }, ask));
    return `${all.filter((code) => code === 200).length} of ${all.length}`;
  };
  try {
    assert.equal(await many(201, () => status(rig.port, [tcp])), '200 of 201');
    assert.equal(await many(1001, () => status(rig.port, [tcp, `Authorization: Bearer ${TOKEN}`])), '1000 of 1001');
    assert.equal(await many(1001, () => status(rig.socketPath, ['Host: localhost'])), '1000 of 1001');
    const refused = await fetch(`http://127.0.0.1:${rig.port}/api/v1/stream`);
    const { error } = (await refused.json()) as { error: { message: string; next: string } };
    assert.match(error.message, /200 streams without the token are open/);
    assert.match(error.next, /close one, send the token/);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

function still(full = false) {
  let tell: (rows: readonly OutboxRow[]) => void = () => {};
  const clock = fakeClock();
  const board = createBoard();
  const rows: OutboxRow[] = [];
  const events: EventLog = {
    newest: () => rows.at(-1) ?? null,
    after: (_, seq, limit) => rows.filter((row) => row.seq > seq).slice(0, limit),
    listNewest: () => [],
    mailBefore: () => [],
    since: () => ({ is: 'unknown-id' }),
    onDelivered: (listener) => {
      tell = listener;
      return { [Symbol.dispose]: () => {} };
    },
  };
  const current = createCurrentStatus({ board, clock, version: '1', port: () => 1, run: 'r' });
  const created = createStream({ board, events, clock, current, findMarks: () => null, log: silentLog });
  const stop = new AbortController();
  void created.service.run(stop.signal);
  const stream = {
    start: created.start,
    join: created.join,
    [Symbol.dispose]() {
      created[Symbol.dispose]();
      stop.abort();
    },
  };
  const written: string[] = [];
  let dropped = false;
  const reader = stream.join(
    { write: (text) => written.push(text) > 0 && !full, drop: () => (dropped = true) },
    stream.start(null),
    { right: 'anyone', events: true, status: 'whole' },
  );
  const poll = (unread: number): Fact => {
    const at = clock.now();
    const counts = { unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, cursor: 1 };
    return { is: 'polled', at, persona: 'ada', health: { is: 'up', since: 0 }, ...counts };
  };
  board.put({
    is: 'joined',
    at: clock.now(),
    persona: 'ada',
    source: 's',
    address: 'ada',
    label: 'ada',
    stem: 'ada',
    eventsFile: null,
    lastEventId: null,
    staleAfterMs: 30_000,
  });
  const statuses = (): number => written.filter((text) => text.startsWith('event: status')).length;
  const commit = (seq: number): void => {
    const row = {
      seq,
      persona: 'ada',
      eventId: `ada:new:${seq}`,
      line: formatEventLine(createMail('ada', seq)).trimEnd(),
    };
    rows.push(row);
    tell([row]);
  };
  const fill = (is: boolean): void => {
    full = is;
  };
  return { clock, board, commit, fill, stream, reader, written, statuses, poll, isDropped: () => dropped };
}

test('to a reader that is full nothing is written until it drained, and then all it missed, in order', async () => {
  const stillStream = still();
  stillStream.fill(true);
  stillStream.commit(1);
  const before = stillStream.written.length;
  for (let seq = 2; seq <= 1000; seq += 1) stillStream.commit(seq);
  stillStream.board.put(stillStream.poll(5));
  await stillStream.clock.advance(5000);
  assert.equal(stillStream.written.length, before);
  stillStream.fill(false);
  stillStream.reader.drained();
  const ids = [...stillStream.written.join('').matchAll(/^id: ada:new:(\d+)$/gm)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    Array.from({ length: 1000 }, (_, i) => i + 1),
  );
  assert.match(stillStream.written.at(-1) ?? '', /^event: status.*"unread":5/s, 'and one status, the newest');
  stillStream.stream[Symbol.dispose]();
});

test('a storm of changes is at most four status messages a second, and the last one is the newest', async () => {
  const { clock, board, statuses, written, poll, stream } = still();
  await clock.advance(1000);
  const before = statuses();
  for (let i = 1; i <= 100; i += 1) {
    board.put(poll(i));
    await clock.advance(10);
  }
  await clock.advance(300);
  assert.ok(statuses() - before <= 6, `${statuses() - before}`);
  assert.match(written.at(-1) ?? '', /"unread":100/);
  stream[Symbol.dispose]();
  assert.equal(clock.waiting, 0);
});

test('freshness alone is sent well before a number would look old, and nothing at all when nothing was looked at', async () => {
  const { clock, board, statuses, poll, stream } = still();
  board.put(poll(1));
  await clock.advance(1000);
  const before = statuses();
  for (let i = 0; i < 60; i += 1) {
    board.put(poll(1));
    await clock.advance(1000);
  }
  assert.ok(statuses() - before >= 5 && statuses() - before <= 7, `${statuses() - before}`);
  const quiet = statuses();
  await clock.advance(60_000);
  assert.equal(statuses() - quiet <= 1, true);
  stream[Symbol.dispose]();
});

test('a silent stream says that it is alive every 15 s; a reader that takes nothing for 30 s is dropped', async () => {
  const alive = still();
  await alive.clock.advance(60_000);
  assert.ok(alive.written.filter((text) => text.startsWith(':')).length >= 3);
  alive.stream[Symbol.dispose]();
  const stuck = still(true);
  await stuck.clock.advance(29_000);
  assert.equal(stuck.isDropped(), false);
  await stuck.clock.advance(3000);
  assert.equal(stuck.isDropped(), true);
  stuck.reader[Symbol.dispose]();
  await stuck.clock.advance(2000);
  assert.equal(stuck.clock.waiting, 0, 'without readers nothing ticks');
  stuck.stream[Symbol.dispose]();
});
