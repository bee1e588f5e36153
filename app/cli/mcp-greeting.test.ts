import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { createServerIdentity, formatGreeting, HANDSHAKE_REVISIONS } from './mcp-greeting.ts';

const IDENTITY = createServerIdentity('1.2.3', false);
const CLIENT = { name: 'test', version: '1' };
const META = 'io.modelcontextprotocol/';

const initialize = (params: object = {}, more: object = {}): string => {
  const all = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT, ...params };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: all, ...more });
};
const discover = (meta: object = {}): string => {
  const claims = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: CLIENT,
    [`${META}clientCapabilities`]: {},
  };
  const params = { _meta: { ...claims, ...meta } };
  return JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'server/discover', params });
};

test('given a plain greeting of either revision, when it is read, then it is answered', () => {
  assert.equal(formatGreeting(initialize(), IDENTITY)?.id, 1);
  assert.equal(formatGreeting(initialize({ _meta: { progressToken: 1 } }), IDENTITY)?.id, 1);
  assert.equal(formatGreeting(discover(), IDENTITY)?.id, 'a');
  assert.deepEqual([...HANDSHAKE_REVISIONS], SUPPORTED_PROTOCOL_VERSIONS);
});

test('given anything unusual, when it is read, then it is left to the library', () => {
  const odd = [
    'no JSON',
    '[]',
    'null',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    JSON.stringify({ jsonrpc: '2.0', method: 'initialize', params: {} }),
    initialize({}, { jsonrpc: '1.0' }),
    initialize({}, { id: null }),
    initialize({}, { params: [] }),
    initialize({ protocolVersion: '2099-01-01' }),
    initialize({ clientInfo: { name: 'test' } }),
    initialize({ capabilities: [] }),
    initialize({ _meta: { [`${META}protocolVersion`]: '2026-07-28' } }),
    initialize({ _meta: 'x' }),
    discover({ [`${META}protocolVersion`]: '2099-01-01' }),
    discover({ [`${META}clientInfo`]: {} }),
    discover({ [`${META}clientCapabilities`]: null }),
  ];
  for (const line of odd) assert.equal(formatGreeting(line, IDENTITY), null, line);
});
