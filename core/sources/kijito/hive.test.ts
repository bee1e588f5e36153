import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHiveUrl, parseInboxUrl } from './index.ts';

const SCOPE = { is: 'source', key: 'kijito' } as const;

test('directory, pending list and inboxes derive from the base of a hive', () => {
  const hive = parseHiveUrl('http://127.0.0.1:7474', SCOPE);
  assert.equal(hive.is, 'hive');
  if (hive.is !== 'hive') return;
  assert.equal(hive.personas.href, 'http://127.0.0.1:7474/api/personas');
  assert.equal(hive.pending.href, 'http://127.0.0.1:7474/api/notify/pending');
  assert.equal(hive.inbox('ada').href, 'http://127.0.0.1:7474/api/inbox?persona=ada&mark_read=false');
});

test('a base may have a path, with or without a slash at its end', () => {
  for (const base of ['https://h/hive', 'https://h/hive/']) {
    assert.equal(parseHiveUrl(base, SCOPE).inbox('ada').href, 'https://h/hive/api/inbox?persona=ada&mark_read=false');
  }
});

test('a name is encoded so that it stays one value, whatever it holds', () => {
  const hive = parseHiveUrl('http://h', SCOPE);
  for (const name of ['a&mark_read=true', 'a b', 'ünï', '../../x', 'a/b', '%41', '#', '+', 'é']) {
    const url = hive.inbox(name);
    assert.deepEqual(url.searchParams.getAll('persona'), [name]);
    assert.deepEqual(url.searchParams.getAll('mark_read'), ['false']);
    assert.equal(url.pathname, '/api/inbox');
  }
  assert.equal(hive.inbox('a\ud800').searchParams.get('persona'), 'a\ufffd');
});

test('a base that is no URL, or has a query or fragment, is a bad URL', () => {
  for (const base of ['127.0.0.1:7474', '', 'http://h?x=1', 'http://h#x']) {
    assert.throws(() => parseHiveUrl(base, SCOPE), { code: 'bad-url' }, base);
  }
});

test('a --url keeps its query and never consumes, whatever it says of mark_read', () => {
  for (const [given, asked] of [
    ['http://h/api/inbox?persona=ada', 'http://h/api/inbox?persona=ada&mark_read=false'],
    ['http://h/api/inbox?persona=ada&mark_read=true', 'http://h/api/inbox?persona=ada&mark_read=false'],
    ['http://h/x?mark_read=true&mark_read=1&p=a#f', 'http://h/x?p=a&mark_read=false'],
    ['http://h/x', 'http://h/x?mark_read=false'],
  ] as const) {
    assert.equal(parseInboxUrl(given, SCOPE).inbox('').href, asked);
  }
  assert.throws(() => parseInboxUrl('h/x', SCOPE), { code: 'bad-url' });
});
