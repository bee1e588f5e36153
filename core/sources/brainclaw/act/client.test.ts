import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Acting, AGENT_SHELL, acting } from '../../../../test/kit/brainclaw-server.ts';
import { fakeClock } from '../../../../test/kit/fake-clock.ts';
import { until } from '../../../../test/kit/until.ts';
import { Fault, type FaultCode } from '../../../model/index.ts';
import { type McpToolCall, readSeed, toProjectActionCall } from './index.ts';

const never = new AbortController().signal;
const ACCEPT = toProjectActionCall({ do: 'accept', item: 'cnd_1', text: null, step: null }, 'ada').call;
const CALLED = { name: 'bclaw_transition', arguments: { entity: 'candidate', id: 'cnd_1', to: 'accepted' } };

/** The fault that a call ends with. */
async function catchFault(
  { client }: Pick<Acting, 'client'>,
  call: McpToolCall = ACCEPT,
  signal = never,
): Promise<Fault> {
  const thrown = await client.call(call, signal).then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof Fault, String(thrown));
  return thrown;
}

async function refusedAs(rig: Acting, code: FaultCode, why: RegExp): Promise<void> {
  const fault = await catchFault(rig);
  assert.equal(fault.code, code);
  assert.match(fault.message, why);
  assert.ok(fault.explain().length > fault.message.length, 'with a next step');
}

