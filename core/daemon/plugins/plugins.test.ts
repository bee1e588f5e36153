import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { projectFiles } from '../../../test/house/source-file.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import type { Doorbell } from '../../link/index.ts';
import { type ShimListener, startShim } from '../shim.ts';
import { choosePluginKind } from './choose.ts';
import * as claude from './claude-hook.ts';
import * as codex from './codex-shim.ts';
import * as banner from './fallback.ts';
import { createHookDesk, type Plugin, type WakePath } from './plugin.ts';
import { openWakePath } from './wake-path.node.ts';

const DOORBELL: Doorbell = { timestamp: '2026-11-29T04:00:00.000Z', source: 'daemon', kind: 'pending_work_notice' };
const METHODS = ['notifySurface', 'resumeSurface', 'status'];

/** A shim that is no process: `said` answers each line, or nothing does. */
function shimThat(
  respond: ((asked: { id: number; call: string; payload?: unknown }) => object | null) | null,
  clock: FakeClock,
) {
  const asked: { id: number; call: string; payload?: unknown }[] = [];
  let listener: ShimListener | null = null;
  const shim = startShim({
    clock,
    chance: () => 0.5,
    changed: () => {},
    start(observer) {
      listener = observer;
      return {
        pid: 1,
        write(line) {
          const ask = JSON.parse(line) as { id: number; call: string };
          asked.push(ask);
          const answer = respond?.(ask) ?? null;
          if (answer !== null) observer.line(JSON.stringify({ id: ask.id, ...answer }));
        },
        end: async () => observer.ended(),
      };
    },
  });
  return { shim, asked, dies: () => listener?.ended() };
}

