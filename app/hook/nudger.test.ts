import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdirSync, openSync, readSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { findHarness } from '../../core/hooks/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { type ChildCommand, realClock, type Spawn, silentLog } from '../../core/ports/index.ts';
import { readProcess } from '../../core/sources/claude/read/processes.node.ts';
import { createRealDisk, lockFile, openDatabase } from '../../core/state/index.ts';
import { configIn, linkIn, notingHandlers } from '../../test/kit/daemon-link.ts';
import { FLOCK_HOLDER, NO_PYTHON } from '../../test/kit/flock-holder.ts';
import { needs } from '../../test/kit/require.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { type SessionSocket, sessionSocket } from '../../test/kit/session-socket.ts';
import { openSessionStore, readStartKey } from '../open/index.ts';
import { createNudger, type NudgeWays } from './nudger.ts';
import { followPrompts, noteActivity } from './prompts.node.ts';
import { reportSession } from './session-reports.node.ts';
import { checkWakeUrl, openWakeStore, postNudge } from './stamps.node.ts';

interface Bell extends AsyncDisposable {
  readonly url: string;
  readonly rung: readonly unknown[];
  answer: { code: number; body: string; location?: string };
}

async function bell(): Promise<Bell> {
  const rung: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      rung.push(JSON.parse(body));
      const { code, body: output, location } = opened.answer;
      response.writeHead(code, location === undefined ? {} : { location }).end(output);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const opened: Bell = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/nudge`,
    rung,
    answer: { code: 200, body: '{"delivered": true}' },
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return opened;
}

function rig(ways: Partial<NudgeWays> = {}) {
  const state = scratch();
  const db = openDatabase(state.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const dirs = { state: state.dir, run: state.at('run'), config: state.at('config') };
  const disk = createRealDisk(silentLog);
  const codex = { code: 0, stderr: '' };
  const spawn: Spawn = {
    run: async (command) => {
      ran.push(command);
      return { is: 'exited', ...codex };
    },
  };
  const ran: ChildCommand[] = [];
  const outside = { os: process.platform, spawn, stop: AbortSignal.any([]) };
  const needs = {
    db,
    items,
    dirs,
    disk,
    clock: realClock,
    ...outside,
    ways: { tmux: false, codexQueue: true, socket: true, ...ways },
  };
  mkdirSync(state.at('bin'));
  writeFileSync(state.at('bin/codex'), '#!/bin/sh\n', { mode: 0o755 });
  const env = { HIVEBAR_HOME: state.dir, PATH: state.at('bin') };
  const push = (): void => {
    const more = { session: null, created: Date.now(), expires: null, dedupKey: null } as const;
    const text = { type: 'event', source: 'x', content: 'rm -rf / ; secret', priority: 1 } as const;
    items.push([{ to: { is: 'persona', name: 'ada' }, ...text, ...more }]);
  };
  return {
    state,
    db,
    disk,
    items,
    push,
    run: dirs.run,
    ran,
    codex,
    wakes: openWakeStore(db),
    nudger: createNudger({ ...needs, env }),
    at: (moment: string) => noteActivity(dirs.run, 'ada', moment),
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      state[Symbol.dispose]();
    },
  };
}

test('given an idle agent with an address, one item is one nudge, with nothing of the item in it', async () => {
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  r.at('Stop');
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  r.push();
  assert.deepEqual(await Promise.all([r.nudger.nudgeIfDue('ada'), r.nudger.nudgeIfDue('ada')]), [
    { is: 'nudged' },
    { is: 'not' },
  ]);
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  assert.deepEqual(b.rung, [{ message: 'hivebar: 1 item waits in your inbox (1 urgent)' }]);
});

test('given an agent at work, an unknown one, or one whose events are followed, nobody is rung for', async () => {
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  r.at('PostToolUse');
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  r.at('Continued');
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  r.at('Stop');
  mkdirSync(r.state.at('follow/ada'), { recursive: true });
  {
    using _follows = lockFile(r.disk, r.state.at('follow/ada/claude.json'));
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  }
  assert.deepEqual(b.rung, []);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
});

test('C2 given an idle agent in a tmux pane and no address, nothing is typed into the pane', async () => {
  using r = rig();
  const pane = { socket: r.state.at('tmux'), serverPid: process.pid, pane: '%0' };
  const runner = { pid: process.pid, startKey: null };
  openSessionStore(r.db).set({ persona: 'ada', id: 's1', cwd: '/', pane, runner, resume: null }, Date.now());
  r.at('Stop');
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
});

test('C2 given an idle agent in a tmux pane whose person allowed typing, nothing is typed where nothing says that it is idle', async () => {
  using r = rig({ tmux: true });
  const pane = { socket: r.state.at('tmux'), serverPid: process.pid, pane: '%0' };
  const runner = { pid: process.pid, startKey: null };
  openSessionStore(r.db).set({ persona: 'ada', id: 's1', cwd: '/', pane, runner, resume: null }, Date.now());
  r.at('Stop');
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
});

const WAKE_WORDS =
  'hivebar: 1 item waits in your inbox (1 urgent). If it is not shown here, run: hivebar inbox drain ada --session 01a226e8-060c-71d3-b106-a4022d9da0e7';
const THREAD = '01a226e8-060c-71d3-b106-a4022d9da0e7';

test('C2 an idle thread of Codex that somebody runs is told by its own queue, without a key and without a word of the item', async (t) => {
  if (process.platform !== 'linux' || needs(t, NO_PYTHON)) return;
  using r = rig({ tmux: true });
  const lock = r.state.write('t.lock', '');
  const pane = { socket: r.state.at('tmux'), serverPid: process.pid, pane: '%0' };
  const harness = { name: 'codex', home: r.state.at('codex') };
  const runner = { pid: process.pid, startKey: null, lock };
  openSessionStore(r.db).set({ persona: 'ada', id: THREAD, cwd: '/', pane, runner, resume: null, harness }, Date.now());
  r.push();
  r.at('Stop');
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' }, 'nobody runs it');
  const holder = spawn('python3', ['-c', FLOCK_HOLDER, lock]);
  await once(holder.stdout, 'data');
  try {
    for (const moment of ['PreToolUse', 'PostToolUse', 'UserPromptSubmit']) {
      noteActivity(r.run, 'ada', moment);
      utimesSync(join(r.run, 'activity', 'ada'), 0, 0);
      assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' }, `${moment}, however long ago`);
    }
    r.at('Stop');
    Object.assign(r.codex, { code: 1, stderr: `Error: No active session found matching '${THREAD}'.` });
    const nobody = { is: 'wait', why: 'Codex runs no session of its thread' };
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), nobody);
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), nobody, 'it is tried again');
    r.ran.length = 0;
    Object.assign(r.codex, { code: 0, stderr: '' });
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
    r.push();
    noteActivity(r.run, 'ada', 'Stop');
    utimesSync(join(r.run, 'activity', 'ada'), new Date(), new Date(Date.now() + 1000));
    Object.assign(r.codex, { code: 1, stderr: 'Error: attempt to write a readonly database' });
    await assert.rejects(r.nudger.nudgeIfDue('ada'), {
      message: /readonly database: its queue in \S+ must be writable/,
    });
    r.ran.pop();
  } finally {
    holder.stdin.end();
    await once(holder, 'exit');
  }
  assert.deepEqual(
    r.ran.map(({ args, env }) => [args, env.CODEX_HOME]),
    [[['queue', '--thread', THREAD, '--message', WAKE_WORDS], harness.home]],
  );
});

test('given a thread of Codex and an address, the queue is used, and the address when Codex runs no session of the thread', async (t) => {
  if (process.platform !== 'linux' || needs(t, NO_PYTHON)) return;
  using r = rig();
  await using b = await bell();
  const lock = r.state.write('t.lock', '');
  const holder = spawn('python3', ['-c', FLOCK_HOLDER, lock]);
  await once(holder.stdout, 'data');
  try {
    const runner = { pid: process.pid, startKey: null, lock };
    const harness = { name: 'codex', home: r.state.at('codex') };
    openSessionStore(r.db).set(
      { persona: 'ada', id: THREAD, cwd: '/', pane: null, runner, resume: null, harness },
      Date.now(),
    );
    r.wakes.set('ada', b.url);
    r.at('Stop');
    r.push();
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
    assert.deepEqual([r.ran.length, b.rung.length], [1, 0]);
    r.push();
    noteActivity(r.run, 'ada', 'Stop');
    utimesSync(join(r.run, 'activity', 'ada'), new Date(), new Date(Date.now() + 1000));
    Object.assign(r.codex, { code: 1, stderr: `Error: No active session found matching '${THREAD}'.` });
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
    assert.deepEqual([r.ran.length, b.rung.length], [2, 1]);
  } finally {
    holder.stdin.end();
    await once(holder, 'exit');
  }
});

test('C2 given an agent of which one asks its person for something, nobody is rung for until that one went on', async () => {
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  const runner = { pid: process.pid, startKey: null };
  openSessionStore(r.db).set({ persona: 'ada', id: 's1', cwd: '/', pane: null, runner, resume: null }, Date.now());
  const hook = (event: string, more: object = {}): void => {
    const turn = findHarness('claude', null)?.readTurn(
      JSON.stringify({ session_id: 's1', hook_event_name: event, ...more }),
      event,
    );
    assert.ok(turn !== undefined && 'event' in turn);
    followPrompts(r.run, 'ada', turn);
  };
  const helper = { agent_id: 'a1' };
  r.at('Stop');
  r.push();
  hook('PermissionRequest', helper);
  hook('Notification', { notification_type: 'permission_prompt' });
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  hook('Stop');
  hook('PostToolUse', { agent_id: 'a2' });
  hook('Notification', { notification_type: 'idle_prompt' });
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' }, 'the helper did not go on');
  hook('SubagentStop', helper);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
  assert.equal(existsSync(join(r.run, 'prompts', 'ada')), false);
});

test('given an agent with a daemon that lives, nobody else rings for it', async () => {
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  r.push();
  r.at('Stop');
  configIn(r.state.dir);
  {
    await using _ = await linkIn(r.state.dir, notingHandlers().handlers);
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  }
  assert.deepEqual(b.rung, []);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
});

test('given an agent without any wake, it is not nudged, and one that comes later is used', async () => {
  using r = rig();
  await using b = await bell();
  r.at('Stop');
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  r.wakes.set('ada', b.url);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
});

test('inbox-gates 8.13b: given many nudges, nothing is left of any of them', async () => {
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  const saved = (): unknown => [
    r.db
      .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => [name, r.db.prepare<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`).get()?.n])
      .filter(([name]) => name !== 'inbox'),
    r.state.list(),
  ];
  const round = async (): Promise<void> => {
    r.push();
    // A Stop within the millisecond of the nudge before is no answer to it.
    for (let tries = 0, is = ''; is !== 'nudged'; tries += 1) {
      assert.ok(tries < 100_000, is);
      r.at('Stop');
      is = (await r.nudger.nudgeIfDue('ada')).is;
    }
  };
  await round();
  const before = saved();
  for (let n = 0; n < 20; n += 1) await round();
  assert.equal(b.rung.length, 21);
  assert.deepEqual(saved(), before);
});

