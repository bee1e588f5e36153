import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { realClock } from '../../core/ports/index.ts';
import { asks } from '../../test/kit/decisions.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { createActions } from '../actions/index.ts';
import { buildOpenapi } from './openapi.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
}

/** The table of the program. None of these actions is run. */
const ACTIONS = createActions({} as Parameters<typeof createActions>[0], realClock);
const document = JSON.parse(buildOpenapi(ACTIONS)) as {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

let rig: StatusRig;
before(async () => {
  rig = await statusRig();
  rig.join('ada');
  rig.poll('ada', 2, 1);
  await rig.mail('ada', 1);
  await rig.hive.send({ to: 'ada', from: 'bo', content: 'hello', urgent: true });
  rig.decisions.create(asks());
});
after(() => rig[Symbol.asyncDispose]());

describe('openapi.json', () => {
  test('has every route of the server, and none that is not there', () => {
    const actions = [...ACTIONS.keys()];
    const has = rig.server.routes
      .filter((route) => !route.startsWith('HEAD '))
      .flatMap((route) => {
        const shown = route.replace(/\/assets\/.*/, '/assets/{name}').replaceAll(/:(\w+)/g, '{$1}');
        return shown.endsWith('/actions/{name}') ? actions.map((name) => shown.replace('{name}', name)) : [shown];
      });
    const listed = operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(listed.toSorted(), [...new Set(has)].sort());
  });

  test('is served as it is, with an ETag, and to anybody: it tells nothing that is watched', async () => {
    await using closed = await statusRig({ tokenEverywhere: true, actions: ACTIONS });
    const url = `http://127.0.0.1:${closed.port}/openapi.json`;
    const answer = await ask(url);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(await answer.text(), buildOpenapi(ACTIONS));
    const etag = answer.headers.get('etag') ?? '';
    assert.equal((await ask(url, { headers: { 'If-None-Match': etag } })).status, 304);
  });

  test('names each operation once and declares every part of its path', () => {
    assert.equal(document.openapi, '3.1.0');
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, operation } of operations) {
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      assert.deepEqual(declared, parts, path);
    }
  });

  test('says of each route whether it asks for the token, as the server does', async () => {
    await using closed = await statusRig({ tokenEverywhere: true });
    closed.join('ada');
    closed.poll('ada', 0);
    for (const { path, method, operation } of operations) {
      const refused = async (target: StatusRig): Promise<boolean> => {
        const url = `http://127.0.0.1:${target.port}${toExampleUrl(path)}`;
        const post = { method, headers: { 'Content-Type': 'application/json' }, body: '{}' };
        const answer = await ask(url, method === 'POST' ? post : {});
        void answer.body?.cancel();
        return answer.status === 401;
      };
      const never = JSON.stringify(operation.security) === '[{}]';
      const always = JSON.stringify(operation.security) === '[{"token":[]}]';
      assert.deepEqual([await refused(rig), await refused(closed)], [always, !never], `${method} ${path}`);
    }
  });

  test('has schemas that compile, with references that lead somewhere', () => {
    for (const { path, operation } of operations) {
      const schemas = [
        ...(operation.parameters ?? []).map(({ schema }) => schema),
        ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
      ];
      for (const schema of schemas) assert.doesNotThrow(() => new Ajv2020({ strict: true }).compile(schema), path);
    }
    const text = buildOpenapi(ACTIONS);
    for (const [, pointer = ''] of text.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
      assert.equal(typeof found, 'object', pointer);
    }
  });

  test('describes what is really answered, refusals included', async () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    ajv.addSchema(document, 'doc');
    const holds = (path: string, method: string, status: string, body: unknown): void => {
      const responses = document.paths[path]?.[method]?.responses ?? {};
      const at = responses[status] === undefined ? 'components/responses/Problem' : null;
      const pointer = at ?? ['paths', path, method, 'responses', status].map(escaped).join('/');
      const fits = ajv.compile({ $ref: `doc#/${pointer}/content/application~1json/schema` });
      assert.ok(fits(body), `${method} ${path} ${status}: ${ajv.errorsText(fits.errors)}`);
    };
    const headers = { Authorization: `Bearer ${TOKEN}` };
    for (const { path, method, operation } of operations) {
      if (method !== 'GET' || operation.responses['200']?.content?.['application/json'] === undefined) continue;
      const answer = await ask(`http://127.0.0.1:${rig.port}${toExampleUrl(path)}`, { headers });
      assert.equal(answer.status, 200, path);
      holds(path, 'get', '200', await answer.json());
      const refused = await ask(`http://127.0.0.1:${rig.port}${toExampleUrl(path)}`, {
        headers: { Authorization: 'x' },
      });
      holds(path, 'get', '401', await refused.json());
    }
    const send = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
    const sent = await ask(`http://127.0.0.1:${rig.port}/api/send`, {
      ...send,
      body: '{"to":"bo","from":"ada","content":"x"}',
    });
    holds('/api/send', 'post', '200', await sent.json());
    const posts: readonly (readonly [string, object, string?])[] = [
      ['/api/send', { to: 'bo', from: 'ada', content: 'x', dedup_key: 'k' }],
      ['/api/v1/items', { broadcast: true, content: 'x' }],
      ['/api/v1/items/drain', { persona: 'ada' }],
      ['/api/v1/decisions', { persona: 'ada', prompt: 'Which?', freeText: true }],
      ['/api/v1/decisions/{id}/cancel', {}, '/api/v1/decisions/2/cancel'],
    ];
    for (const [path, body, url = path] of posts) {
      const answer = await ask(`http://127.0.0.1:${rig.port}${url}`, { ...send, body: JSON.stringify(body) });
      holds(path, 'post', '200', await answer.json());
      const wrong = await ask(`http://127.0.0.1:${rig.port}${url}`, {
        ...send,
        body: '{"ttl":true,"wait":"x","by":1}',
      });
      assert.equal(wrong.status, 400, path);
      holds(path, 'post', '400', await wrong.json());
    }
    const code = new URL(rig.server.createOnceLink(null)).hash.replace('#once=', '');
    const token = await ask(`http://127.0.0.1:${rig.port}/api/v1/token`, { ...send, body: JSON.stringify({ code }) });
    holds('/api/v1/token', 'post', '200', await token.json());
    const gone = await ask(`http://127.0.0.1:${rig.port}/api/v1/events?since=none`);
    holds('/api/v1/events', 'get', '410', await gone.json());
  });
});

/** On a connection of its own: on a slow machine one that is kept is closed just when it is used again. */
function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), Connection: 'close' } });
}

/** A request of this path that the rig serves. */
function toExampleUrl(path: string): string {
  if (path === '/api/inbox') return '/api/inbox?persona=ada&mark_read=false';
  if (path === '/api/v1/search') return '/api/v1/search?q=a';
  if (path === '/v1/signals/pending') return `${path}?address=ada`;
  if (path === '/api/v1/decisions/{id}') return '/api/v1/decisions/1';
  if (path.startsWith('/api/brainclaw/')) return '/api/brainclaw/bc-lab';
  if (path.startsWith('/api/v1/actions/')) return '/api/v1/actions/echo';
  return path.replace('{id}', 'ada').replace('{name}', 'style.css');
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