describe('acting on a project', () => {
  test('no server runs before the first call; then one does, in the folder of the project, and is asked for the tool', async () => {
    await using rig = acting();
    assert.deepEqual(rig.server.noted, []);
    assert.equal(rig.client.pid, null);
    const { structured } = await rig.client.call(ACCEPT, never);
    assert.deepEqual(structured, { ok: true, id: 'cnd_1' });
    const [started] = rig.server.list('started');
    assert.equal(started?.cwd, rig.files.dir);
    assert.deepEqual(started?.argv, ['mcp']);
    assert.equal(rig.client.pid, started?.pid);
    assert.deepEqual(
      rig.server.list('called').map(({ params }) => params),
      [CALLED],
    );
  });

  test('several calls, also at once, have one server', async () => {
    await using rig = acting();
    await Promise.all([rig.client.call(ACCEPT, never), rig.client.call(ACCEPT, never)]);
    await rig.client.call(ACCEPT, never);
    assert.equal(rig.server.list('started').length, 1);
    assert.equal(rig.server.list('greeted').length, 1);
    assert.equal(rig.server.list('called').length, 3);
  });

  test('it says that an observer asks, for a person', async () => {
    await using rig = acting();
    await rig.client.call(ACCEPT, never);
    assert.deepEqual(rig.server.list('greeted')[0]?.params.clientInfo, {
      name: 'brainclaw-observer/hivebar',
      version: '1.2.3',
    });
    const env = rig.server.list('started')[0]?.env ?? {};
    assert.equal(env.BRAINCLAW_OBSERVER, '1');
    assert.equal(env.BRAINCLAW_AGENT_NAME, 'ada-of-this-machine');
    assert.equal(env.LANG, 'C.UTF-8');
    assert.equal(env.PATH, process.env.PATH);
  });

  test('nothing of the shell of an agent reaches it', async () => {
    await using rig = acting();
    await rig.client.call(ACCEPT, never);
    const env = rig.server.list('started')[0]?.env ?? {};
    const leaked = Object.keys(AGENT_SHELL).filter((name) => name in env && name !== 'BRAINCLAW_AGENT_NAME');
    assert.deepEqual(leaked, []);
    const named = Object.keys(env).filter((name) => /BRAINCLAW|CLAUDE|CODEX|COPILOT|SESSION|AGENT/.test(name));
    assert.deepEqual(named.sort(), ['BRAINCLAW_AGENT_NAME', 'BRAINCLAW_OBSERVER']);
  });

  test('after a minute without a call the server is ended, and the next call has a new one', async () => {
    const clock = fakeClock();
    await using rig = acting('none', { clock });
    await rig.client.call(ACCEPT, never);
    await clock.advance(59_000);
    await rig.client.call(ACCEPT, never);
    await clock.advance(59_999);
    assert.equal(rig.server.alive.length, 1);
    assert.deepEqual(rig.server.list('asked to end'), []);
    await clock.advance(1);
    await rig.over();
    assert.equal(rig.client.pid, null);
    await rig.client.call(ACCEPT, never);
    assert.equal(rig.server.list('started').length, 2);
  });

  test('nothing is called by itself, however long it is open', async () => {
    const clock = fakeClock();
    await using rig = acting('none', { clock });
    await clock.advance(3_600_000);
    assert.deepEqual(rig.server.noted, []);
    await rig.client.call(ACCEPT, never);
    await clock.advance(3_600_000);
    await rig.over();
    assert.equal(rig.server.list('called').length, 1);
    assert.equal(clock.waiting, 0);
  });

  test('when it is closed no server is left, and nothing waits', async () => {
    const clock = fakeClock();
    const rig = acting('none', { clock });
    await rig.client.call(ACCEPT, never);
    await rig[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
    assert.equal((await catchFault(rig)).code, 'brainclaw-gone');
  });

  test('a server that does not end when it is asked to is killed 5 s later', async () => {
    const clock = fakeClock();
    await using rig = acting('stubborn', { clock });
    await rig.client.call(ACCEPT, never);
    const closed = rig.client[Symbol.asyncDispose]();
    await until('it was asked to end', () => rig.server.list('asked to end').length > 0);
    await clock.advance(4_999);
    assert.equal(rig.server.alive.length, 1);
    await clock.advance(1);
    await closed;
    assert.deepEqual(rig.server.alive, []);
  });

  test('a client that is closed while its server starts leaves none behind', async () => {
    await using rig = acting('mute');
    const asked = rig.client.call(ACCEPT, never).catch(() => {});
    await until('it has started', () => rig.server.list('started').length > 0);
    await rig.client[Symbol.asyncDispose]();
    await asked;
    assert.deepEqual(rig.server.alive, []);
  });

  test('a caller that gives up is let go at once, and the server stays for the others', async () => {
    await using rig = acting('slow');
    const gaveUp = new AbortController();
    const asked = rig.client.call(ACCEPT, gaveUp.signal);
    await until('it was called', () => rig.server.list('called').length > 0);
    gaveUp.abort(new Error('enough'));
    await assert.rejects(asked, /enough/);
    assert.equal(rig.server.alive.length, 1);
  });
});

describe('a server that does not do what it should', () => {
  test('is not installed', async () => {
    await using rig = acting('none', { command: () => null });
    await refusedAs(rig, 'brainclaw-missing', /no brainclaw on PATH/);
  });

  test('cannot be started', async () => {
    await using rig = acting('none', { command: () => ['/nowhere/brainclaw', 'mcp'] });
    await refusedAs(rig, 'brainclaw-missing', /\/nowhere\/brainclaw mcp cannot be started in .*ENOENT/);
  });

  test('ends before it greets: what it said is told', async () => {
    await using rig = acting('exits');
    await refusedAs(
      rig,
      'brainclaw-gone',
      /exit code 3, with Error: this project has no memory on stderr, before .* greeting/,
    );
  });

  test('dies in the middle of a call: what it said is told, and the next call has a new server', async () => {
    await using rig = acting('dies');
    await refusedAs(rig, 'brainclaw-gone', /exit code 3, with Error: the lock .* before it answered bclaw_transition/);
    await catchFault(rig);
    assert.equal(rig.server.list('started').length, 2);
  });

  test('answers with an error: its words are told, on one line, and it stays', async () => {
    await using rig = acting('error');
    await refusedAs(rig, 'brainclaw-refused', /^bclaw_transition \{.*\}: Claim not found: \[31m clm_9$/);
    await catchFault(rig);
    assert.equal(rig.server.list('started').length, 1);
  });

  test('refuses by the protocol', async () => {
    await using rig = acting('refuses');
    await refusedAs(rig, 'brainclaw-refused', /unknown tool/);
  });

  test('prints junk beside its messages: it is passed over, and told once', async () => {
    await using rig = acting('junk');
    await rig.client.call(ACCEPT, never);
    await rig.client.call(ACCEPT, never);
    assert.equal(rig.warned.length, 1);
    assert.match(rig.warned[0] ?? '', /printed a line that is not a message.*brainclaw 1\.27 — welcome!/);
  });

  test('never greets', async () => {
    const clock = fakeClock();
    await using rig = acting('mute', { clock });
    const asked = catchFault(rig);
    await until('it has started', () => rig.server.list('started').length > 0);
    await clock.advance(15_000);
    const fault = await asked;
    assert.equal(fault.code, 'brainclaw-gone');
    assert.match(fault.message, /has not answered the greeting within 15 s$/);
    await rig.over();
  });

  test('prints nothing but junk: the last of it is told', async () => {
    await using rig = acting('only-junk', { callMs: 1000 });
    await refusedAs(rig, 'brainclaw-gone', /within 1 s, but printed 1 lines .* "usage: brainclaw COMMAND"$/);
    await rig.over();
  });

  test('prints a line without an end', async () => {
    await using rig = acting('flood');
    await refusedAs(rig, 'brainclaw-gone', /a line of more than 8388608 bytes before it answered the greeting/);
  });

  test('never answers a call: it is ended, and the next call has a new one', async () => {
    const clock = fakeClock();
    await using rig = acting('slow', { clock });
    const asked = catchFault(rig);
    await until('it was called', () => rig.server.list('called').length > 0);
    await clock.advance(15_000);
    const fault = await asked;
    assert.equal(fault.code, 'brainclaw-gone');
    assert.match(fault.message, /has not answered bclaw_transition .* within 15 s$/);
    await rig.over();
    const again = catchFault(rig);
    await until('another was called', () => rig.server.list('called').length > 1);
    await clock.advance(15_000);
    await again;
    assert.equal(rig.server.list('started').length, 2);
  });
});

describe('what brainclaw can add to a board', () => {
  test('is asked once, by a call that only reads', async () => {
    await using rig = acting();
    const seed = await readSeed(rig.client, rig.files.dir, { info() {}, warn() {}, error() {} }, never);
    assert.deepEqual(
      rig.server.list('called').map(({ params }) => params),
      [{ name: 'bclaw_context', arguments: { kind: 'board_summary' } }],
    );
    assert.deepEqual(
      { ...seed },
      { plans: 7, claims: 3, assignments: null, runs: null, actions: 4, agents: 6, sessions: 2, failedRuns: null },
    );
  });

  test('when it does not tell there is none, and one line of the log', async () => {
    for (const fault of ['error', 'dies'] as const) {
      await using rig = acting(fault);
      const lines: string[] = [];
      const log = { info() {}, warn: (line: string) => void lines.push(line), error() {} };
      assert.equal(await readSeed(rig.client, rig.files.dir, log, never), null);
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', /is shown without the counts of brainclaw mcp/);
    }
  });
});
