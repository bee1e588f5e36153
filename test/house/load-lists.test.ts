import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forbiddenLoads, loads } from './load-lists.ts';
import { programFiles, sourceFile } from './source-file.ts';

/** What an entry must never reach: its memory and its start depend on it. */
const LISTS: readonly (readonly [string, readonly string[]])[] = [
  [
    'app/program/watch.ts',
    [
      'fastify',
      'conf',
      'node:sqlite',
      'systray2',
      'node-notifier',
      '@jellybrick/dbus-next',
      'nats-io',
      'modelcontextprotocol',
      'postal-mime',
    ],
  ],
  [
    'app/cli/daemon/run.ts', // and with it app/program/daemon.ts
    [
      'undici',
      'fastify',
      'conf',
      'node:sqlite',
      'pino',
      'prom-client',
      'ajv',
      'commander',
      'typebox',
      'systray2',
      'node-notifier',
      '@jellybrick/dbus-next',
      'nats-io',
      'modelcontextprotocol',
      'postal-mime',
    ],
  ],
];

/** The commands whose start is measured against a bare Node: they load nothing but Node's own parts. */
const BARE: readonly string[] = ['app/cli/status.ts', 'app/cli/poll.ts', 'app/cli/statusline.ts'];

describe('load lists', () => {
  for (const [entry, packages] of LISTS) {
    test(`${entry} reaches none of ${packages.join(', ')}`, () => {
      assert.deepEqual(forbiddenLoads(programFiles(), entry, packages), []);
    });
  }

  for (const entry of BARE) {
    test(`${entry} reaches no package, and of Node no HTTP, no database and no threads`, () => {
      const heavy = /^(?!node:)|^node:(http2?|https|sqlite|worker_threads|child_process|tls|dns)/;
      const chains = [...loads(programFiles(), entry)].filter(([name]) => heavy.test(name)).map(([, chain]) => chain);
      assert.deepEqual(chains, []);
    });
  }

  test('the client of NATS is reached over the lazy import of the relay, and with a server in the settings alone', () => {
    const files = programFiles();
    for (const entry of ['app/program/tray.ts', 'app/cli/run.ts']) {
      assert.ok(forbiddenLoads(files, entry, ['nats-io']).length > 0, `${entry} has a relay`);
      const without = files.map((file) =>
        file.path === 'app/local/relay-service.ts'
          ? { ...file, imports: file.imports.filter(({ specifier }) => !specifier.endsWith('/relay/index.ts')) }
          : file,
      );
      assert.deepEqual(forbiddenLoads(without, entry, ['nats-io']), []);
    }
    const relay = files.find(({ path }) => path === 'app/local/relay-service.ts')?.text ?? '';
    assert.match(relay, /if \(nats === undefined\) return[\s\S]*await import\(\s*'[^']*\/relay\/index\.ts'/);
    assert.doesNotMatch(relay, /from '[^']*\/relay\/index\.ts'/);
  });

  test("the client of brainclaw's server is reached over one lazy import, by what opens a session with it", () => {
    const files = programFiles();
    const opens = 'core/sources/brainclaw/act/session.ts';
    const client = '@modelcontextprotocol/client';
    for (const entry of ['app/program/tray.ts', 'core/sources/brainclaw/commands/index.ts']) {
      assert.ok(loads(files, entry).get(client)?.endsWith(`${opens} -> ${client}`), entry);
      const without = files.map((file) =>
        file.path === opens ? { ...file, imports: file.imports.filter(({ specifier }) => specifier !== client) } : file,
      );
      assert.equal(loads(without, entry).get(client), undefined);
    }
    const session = files.find(({ path }) => path === opens)?.text ?? '';
    assert.match(session, /async function openSession[\s\S]*await import\('@modelcontextprotocol\/client'\)/);
    assert.doesNotMatch(session, /import (?!type)[^\n]*from '@modelcontextprotocol/);
  });

  test('the library of hivebar mcp is reached by that command, and by the tray process over a function that loads it', () => {
    const files = programFiles();
    const server = '@modelcontextprotocol/server';
    assert.match(
      loads(files, 'app/cli/mcp.ts').get(server) ?? '',
      /app\/cli\/mcp\/\w+\.node\.ts -> @modelcontextprotocol/,
    );
    const lazy: Readonly<Record<string, string>> = {
      'app/cli/commands.ts': './mcp.ts',
      'app/cli/run.ts': './mcp/index.ts',
    };
    const without = files.map((file) => ({
      ...file,
      imports: file.imports.filter(({ specifier }) => specifier !== lazy[file.path]),
    }));
    const run = files.find(({ path }) => path === 'app/cli/run.ts')?.text ?? '';
    assert.match(run, /async \(\) => \{\s*const \{ openMcpHttp \} = await import\('\.\/mcp\/index\.ts'\)/);
    assert.doesNotMatch(run, /from '[^']*\/mcp\/index\.ts'/);
    for (const entry of ['app/cli/full.node.ts', 'app/program/tray.ts', 'app/cli/hook/run.ts'])
      assert.equal(loads(without, entry).get(server), undefined, entry);
  });

  test('ws is reached from the tray process over the lazy import of the session stream alone', () => {
    const files = programFiles();
    const serves = 'app/status/session-stream.node.ts';
    assert.ok(loads(files, 'app/program/tray.ts').get('ws')?.endsWith(`${serves} -> ws`));
    const without = files.map((file) =>
      file.path === serves ? { ...file, imports: file.imports.filter(({ specifier }) => specifier !== 'ws') } : file,
    );
    assert.equal(loads(without, 'app/program/tray.ts').get('ws'), undefined);
    const text = files.find(({ path }) => path === serves)?.text ?? '';
    assert.match(text, /function loadServer\(\)[\s\S]*import\('ws'\)/);
    assert.doesNotMatch(text, /import (?!type)[^\n]*from 'ws'/);
  });

  test('a chain over doors and lazy imports is found and named', () => {
    const files = [
      sourceFile('app/program/watch.ts', `import { a } from '../../core/a/index.ts';`),
      sourceFile('core/a/index.ts', `export { a } from './a.ts'; export type { B } from './b.ts';`),
      sourceFile('core/a/a.ts', `export const a = () => import('@fastify/static');`),
    ];
    assert.deepEqual(forbiddenLoads(files, 'app/program/watch.ts', ['fastify']), [
      'app/program/watch.ts -> core/a/index.ts -> core/a/a.ts -> @fastify/static',
    ]);
  });

  test('a graph with a hole is an error, not a pass', () => {
    assert.throws(() => forbiddenLoads([], 'app/program/watch.ts', ['fastify']), /no such file/);
  });
});
