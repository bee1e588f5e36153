import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { type Board, createBoard, type Fact } from '../../core/board/index.ts';
import { type History, openHistory } from '../../core/history/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault, parseIso } from '../../core/model/index.ts';
import { realFiles, silentLog } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createMail } from '../../test/kit/status-rig.ts';
import { answerProblem, toProblem } from './answer.ts';
import { registerHistoryRoutes } from './history-routes.ts';
import type { AlertWire, HistoryWire, PersonaHistoryWire } from './wire.ts';

const START = 1_750_000_000_000;
const MINUTE = 60_000;
const clock = fakeClock(START);
const stop = new AbortController();
const home = mkdtempSync(join(tmpdir(), 'hivebar-history-routes-'));
let history: History;
let board: Board;
let app: FastifyInstance;

before(async () => {
  history = openHistory({ path: join(home, 'history.sqlite'), files: realFiles, clock, log: silentLog, keepDays: 30 });
  void history.service.run(stop.signal);
  board = createBoard();
  board.facts(history.hear); // every fact of the board fits
  app = serve(history);
  enter('ada', '__proto__', 'bo/ü "x"');
  poll('ada', 2);
  poll('__proto__', 1);
  poll('bo/ü "x"', 0);
  const fault = new Fault('not-json', 'the answer is not JSON, it begins "SECRET-TEXT"', { is: 'source', key: 'hive' });
  put({ is: 'delivered', at: clock.now(), persona: 'ada', events: [createMail('ada', 7)] });
  await clock.advance(30 * MINUTE);
  for (const persona of ['ada', '__proto__']) {
    put({
      is: 'failed',
      at: clock.now(),
      persona,
      health: { is: 'down', since: clock.now(), failures: 3, why: 'not-json' },
      fault,
    });
  }
  await clock.advance(10 * MINUTE);
  poll('__proto__', 3);
});

after(async () => {
  await app.close();
  stop.abort();
  history[Symbol.dispose]();
  assert.equal(clock.waiting, 0);
  rmSync(home, { recursive: true });
});

function serve(from: History): FastifyInstance {
  const server = fastify();
  server.setErrorHandler((error, _request, reply) => answerProblem(reply, toProblem(error)));
  registerHistoryRoutes(server, from, clock);
  return server;
}

function put(fact: Fact): void {
  board.put(fact);
}

function enter(...personas: string[]): void {
  for (const persona of personas) {
    put({
      is: 'joined',
      at: clock.now(),
      persona,
      source: 'local',
      address: persona,
      label: persona,
      stem: 'x',
      eventsFile: null,
      lastEventId: null,
      staleAfterMs: 90_000,
    });
  }
}

function poll(persona: string, unread: number): void {
  put({
    is: 'polled',
    at: clock.now(),
    persona,
    health: { is: 'up', since: clock.now() },
    unread: exactly(unread),
    urgent: exactly(0),
    agentState: AGENT_STATE_NOT_REPORTED,
    cursor: null,
  });
}

async function get<T>(url: string): Promise<{ status: number; body: T; text: string }> {
  const answer = await app.inject({ method: 'GET', url });
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  return { status: answer.statusCode, body: JSON.parse(answer.body) as T, text: answer.body };
}

describe('GET /api/v1/history', () => {
  test('90 slots a persona: the unread number, and a letter a slot', async () => {
    const { status, body } = await get<HistoryWire>('/api/v1/history?hours=24');
    assert.equal(status, 200);
    assert.equal(body.slots, 90);
    const from = parseIso(body.from) ?? Number.NaN;
    const to = parseIso(body.to) ?? Number.NaN;
    assert.equal(to - from, 24 * 60 * MINUTE);
    assert.ok(from < clock.now() && clock.now() <= to);
    assert.deepEqual(Object.keys(body.personas).toSorted(), ['__proto__', 'ada', 'bo/ü "x"']);
    for (const { unread, states } of Object.values(body.personas)) {
      assert.equal(unread.length, 90);
      assert.match(states, /^[UFD-]{90}$/);
    }
    assert.match(body.personas.ada?.states ?? '', /^-+U+D+$/);
    assert.deepEqual(body.personas.ada?.unread.at(-1), null);
    assert.deepEqual(body.personas['bo/ü "x"']?.unread.slice(-2), [0, 0]);
  });

  test('without hours: 24', async () => {
    assert.deepEqual(await get('/api/v1/history'), await get('/api/v1/history?hours=24'));
  });
});

