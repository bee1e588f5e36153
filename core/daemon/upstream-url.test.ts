import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUpstreamUrls } from './calls.ts';

test('given a base, the stream is a WebSocket and the peek a request to the same place', () => {
  assert.deepEqual(parseUpstreamUrls('https://hive.example/base/'), {
    stream: 'wss://hive.example/base/v1/session/stream',
    pending: 'https://hive.example/base/v1/signals/pending',
  });
  assert.deepEqual(parseUpstreamUrls('ws://127.0.0.1:7475'), {
    stream: 'ws://127.0.0.1:7475/v1/session/stream',
    pending: 'http://127.0.0.1:7475/v1/signals/pending',
  });
});

test('without encryption only this machine is called, however its address is written', () => {
  for (const host of ['127.0.0.1', '127.1', '0x7f.1', '[::1]', 'localhost', '127.9.9.9'])
    assert.notEqual(parseUpstreamUrls(`http://${host}:80`), null, host);
  for (const host of ['10.0.0.1', 'hive.example', '127.0.0.1.example', 'localhost.example', '[::2]', '0.0.0.0'])
    for (const scheme of ['http', 'ws']) assert.equal(parseUpstreamUrls(`${scheme}://${host}`), null, host);
});

test('what is no such URL is refused', () => {
  for (const base of [
    '',
    'local',
    'ftp://127.0.0.1',
    'https://u:p@hive.example',
    'https://hive.example?x=1',
    'https://h/#x',
  ])
    assert.equal(parseUpstreamUrls(base), null, base);
});