describe('persona daemon check 1: one daemon, thin plugins', () => {
  test('persona daemon check 1: each plugin has three methods and nothing else, and its file exports nothing else that runs', () => {
    const clock = fakeClock();
    const desk = createHookDesk();
    const { shim } = shimThat(null, clock);
    const all: Readonly<Record<string, Plugin>> = {
      'claude-hook.ts': claude.createClaudeHook({ desk, wake: null, clock }),
      'codex-shim.ts': codex.createCodexShim({ shim, desk, clock }),
      'fallback.ts': banner.createFallback({ person: { isAvailable: false, notify: async () => {} }, clock }),
    };
    for (const [file, plugin] of Object.entries(all)) assert.deepEqual(Object.keys(plugin).sort(), METHODS, file);
    assert.deepEqual(
      [claude, codex, banner].map((plugin) => Object.keys(plugin)),
      [['createClaudeHook'], ['createCodexShim'], ['createFallback']],
    );
  });

  test('persona daemon check 1: no file beside these makes a plugin', () => {
    const makers = projectFiles().filter((path) => /^core\/daemon\/plugins\/[^/]+\.ts$/.test(path));
    assert.deepEqual(
      makers.filter((path) => !path.endsWith('.test.ts')).map((path) => path.replace(/^.*\//, '')),
      [
        ...[
          'choose.ts',
          'claude-hook.ts',
          'codex-shim.ts',
          'fallback.ts',
          'index.ts',
          'plugin.ts',
          'wake-path.node.ts',
        ],
      ],
    );
  });

  test('a shim wherever one is configured, a hook where the harness has them, else a banner', () => {
    const kinds = ['claude-code', 'claude', 'codex', 'claude-desktop', 'vim'].map((harness) =>
      choosePluginKind(harness, false),
    );
    assert.deepEqual(kinds, ['claude-hook', 'claude-hook', 'claude-hook', 'fallback', 'fallback']);
    assert.equal(choosePluginKind('vim', true), 'codex-shim');
  });
});

describe('a surface whose harness runs a hook', () => {
  test('a hook that waits is handed its yes, once; it has taken it when it was read', async () => {
    const desk = createHookDesk();
    const plugin = claude.createClaudeHook({ desk, wake: null, clock: fakeClock() });
    let handed = 0;
    using _seat = desk.sit(async () => {
      handed += 1;
      return true;
    });
    assert.deepEqual(await plugin.status(), { alive: true, accepting: true, detail_class: 'waiting_hook' });
    await plugin.notifySurface(DOORBELL);
    await assert.rejects(plugin.notifySurface(DOORBELL), /no hook is waiting/);
    assert.equal(handed, 1);
    assert.deepEqual(await plugin.status(), { alive: true, accepting: false, detail_class: 'between_hooks' });
  });

  test('a hook that went away was not rung, and neither was one that hangs', async () => {
    const clock = fakeClock();
    const desk = createHookDesk();
    const plugin = claude.createClaudeHook({ desk, wake: null, clock });
    using _gone = desk.sit(async () => false);
    await assert.rejects(plugin.notifySurface(DOORBELL), /went away/);
    using _hangs = desk.sit(() => new Promise(() => {}));
    const hung = assert.rejects(plugin.notifySurface(DOORBELL), /too late/);
    await clock.advance(2000);
    await hung;
    assert.equal(clock.waiting, 0);
  });

  test('a hook that left its seat is not asked', async () => {
    const desk = createHookDesk();
    desk.sit(async () => true)[Symbol.dispose]();
    assert.equal(desk.isWaiting, false);
  });

  test('an idle agent is rung through its wake, if it has one; a hook that waits goes before', async () => {
    const desk = createHookDesk();
    let rung = 0;
    const wake: WakePath = {
      isThere: () => true,
      async ring() {
        rung += 1;
      },
    };
    const plugin = claude.createClaudeHook({ desk, wake, clock: fakeClock() });
    assert.deepEqual(await plugin.status(), { alive: true, accepting: true, detail_class: 'ready' });
    await plugin.notifySurface(DOORBELL);
    assert.equal(rung, 1);
    using _seat = desk.sit(async () => true);
    await plugin.notifySurface(DOORBELL);
    assert.equal(rung, 1);
  });
});

describe('a surface with a shim', () => {
  test('the shim is handed the doorbell as it is, and says whether it took it', async () => {
    const clock = fakeClock();
    const { shim, asked } = shimThat(({ call }) => ({ ok: call !== 'resume_surface' }), clock);
    const plugin = codex.createCodexShim({ shim, desk: createHookDesk(), clock });
    await plugin.notifySurface(DOORBELL);
    assert.deepEqual(asked, [{ id: 1, call: 'notify_surface', payload: DOORBELL }]);
    const refusing = shimThat(() => ({ ok: false }), clock);
    const refused = codex.createCodexShim({ shim: refusing.shim, desk: createHookDesk(), clock });
    await assert.rejects(refused.notifySurface(DOORBELL), /did not accept it/);
  });

  test('a shim that dies in a ring has not taken it, and neither has one that says nothing for 2 s', async () => {
    const clock = fakeClock();
    const dying = shimThat(null, clock);
    const ring = codex.createCodexShim({ shim: dying.shim, desk: createHookDesk(), clock }).notifySurface(DOORBELL);
    dying.dies();
    await assert.rejects(ring, /the shim ended/);
    const hangs = shimThat(null, clock);
    const late = assert.rejects(
      codex.createCodexShim({ shim: hangs.shim, desk: createHookDesk(), clock }).notifySurface(DOORBELL),
      /did not answer/,
    );
    await clock.advance(2000);
    await late;
  });

  test('a hook that waits at its boundary is nearer than the shim: one of them is rung', async () => {
    const clock = fakeClock();
    const desk = createHookDesk();
    const { shim, asked } = shimThat(() => ({ ok: true }), clock);
    const plugin = codex.createCodexShim({ shim, desk, clock });
    using _seat = desk.sit(async () => true);
    await plugin.notifySurface(DOORBELL);
    assert.equal(asked.length, 0);
  });

  test('status answers within 1 s: what the shim says, else why it says nothing', async () => {
    const clock = fakeClock();
    const says = { ok: true, alive: true, accepting: false, detail_class: 'a sentence of its own' };
    const well = codex.createCodexShim({ shim: shimThat(() => says, clock).shim, desk: createHookDesk(), clock });
    assert.deepEqual(await well.status(), { alive: true, accepting: false, detail_class: 'busy' });
    const mute = shimThat(null, clock);
    const plugin = codex.createCodexShim({ shim: mute.shim, desk: createHookDesk(), clock });
    const status = plugin.status();
    await clock.advance(1000);
    assert.deepEqual(await status, { alive: false, accepting: false, detail_class: 'no_answer' });
    mute.dies();
    assert.deepEqual(await plugin.status(), { alive: false, accepting: false, detail_class: 'shim_backoff' });
  });

  test('a resume starts a shim that waits to be started, asks one that runs, and never rings', async () => {
    const clock = fakeClock();
    const { shim, asked, dies } = shimThat(() => ({ ok: true }), clock);
    const plugin = codex.createCodexShim({ shim, desk: createHookDesk(), clock });
    await plugin.resumeSurface();
    dies();
    assert.equal(shim.view.state, 'backoff');
    await plugin.resumeSurface();
    assert.equal(shim.view.state, 'running');
    assert.deepEqual(
      asked.map(({ call }) => call),
      ['resume_surface', 'resume_surface'],
    );
  });
});

describe('a surface that nothing can be handed to', () => {
  test('a person is told; a banner that was not shown was no ring', async () => {
    const clock = fakeClock();
    const createFallback = (notify: () => Promise<void>, isAvailable = true) =>
      banner.createFallback({ person: { isAvailable, notify }, clock });
    const accept = async (): Promise<void> => {};
    await createFallback(accept).notifySurface(DOORBELL);
    await assert.rejects(
      createFallback(() => Promise.reject(new Error('not shown'))).notifySurface(DOORBELL),
      /not shown/,
    );
    await assert.rejects(createFallback(accept, false).notifySurface(DOORBELL), /no program that shows/);
    const late = assert.rejects(createFallback(() => new Promise(() => {})).notifySurface(DOORBELL), /too late/);
    await clock.advance(2000);
    await late;
    assert.equal((await createFallback(accept).status()).alive, true);
    assert.deepEqual(await createFallback(accept, false).status(), {
      alive: false,
      accepting: false,
      detail_class: 'no_desktop',
    });
  });
});

describe('the wake of an agent', () => {
  test('one line is posted to an address of this machine, and no word of anybody else', async () => {
    const got: string[] = [];
    let answer = { code: 200, body: '{"delivered":true}' };
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        got.push(`${request.method} ${request.url} ${body}`);
        response.writeHead(answer.code, { location: '/elsewhere' }).end(answer.body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`;
    const wake = openWakePath(() => url, 'the line');
    await wake.ring();
    for (const refusal of [
      { code: 302, body: '' },
      { code: 500, body: '' },
      { code: 200, body: '{"delivered": false}' },
    ]) {
      answer = refusal;
      await assert.rejects(wake.ring(), /the wake answered/);
    }
    assert.deepEqual([...new Set(got)], ['POST /wake {"message":"the line"}']);
    assert.equal(got.length, 4);
    server.close();
    await once(server, 'close');
    await assert.rejects(wake.ring(), /ECONNREFUSED/);
  });

  test('an address elsewhere, or none, is none', async () => {
    const addresses = [
      null,
      '',
      'x',
      'http://example.org/',
      'https://127.0.0.1/',
      'http://localhost.example/',
      'file:///a',
    ];
    for (const address of addresses) {
      const wake = openWakePath(() => address, 'the line');
      assert.equal(wake.isThere(), false, String(address));
      await assert.rejects(wake.ring(), /no wake/);
    }
  });
});
