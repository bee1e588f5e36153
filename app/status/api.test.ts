import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { realClock } from '../../core/ports/index.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { until } from '../../test/kit/until.ts';
import { EventsAnswer, PersonaAnswer, PersonasAnswer } from './answer-schemas.ts';
import { createEventPages, MAX_HOLDS } from './event-pages.ts';

interface Page {
  readonly events: readonly { readonly event_id: string; readonly id: number; readonly content?: string }[];
  readonly last: string | null;
}

const bearer = { Authorization: `Bearer ${TOKEN}` };
const listIds = ({ events }: Page): readonly string[] => events.map(({ event_id }) => event_id);

let rig: StatusRig;
let base: string;
before(async () => {
  rig = await statusRig();
  base = `http://127.0.0.1:${rig.port}/api/v1`;
  for (const persona of ['ada', 'bo', 'zoë/🐝 &?#%']) rig.join(persona);
  rig.poll('ada', 2, 1);
  await rig.mail('ada', 1, 2);
  await rig.mail('bo', 7);
  await rig.mail('ada', 3);
});
after(() => rig[Symbol.asyncDispose]());

async function page(path: string, headers: Record<string, string> = {}): Promise<Page> {
  const answer = await fetch(base + path, { headers });
  assert.equal(answer.status, 200, path);
  const body: unknown = await answer.json();
  assert.deepEqual([...Value.Errors(EventsAnswer, body)], [], path);
  return body as Page;
}

describe('status, personas and one of them', () => {
  test('are parts of one status, with its ETag', async () => {
    const [json, status, personas] = await Promise.all(
      ['/../../status.json', '/status', '/personas'].map((path) => fetch(base + path)),
    );
    assert.ok(json !== undefined && status !== undefined && personas !== undefined);
    const whole = (await status.json()) as { rev: number; personas: object[] };
    assert.deepEqual(whole, await json.json());
    const part = (await personas.json()) as { personas: object[] };
    assert.deepEqual([...Value.Errors(PersonasAnswer, part)], []);
    assert.deepEqual(part.personas, whole.personas);
    const ada = await fetch(`${base}/personas/ada`);
    const answer = (await ada.json()) as { persona: object };
    assert.deepEqual([...Value.Errors(PersonaAnswer, answer)], []);
    assert.deepEqual(answer.persona, whole.personas[0]);
    const tags = [json, status, personas, ada].map(({ headers }) => headers.get('etag'));
    assert.equal(new Set(tags).size, 1);
    const again = await fetch(`${base}/personas/ada`, { headers: { 'If-None-Match': tags[0] ?? '' } });
    assert.equal(again.status, 304);
  });

  test('any name is found by its percent-encoded form, up to the longest there is', async () => {
    const longest = '🐝'.repeat(100);
    rig.join(longest);
    for (const id of ['zoë/🐝 &?#%', longest]) {
      const answer = await fetch(`${base}/personas/${encodeURIComponent(id)}`);
      assert.equal(((await answer.json()) as { persona: { id: string } }).persona.id, id);
      assert.equal((await fetch(`${base}/personas/${encodeURIComponent(id)}/events`)).status, 200);
    }
  });

  test('one that is not watched is 404 with its name, also by the names that every object has', async () => {
    for (const id of ['nobody', '__proto__', 'constructor']) {
      for (const path of [`/personas/${id}`, `/personas/${id}/events`]) {
        const answer = await fetch(base + path);
        assert.equal(answer.status, 404, path);
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        assert.equal(error.code, 'no-persona');
        assert.ok(error.message.includes(JSON.stringify(id)));
      }
    }
  });
});

