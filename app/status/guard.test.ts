import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard, type ListenerKind } from './guard.ts';

const LOOPBACK: ListenerKind = { is: 'loopback', port: 7475 };
const SOCKET: ListenerKind = { is: 'owner-socket' };

function asked(headers: string[], method = 'GET', target = '/status.json', place: ListenerKind = LOOPBACK): number {
  const verdict = guard({ method, target, rawHeaders: headers }, place);
  return verdict.is === 'pass' ? 200 : verdict.status;
}

const own = ['Host', '127.0.0.1:7475'];
const json = ['Content-Type', 'application/json'];
const table: readonly (readonly [
  what: string,
  answer: number,
  headers: string[],
  method?: string,
  target?: string,
  place?: ListenerKind,
])[] = [
  ['our address', 200, own],
  ['our name, in any case', 200, ['hOsT', 'LOCALHOST:7475']],
  ['our IPv6 address', 200, ['Host', '[::1]:7475']],
  ['no Host', 403, []],
  ['two Hosts, both ours', 403, [...own, ...own]],
  ['an empty Host', 403, ['Host', '']],
  ['a foreign name', 403, ['Host', 'evil.example.com']],
  ['a foreign name with our port', 403, ['Host', 'evil.example.com:7475']],
  ['a name that begins with ours', 403, ['Host', 'localhost.evil.com:7475']],
  ['a name that resolves to us', 403, ['Host', '127.0.0.1.nip.io:7475']],
  ['a trailing dot', 403, ['Host', 'localhost.:7475']],
  ['another port', 403, ['Host', '127.0.0.1:7476']],
  ['no port', 403, ['Host', 'localhost']],
  ['a port with a zero before it', 403, ['Host', '127.0.0.1:07475']],
  ['another spelling of our address', 403, ['Host', '127.1:7475']],
  ['an expanded IPv6 address', 403, ['Host', '[0:0:0:0:0:0:0:1]:7475']],
  ['a user name in Host', 403, ['Host', 'a@127.0.0.1:7475']],
  ['all interfaces', 403, ['Host', '0.0.0.0:7475']],
  ['port 80 left out', 200, ['Host', 'localhost'], 'GET', '/', { is: 'loopback', port: 80 }],
  ['an absolute target', 403, own, 'GET', 'http://127.0.0.1:7475/status.json'],
  ['a target of a tunnel', 403, own, 'CONNECT', '127.0.0.1:7475'],
  ['our Origin', 200, [...own, 'Origin', 'http://127.0.0.1:7475']],
  ['our other Origin, which is another', 403, [...own, 'Origin', 'http://localhost:7475']],
  ['an Origin of another scheme', 403, [...own, 'Origin', 'https://127.0.0.1:7475']],
  ['an Origin of another port', 403, [...own, 'Origin', 'http://127.0.0.1:3000']],
  ['an Origin without its port', 403, [...own, 'Origin', 'http://127.0.0.1']],
  ['an Origin that begins with ours', 403, [...own, 'Origin', 'http://127.0.0.1:7475.evil.com']],
  ['Origin null, as a sandboxed frame has it', 403, [...own, 'Origin', 'null']],
  ['an empty Origin', 403, [...own, 'Origin', '']],
  ['two Origins', 403, [...own, 'Origin', 'http://127.0.0.1:7475', 'Origin', 'http://127.0.0.1:7475']],
  ['OPTIONS, as a preflight asks', 405, own, 'OPTIONS'],
  ['DELETE', 405, own, 'DELETE'],
  ['TRACE', 405, own, 'TRACE'],
  ['HEAD', 200, own, 'HEAD'],
  [
    'a link of another site to the page',
    200,
    [...own, ...fetched('cross-site', 'navigate', 'document')],
    'GET',
    '/?from=mail',
  ],
  ['the same to data', 403, [...own, ...fetched('cross-site', 'navigate', 'document')]],
  ['a frame of another site', 403, [...own, ...fetched('cross-site', 'navigate', 'iframe')], 'GET', '/'],
  ['a script of another site', 403, [...own, ...fetched('cross-site', 'no-cors', 'script')]],
  ['a page on another port of localhost', 403, [...own, ...fetched('same-site', 'cors', 'empty')]],
  ['our own page', 200, [...own, ...fetched('same-origin', 'cors', 'empty')]],
  ['the address bar', 200, [...own, ...fetched('none', 'navigate', 'document')]],
  ['a form of another site', 403, [...own, ...json, ...fetched('cross-site', 'navigate', 'document')], 'POST', '/'],
  ['POST with JSON', 200, [...own, ...json], 'POST', '/api/send'],
  [
    'POST with JSON and a charset',
    200,
    [...own, 'Content-Type', 'Application/JSON; charset=utf-8'],
    'POST',
    '/api/send',
  ],
  ['POST with text, as any site may send it', 415, [...own, 'Content-Type', 'text/plain'], 'POST', '/api/send'],
  ['POST with a form', 415, [...own, 'Content-Type', 'application/x-www-form-urlencoded'], 'POST', '/api/send'],
  [
    'POST with a type that only begins like JSON',
    415,
    [...own, 'Content-Type', 'application/jsonx'],
    'POST',
    '/api/send',
  ],
  ['POST without a type', 415, own, 'POST', '/api/send'],
  ['POST with two types', 415, [...own, ...json, ...json], 'POST', '/api/send'],
  ['the owner-only socket by the name localhost', 200, ['Host', 'localhost'], 'GET', '/', SOCKET],
  ['the owner-only socket with any port', 200, ['Host', 'Localhost:1'], 'GET', '/', SOCKET],
  ['the owner-only socket by a foreign name', 403, ['Host', 'evil.example.com'], 'GET', '/', SOCKET],
  ['the owner-only socket without Host', 403, [], 'GET', '/', SOCKET],
  [
    'the owner-only socket with a foreign Origin',
    403,
    ['Host', 'localhost', 'Origin', 'http://evil.com'],
    'GET',
    '/',
    SOCKET,
  ],
];

for (const [label, answer, ...request] of table) {
  test(`${label}: ${answer}`, () => assert.equal(asked(...request), answer));
}

function fetched(site: string, mode: string, dest: string): string[] {
  return ['Sec-Fetch-Site', site, 'Sec-Fetch-Mode', mode, 'Sec-Fetch-Dest', dest];
}

test('a refusal names what was wrong, with the value, and the next step', () => {
  const verdict = guard({ method: 'GET', target: '/', rawHeaders: ['Host', 'evil.example.com'] }, LOOPBACK);
  assert.ok(verdict.is === 'refuse');
  assert.match(verdict.message, /evil\.example\.com/);
  assert.match(verdict.next, /127\.0\.0\.1:7475/);
});
