import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fastify from 'fastify';
import { Value } from 'typebox/value';
import { createBoard } from '../../core/board/index.ts';
import { openHistory } from '../../core/history/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../../core/model/index.ts';
import { realFiles, silentLog } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { answerProblem, toProblem } from './answer.ts';
import { createCurrentStatus } from './current-status.ts';
import { registerUptimeRoutes } from './uptime-routes.node.ts';
import { HivesWire, PersonaUptimeWire } from './wire.ts';

const START = 1_750_000_000_000;
const HOUR = 3_600_000;
const FAULT = new Fault('refused', 'refused', { is: 'source', key: 'here' });

/** A history under a clock that stands still, with its routes. */
async function open() {
  const clock = fakeClock(START);
  const home = mkdtempSync(join(tmpdir(), 'hivebar-uptime-'));
  const stop = new AbortController();
  const path = join(home, 'history.sqlite');
  const history = openHistory({ path, files: realFiles, clock, log: silentLog, keepDays: 90 });
  void history.service.run(stop.signal);
  const board = createBoard();
  board.facts(history.hear);
  const app = fastify();
  app.setErrorHandler((error, _request, reply) => answerProblem(reply, toProblem(error)));
  const current = createCurrentStatus({ board, clock, version: '1', port: () => 1, run: 'r' });
  registerUptimeRoutes(app, history, current);
  return {
    clock,
    enter: (persona: string, source = 'local', label = persona) => {
      board.put({ is: 'source', at: clock.now(), source, address: 'here', fault: null });
      board.put({
        ...{ is: 'joined', at: clock.now(), persona, source, address: persona, label, stem: persona },
        ...{ eventsFile: null, lastEventId: null, staleAfterMs: 90_000 },
      });
    },
    up: (persona: string, unread = 0) =>
      board.put({
        ...{ is: 'polled', at: clock.now(), persona, health: { is: 'up', since: clock.now() }, cursor: null },
        ...{ unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED },
      }),
    down: (persona: string) =>
      board.put({
        ...{ is: 'failed', at: clock.now(), persona, fault: FAULT },
        health: { is: 'down', since: clock.now(), failures: 3, why: 'refused' },
      }),
    leave: (persona: string) => board.put({ is: 'left', at: clock.now(), persona }),
    get: async (url: string) => {
      const { statusCode, body, headers } = await app.inject({ method: 'GET', url });
      return { status: statusCode, body, headers };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      stop.abort();
      history[Symbol.dispose]();
      rmSync(home, { recursive: true });
    },
  };
}

test('given a persona that was down for a while, its uptime is the share of the time that was known', async () => {
  await using rig = await open();
  rig.enter('ada');
  rig.up('ada');
  await rig.clock.advance(6 * HOUR);
  rig.down('ada');
  await rig.clock.advance(2 * HOUR);
  rig.up('ada');
  await rig.clock.advance(2 * HOUR);
  const answer = await rig.get('/api/v1/personas/ada/uptime');
  const body = JSON.parse(answer.body);
  assert.deepEqual([...Value.Errors(PersonaUptimeWire, body)], []);
  for (const span of ['24h', '7d', '30d']) assert.deepEqual(body.uptime[span], { up: 0.8, knownSeconds: 36_000 }, span);
});

test('given an outage before the last 24 hours, only the longer spans have it', async () => {
  await using rig = await open();
  rig.enter('ada');
  rig.down('ada');
  await rig.clock.advance(12 * HOUR);
  rig.up('ada');
  await rig.clock.advance(36 * HOUR);
  const { uptime } = JSON.parse((await rig.get('/api/v1/personas/ada/uptime')).body);
  assert.deepEqual(uptime['24h'], { up: 1, knownSeconds: 86_400 });
  assert.deepEqual(uptime['7d'], { up: 0.75, knownSeconds: 48 * 3600 });
});

