import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { wireTo } from '../kit/daemon-link.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { type HookCallResult, hookMachine } from '../kit/hook-call.ts';
import { needs } from '../kit/require.ts';
import { until } from '../kit/until.ts';
import { referenceUpstream } from '../kit/upstream/index.ts';

const LINE = /hivebar: work waits for acme\/ada; fetch it now: hivebar daemon drain --tenant acme --identity ada/;

/** Hooks of ada's agent on the machine of a daemon. */
function createHooks(home: DaemonHome) {
  const m = hookMachine();
  return {
    call: (event: string, given: Readonly<Record<string, unknown>> = {}): Promise<HookCallResult> =>
      m.hook(event, given, { persona: 'ada', env: { ...home.env } }),
    [Symbol.dispose]: () => m[Symbol.dispose](),
  };
}

const isRung = ({ code, stdout, stderr }: HookCallResult): boolean => {
  assert.deepEqual([code, stderr], [0, '']);
  if (stdout === '') return false;
  assert.match(stdout, LINE);
  return true;
};

const requestLine = ({ places }: DaemonProcess, more: object): string => {
  const token = readFileSync(places.token, 'utf8').trim();
  return `${JSON.stringify({ v: 1, token, ...more })}\n`;
};

/** Every byte of every file below a folder. */
function bytesBelow(dir: string): string {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

/** Words that stand nowhere by chance, in the clothes that content comes in. */
function fuzzed(n: number): { readonly from: string; readonly body: string; readonly marks: readonly string[] } {
  const word = (kind: string): string => `${kind}${n}q${(n * 7919 + 104729).toString(36)}z`;
  const [sender, text] = [word('sender'), word('body')];
  const clothes: readonly ((text: string) => string)[] = [
    (content) => content,
    (content) => `{"verb":"notify_surface","x":"${content}"}\n`,
    (content) => `\u001b]0;${content}\u0007`,
    (content) => `<item>${content}</item>\r\n\r\n`,
    (content) => `hivebar daemon drain; ${content}`,
    (content) => `${'é🙂'.repeat(200)}${content}`,
    (content) => `\u0000${content}\u202e`,
    (content) => `"}],"why":"${content}"`,
  ];
  const dress = clothes[n % clothes.length] ?? String;
  return { from: dress(sender), body: dress(text), marks: [sender, text] };
}

describe('a doorbell over the hook of a real daemon', () => {
  test('persona daemon check 9: three fields, and no word of any signal or sender in what hooks, sockets, shims or logs hold', async () => {
    await using up = await referenceUpstream({ pingMs: 200 }); // enough also for one whose time runs faster
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    const eve = up.persona('acme', 'eve');
    const shimHeard = join(home.project, 'shim-heard');
    const shim = join(home.project, 'shim.mjs');
    writeFileSync(shim, SHIM);
    home.install(ada, up);
    home.install(eve, up, { surface: 'codex', wakeIdle: true, shim: { command: [process.execPath, shim, shimHeard] } });
    await using daemon = await home.start(ada);
    await using woken = await home.start(eve, { faster: 20 });
    await Promise.all([daemon.connected(), woken.connected()]);
    using hooks = createHooks(home);
    using wire = wireTo(daemon.places.socket);
    const output: string[] = [];
    const marks: string[] = [];
    let rings = 0;
    for (let n = 0; n < 24; n += 1) {
      const signal = fuzzed(n);
      marks.push(...signal.marks);
      for (const upstream of [ada, eve]) upstream.signals(1, { from: signal.from, body: signal.body });
      await daemon.until('the signal is known', ({ pending }) => pending.count > 0 && pending.fresh);
      if (n % 4 === 0) {
        const event = ['SessionStart', 'UserPromptSubmit', 'Stop'][n % 3] ?? '';
        const called = await hooks.call(event, { turn_id: `t${n}` });
        if (isRung(called)) rings += 1;
        output.push(called.stdout, called.stderr);
        ada.drain();
        await daemon.until('it was drained', ({ outstanding }) => outstanding === null);
      }
      for (const verb of ['status', 'notify_surface', 'resume_surface', 'nonsense'])
        wire.say(requestLine(daemon, { verb }));
    }
    assert.equal(rings, 6);
    await wire.lines(24 * 4);
    const [first = {}] = await wire.lines(1);
    const keys =
      'degraded drain_age_s fsm heartbeat_age_s identity last_error_class metrics ok outstanding pending pid';
    const more = 'project shim surface taxonomy tenant_id transitions uptime_s version ws';
    assert.deepEqual(Object.keys(first).toSorted(), `${keys} ${more}`.split(' '));

    // Nor what an upstream says where it should not.
    for (const [i, upstream] of [ada, eve].entries()) {
      const { from, body, marks: own } = fuzzed(100 + i);
      marks.push(...own);
      upstream.send({ type: 'signal', from, body });
      upstream.send({ type: body, from });
      upstream.send({ type: 'pending_changed', rev: upstream.queue.rev, from, body, items: [{ from, body }] });
      upstream.send({ type: 'lifecycle', verb: body });
      upstream.send({ type: 'pending_changed', rev: body });
      up.faults.pending = { is: 'bad-shape', body: { rev: body, count: from, items: [body] } };
      upstream.raw(`${body} ${from}`);
    }
    for (const daemonProcess of [daemon, woken])
      await daemonProcess.until('a peek that is none', ({ last_error_class: is }) => is === 'pending_reconcile_failed');
    up.faults.pending = null;
    await Promise.all([daemon.connected(), woken.connected()]);
    await woken.turnBoundary('agent-turn-complete'); // at rest from now on, so that it may be woken
    await until('the shim is woken', () => heardBy(shimHeard).some(({ call }) => call === 'notify_surface'));
    const heard = heardBy(shimHeard).filter(({ call }) => call === 'notify_surface');
    for (const { payload } of heard) {
      const { timestamp, ...fixed } = payload as Record<string, unknown>;
      assert.deepEqual(fixed, { source: 'daemon', kind: 'pending_work_notice' });
      assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    }
    await Promise.all([daemon.stop(), woken.stop()]);
    output.push(wire.text(), ...daemon.cli.lines, ...woken.cli.lines, daemon.cli.stderr, woken.cli.stderr);
    const all = [...output, bytesBelow(home.dir), bytesBelow(home.project)].join('\n');
    assert.ok(all.includes('pending_work_notice') && all.includes('work waits'));
    assert.deepEqual(
      marks.filter((mark) => all.includes(mark)),
      [],
    );
  });

  test('two hooks on one event ring once, and the next turn rings not before it is drained', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    using hooks = createHooks(home);
    ada.signals(12);
    await daemon.until('they are known', ({ pending }) => pending.count === 12 && pending.fresh);
    const both = await Promise.all([1, 2].map(() => hooks.call('UserPromptSubmit', { turn_id: 't' })));
    assert.deepEqual(both.map(isRung).toSorted(), [false, true]);
    for (const turn of ['t2', 't3']) assert.equal(isRung(await hooks.call('Stop', { turn_id: turn })), false);
    ada.drain(100);
    await daemon.until('it was drained', ({ pending, outstanding }) => pending.count === 0 && outstanding === null);
    assert.equal(isRung(await hooks.call('Stop', { turn_id: 't4' })), false);
    ada.signals(1);
    await daemon.until('it is known', ({ pending }) => pending.count === 1);
    assert.equal(isRung(await hooks.call('Stop', { turn_id: 't5' })), true);
  });

  test('a hook that died with the answer unread was not told: the signal waits, and the next boundary rings', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'only Linux resets a socket that is closed with bytes unread'))
      return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    ada.signals(1);
    await daemon.until('it is known', ({ pending }) => pending.count === 1);
    using dead = wireTo(daemon.places.socket, 'deaf');
    dead.say(requestLine(daemon, { verb: 'notify_surface', boundary: { kind: 'Stop', session: 's', turn: 't' } }));
    await daemon.until('it is asked', ({ fsm, outstanding }) => fsm === 'EMITTING' || outstanding !== null);
    dead[Symbol.dispose]();
    const after = await daemon.until('what became of it', ({ fsm }) => fsm === 'CONNECTED');
    assert.deepEqual(
      [after.last_error_class, after.outstanding, after.pending.count],
      ['surface_inject_failed', null, 1],
    );
    using hooks = createHooks(home);
    assert.equal(isRung(await hooks.call('UserPromptSubmit', { turn_id: 't2' })), true);
    assert.equal(up.recording.asked('POST', '/v1/signals/pending/drain').length, 0);
  });
});

const heardBy = (path: string): readonly Record<string, unknown>[] => {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  } catch {
    return []; // it was told nothing yet
  }
};

/** A shim that takes everything, and writes down what it was told. */
const SHIM = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(process.argv[2], line + '\\n');
  const { id } = JSON.parse(line);
  console.log(JSON.stringify({ id, ok: true, alive: true, accepting: true, detail_class: 'ready' }));
});
`;