test('given a wake that refuses, it is said, and not tried again at once', async () => {
  using r = rig();
  await using b = await bell();
  b.answer = { code: 503, body: 'not ready' };
  r.wakes.set('ada', b.url);
  r.at('Stop');
  r.push();
  await assert.rejects(r.nudger.nudgeIfDue('ada'), { code: 'exec-failed', message: /503 not ready/ });
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  assert.equal(b.rung.length, 1);
});

test('a redirect, a no and nobody at all are no delivery', async () => {
  await using b = await bell();
  await using other = await bell();
  b.answer = { code: 302, body: '', location: other.url };
  await assert.rejects(postNudge(b.url, 'x'), /answered 302/);
  b.answer = { code: 200, body: '{"delivered" : false, "reason": "working"}' };
  await assert.rejects(postNudge(b.url, 'x'), /"working"/);
  await assert.rejects(postNudge('http://127.0.0.1:1/', 'x'), { code: 'exec-failed' });
  assert.deepEqual(other.rung, []);
});

test('given an address that is not of this machine, it is refused', () => {
  for (const url of [
    'http://10.0.0.1/',
    'http://example.com/',
    'https://127.0.0.1/',
    'http://u:p@127.0.0.1/',
    'file:///x',
    'x',
    'http://127.0.0.1.example.com/',
    'http://[::ffff:10.0.0.1]/',
  ]) {
    assert.throws(() => checkWakeUrl(url), { code: 'usage' }, url);
  }
  assert.equal(checkWakeUrl('http://localhost:8080/a?b=c#d'), 'http://127.0.0.1:8080/a?b=c');
  assert.equal(checkWakeUrl('http://[::1]:8080/'), 'http://[::1]:8080/');
  assert.equal(checkWakeUrl('http://2130706433/'), 'http://127.0.0.1/');
});

