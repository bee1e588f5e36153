import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatusWire } from '../../app/status/index.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { copyProject } from './copy.ts';

const SCHEMA = 'core/board/persona-report.ts';
const PLACE = 'app/local/decisions-service.ts';
const PAGE = 'docs/contract/status-json.md';

const FIELD = `const REPORTED = {
  criticalSince: schemaFor<string>({
    description: 'Since when a critical message is unread. Null: none is.',
    type: 'string',
  }),
`;

/** The status JSON as the stream sends it, with every change. */
async function* readStatuses(url: string, signal: AbortSignal): AsyncGenerator<StatusWire> {
  const { body } = await fetch(`${url}/api/v1/stream`, { signal });
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^event: status\ndata: (.*)$/.exec(message)?.[1];
      if (data !== undefined) yield JSON.parse(data) as StatusWire;
    }
  }
}

test('a newcomer adds a field of the status JSON: its schema and the place that knows it; then it is everywhere', async (t) => {
  if (needs(t, process.platform === 'win32' ? 'the program of the copy is started by a shell' : null)) return;
  using copy = copyProject();
  copy.edit(SCHEMA, 'const REPORTED = {\n', FIELD);
  copy.edit(
    PLACE,
    'const values = { pending: countPending(name, at), gates: gates.get(name) ?? NO_GATES };',
    `const pending = countPending(name, at);
      const criticalSince = pending[0] > 0 ? new Date(at).toISOString() : null;
      const values = { pending, criticalSince, gates: gates.get(name) ?? NO_GATES };`,
  );
  assert.deepEqual(copy.touched(), [PLACE, SCHEMA], 'what is written by hand');
  assert.equal(copy.compile('app', 'core', 'build', 'test'), '');
  assert.equal(copy.run('build/contract.ts'), '');
  assert.deepEqual(copy.touched(), [PLACE, SCHEMA, PAGE], 'and one row, written by npm run contract');
  assert.equal(
    copy.test('test/house/contract.test.ts', 'app/status/to-wire.test.ts', 'app/status/openapi.test.ts'),
    '',
  );

  using home = trayHome();
  await using tray = await home.start([], {}, copy.program);
  const abort = new AbortController();
  const sent: unknown[] = [];
  const criticalSince = (status: StatusWire): unknown =>
    status.personas.map((persona) => (persona as unknown as { readonly criticalSince: unknown }).criticalSince)[0];
  const reading = (async () => {
    for await (const status of readStatuses(tray.url, abort.signal)) sent.push(criticalSince(status));
  })().catch(() => undefined);
  assert.equal((await home.run(['send', '--to', 'ada', '--from', 'bo', 'hello'])).code, 0);
  await until('null in the stream', () => sent.includes(null));
  assert.equal((await home.run(['inbox', 'push', '--to', 'ada', '--priority', '0', 'main is red'])).code, 0);
  await until('a time in the stream', () => typeof sent.at(-1) === 'string');
  assert.equal(criticalSince(await tray.status()), sent.at(-1));
  const { components } = (await (await fetch(`${tray.url}/openapi.json`)).json()) as {
    readonly components: { readonly schemas: { readonly Persona: { readonly properties: object } } };
  };
  assert.ok('criticalSince' in components.schemas.Persona.properties);
  abort.abort();
  await reading;
});
