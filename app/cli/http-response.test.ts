import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHttpResponse } from './tray-request.node.ts';

const parseText = (text: string) => parseHttpResponse(Buffer.from(text));

test('a whole answer is its status and its body, counted in bytes', () => {
  assert.deepEqual(parseText('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\né!'), { status: 200, body: 'é!' });
  assert.deepEqual(parseText('HTTP/1.0 404 x\r\na: b\r\ncontent-length:0\r\n\r\n'), { status: 404, body: '' });
});

test('an answer that is cut, of unknown length or no HTTP is none', () => {
  for (const text of [
    '',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd',
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\nContent-Length: 3\r\n\r\n',
    'SSH-2.0\r\nContent-Length: 0\r\n\r\n',
  ]) {
    assert.equal(parseText(text), null, JSON.stringify(text));
  }
});