test('whichever form of its id a session was announced with, a persona of the local hive is nudged there', async () => {
  for (const primary of ['local', 'kijito'])
    for (const [announced, noted] of [
      ['local-ada', 'ada'],
      ['ada', 'local-ada'],
    ] as const) {
      if (primary === 'kijito' && announced === 'ada') continue; // that is another one, of the hive that is followed
      using r = rig();
      await using bellServer = await bell();
      mkdirSync(r.state.at('config'));
      r.state.write('config/config.json', JSON.stringify({ primary: { is: primary } }));
      openWakeStore(r.db).set(announced, bellServer.url);
      r.push();
      const { nudger } = r;
      assert.deepEqual(await nudger.nudgeIfDue(announced), { is: 'not' }, 'nothing says that it is idle');
      noteActivity(r.state.at('run'), noted, 'Stop');
      assert.deepEqual(await nudger.nudgeIfDue(announced), { is: 'nudged' });
      assert.equal(bellServer.rung.length, 1);
    }
});

test('given an agent with a waiter, only that is rung: no address is called, and nothing is queued or claimed', async () => {
  if (process.platform === 'win32') return;
  using r = rig();
  await using b = await bell();
  r.wakes.set('ada', b.url);
  mkdirSync(r.state.at('run/waiters/ada'), { recursive: true });
  const path = r.state.at('run/waiters/ada/s1.10');
  execFileSync('mkfifo', ['-m', '600', path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  r.at('Stop');
  r.push();
  const rung = Buffer.alloc(10);
  assert.equal(readSync(fd, rung), 1, 'by the sender');
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  assert.equal(readSync(fd, rung), 1, 'again, as it is not known that it woke anybody');
  assert.deepEqual(b.rung, []);
  closeSync(fd);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' }, 'it is gone');
  assert.equal(b.rung.length, 1);
});

/** A session of Claude Code that is this process: its file, and what its hooks announced. */
function announceClaude(r: ReturnType<typeof rig>, { path }: SessionSocket) {
  const id = 'aaaaaaaa-0000-4000-8000-000000000000';
  const home = r.state.at('claude');
  const project = r.state.at('project');
  for (const folder of [join(home, 'sessions'), join(project, '.claude')]) mkdirSync(folder, { recursive: true });
  const startKey = readStartKey(process.pid, process.platform);
  const sign = readProcess(process.pid);
  const procStart = sign.is === 'running' ? (sign.startKey ?? 'unknown') : '';
  const write = (fields: object): void => {
    const file = {
      ...{ pid: process.pid, sessionId: id, cwd: project, procStart, kind: 'interactive' },
      ...{ status: 'idle', messagingSocketPath: path, peerProtocol: 1, version: '2.1.332', ...fields },
    };
    writeFileSync(join(home, 'sessions', `${process.pid}.json`), JSON.stringify(file));
  };
  write({});
  const runner = { pid: process.pid, startKey };
  const harness = { name: 'claude', home };
  openSessionStore(r.db).set(
    { persona: 'ada', id, cwd: project, pane: null, runner, resume: null, harness },
    Date.now(),
  );
  const report = (permissionMode: string): void => {
    const turn = findHarness('claude', null)?.readTurn(
      JSON.stringify({ session_id: id, hook_event_name: 'SessionStart', permission_mode: permissionMode }),
      'SessionStart',
    );
    assert.ok(turn !== undefined && 'event' in turn);
    const findRunner = () => ({ ...runner, lock: null });
    reportSession(r.run, turn, { harness: 'claude', persona: 'ada', findRunner }, Date.now());
  };
  const settings = (where: 'user' | 'project', text: string): void =>
    writeFileSync(where === 'user' ? join(home, 'settings.json') : join(project, '.claude', 'settings.json'), text);
  return { id, write, report, settings };
}

const NO_SOCKETS = process.platform === 'win32';

test('given an idle Claude Code without a waiter, its socket has one sentence without a word of the item, once, before any address', {
  skip: NO_SOCKETS,
}, async () => {
  using r = rig();
  await using b = await bell();
  await using socket = await sessionSocket();
  const { id } = announceClaude(r, socket);
  r.wakes.set('ada', b.url);
  r.at('Stop');
  r.push();
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' });
  const frames = socket.received.map((line) => JSON.parse(line));
  assert.deepEqual(
    frames.map(({ from, type, message }) => [from, type, message]),
    [
      [
        ...['hivebar', 'user'],
        {
          role: 'user',
          content: `hivebar: 1 item waits in your inbox (1 urgent). If it is not shown here, run: hivebar inbox drain ada --session ${id} (newest item: 1)`,
        },
      ],
    ],
  );
  assert.deepEqual([socket.count, b.rung], [1, []]);
});

test('given a session that does not say that it is idle, nothing goes to its socket, and the next way is used', {
  skip: NO_SOCKETS,
}, async () => {
  using r = rig();
  await using b = await bell();
  await using socket = await sessionSocket();
  const { write } = announceClaude(r, socket);
  r.at('Stop');
  r.push();
  for (const fields of [
    { status: 'busy' },
    { status: 'waiting' },
    { waitingFor: 'permission prompt' },
    { kind: 'bg' },
  ]) {
    write(fields);
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' }, JSON.stringify(fields));
  }
  r.wakes.set('ada', b.url);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
  assert.deepEqual([socket.count, b.rung.length], [0, 1]);
});

test('given a socket that cannot be used, or that a person refused, nothing is sent to it', {
  skip: NO_SOCKETS,
}, async () => {
  await using socket = await sessionSocket();
  const cases: Readonly<Record<string, (session: ReturnType<typeof announceClaude>) => void>> = {
    'an unknown protocol': ({ write }) => write({ peerProtocol: 2 }),
    'no protocol': ({ write }) => write({ peerProtocol: undefined }),
    'no socket': ({ write }) => write({ messagingSocketPath: undefined }),
    'another process with its pid': ({ write }) => write({ procStart: '1' }),
    'another session': ({ write }) => write({ sessionId: 'bbbbbbbb-0000-4000-8000-000000000000' }),
    'refused by the user': ({ settings }) => settings('user', '{"crossSessionInbound": "refuse"}'),
    'held by the project': ({ settings }) => settings('project', '{"crossSessionInbound": "hold"}'),
    'settings that cannot be read': ({ settings }) => settings('user', '{'),
    'a session that never asks its person': ({ report }) => report('bypassPermissions'),
    'the same, which a project cannot accept': ({ report, settings }) => {
      report('bypassPermissions');
      settings('project', '{"crossSessionInbound": "accept"}');
    },
  };
  for (const [label, prepare] of Object.entries(cases)) {
    if (label === 'another process with its pid' && process.platform !== 'linux') continue;
    using r = rig();
    prepare(announceClaude(r, socket));
    r.at('Stop');
    r.push();
    assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'not' }, label);
  }
  using off = rig({ socket: false });
  announceClaude(off, socket);
  off.at('Stop');
  off.push();
  assert.deepEqual(await off.nudger.nudgeIfDue('ada'), { is: 'not' }, 'the setting');
  assert.equal(socket.count, 0);
  using accepted = rig();
  const { report, settings } = announceClaude(accepted, socket);
  report('bypassPermissions');
  settings('user', '{"crossSessionInbound": "accept"}');
  accepted.at('Stop');
  accepted.push();
  assert.deepEqual(await accepted.nudger.nudgeIfDue('ada'), { is: 'nudged' }, 'its user accepts them');
  assert.equal(socket.count, 1);
});

test('given a socket that nobody listens at any more, the claim is given back and the next way is used', {
  skip: NO_SOCKETS,
}, async () => {
  using r = rig();
  await using b = await bell();
  {
    await using socket = await sessionSocket();
    announceClaude(r, socket);
  }
  r.at('Stop');
  r.push();
  assert.equal((await r.nudger.nudgeIfDue('ada')).is, 'wait');
  r.wakes.set('ada', b.url);
  assert.deepEqual(await r.nudger.nudgeIfDue('ada'), { is: 'nudged' });
  assert.equal(b.rung.length, 1);
});