describe('GET /api/v1/personas/ID/history', () => {
  test('steps of the number and spans of the state', async () => {
    const { body } = await get<PersonaHistoryWire>('/api/v1/personas/__proto__/history?hours=1');
    assert.deepEqual(
      body.points.map(([, unread]) => unread),
      [null, 1, null, 3],
    );
    assert.deepEqual(
      body.states.map(({ state }) => state),
      ['unknown', 'up', 'down', 'up'],
    );
    assert.equal(body.points[0]?.[0], body.from);
    assert.equal(body.states.at(-1)?.to, body.to);
    assert.equal(parseIso(body.to), clock.now());
  });

  test('a name with any character', async () => {
    const { status } = await get(`/api/v1/personas/${encodeURIComponent('bo/ü "x"')}/history`);
    assert.equal(status, 200);
  });

  test('of nobody: 404', async () => {
    const { status, body } = await get<{ error: { code: string } }>('/api/v1/personas/zo/history');
    assert.deepEqual([status, body.error.code], [404, 'no-persona']);
  });
});

describe('GET /api/v1/alerts', () => {
  test('outages, newest first, with how long they are', async () => {
    const { body } = await get<{ alerts: AlertWire[] }>('/api/v1/alerts?limit=5');
    assert.equal(body.alerts.length, 1);
    const [{ since, until, ...alert } = assert.fail()] = body.alerts;
    assert.deepEqual(alert, {
      key: 'hive',
      scope: 'source',
      message: 'the answer is not JSON: check that the address is that of a hive',
      personas: ['__proto__', 'ada'],
      seconds: 600,
    });
    assert.equal(parseIso(since), START + 30 * MINUTE);
    assert.equal(until, null);
  });

  test('what is open is what the board calls causes', () => {
    const causes = board.snapshot().causes.map(({ key, scope, since }) => ({ key, scope, since }));
    const open = history.alerts(100).filter(({ until }) => until === null);
    assert.deepEqual(
      open.map(({ key, scope, since }) => ({ key, scope, since })),
      causes,
    );
  });
});

describe('all three', () => {
  const BAD = ['0', '-1', '1.5', '1e3', 'NaN', '', ' 1', '99999999999', '0x10', '10000000', '٣', 'a"b'];
  const ROUTES = [
    ['/api/v1/history', 'hours'],
    ['/api/v1/personas/ada/history', 'hours'],
    ['/api/v1/alerts', 'limit'],
  ] as const;
  for (const [path, name] of ROUTES) {
    test(`${path} refuses what is no such number, said twice, or not known`, async () => {
      const queries = BAD.map((value) => `${name}=${encodeURIComponent(value)}`);
      for (const query of [...queries, `${name}=1&${name}=1`, `${name}=1&other=1`, 'constructor=1']) {
        const { status, body } = await get<{ error: { code: string; next: string } }>(`${path}?${query}`);
        assert.deepEqual([status, body.error.code], [400, 'usage'], query);
        assert.match(body.error.next, new RegExp(name));
      }
    });

    test(`${path} shows no text of mail and no sender`, async () => {
      const { status, text } = await get(path);
      assert.equal(status, 200);
      assert.doesNotMatch(text, /SECRET/);
    });
  }

  test('are 503 with a next step where there is no history', async () => {
    const none = openHistory({
      path: join(home, 'history.sqlite', 'below-a-file'),
      files: realFiles,
      clock,
      log: silentLog,
      keepDays: 30,
    });
    const other = serve(none);
    for (const [path] of ROUTES) {
      const answer = await other.inject({ method: 'GET', url: path });
      assert.equal(answer.statusCode, 503);
      assert.ok(JSON.parse(answer.body).error.next.length > 0);
    }
    await other.close();
    none[Symbol.dispose]();
  });

  test('answers stay small: 100 personas in 24 h, one persona that changed all the time, 100 alerts', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `persona-${i}`);
    enter(...many);
    for (let round = 0; round < 100; round += 1) {
      for (const [i, persona] of many.entries()) if ((i + round) % 10 === 0) poll(persona, round);
      for (let n = 0; n < 15; n += 1) {
        poll('ada', (round * 15 + n) % 100);
        await clock.advance(1000);
      }
      const key = `cause ${round}`;
      const fault = new Fault('refused', 'connect was refused', { is: 'persona', key });
      const health = { is: 'down', since: clock.now(), failures: 3, why: 'refused' } as const;
      put({ is: 'failed', at: clock.now(), persona: 'ada', health, fault });
    }
    const size = async (url: string): Promise<number> => Buffer.byteLength((await get(url)).text);
    assert.ok((await size('/api/v1/history?hours=24')) < 64 * 1024);
    assert.ok((await size('/api/v1/personas/ada/history?hours=24')) < 64 * 1024);
    assert.ok((await size('/api/v1/alerts')) < 64 * 1024);
  });
});
