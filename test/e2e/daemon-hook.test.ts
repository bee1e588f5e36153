import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { openItems } from '../../core/inbox/index.ts';
import { type DaemonConfig, formatDoorbellLine, type Handlers, type RingAnswer } from '../../core/link/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { ADA_CONFIG, configIn, linkIn, notingHandlers, placesIn } from '../kit/daemon-link.ts';
import { type HookCallResult, type HookMachine, hookMachine } from '../kit/hook-call.ts';
import { until } from '../kit/until.ts';

const ADA = { persona: 'ada' } as const;
const LINE = formatDoorbellLine(ADA_CONFIG);

const passed = ({ code, stdout, stderr }: HookCallResult): void =>
  assert.deepEqual([code, stdout, stderr], [0, '', '']);

/** What an agent reads of an answer, and nothing else is in it. */
function rungWith(line: string, { code, stdout, stderr }: HookCallResult): void {
  assert.deepEqual([code, stderr], [0, '']);
  const answer = JSON.parse(stdout) as Record<string, unknown>;
  const { hookSpecificOutput: output } = answer as { readonly hookSpecificOutput?: Record<string, unknown> };
  if (output === undefined) assert.deepEqual(answer, { decision: 'block', reason: line });
  else {
    assert.deepEqual(Object.keys(answer), ['hookSpecificOutput']);
    assert.deepEqual(Object.keys(output).toSorted(), ['additionalContext', 'hookEventName']);
    assert.equal(output.additionalContext, line);
  }
}

/** A machine on which a daemon of ada's was installed. */
function machine(config: Partial<DaemonConfig> = {}): HookMachine {
  const m = hookMachine();
  configIn(m.home.dir, config);
  return m;
}

/** Handlers that note boundaries, and ring or not as `answer` says. */
function ringing(answer: () => RingAnswer = () => ({ emitted: true, why: 'rung' })): {
  readonly handlers: Handlers;
  readonly turnBoundaries: unknown[];
  readonly read: boolean[];
} {
  const turnBoundaries: unknown[] = [];
  const read: boolean[] = [];
  const { handlers } = notingHandlers({
    async notify(turnBoundary, isRead) {
      turnBoundaries.push(turnBoundary);
      void isRead.then((value) => read.push(value));
      return answer();
    },
  });
  return { handlers, turnBoundaries, read };
}

async function push(m: HookMachine, text: string, priority = '0'): Promise<void> {
  const words = ['inbox', 'push', '--to', 'ada', '--type', 'alert', '--priority', priority, text];
  const { code, stderr } = await m.hivebar(words);
  assert.equal(code, 0, stderr);
}

function pending(m: HookMachine): readonly string[] {
  using db = openDatabase(m.home.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock }).list('ada', 'pending', 100);
  return items.filter(({ type }) => type !== 'gate').map(({ content }) => content);
}

async function holdAda(m: HookMachine): Promise<void> {
  const gate = ['--hook', 'Stop', '--mode', 'strict', '--description', 'ask first'];
  const { code, stderr } = await m.hivebar(['gate', 'register', 'decision', '--persona', 'ada', ...gate]);
  assert.equal(code, 0, stderr);
}

const markDecision = (m: HookMachine) => m.hivebar(['gate', 'mark', 'decision', '--persona', 'ada', '--force']);

