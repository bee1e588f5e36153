import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

interface Item {
  readonly id: number;
  readonly content: string;
}

interface Drained {
  readonly items: readonly Item[];
  readonly left: number;
}

interface Decision {
  readonly id: number;
  readonly state: string;
  readonly choice: string | null;
  readonly by: string | null;
}

const push = (tray: TrayProcess, body: object) => tray.post('/api/v1/items', body) as Promise<{ readonly id: number }>;

async function drain(tray: TrayProcess, body: object): Promise<Drained> {
  return (await tray.post('/api/v1/items/drain', { persona: 'ada', ...body })) as Drained;
}

async function getDecision(tray: TrayProcess, path: string): Promise<Decision> {
  const headers = { authorization: `Bearer ${tray.token}` };
  return (await (await fetch(`${tray.url}/api/v1/decisions/${path}`, { headers })).json()) as Decision;
}

/** How many items of ada are in this state, as another process sees it. */
function count(home: TrayHome, which: 'pending' | 'delivered'): number {
  using db = openDatabase(home.at('hivebar.sqlite'));
  return openItems({ db, clock: realClock }).list('ada', which, 1000).length;
}

/** The status of a POST with exactly these headers. */
function postRaw(tray: TrayProcess, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const own = { 'content-type': 'application/json', connection: 'close', ...headers };
    const sent = request({ host: '127.0.0.1', port: tray.port, method: 'POST', path, headers: own }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ to: 'ada', persona: 'ada', content: 'forged', prompt: 'forged?', freeText: true }));
  });
}