test('given time of which nothing is known, it does not count; given nothing at all, the uptime is null', async () => {
  await using rig = await open();
  rig.enter('ada');
  rig.up('ada');
  await rig.clock.advance(HOUR);
  rig.leave('ada');
  await rig.clock.advance(5 * HOUR);
  rig.enter('ada');
  rig.enter('bo');
  const { uptime } = JSON.parse((await rig.get('/api/v1/personas/ada/uptime')).body);
  assert.deepEqual(uptime['24h'], { up: 1, knownSeconds: 3600 });
  const bo = JSON.parse((await rig.get('/api/v1/personas/bo/uptime')).body);
  assert.deepEqual(bo.uptime['30d'], { up: null, knownSeconds: 0 });
  assert.equal((await rig.get('/api/v1/personas/nobody/uptime')).status, 404);
});

test('given a persona that was never quite up, the share is rounded down: only what was never down is 1', async () => {
  await using rig = await open();
  rig.enter('ada');
  rig.up('ada');
  await rig.clock.advance(24 * HOUR - 1);
  rig.down('ada');
  await rig.clock.advance(1);
  const { uptime } = JSON.parse((await rig.get('/api/v1/personas/ada/uptime')).body);
  assert.equal(uptime['24h'].up, 0.999999);
});

test('given two hives, each has the uptime of its own personas together', async () => {
  await using rig = await open();
  for (const [persona, source] of [
    ['ada', 'local'],
    ['bo', 'team'],
    ['cy', 'team'],
  ] as const) {
    rig.enter(persona, source);
    rig.up(persona);
  }
  await rig.clock.advance(HOUR);
  rig.down('cy');
  await rig.clock.advance(HOUR);
  const body = JSON.parse((await rig.get('/api/v1/hives')).body);
  assert.deepEqual([...Value.Errors(HivesWire, body)], []);
  assert.deepEqual(
    body.hives.map((hive: HivesWire['hives'][number]) => [hive.source, hive.uptime['24h']]),
    [
      ['local', { up: 1, knownSeconds: 7200 }],
      ['team', { up: 0.75, knownSeconds: 14_400 }],
    ],
  );
});

test('a badge says the state and the unread count, or the uptime, and is asked for again each time', async () => {
  await using rig = await open();
  rig.enter('ada');
  const read = async (query = ''): Promise<string | undefined> => {
    const { headers, body } = await rig.get(`/api/v1/personas/ada/badge.svg${query}`);
    assert.equal(headers['content-type'], 'image/svg+xml; charset=utf-8');
    assert.equal(headers['cache-control'], 'private, no-cache');
    return /<title>(.*?)<\/title>/.exec(body)?.[1];
  };
  assert.equal(await read(), 'ada: not checked yet');
  assert.equal(await read('?kind=uptime'), 'ada uptime 24 h: unknown');
  rig.up('ada', 3);
  assert.equal(await read(), 'ada: up, 3 unread');
  await rig.clock.advance(HOUR);
  rig.down('ada');
  assert.equal(await read(), 'ada: down');
  assert.equal(await read('?kind=uptime&span=7d'), 'ada uptime 7 d: 100%');
  await rig.clock.advance(HOUR);
  assert.equal(await read('?kind=uptime&span=7d'), 'ada uptime 7 d: 50.00%');
});

test('a badge has no markup of a name, no sender and no text', async () => {
  await using rig = await statusRig();
  const label = '</title><script>alert("x")</script>&\u202e';
  rig.join('evil', label);
  await rig.mail('evil', 1);
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/personas/evil/badge.svg`);
  const svg = await answer.text();
  assert.equal(answer.status, 200);
  assert.doesNotMatch(svg, /<script|SECRET|\u202e/);
  assert.doesNotMatch(svg, / id=/, 'several in one page do not disturb each other');
  assert.match(svg, /&lt;\/title&gt;&lt;script&gt;alert\(&quot;x&quot;\)/);
  const wrong = await fetch(`http://127.0.0.1:${rig.port}/api/v1/personas/evil/badge.svg?kind=mail`);
  assert.equal(wrong.status, 400);
});

test('with tokenEverywhere a badge needs the token', async () => {
  await using rig = await statusRig({ tokenEverywhere: true });
  rig.join('ada');
  const url = `http://127.0.0.1:${rig.port}/api/v1/personas/ada/badge.svg`;
  assert.equal((await fetch(url)).status, 401);
  assert.equal((await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } })).status, 200);
});