describe('events', () => {
  test('without since the newest come, oldest first, and last is where to go on', async () => {
    assert.deepEqual(listIds(await page('/events')), ['ada:new:1', 'ada:new:2', 'bo:new:7', 'ada:new:3']);
    const two = await page('/events?limit=2');
    assert.deepEqual(listIds(two), ['bo:new:7', 'ada:new:3']);
    assert.equal(two.last, 'ada:new:3');
    assert.deepEqual(listIds(await page('/personas/ada/events?limit=2')), ['ada:new:2', 'ada:new:3']);
  });

  test('with since what was told after it comes, oldest first, a page at a time', async () => {
    const first = await page('/events?since=ada:new:1&limit=2');
    assert.deepEqual([listIds(first), first.last], [['ada:new:2', 'bo:new:7'], 'bo:new:7']);
    const second = await page(`/events?since=${first.last}&limit=2`);
    assert.deepEqual(listIds(second), ['ada:new:3']);
    const none = await page(`/events?since=${second.last}`);
    assert.deepEqual([none.events, none.last], [[], 'ada:new:3'], 'last stays what it was');
    assert.deepEqual(listIds(await page('/personas/ada/events?since=bo:new:7')), ['ada:new:3'], 'a place is a place');
  });

  test('with an empty since all that is kept comes; last is null only where nothing ever was', async () => {
    assert.equal((await page('/events?since=&limit=1')).last, 'ada:new:1');
    await using empty = await statusRig();
    const answer = await fetch(`http://127.0.0.1:${empty.port}/api/v1/events`);
    assert.deepEqual(await answer.json(), { events: [], last: null });
    const held = fetch(`http://127.0.0.1:${empty.port}/api/v1/events?since=&wait=20`);
    await empty.mail('ada', 1);
    assert.deepEqual(listIds((await (await held).json()) as Page), ['ada:new:1']);
  });

  test('sender and text are there with the token and only then', async () => {
    const [open] = (await page('/events?limit=1')).events;
    assert.ok(open !== undefined && !('from' in open) && !('content' in open));
    const [whole] = (await page('/events?limit=1', bearer)).events;
    assert.equal(whole?.content, 'SECRET-TEXT 3');
  });

  test('an id that is not known is 410 and says how to go on', async () => {
    for (const path of ['/events?since=ada:new:99', '/personas/ada/events?since=ada:new:99&wait=9']) {
      const answer = await fetch(base + path);
      assert.equal(answer.status, 410);
      const { error } = (await answer.json()) as { error: { code: string; message: string; next: string } };
      assert.equal(error.code, 'unknown-event');
      assert.match(error.message, /"ada:new:99"/);
      assert.match(error.next, /empty since/);
    }
  });

  test('a query that does not fit is 400 and names the key', async () => {
    const bad: readonly (readonly [string, RegExp])[] = [
      ['limit=0', /limit/],
      ['limit=-1', /limit/],
      ['limit=1.5', /limit/],
      ['limit=many', /limit/],
      ['limit=', /limit/],
      ['limit=1&limit=2', /limit/],
      ['wait=soon', /wait/],
      ['wait=-1', /wait/],
      ['since=a&since=b', /since/],
      ['sinse=ada:new:1', /unknown field "sinse"/],
      ['__proto__=1', /unknown field "__proto__"/],
      [`since=${'x'.repeat(1001)}`, /since/],
    ];
    for (const [query, names] of bad) {
      const answer = await fetch(`${base}/events?${query}`);
      assert.equal(answer.status, 400, query);
      assert.match(((await answer.json()) as { error: { message: string } }).error.message, names, query);
    }
    assert.equal((await page('/events?limit=999999')).events.length, 4, 'more than may be is the most there is');
  });

  test('an answer is about 1 MiB at most, one event at least, and going on from last loses none', async () => {
    await using big = await statusRig();
    await big.bulk('ada', 1, 700); // 4 KB each
    for (const start of ['?limit=1000&since=', '?limit=1000']) {
      const answer = await fetch(`http://127.0.0.1:${big.port}/api/v1/events${start}`, { headers: bearer });
      const text = await answer.text();
      assert.ok(text.length < 1.1 * 1024 * 1024 && text.length > 900_000, `${text.length}`);
      const { events } = JSON.parse(text) as Page;
      if (start.endsWith('since=')) assert.equal(events[0]?.id, 1);
      else assert.equal(events.at(-1)?.id, 700, 'of the newest the oldest are left out');
    }
    const ids: number[] = [];
    for (let since = ''; ; ) {
      const url = `http://127.0.0.1:${big.port}/api/v1/events?limit=1000&since=${since}`;
      const { events, last } = (await (await fetch(url, { headers: bearer })).json()) as Page;
      if (events.length === 0) break;
      ids.push(...events.map(({ id }) => id));
      since = last ?? '';
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 700 }, (_, i) => i + 1),
    );
  });
});