describe('programs push, drain and ask over HTTP, with the real program', () => {
  test('given a push and a broadcast, each is in the event file of each persona once, and a repetition under its key is not', async () => {
    using home = trayHome();
    await using tray = await home.start();
    for (const to of ['ada', 'bo']) await push(tray, { to, type: 'alert', source: 'ci', priority: 0, content: 'red' });
    for (const isNew of [true, false]) {
      const pushed = await push(tray, { broadcast: true, content: 'down in 10 min', dedup_key: 'down-1' });
      assert.deepEqual(pushed, { id: 3, persona: null, session: null, dedupKey: 'down-1', new: isNew });
    }
    await push(tray, { to: 'ada', content: 'last' });
    await until('the events', () => home.mail('ada').includes(4) && home.mail('bo').includes(3));
    assert.deepEqual(
      [home.mail('ada'), home.mail('bo')],
      [
        [1, 3, 4],
        [2, 3],
      ],
    );
    const { stdout } = await home.run(['inbox', 'drain', 'bo', '--json']);
    assert.deepEqual(
      (JSON.parse(stdout) as Drained).items.map(({ id }) => id),
      [2, 3],
      'the command line drains what was pushed over HTTP',
    );
  });

  test('given drains that are cut off, killed and repeated, every item comes, and what was acknowledged never again', async () => {
    using home = trayHome();
    const total = 60;
    const acknowledged = new Set<number>();
    {
      await using tray = await home.start();
      for (let n = 1; n <= total; n += 1) await push(tray, { to: 'ada', content: `text ${n}` });
      const take = async (ack: readonly number[]): Promise<readonly number[]> => {
        const { items } = await drain(tray, { limit: 10, ack });
        for (const { id } of items) assert.ok(!acknowledged.has(id), `${id} came again`);
        return items.map(({ id }) => id);
      };
      const first = await take([]);
      const second = await take(first);
      for (const id of first) acknowledged.add(id);
      assert.deepEqual([first.length, second.length], [10, 10]);
      // A reader that waits and is cut off is lent nothing.
      const cut = new AbortController();
      const rest = await drain(tray, { limit: 100, ack: second });
      for (const id of second) acknowledged.add(id);
      assert.equal(rest.items.length, total - 20);
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${tray.token}` };
      const held = fetch(`${tray.url}/api/v1/items/drain`, {
        ...{ method: 'POST', headers, signal: cut.signal },
        body: JSON.stringify({ persona: 'ada', wait: 60 }),
      });
      await until('it is held', async () =>
        /^hivebar_holds 1$/m.test(await (await fetch(`${tray.url}/metrics`)).text()),
      );
      cut.abort();
      await assert.rejects(held);
      await until('it is gone', async () =>
        /^hivebar_holds 0$/m.test(await (await fetch(`${tray.url}/metrics`)).text()),
      );
      const late = await push(tray, { to: 'ada', content: 'late' });
      assert.deepEqual(
        (await drain(tray, { ack: rest.items.slice(0, 5).map(({ id }) => id) })).items.map(({ id }) => id),
        [late.id],
      );
      for (const { id } of rest.items.slice(0, 5)) acknowledged.add(id);
      await tray.kill();
    }
    await using tray = await home.start();
    const shown = new Set<number>();
    // What the killed program lent is pending again when 30 s are over; a drain that waits gets it then.
    while (acknowledged.size + shown.size < total + 1) {
      const { items } = await drain(tray, { limit: 100, wait: 60, ack: [...shown] });
      for (const { id } of items) {
        assert.ok(!acknowledged.has(id), `${id} came again`);
        shown.add(id);
      }
      assert.ok(items.length > 0, 'an item is lost');
    }
    await drain(tray, { limit: 0, ack: [...shown] });
    assert.deepEqual([count(home, 'pending'), count(home, 'delivered')], [0, total + 1]);
  });

  test('given an acknowledgement after the program was started again, it counts', async () => {
    using home = trayHome();
    let ids: readonly number[];
    {
      await using tray = await home.start();
      await push(tray, { to: 'ada', content: 'x' });
      ids = (await drain(tray, {})).items.map(({ id }) => id);
      await tray.kill();
    }
    await using tray = await home.start();
    await drain(tray, { ack: ids, limit: 0 });
    assert.deepEqual([ids, count(home, 'delivered')], [[1], 1]);
  });

  test('given a decision that a program asks, when a person answers with the command, then the page has it and the wait returns it', async () => {
    using home = trayHome();
    await using tray = await home.start();
    const options = ['a', 'b'].map((id) => ({ id, label: `way ${id}` }));
    const asked = (await tray.post('/api/v1/decisions', {
      ...{ persona: 'ada', prompt: 'Which way?', options, blocking: true },
    })) as Decision;
    assert.deepEqual([asked.id, asked.state], [1, 'open']);
    const waited = getDecision(tray, '1?wait=60');
    const { decisions } = await tray.until('the question', (status) => status.decisions.length === 1);
    assert.deepEqual([decisions[0]?.id, decisions[0]?.blocking], [1, true]);
    const { stdout } = await home.run(['decision', 'show', '1']);
    assert.match(stdout, /^#1 open, asked by ada[\s\S]*way b/);
    assert.equal((await home.run(['decision', 'respond', '1', '--select', 'b'])).code, 0);
    const { state, choice, by } = await waited;
    assert.deepEqual([state, choice, by], ['resolved', 'b', 'operator']);
    await until('the agent has the answer', () => home.mail('ada').length === 1);
    await tray.post('/api/v1/decisions', { persona: 'ada', prompt: 'In time?', freeText: true, timeout: '2s' });
    assert.equal((await getDecision(tray, '2?wait=60')).state, 'timed-out');
    await tray.post('/api/v1/decisions', { persona: 'ada', prompt: 'Still?', freeText: true });
    const cancelled = getDecision(tray, '3?wait=60');
    assert.equal((await home.run(['decision', 'cancel', '3'])).code, 0);
    assert.equal((await cancelled).state, 'cancelled');
  });

  test('a forged Host or Origin, a wrong token and none are refused, and nothing is stored', async () => {
    using home = trayHome();
    await using tray = await home.start();
    const host = `127.0.0.1:${tray.port}`;
    const authorization = `Bearer ${tray.token}`;
    for (const path of ['/api/v1/items', '/api/v1/items/drain', '/api/v1/decisions', '/api/v1/decisions/1/cancel']) {
      for (const [headers, status] of [
        [{ host: 'evil.example.com', authorization }, 403],
        [{ host, authorization, origin: 'http://evil.example.com' }, 403],
        [{ host, authorization, 'sec-fetch-site': 'cross-site' }, 403],
        [{ host, authorization, 'content-type': 'text/plain' }, 415],
        [{ host, authorization: 'Bearer wrong' }, 401],
        [{ host }, 401],
      ] as const)
        assert.equal(await postRaw(tray, path, headers), status, `${path} ${JSON.stringify(headers)}`);
    }
    assert.equal(count(home, 'pending'), 0);
    assert.deepEqual((await tray.status()).decisions, []);
  });
});
