import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Log } from '../../core/ports/index.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

const logged: string[] = [];
const log: Log = { info: () => {}, warn: () => {}, error: (line) => void logged.push(line) };

let rig: StatusRig;
let posts: readonly string[];
before(async () => {
  rig = await statusRig({ log });
  posts = rig.server.routes.flatMap((route) => {
    const path = /^POST (.*)$/.exec(route)?.[1];
    return path === undefined ? [] : [path.replace(':name', 'echo')];
  });
  assert.ok(posts.length >= 5, posts.join());
});
after(() => rig[Symbol.asyncDispose]());

interface ErrorAnswer {
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string; readonly next: string };
}

async function post(path: string, body: string, token: string | null): Promise<ErrorAnswer> {
  const headers = {
    'Content-Type': 'application/json',
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(`http://127.0.0.1:${rig.port}${path}`, { method: 'POST', headers, body });
  return { status: answer.status, error: ((await answer.json()) as { error: ErrorAnswer['error'] }).error };
}

const BRACKETS = `{"to":"ada","from":"bo","content":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
const VALUES = `{"to":"ada","from":"bo","content":[${'{},'.repeat(600_000)}{}]}`;
const LARGE = JSON.stringify({ to: 'ada', from: 'bo', content: 'x'.repeat(3_000_000) });

describe('a hostile body at every route that takes one', () => {
  test('B4 of somebody without a token is not read at all', async () => {
    for (const path of posts) {
      if (path === '/api/v1/token') continue;
      for (const body of [BRACKETS, 'no JSON'])
        assert.deepEqual([(await post(path, body, null)).status, path], [401, path]);
    }
    const { status, error } = await post('/api/v1/token', BRACKETS, null);
    assert.deepEqual([status, error.code, error.next], [413, 'too-large', 'send at most 1024 bytes']);
  });

  test('B4 of a token holder is refused with its limit and the next step, never with 500', async () => {
    for (const path of posts) {
      const isSmall = path === '/api/v1/token';
      const small = { status: 413, message: 'the body is larger than 1024 bytes' };
      for (const [body, status, message] of [
        [BRACKETS, 400, 'the body could not be read: it is nested deeper than 32 levels'],
        [VALUES, 400, 'the body could not be read: it holds more than 10000 values'],
        [LARGE, 413, 'the body is larger than 2097152 bytes'],
      ] as const) {
        const answer = await post(path, body, TOKEN);
        const reported = { status: answer.status, message: answer.error.message };
        assert.deepEqual(reported, isSmall ? small : { status, message }, path);
        assert.match(answer.error.next, /^send /);
      }
    }
    assert.deepEqual(logged, []);
    assert.equal(rig.hive.personas().length, 0, 'nothing was stored');
  });

  test('B4 a deep but small body is 400 at /api/send too', async () => {
    const deep = (levels: number) => `{"to":"ada","from":"bo","content":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    for (const levels of [1, 31, 32, 5000]) {
      const { status, error } = await post('/api/send', deep(levels), TOKEN);
      assert.equal(status, 400, String(levels));
      assert.ok(error.message.length > 0 && error.next.length > 0);
    }
    assert.deepEqual(logged, []);
  });

  test('B4 what does not fit is refused with the value that does not, and the next step', async () => {
    for (const [path, body, message] of [
      ['/api/send', '{"to":', /^the body is not valid JSON: Unexpected end/],
      ['/api/send', '{"to":"ada","__proto__":{}}', /^the body has a key "__proto__"/],
      ['/api/send', '{"to":"ada","from":"bo","content":7}', /^"content" must be text, not 7$/],
      ['/api/v1/token', '{"code":1}', /^body.code must be string, not 1$/],
      ['/api/v1/token', '{"code":"x","more":1}', /^body has the unknown field "more"$/],
      ['/v1/signals', '{"to":"a"}', /^body has no "from"$/],
    ] as const) {
      const { status, error } = await post(path, body, path === '/api/v1/token' ? null : TOKEN);
      assert.equal(status, 400);
      assert.match(error.message, message);
      assert.match(error.next, /^(send|correct) /);
    }
    const get = async (path: string): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${rig.port}${path}`, {
        headers: { Authorization: `Bearer ${TOKEN}` },
      });
      const { error } = (await answer.json()) as { error: ErrorAnswer['error'] };
      return `${answer.status} ${error.message}; ${error.next}`;
    };
    assert.match(await get('/api/v1/decisions?state=x'), /^400 query.state must be one of open, all, not "x"; correct/);
    assert.match(await get('/api/v1/events?limt=1'), /^400 query has the unknown field "limt"; correct/);
    assert.match(await get('/api/v1/personas/%zz'), /^400 .*%zz.*; encode each part of the path/);
  });
});
