import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrame, parsePending, parseRetryAfter } from './calls.ts';

const heard = (frame: object) => parseFrame(7, JSON.stringify(frame));
const WELCOME = {
  type: 'welcome',
  registration_id: 'r',
  heartbeat_ms: 15_000,
  rev: 4,
  tenant_id: 't',
  identity: 'ada',
};

test('given a frame that is known and whole, it is told with the number of its connection', () => {
  assert.deepEqual(heard(WELCOME), {
    ...{ is: 'welcome', conn: 7, registration: 'r', heartbeatMs: 15_000, rev: 4, tenant: 't', identity: 'ada' },
  });
  assert.deepEqual(heard({ type: 'pending_changed', rev: 5 }), { is: 'pending_changed', conn: 7, rev: 5 });
  assert.deepEqual(heard({ type: 'drained', rev: 6, remaining: 0 }), { is: 'drained', conn: 7, rev: 6, remaining: 0 });
  assert.deepEqual(heard({ type: 'lifecycle', verb: 'archive' }), { is: 'lifecycle', conn: 7, verb: 'archive' });
});

test('given one that is unknown, or lacks something, it was heard and means nothing', () => {
  for (const frame of [
    { type: 'peer_joined', identity: 'ada' },
    { rev: 5 },
    { type: 'pending_changed', rev: '5' },
    { type: 'pending_changed', rev: -1 },
    { type: 'pending_changed', rev: 1.5 },
    { type: 'drained', rev: 5 },
    { type: 'lifecycle', verb: 'explode' },
    { ...WELCOME, rev: null },
    { ...WELCOME, registration_id: 5 },
  ])
    assert.deepEqual(heard(frame), { is: 'heard', conn: 7 }, JSON.stringify(frame));
});

test('given what is no JSON object, the stream is garbled', () => {
  for (const text of ['', 'hello', '{"type":', '[]', 'null', '5', '"pending_changed"'])
    assert.deepEqual(parseFrame(7, text), { is: 'garbled', conn: 7 }, text);
});

test('a heartbeat that would be none is kept within bounds', () => {
  const every = (heartbeat_ms: number) => {
    const welcome = heard({ ...WELCOME, heartbeat_ms });
    return welcome.is === 'welcome' ? welcome.heartbeatMs : null;
  };
  assert.deepEqual([every(20_000), every(9e9)], [20_000, 60_000]);
});

test('an answer to a peek is a revision, a number and a time, or it is none', () => {
  assert.deepEqual(parsePending('{"rev":3,"count":2,"oldest_at":"2026-01-01T00:00:00Z","more":1}'), {
    ...{ rev: 3, count: 2 },
    oldest: Date.UTC(2026, 0, 1),
  });
  assert.deepEqual(parsePending('{"rev":0,"count":0,"oldest_at":null}'), { rev: 0, count: 0, oldest: null });
  assert.deepEqual(parsePending('{"rev":1,"count":1,"oldest_at":"soon"}'), { rev: 1, count: 1, oldest: null });
  for (const text of ['', '[]', '{"rev":1,"count":-1,"oldest_at":null}', '{"rev":"1","count":1,"oldest_at":null}'])
    assert.equal(parsePending(text), null, text);
  for (const text of ['{"rev":1,"count":1}', '{"rev":1,"count":1,"oldest_at":5}', '{"rev":1,']) {
    assert.equal(parsePending(text), null, text);
  }
});

test('what a close asks to wait is read out of its reason', () => {
  assert.deepEqual(
    [parseRetryAfter('{"retry_after_ms":500}'), parseRetryAfter(''), parseRetryAfter('later')],
    [500, null, null],
  );
});