describe('the hook of a persona with a daemon', () => {
  test('tells the daemon of each boundary and prints the one line when it rings; nothing is drained', async () => {
    using m = machine();
    await push(m, 'a secret of bob');
    const { handlers, turnBoundaries, read } = ringing();
    await using _ = await linkIn(m.home.dir, handlers);
    const transcript = m.home.write('t.jsonl', 'x'.repeat(10));
    rungWith(LINE, await m.hook('SessionStart', { source: 'startup' }, ADA));
    rungWith(LINE, await m.hook('UserPromptSubmit', { prompt: 'hello', turn_id: 't1' }, ADA));
    rungWith(LINE, await m.hook('Stop', { stop_hook_active: false, transcript_path: transcript }, ADA));
    writeFileSync(transcript, 'x'.repeat(11));
    rungWith(LINE, await m.hook('Stop', { stop_hook_active: false, transcript_path: transcript }, ADA));
    assert.deepEqual(turnBoundaries, [
      { kind: 'SessionStart', session: 's1', turn: null },
      { kind: 'UserPromptSubmit', session: 's1', turn: 't1' },
      { kind: 'Stop', session: 's1', turn: 'at 10' },
      { kind: 'Stop', session: 's1', turn: 'at 11' },
    ]);
    await until('each answer to be read', () => read.length === 4);
    assert.deepEqual(read, [true, true, true, true]);
    assert.deepEqual(pending(m), ['a secret of bob']);
    assert.match(LINE, /^hivebar: work waits for acme\/ada; fetch it now: hivebar inbox drain ada$/);
  });

  test('prints nothing when it does not ring, whatever waits', async () => {
    using m = machine();
    await push(m, 'urgent');
    const { handlers, turnBoundaries } = ringing(() => ({ emitted: false, why: 'outstanding' }));
    await using _ = await linkIn(m.home.dir, handlers);
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop']) passed(await m.hook(event, {}, ADA));
    assert.equal(turnBoundaries.length, 3);
    assert.deepEqual(pending(m), ['urgent']);
  });

  test('at every other moment the daemon hears nothing but that the agent is there', async () => {
    using m = machine();
    await push(m, 'urgent');
    const { handlers, turnBoundaries } = ringing();
    await using _ = await linkIn(m.home.dir, handlers);
    const others: readonly (readonly [string, object])[] = [
      ['PreToolUse', { tool_name: 'Read' }],
      ['PostToolUse', { tool_name: 'Read' }],
      ['PreCompact', {}],
      ['Stop', { agent_id: 'a helper' }],
      ['UserPromptSubmit', { agent_id: 'a helper', prompt: 'x' }],
      ['StopFailure', { error: 'rate_limit' }],
      ['SessionEnd', {}],
    ];
    for (const [event, more] of others) {
      passed(await m.hook(event, { ...more }, ADA));
      assert.equal(m.home.text('run/activity/ada'), `${event}\n`);
    }
    assert.deepEqual(turnBoundaries, []);
    assert.deepEqual(pending(m), ['urgent']);
  });

  test('names the drain of the daemon where its upstream is elsewhere', async () => {
    using m = machine({ upstream: 'https://upstream.example', address: 'ada' });
    await using _ = await linkIn(m.home.dir, ringing().handlers);
    const line = 'hivebar: work waits for acme/ada; fetch it now: hivebar daemon drain --tenant acme --identity ada';
    rungWith(line, await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
  });

  test('gates hold as before, without a bell; a mark is used up by the Stop that happens, not by one that is rung at', async () => {
    using m = machine();
    await holdAda(m);
    let waits = true;
    const { handlers, turnBoundaries } = ringing(() =>
      waits ? { emitted: true, why: 'rung' } : { emitted: false, why: 'nothing_pending' },
    );
    await using _ = await linkIn(m.home.dir, handlers);
    const stop = (active: boolean, lastWords: string) =>
      m.hook('Stop', { stop_hook_active: active, last_assistant_message: lastWords }, ADA);
    const held = await stop(false, 'a');
    assert.match(held.stdout, /decision: /);
    assert.doesNotMatch(held.stdout, /work waits/);
    assert.deepEqual(turnBoundaries, []);

    assert.equal((await markDecision(m)).code, 0);
    rungWith(LINE, await stop(true, 'b'));
    assert.equal(m.home.text('run/activity/ada'), 'Continued\n');
    waits = false;
    assert.doesNotMatch((await stop(true, 'c')).stdout, /decision/);
    assert.equal(m.home.text('run/activity/ada'), 'Stop\n');
    assert.match((await stop(false, 'd')).stdout, /decision: /);
    assert.equal(turnBoundaries.length, 2);
  });

  test('a daemon that would ring for ever lets a turn go on twice, and is not asked at the third Stop', async () => {
    using m = machine();
    const { handlers, turnBoundaries } = ringing();
    await using _ = await linkIn(m.home.dir, handlers);
    const stop = (active: boolean) => m.hook('Stop', { stop_hook_active: active }, ADA);
    for (const active of [false, true]) rungWith(LINE, await stop(active));
    const third = await stop(true);
    assert.deepEqual([third.code, third.stderr], [0, '']);
    assert.doesNotMatch(third.stdout, /work waits|decision/);
    assert.equal(turnBoundaries.length, 2);
    passed(await m.hook('Stop', { stop_hook_active: false }, { ...ADA, flags: ['--on-stop', 'leave'] }));
    assert.equal(turnBoundaries.length, 2);
  });

  test('fails open: a daemon that does not answer, refuses or talks nonsense costs one silent turn', async () => {
    for (const lastWords of [
      null,
      '',
      '{"ok":false,"error":"bad_request","message":"no"}\n',
      'garbage\n',
      '{"ok":true}\n',
    ]) {
      using m = machine();
      await push(m, 'urgent');
      const places = placesIn(m.home.dir);
      mkdirSync(places.runtime, { recursive: true, mode: 0o700 });
      writeFileSync(places.token, 'a\n', { mode: 0o600 });
      const server = createServer((peer) => {
        peer.on('error', () => {}); // the hook has gone
        peer.once('data', () => (lastWords === null ? peer.resume() : peer.end(lastWords)));
      });
      await new Promise<void>((resolve) => server.listen(places.socket, resolve));
      await using _closed = {
        [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
      };
      for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop']) {
        const called = await m.hook(event, {}, ADA);
        assert.deepEqual([called.code, called.stdout, called.stderr], [0, '', ''], `${event} ${lastWords}`);
      }
      assert.deepEqual(pending(m), ['urgent']);
    }
  });

  test('without a daemon that lives, what waits is told as ever', async () => {
    using m = machine();
    await push(m, 'urgent');
    assert.match((await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA)).stdout, /urgent/);
    const link = await linkIn(m.home.dir, ringing().handlers);
    await link[Symbol.asyncDispose]();
    await push(m, 'later');
    assert.match((await m.hook('PostToolUse', { tool_name: 'Read' }, ADA)).stdout, /later/);
    assert.deepEqual(pending(m), []);
  });

  test('a configuration that cannot be read is no reason to say nothing', async () => {
    using m = machine();
    writeFileSync(placesIn(m.home.dir).config, '{"tenant": 7}');
    await push(m, 'urgent');
    assert.match((await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA)).stdout, /urgent/);
  });

  test('another persona of the machine is not rung for', async () => {
    using m = machine();
    const { handlers, turnBoundaries } = ringing();
    await using _ = await linkIn(m.home.dir, handlers);
    passed(await m.hook('UserPromptSubmit', { prompt: 'x' }, { persona: 'bob' }));
    assert.deepEqual(turnBoundaries, []);
  });

  test('what Codex tells behind a turn is a boundary at which nothing is printed', async () => {
    using m = machine();
    const { handlers, turnBoundaries } = ringing(() => ({ emitted: false, why: 'queued' }));
    await using _ = await linkIn(m.home.dir, handlers);
    const notification = { type: 'agent-turn-complete', 'thread-id': 'th', 'turn-id': 'tu', cwd: m.cwd };
    const words = ['hook', '--harness', 'codex', '--persona', 'ada', '--event', 'notify', JSON.stringify(notification)];
    passed(await m.hivebar(words));
    assert.deepEqual(turnBoundaries, [{ kind: 'agent-turn-complete', session: 'th', turn: 'tu' }]);
    assert.equal(m.home.text('run/activity/ada'), 'Stop\n');
  });

  test('Codex is rung for in the form it accepts', async () => {
    using m = machine();
    await using _ = await linkIn(m.home.dir, ringing().handlers);
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop'])
      rungWith(LINE, await m.hook(event, { turn_id: 't' }, { ...ADA, harness: 'codex' }));
  });

  test('what is for this session alone no daemon counts: it is rung for beside it, by the same line, and not drained', async () => {
    using m = machine();
    let waits = false;
    const { handlers } = ringing(() =>
      waits ? { emitted: true, why: 'rung' } : { emitted: false, why: 'nothing_pending' },
    );
    await using _ = await linkIn(m.home.dir, handlers);
    await push(m, 'for all sessions');
    passed(await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
    const words = ['inbox', 'push', '--to', 'ada', '--session', 's1', '--priority', '1', 'for s1'];
    assert.equal((await m.hivebar(words)).code, 0);
    passed(await m.hook('PostToolUse', { tool_name: 'Read' }, ADA));
    passed(await m.hook('UserPromptSubmit', { prompt: 'x', session_id: 's2' }, ADA));
    const both = `${LINE} --session s1`;
    rungWith(both, await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
    passed(await m.hook('Stop', {}, ADA)); // nothing came since
    waits = true;
    rungWith(both, await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
    assert.deepEqual(pending(m).toSorted(), ['for all sessions', 'for s1']);

    const [, command = ''] = both.split('fetch it now: hivebar ');
    const drained = await m.hivebar(command.split(' '));
    assert.match(drained.stdout, /for s1[\s\S]*for all sessions|for all sessions[\s\S]*for s1/);
    assert.deepEqual(pending(m), []);
  });

  test('where the upstream is elsewhere, what waits here is rung for beside it', async () => {
    using m = machine({ upstream: 'https://upstream.example' });
    let waits = false;
    const { handlers } = ringing(() =>
      waits ? { emitted: true, why: 'rung' } : { emitted: false, why: 'nothing_pending' },
    );
    await using _ = await linkIn(m.home.dir, handlers);
    mkdirSync(m.home.at('inject-queue'), { recursive: true, mode: 0o700 });
    m.home.write('inject-queue/s1.jsonl', '{"type":"event","content":"from a queue file"}\n');
    const inboxCommand = 'hivebar inbox drain ada --session s1';
    rungWith(`hivebar: work waits for acme/ada; fetch it now: ${inboxCommand}`, await m.hook('SessionStart', {}, ADA));
    waits = true;
    const daemonCommand = 'hivebar daemon drain --tenant acme --identity ada';
    const line = `hivebar: work waits for acme/ada; fetch it now: ${daemonCommand}, and ${inboxCommand}`;
    rungWith(line, await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
    assert.deepEqual(pending(m), ['from a queue file']);
  });

  test('the shell may pass over boundaries where nothing waits here, and never where the upstream is elsewhere', async () => {
    for (const upstream of ['local', 'https://upstream.example']) {
      using m = machine({ upstream });
      await using _ = await linkIn(m.home.dir, ringing(() => ({ emitted: false, why: 'nothing_pending' })).handlers);
      passed(await m.hook('UserPromptSubmit', { prompt: 'x' }, ADA));
      const quiet = /\nquiet (.*)\n/.exec(m.home.text('run/pending/ada'))?.[1]?.split(' ') ?? [];
      assert.ok(quiet.includes('PostToolUse'), m.home.text('run/pending/ada'));
      assert.equal(quiet.includes('UserPromptSubmit'), upstream === 'local');
      if (upstream !== 'local') assert.equal(quiet.includes('Stop'), false);
      assert.equal(existsSync(m.home.at('hook')), false);
    }
  });
});
