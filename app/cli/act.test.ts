import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { commandLine } from '../../test/kit/command-line.ts';
import { parseSpan } from './silence.ts';

let home: string;
let server: Server;
let asked: [string, unknown][];
let nothingOpens = false;
let opened = 'tmux';
const LINK = 'http://127.0.0.1:7474/#once=c0de';
before(async () => {
  home = mkdtempSync(join(tmpdir(), 'hivebar-act-'));
  mkdirSync(join(home, 'run'));
  server = createServer(async (request, response) => {
    if (request.url === '/status.json') return response.end('{"schema":1,"personas":[{"id":"ada"},{"id":"bo"}]}');
    const chunks = await request.toArray();
    const params = JSON.parse(Buffer.concat(chunks).toString()) as { persona?: string };
    const action = request.url?.replace('/api/v1/actions/', '') ?? '';
    asked.push([action, params]);
    if (action === 'link' && params.persona !== 'adda') return response.end(`{"result":{"url":"${LINK}"}}`);
    if (nothingOpens && (action === 'open' || action === 'page')) {
      response.statusCode = 500;
      return response.end('{"error":{"message":"xdg-open ended with 3"}}');
    }
    if (params.persona !== undefined && params.persona !== 'ada') response.statusCode = 400;
    if (response.statusCode === 400) return response.end('{"error":{"message":"no such persona"}}');
    return response.end(JSON.stringify({ result: action === 'open' || action === 'page' ? { opened } : {} }));
  });
  await new Promise<void>((resolve) => server.listen(join(home, 'run', 'hivebar.sock'), resolve));
});
after(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  nothingOpens = false;
  opened = 'tmux';
});

const hivebar = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  commandLine(args, { HIVEBAR_HOME: home, ...env });

describe('commands over the actions of the running program', () => {
  for (const [line, action, params] of [
    ['mute ada', 'mute', { persona: 'ada' }],
    ['mute ada --for 1h', 'mute', { persona: 'ada', minutes: 60 }],
    ['mute ada --until tomorrow', 'mute', { persona: 'ada', until: 'tomorrow' }],
    ['unmute ada', 'unmute', { persona: 'ada' }],
    ['hide ada', 'hide', { persona: 'ada' }],
    ['unhide ada', 'unhide', { persona: 'ada' }],
    ['pause', 'pause', {}],
    ['pause --for 30m', 'pause', { minutes: 30 }],
    ['resume', 'resume', {}],
    ['open', 'open', {}],
    ['open ada', 'open', { persona: 'ada' }],
    ['open ada --page', 'page', { persona: 'ada' }],
  ] as const) {
    test(`hivebar ${line}`, async () => {
      const { code, out, err } = await hivebar(line.split(' '));
      assert.deepEqual([code, err, asked], [0, '', [[action, params]]]);
      assert.match(out, /^.+\n$/);
    });
  }

  for (const [line, is, says] of [
    ['open', 'page', 'opened the status page'],
    ['open ada', 'tmux', 'opened ada'],
    ['open ada', 'terminal', 'opened ada'],
    ['open ada', 'page', 'ada has no session: opened its page'],
    ['open ada', 'none', 'the session of ada is opening'],
    ['open ada --page', 'page', 'opened the page of ada'],
  ] as const) {
    test(`E6 hivebar ${line}, where the program has opened ${is}, says so`, async () => {
      opened = is;
      assert.deepEqual(await hivebar(line.split(' ')), { code: 0, out: `${says}\n`, err: '' });
    });
  }

  test('open passes on what lets the desktop bring the window to the front', async () => {
    await hivebar(['open', 'ada'], { XDG_ACTIVATION_TOKEN: 'tok' });
    assert.deepEqual(asked, [['open', { persona: 'ada', activationToken: 'tok' }]]);
  });

  test('open --print gives the address and opens nothing', async () => {
    const { code, out, err } = await hivebar(['open', 'ada', '--print']);
    assert.deepEqual([code, out, err, asked], [0, `${LINK}\n`, '', [['link', { persona: 'ada' }]]]);
    assert.equal((await hivebar(['open', '--print', '--page'])).code, 2);
  });

  test('where nothing can be opened the person is told why, and the address', async () => {
    nothingOpens = true;
    const { code, out, err } = await hivebar(['open']);
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      `hivebar refused (500): xdg-open ended with 3\nopen this address in a browser within a minute: ${LINK}\n`,
    );
  });

  test('a persona that is not there ends with 1 and the name that was meant', async () => {
    for (const name of ['mute', 'unmute', 'hide', 'unhide', 'open']) {
      const { code, err } = await hivebar([name, 'adda']);
      assert.deepEqual([code, err], [1, 'hivebar: there is no persona adda: did you mean ada? see hivebar status\n']);
    }
  });

  test('one that is there and refused for another reason is told that reason', async () => {
    const { code, err } = await hivebar(['mute', 'bo']);
    assert.deepEqual([code, err], [1, 'hivebar refused (400): no such persona\n']);
  });

  test('a command line that does not parse ends with 2 and asks nothing', async () => {
    for (const line of ['mute', 'mute a b', 'mute ada --for 1', 'mute ada --for 0m', 'mute ada --until x', 'pause ada', 'hide', 'resume x', 'open a b', 'mute ada --for 1h --until tomorrow']) // biome-ignore format: one a case
      assert.equal((await hivebar(line.split(' '))).code, 2, line);
    assert.deepEqual(asked, []);
  });
});

test('how long: minutes, hours, days, a part of them, or a time that has not passed', () => {
  const now = Date.parse('2026-06-20T10:00:00Z');
  assert.deepEqual(parseSpan({ for: '2d' }, now), { minutes: 2880 });
  assert.deepEqual(parseSpan({ for: '1.5h' }, now), { minutes: 90 });
  assert.deepEqual(parseSpan({ until: '2026-06-20T12:00:00+01:00' }, now), { minutes: 60 });
  assert.ok('minutes' in parseSpan({ until: '2026-06-22' }, now));
  assert.throws(() => parseSpan({ until: '2026-06-20T09:59:00Z' }, now), /has passed/);
  assert.throws(() => parseSpan({ until: '2026-13-20' }, now), /must be tomorrow, or a time/);
});

test('E4 poll of a persona that is not there says who was probably meant', async () => {
  const { code, err } = await commandLine(['poll', 'adda'], { HIVEBAR_HOME: home });
  assert.deepEqual([code, err], [1, 'hivebar: there is no persona adda: did you mean ada? see hivebar status\n']);
});
