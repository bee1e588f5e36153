import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIdentity, isSameIdentity, toInboxIdentity } from './index.ts';

const parseIdentity = (url: string) => toInboxIdentity(new URL(url));
const RIVER = ['http', 'localhost', 7474, '/api/inbox', [['persona', 'river']]];

for (const url of [
  'HTTP://LocalHost:7474/api/inbox/?mark_read=false&persona=river',
  'http://localhost:7474/api/inbox?persona=river',
  'http://localhost:7474/api/inbox?persona=river&mark_read=true',
  'http://localhost:7474/api/inbox?persona=river&mark_read=false',
  'http://me:secret@localhost:7474/api/inbox?persona=river#part',
]) {
  test(`${url} is the inbox of river on localhost`, () => assert.deepEqual(parseIdentity(url), RIVER));
}

test('only 80 and 443 are filled in', () => {
  assert.deepEqual(parseIdentity('https://h/api/inbox'), ['https', 'h', 443, '/api/inbox', []]);
  assert.deepEqual(parseIdentity('http://h/api/inbox'), ['http', 'h', 80, '/api/inbox', []]);
  assert.deepEqual(parseIdentity('https://h:443/api/inbox'), parseIdentity('https://h/api/inbox'));
  assert.notDeepEqual(parseIdentity('https://h:80/api/inbox'), parseIdentity('http://h/api/inbox'));
});

for (const other of [
  'http://localhost:7474/api/inbox?persona=bo',
  'http://127.0.0.1:7474/api/inbox?persona=river',
  'http://localhost:7474/API/inbox?persona=river',
  'http://localhost:7474/api/inbox?persona=River',
  'http://localhost:7475/api/inbox?persona=river',
  'https://localhost:7474/api/inbox?persona=river',
  'http://localhost:7474/api/inbox?persona=river&limit=5',
]) {
  test(`${other} is another inbox`, () => assert.ok(!isSameIdentity(parseIdentity(other), RIVER)));
}

test('query pairs are sorted by code point, not by UTF-16 unit; repeated keys stay', () => {
  const [, , , , query] = parseIdentity('http://h/?b=2&a=2&a=1&\u{1f600}=1&\uff5e=1');
  assert.deepEqual(query, [
    ['a', '1'],
    ['a', '2'],
    ['b', '2'],
    ['\uff5e', '1'],
    ['\u{1f600}', '1'],
  ]);
});

test('an identity equals itself after a JSON round trip, and nothing else does', () => {
  const identity = parseIdentity('http://localhost:7474/api/inbox?persona=Mar%C3%ADa+x');
  assert.ok(isSameIdentity(identity, JSON.parse(formatIdentity(identity))));
  for (const saved of [null, undefined, [], 'http', { ...identity }, [...identity, 1]]) {
    assert.ok(!isSameIdentity(identity, saved));
  }
});