describe('a long-poll', () => {
  test('is answered as soon as an event is told, of the persona it asks for', async () => {
    const { last } = await page('/events?limit=1');
    const [all, ada, bo] = ['/events', '/personas/ada/events', '/personas/bo/events'].map((path) => {
      const from = performance.now();
      return page(`${path}?since=${last}&wait=30`).then((answer) => ({ answer, took: performance.now() - from }));
    });
    await realClock.sleep(50, new AbortController().signal);
    await rig.mail('ada', 4);
    for (const held of [await all, await ada]) {
      assert.deepEqual(listIds(held?.answer as Page), ['ada:new:4']);
      assert.ok((held?.took ?? 0) < 5000);
    }
    await rig.mail('bo', 8);
    assert.deepEqual(listIds((await bo)?.answer as Page), ['bo:new:8']);
  });

  test('is answered without events when its time is over', async () => {
    const { last } = await page('/events?limit=1');
    const from = performance.now();
    assert.deepEqual(await page(`/events?since=${last}&wait=0.1`), { events: [], last });
    assert.ok(performance.now() - from >= 95);
  });

  test('is not held where something is there already, nor without since', async () => {
    const from = performance.now();
    assert.equal((await page('/events?since=ada:new:1&wait=30')).events.length > 0, true);
    assert.equal((await page('/events?wait=30')).events.length > 0, true);
    assert.ok(performance.now() - from < 5000);
  });

  test('ends when its client leaves, and at a stop it is answered', async () => {
    const other = await statusRig();
    await other.mail('ada', 1);
    const ask = `GET /api/v1/events?since=ada:new:1&wait=60 HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\n\r\n`;
    const holds = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${other.port}/metrics`)).text();
      return Number(/^hivebar_holds (\d+)$/m.exec(text)?.[1]);
    };
    const holding = async (n: number): Promise<void> => {
      for (let tries = 0; (await holds()) !== n; tries += 1) {
        assert.ok(tries < 200, `not ${n} holds`);
        await realClock.sleep(10, new AbortController().signal);
      }
    };
    const [leaves, stays] = [connect(other.port, '127.0.0.1'), connect(other.port, '127.0.0.1')];
    let text = '';
    stays.on('data', (chunk) => {
      text += chunk;
    });
    for (const socket of [leaves, stays]) socket.write(ask);
    await holding(2);
    leaves.destroy();
    await holding(1);
    const from = performance.now();
    const closed = new Promise((resolve) => stays.once('close', resolve));
    await other[Symbol.asyncDispose]();
    await closed;
    assert.ok(performance.now() - from < 1000);
    assert.match(text, /^HTTP\/1\.1 200[\s\S]*\{"events":\[\],"last":"ada:new:1"\}/);
  });

  test('one too many is refused with 503, and there is room again when one ends', async () => {
    const pages = createEventPages(rig.outbox, realClock);
    const { last } = await page('/events?limit=1');
    const stop = new AbortController();
    const asked = {
      persona: null,
      since: last,
      limit: 1,
      waitSeconds: 60,
      right: 'anyone',
      client: 'anonymous',
    } as const;
    const held = Array.from({ length: MAX_HOLDS }, () => pages.page(asked, stop.signal));
    await until('all are held', () => pages.holds === MAX_HOLDS);
    await assert.rejects(pages.page(asked, stop.signal), /100 held answers without the token are open/);
    assert.equal(await pages.page({ ...asked, waitSeconds: 0 }, stop.signal), `{"events":[],"last":"${last}"}`);
    stop.abort();
    await Promise.all(held);
    assert.equal(pages.holds, 0);
  });

  test('a connection that asks again and again leaves no listener behind', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', warned);
    const { last } = await page('/events?limit=1');
    for (let i = 0; i < 30; i += 1) {
      await new Promise((resolve, reject) => {
        request({ agent, host: '127.0.0.1', port: rig.port, path: `/api/v1/events?since=${last}&wait=0.001` })
          .on('response', (answer) => answer.resume().on('end', resolve))
          .on('error', reject)
          .end();
      });
    }
    await realClock.sleep(10, new AbortController().signal);
    process.off('warning', warned);
    agent.destroy();
    assert.deepEqual(warnings, []);
  });
});
