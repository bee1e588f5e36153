import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { parseInboxQuery, parsePendingQuery } from './index.ts';

describe('the parameters of GET /api/inbox', () => {
  test('reading marks as read unless it says otherwise', () => {
    const defaults = { persona: 'ada b', markRead: true, beforeId: null, limit: 200, unreadOnly: false };
    assert.deepEqual(parseInboxQuery(new URLSearchParams('persona=ada%20b')), defaults);
    assert.deepEqual(parseInboxQuery(new URLSearchParams('persona=ada+b&mark_read=false&unread_only=true')), {
      ...defaults,
      markRead: false,
      unreadOnly: true,
    });
    assert.deepEqual(parseInboxQuery(new URLSearchParams('persona=ada+b&mark_read=0&before_id=0&limit=9999')), {
      ...defaults,
      markRead: false,
      beforeId: 0,
      limit: 1000,
    });
  });

  for (const [query, message] of [
    ['', /"persona" must be a name, not nothing/],
    ['persona=', /"persona" must be a name, not ""/],
    ['persona=a&persona=b', /"persona" may be given only once, not \["a","b"\]/],
    ['persona=a&before_id=x', /"before_id" must be a whole number, not "x"/],
    ['persona=a&before_id=', /"before_id" must be a whole number, not ""/],
    ['persona=a&before_id=-1', /"before_id" must be a whole number, not "-1"/],
    ['persona=a&before_id=2.5', /"before_id" must be a whole number, not "2.5"/],
    ['persona=a&before_id=9007199254740993', /"before_id" must be a whole number/],
    ['persona=a&limit=0', /"limit" must be at least 1, not 0/],
    ['persona=a&mark_read=flase', /"mark_read" must be true or false, not "flase"/],
    ['persona=a&unread_only=maybe', /"unread_only" must be true or false, not "maybe"/],
  ] as const) {
    test(`"${query}" is refused, naming the value`, () => {
      const answer = parseInboxQuery(new URLSearchParams(query));
      assert.ok(answer instanceof Fault);
      assert.equal(answer.code, 'usage');
      assert.match(answer.message, message);
    });
  }
});

describe('the parameters of GET /api/notify/pending', () => {
  test('a wait is in seconds and bounded; without a cursor there is nothing to wait for', () => {
    assert.deepEqual(parsePendingQuery(new URLSearchParams('')), { waitMs: 0, cursor: null });
    assert.deepEqual(parsePendingQuery(new URLSearchParams('wait=50&cursor=7')), { waitMs: 50_000, cursor: '7' });
    assert.deepEqual(parsePendingQuery(new URLSearchParams('wait=0.5')), { waitMs: 500, cursor: null });
    assert.deepEqual(parsePendingQuery(new URLSearchParams('wait=86400')), { waitMs: 60_000, cursor: null });
    const answer = parsePendingQuery(new URLSearchParams('wait=long'));
    assert.ok(answer instanceof Fault && /"wait" must be a number of seconds, not "long"/.test(answer.message));
  });
});
