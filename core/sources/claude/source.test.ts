import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { createDelivered, type SinkRecord, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type ClaudeStore, claudeStore, toSessionId } from '../../../test/kit/claude-store.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import type { Fact } from '../../board/index.ts';
import { type AgentState, chooseAgentState, exactly, Fault, type PersonaId } from '../../model/index.ts';
import { type Files, type Log, realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { PositionStore } from '../module.ts';
import { RETENTION_MS } from './directory.ts';
import { type ClaudeOptions, createClaudeSource } from './source.ts';

const never = new AbortController().signal;
const DATA = join(import.meta.dirname, '..', '..', '..', 'test', 'data', 'claude');
const ADA = 'aaaaaaaa';

interface Rig extends AsyncDisposable {
  readonly source: ReturnType<typeof createClaudeSource>;
  readonly clock: FakeClock;
  readonly output: readonly string[];
  readonly facts: readonly Fact[];
  list(): Promise<readonly string[]>;
  /** Polls as its watcher does. */
  poll(address: string): Promise<void>;
  /** Polls, and returns the events of mail since it was asked last. */
  events(address: string): Promise<readonly string[]>;
  unread(address: string): Promise<readonly [unread: unknown, urgent: unknown]>;
  state(address: string): Promise<string>;
}

function createRig(
  store: Pick<ClaudeStore, 'root' | 'readProcess'>,
  more: Partial<ClaudeOptions> & { readonly files?: Files } = {},
): Rig {
  const clock = fakeClock(Date.now());
  const output: string[] = [];
  const facts: Fact[] = [];
  const log: Log = { ...silentLog, warn: (line) => void output.push(line), info: (line) => void output.push(line) };
  const source = createClaudeSource({
    ...{ directories: [store.root], readProcess: store.readProcess, clock, log, contentChars: 220, statOnly: true },
    disk: { ...createRealDisk(silentLog), files: more.files ?? realFiles },
    put: (fact) => void facts.push(fact),
    ...more,
  });
  const watched = new Map<string, { watcher: ReturnType<typeof watchPersona>; delivered: SinkRecord; shown: number }>();
  const watch = (address: string) => {
    const known = watched.get(address);
    if (known !== undefined) return known;
    const delivered = createDelivered();
    const entry = { watcher: watchPersona(source, source.named(address), clock, delivered), delivered, shown: 0 };
    watched.set(address, entry);
    return entry;
  };
  const poll = async (address: string): Promise<void> => void (await watch(address).watcher.poll());
  return {
    ...{ source, clock, output, facts, poll },
    list: async () => (await source.personas(never)).map(({ address }) => address),
    async events(address) {
      const entry = watch(address);
      for (let n = 0; n < 3; n += 1) await entry.watcher.poll();
      const fresh = entry.delivered.events.slice(entry.shown);
      entry.shown = entry.delivered.events.length;
      return fresh
        .filter((event) => 'id' in event)
        .map((event) => ('content' in event ? `${event.event} ${event.content}` : event.event));
    },
    async unread(address) {
      const { unread, urgent } = await source.poll(source.named(address), { is: 'unset' }, never);
      return [unread, urgent];
    },
    async state(address) {
      const { agentState } = await source.poll(source.named(address), { is: 'unset' }, never);
      return 'why' in agentState && agentState.why !== undefined ? `${agentState.is} ${agentState.why}` : agentState.is;
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() as Promise<void>,
  };
}

/** What was said last of a session at the persona that announced it. */
function readReport({ facts }: Rig): readonly [persona?: string, reporter?: string, state?: AgentState | null] {
  const fact = facts.at(-1);
  return fact?.is === 'agent' ? [fact.persona, fact.reporter, fact.state] : [];
}

let ids = 0;
function mail(text: string, more: object = {}): object {
  ids += 1;
  const id = `10000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
  return {
    from: 'team-lead',
    text,
    timestamp: new Date().toISOString(),
    msgV: 1,
    msg_id: id,
    type: 'message',
    read: false,
    ...more,
  };
}

/** A snapshot of what the real program wrote, in which the process of the session lives. */
function copyData(...parts: readonly string[]): ClaudeStore & { readonly readProcess: ClaudeOptions['readProcess'] } {
  const store = claudeStore();
  cpSync(join(DATA, ...parts), store.root, { recursive: true });
  const keys = new Map(
    readdirSync(join(store.root, 'sessions')).map((name) => {
      const { pid, procStart } = JSON.parse(readFileSync(join(store.root, 'sessions', name), 'utf8')) as {
        pid?: number;
        procStart?: string;
      };
      return [pid, procStart];
    }),
  );
  return {
    ...store,
    readProcess(pid) {
      const startKey = pid === 4_194_305 ? undefined : keys.get(pid);
      return startKey === undefined ? { is: 'gone' } : { is: 'running', startKey, parent: null };
    },
  };
}

describe('claude: what the real program wrote', () => {
  test('claude 1: an unread message is unread 1 of its reader, with from and content; idle notifications are never mail', async () => {
    using store = copyData('timeline', 't9');
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), ['60985bb0-researcher', '60985bb0']);
    assert.deepEqual(await rig.unread('60985bb0'), [exactly(1), exactly(0)]);
    assert.deepEqual(await rig.unread('60985bb0-researcher'), [exactly(0), exactly(0)]);
    const persona = rig.source.named('60985bb0');
    assert.deepEqual(persona, { id: 'claude-60985bb0', address: '60985bb0', label: 'proj-7e · proj' });
    assert.equal(rig.source.named('60985bb0-researcher').label, 'researcher (proj-7e · proj)');
    const { evidence, agentState } = await rig.source.poll(persona, { is: 'unset' }, never);
    assert.deepEqual(evidence.is === 'set' && evidence.items, [
      {
        key: 'c25a3cc0-c30f-4c30-a8b0-f9d5964f5323',
        ...{ fingerprint: 'unread', appeared: 'new', changed: null, vanished: null },
        ...{ from: 'researcher', created: '2026-11-29T09:11:13.026Z', content: 'May I drop the column tenant_id?' },
        extra: { team: 'session-60985bb0', subject: 'schema question' },
      },
    ]);
    assert.equal(evidence.is === 'set' && evidence.epoch, store.root);
    assert.match(agentState.cwd ?? '', /\/me\/proj$/);
  });

  test('claude 2: the snapshots of the real program, one after the other, give their events in order', async () => {
    using store = copyData('timeline', 't7');
    await using rig = createRig(store);
    const seen: Record<string, readonly string[]> = {};
    for (const time of ['t7', 't8', 't9', 't10']) {
      cpSync(join(DATA, 'timeline', time, 'teams'), join(store.root, 'teams'), { recursive: true });
      await rig.list();
      seen[`lead ${time}`] = await rig.events('60985bb0');
      seen[`researcher ${time}`] = await rig.events('60985bb0-researcher');
    }
    assert.deepEqual(seen, {
      ...{ 'lead t7': [], 'lead t8': ['new May I drop the column tenant_id?'], 'lead t9': [], 'lead t10': ['read'] },
      ...{
        'researcher t7': [],
        'researcher t8': ['new Look at db/schema.sql first'],
        'researcher t9': ['read'],
        'researcher t10': [],
      },
    });
  });

  test('claude 4: a session that waits, as the program wrote it', async () => {
    using store = copyData('waiting');
    rmSync(join(store.root, 'agents.json'));
    await using rig = createRig(store);
    assert.deepEqual(await rig.unread('7bd33779'), [exactly(1), exactly(0)]);
    assert.equal(await rig.state('7bd33779'), 'waiting permission');
  });

  test('claude 1, 5: boxes as older versions kept them', async () => {
    using store = copyData('legacy');
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), ['11111111-team-lead', '11111111-backnd']);
    assert.deepEqual(await rig.unread('11111111-team-lead'), [exactly(3), exactly(1)]);
    assert.deepEqual(await rig.unread('11111111-backnd'), [exactly(1), exactly(0)]);
    assert.equal(rig.source.named('11111111-backnd').label, 'stranded: backnd (alpha)');
    assert.deepEqual(rig.source.defects, [
      'alpha/inboxes/team-lead.json: entry 6 has no text',
      'alpha/inboxes/team-lead.json: entry 7 is no message',
    ]);
  });
});

describe('claude: sessions', () => {
  test('claude 4: waiting is one action with what it waits for; busy again, it is cleared', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(ADA), []);
    session.set({ status: 'waiting', waitingFor: 'input needed', statusUpdatedAt: 1_795_943_472_000 });
    assert.deepEqual(await rig.events(ADA), ['action input needed']);
    session.set({ updatedAt: 1_795_943_473_000 });
    assert.deepEqual(await rig.events(ADA), [], 'once');
    assert.deepEqual(await rig.unread(ADA), [exactly(1), exactly(0)]);
    session.set({ status: 'busy', waitingFor: undefined, statusUpdatedAt: 1_795_943_474_000 });
    assert.deepEqual(await rig.events(ADA), ['cleared']);
    // It waits and goes on between two polls.
    session.set({ status: 'waiting', waitingFor: 'dialog open', statusUpdatedAt: 1_795_943_475_000 });
    await rig.list();
    session.set({ status: 'idle', waitingFor: undefined, statusUpdatedAt: 1_795_943_476_000 });
    await rig.list();
    assert.deepEqual(await rig.events(ADA), ['action dialog open', 'cleared']);
  });

  test('claude 8.1: a question of the agent waits as a permission in the file; the hook of the session knows better', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'waiting', waitingFor: 'permission prompt' });
    await using rig = createRig(store);
    await rig.list();
    const { agentState: session } = await rig.source.poll(rig.source.named(ADA), { is: 'unset' }, never);
    assert.deepEqual([session.is, 'why' in session && session.why], ['waiting', 'permission']);
    const hook: AgentState = { is: 'waiting', why: 'input', since: (session.since ?? 0) - 5 };
    const chosen = chooseAgentState({ session, hook });
    assert.deepEqual([chosen.is, 'why' in chosen && chosen.why], ['waiting', 'input']);
  });

  test('claude 8.5: the file of a killed session may be removed later, which ends it once', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'waiting', waitingFor: 'permission prompt' });
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(ADA), ['action permission prompt']);
    session.kill();
    assert.deepEqual(await rig.events(ADA), ['cleared']);
    rmSync(join(store.root, 'sessions', `${session.pid}.json`));
    assert.deepEqual(await rig.list(), [ADA]);
    assert.deepEqual(await rig.events(ADA), []);
    assert.equal(await rig.state(ADA), 'gone process-gone');
  });

  test('each status is what the agent does', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA);
    await using rig = createRig(store);
    await rig.list();
    const states: string[] = [];
    const all: readonly (readonly [status: string | undefined, waitingFor?: string])[] = [
      ...([
        [undefined],
        ['idle'],
        ['busy'],
        ['shell'],
        ['waiting', 'permission prompt'],
        ['waiting', 'sandbox request'],
      ] as const),
      ...([
        ['waiting', 'input needed'],
        ['waiting', 'dialog open'],
        ['waiting', 'worker request'],
        ['compacting'],
      ] as const),
    ];
    for (const [status, waitingFor] of all) {
      session.set({ status, waitingFor });
      states.push(await rig.state(ADA));
    }
    assert.deepEqual(states, [
      ...[
        'unknown no-status',
        'idle',
        'working',
        'working',
        'waiting permission',
        'waiting permission',
        'waiting input',
      ],
      ...['waiting dialog', 'waiting worker request', 'unknown compacting'],
    ]);
    const { agentState } = await rig.source.poll(rig.source.named(ADA), { is: 'unset' }, never);
    assert.deepEqual([agentState.since, agentState.cwd], [1_795_943_471_997, '/proj']);
  });

  test('claude 6: older files are skipped; whose process is gone is gone, and busy is not shown', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    store.addSession('dead0000', { status: 'busy' }).kill();
    const foreign = store.addSession('f0e16700', { status: 'busy', procStart: 'another' });
    writeFileSync(join(store.root, 'sessions', 'pid-1234.json'), '{"session_id":"aaaa","cwd":"/x"}');
    writeFileSync(
      join(store.root, 'sessions', '77.json'),
      '{"pid":77,"sessionId":"77777777-0","cwd":"/x","status":"busy"}',
    );
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), [ADA], `neither orphans, nor ${foreign.pid}, whose pid another process has`);
    session.kill();
    assert.equal(await rig.state(ADA), 'gone process-gone');
    await rig.clock.advance(RETENTION_MS + 1);
    using _ = rig.source.hints?.(() => {});
    await rig.clock.advance(10_001);
    assert.deepEqual(await rig.list(), []);
    assert.ok(rig.source.isGone?.(rig.source.named(ADA)));
  });

  test('claude 6: one that ended as it should is gone for its retention, and one without a terminal leaves at once', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'idle' });
    const print = store.addSession('bbbbbbbb');
    const laterPrint = store.addSession('cccccccc', { status: 'busy', entrypoint: 'sdk-cli' });
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), [ADA, 'bbbbbbbb', 'cccccccc']);
    session.end();
    print.end();
    laterPrint.end();
    assert.deepEqual(await rig.list(), [ADA]);
    assert.equal(await rig.state(ADA), 'gone process-gone');
  });

  test('claude 8.6: /clear is another session in the same process; /rename changes the label', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'waiting', waitingFor: 'permission prompt' });
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(ADA), ['action permission prompt']);
    session.set({ name: 'schema work', nameSource: undefined });
    await rig.poll(ADA);
    assert.equal(rig.source.named(ADA).label, 'schema work · proj');
    session.set({ sessionId: toSessionId('cccccccc'), status: 'idle', waitingFor: undefined });
    assert.deepEqual(await rig.list(), ['cccccccc']);
    assert.deepEqual(await rig.events(ADA), ['cleared']);
    assert.ok(rig.source.isGone?.(rig.source.named(ADA)));
  });

  test('a session that two processes have lives until both have ended', async () => {
    using store = claudeStore();
    const first = store.addSession(ADA, { status: 'idle' });
    const second = store.addSession(ADA, { status: 'busy' });
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), [ADA]);
    assert.equal(await rig.state(ADA), 'working');
    second.end();
    await rig.list();
    assert.equal(await rig.state(ADA), 'idle');
    first.kill();
    assert.equal(await rig.state(ADA), 'gone process-gone');
  });

  test('a half-written session file leaves what was known', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    await using rig = createRig(store);
    await rig.list();
    writeFileSync(join(store.root, 'sessions', `${session.pid}.json`), '{"pid":');
    assert.equal(await rig.state(ADA), 'working');
    assert.deepEqual(await rig.list(), [ADA]);
  });

  test('two directories are one list, and equal names are told apart', async () => {
    using store = claudeStore();
    using other = claudeStore();
    store.addSession(ADA, { status: 'idle' });
    other.addSession(ADA, { status: 'busy', sessionId: `${ADA}-1111-4000-8000-000000000000` });
    await using rig = createRig(store, { directories: [store.root, other.root] });
    const [first, second = ''] = await rig.list();
    assert.equal(first, ADA);
    assert.match(second, /^aaaaaaaa-[\da-f]{6}$/);
    assert.deepEqual([await rig.state(ADA), await rig.state(second)], ['idle', 'working']);
  });

  test('claude 12: without the directory the source is UP with nobody; sessions without permission is DOWN, and teams go on', async () => {
    using store = claudeStore();
    renameSync(store.root, store.at('away'));
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), []);
    renameSync(store.at('away'), store.root);
    store.addSession(ADA, { status: 'idle' });
    store.addTeam(ADA, ['bo']);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', ADA]);

    const { files, deny } = createGuardedFiles();
    await using guarded = createRig(store, { files });
    await guarded.list();
    assert.deepEqual(await guarded.events('aaaaaaaa-bo'), []);
    deny(join(store.root, 'sessions'));
    store.deliver(ADA, 'bo', mail('go on'));
    await assert.rejects(guarded.list(), {
      code: 'unreadable',
      message: `${join(store.root, 'sessions')}: permission denied`,
    });
    await assert.rejects(async () => await guarded.state(ADA), { code: 'unreadable' });
    assert.deepEqual(await guarded.events('aaaaaaaa-bo'), ['new go on']);
    assert.equal(await guarded.state('aaaaaaaa-bo'), 'live');
    deny();
    assert.equal(await guarded.state(ADA), 'idle');
  });
});

describe('claude: team mail', () => {
  test('claude 3: a message that came and went between two polls is new, and then read', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
    store.deliver(ADA, 'bo', mail('short'));
    await rig.list(); // the file was seen
    store.take(ADA, 'bo');
    await rig.list();
    assert.deepEqual(await rig.unread(`${ADA}-bo`), [exactly(0), exactly(0)]);
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['new short', 'read']);
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
  });

  test('claude 3: what no look at the file saw is in the transcript, and what one saw is not delivered twice', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    const project = join(store.root, 'projects', '-proj');
    const transcript = join(project, `${toSessionId(ADA)}.jsonl`);
    mkdirSync(project, { recursive: true });
    const toLine = (uuid: string, content: unknown, more: object = {}): string =>
      `${JSON.stringify({ parentUuid: 'p', isSidechain: false, type: 'user', message: { role: 'user', content }, uuid, timestamp: '2026-11-29T09:11:20.086Z', ...more })}\n`;
    const toTag = (from: string, text: string): string =>
      `<teammate-message teammate_id="${from}" color="blue" summary="s &amp; t">\n${text}\n</teammate-message>`;
    writeFileSync(transcript, toLine('old', toTag('bo', 'from before')));
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(ADA), []);
    store.deliver(ADA, 'team-lead', mail('seen', { from: 'bo' }));
    assert.deepEqual(await rig.events(ADA), ['new seen']);
    store.take(ADA, 'team-lead');
    const lines = toLine(
      'u1',
      `Another Claude session sent a message:\n${toTag('bo', 'seen')}\n\n${toTag('bo', 'missed')}\n\n${toTag('bo', '{"type":"idle_notification"}')}\n\nThis came from`,
    );
    appendFileSync(transcript, lines.slice(0, 100));
    assert.deepEqual(await rig.events(ADA), ['read'], 'only complete lines count');
    appendFileSync(transcript, lines.slice(100));
    appendFileSync(transcript, toLine('u2', [{ type: 'tool_result', content: toTag('bo', 'of a tool') }]));
    appendFileSync(transcript, toLine('u3', `please explain ${toTag('bo', 'typed')}`));
    assert.deepEqual(await rig.events(ADA), ['new missed', 'read']);
    appendFileSync(
      transcript,
      toLine('u4', [
        {
          type: 'text',
          text: '<cross-session-message from="s1" from-name="web">\nhello there\n</cross-session-message>',
        },
      ]),
    );
    assert.deepEqual(await rig.events(ADA), ['new hello there', 'read']);
    appendFileSync(transcript, `${JSON.stringify({ type: 'assistant', message: { model: 'claude-opus-4-8' } })}\n`);
    const { agentState } = await rig.source.poll(rig.source.named(ADA), { is: 'unset' }, never);
    assert.equal(agentState.model, 'claude-opus-4-8');
  });

  test('claude 3: mail that came and went while Hivebar did not run is delivered, once, and nothing after a crash', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    const project = join(store.root, 'projects', '-proj');
    const transcript = join(project, `${toSessionId(ADA)}.jsonl`);
    mkdirSync(project, { recursive: true });
    let lines = 0;
    const log = (text: string): void => {
      lines += 1;
      const content = `<teammate-message teammate_id="bo">\n${text}\n</teammate-message>`;
      appendFileSync(
        transcript,
        `${JSON.stringify({ parentUuid: 'p', type: 'user', message: { role: 'user', content }, uuid: `u${lines}` })}\n`,
      );
    };
    log('long ago');
    const delivered = createDelivered();
    const values = new Map<string, string>();
    const positions: PositionStore = {
      read: (key) => JSON.parse(values.get(key) ?? 'null') as object | null,
      save: async (key, value) => void values.set(key, JSON.stringify(value)),
    };
    const run = async (work: () => void, isCrash = false): Promise<readonly string[]> => {
      const before = delivered.events.length;
      const rig = createRig(store, { positions });
      await rig.list();
      const watched = watchPersona(rig.source, rig.source.named(ADA), rig.clock, delivered);
      const poll = async (): Promise<void> => {
        for (let n = 0; n < 3; n += 1) await watched.poll();
      };
      await poll();
      work();
      await poll();
      if (!isCrash) await rig[Symbol.asyncDispose]();
      const events = delivered.events.slice(before).filter((event) => 'id' in event);
      return events.map((event) => ('content' in event ? `${event.event} ${event.content}` : event.event));
    };
    const send = (text: string) => (): void => store.deliver(ADA, 'team-lead', mail(text, { from: 'bo' }));
    assert.deepEqual(await run(send('seen in the file')), ['new seen in the file']);
    store.take(ADA, 'team-lead');
    log('seen in the file');
    log('while it did not run');
    assert.deepEqual(await run(() => {}), ['new while it did not run', 'read', 'read']);
    log('before a crash');
    assert.deepEqual(await run(() => {}, true), ['new before a crash', 'read']);
    log('after a crash');
    assert.deepEqual(await run(() => {}), [], 'nobody knows what was delivered before');
  });

  test('claude 8.4: what a member took is in its own transcript; its task is no mail', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    const folder = join(store.root, 'projects', '-proj', toSessionId(ADA), 'subagents');
    await using rig = createRig(store);
    await rig.list();
    await rig.poll(`${ADA}-bo`);
    mkdirSync(folder, { recursive: true });
    const toLine = (uuid: string, text: string, parentUuid: string | null): string =>
      `${JSON.stringify({ parentUuid, isSidechain: true, type: 'user', message: { role: 'user', content: `<teammate-message teammate_id="team-lead">\n${text}\n</teammate-message>` }, uuid })}\n`;
    writeFileSync(
      join(folder, 'agent-abo-0123456789abcdef.jsonl'),
      toLine('a', 'your task', null) + toLine('b', 'neither color nor summary', 'a'),
    );
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['new neither color nor summary', 'read']);
  });

  test('claude 5: equal texts are two; what has no text is a diagnostic; a cut file is inbox-unreadable, never 0', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    await rig.list();
    await rig.poll(`${ADA}-bo`);
    const path = join(store.root, 'teams', `session-${ADA}`, 'inboxes', 'bo.json');
    const equal = { from: 'x', text: 'May I?', timestamp: '2026-02-22T16:27:00.000Z', read: false };
    const text = JSON.stringify([equal, equal, { from: 'x', read: false }, 'stray']);
    writeFileSync(path, text);
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['new May I?', 'new May I?']);
    assert.deepEqual(rig.output, [
      'claude: session-aaaaaaaa/inboxes/bo.json: entry 3 has no text',
      'claude: session-aaaaaaaa/inboxes/bo.json: entry 4 is no message',
    ]);
    writeFileSync(path, text.slice(0, 30));
    assert.deepEqual(await rig.unread(`${ADA}-bo`), [exactly(2), exactly(0)], 'it may be being written');
    await rig.clock.advance(1100);
    await assert.rejects(async () => await rig.unread(`${ADA}-bo`), {
      code: 'unreadable',
      message: `inbox-unreadable: ${path} is cut off after 30 bytes, or is no JSON`,
    });
    writeFileSync(path, JSON.stringify([equal]));
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['read']);
    assert.deepEqual(await rig.unread(`${ADA}-bo`), [exactly(1), exactly(0)]);
  });

  test('claude 8: config.json with size 0 for a moment leaves the members as they were', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', ADA]);
    const path = join(store.root, 'teams', `session-${ADA}`, 'config.json');
    writeFileSync(path, '');
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', ADA]);
    store.setMembers(ADA, ['bo', 'cy']);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', 'aaaaaaaa-cy', ADA]);
  });

  test('claude 9: a team directory that is removed with mail in it: the mail is gone once, then the persona leaves', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    await rig.list();
    store.deliver(ADA, 'bo', mail('left behind'));
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['new left behind']);
    rmSync(join(store.root, 'teams', `session-${ADA}`), { recursive: true });
    session.end();
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', ADA]);
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['gone']);
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
    assert.deepEqual(await rig.unread(`${ADA}-bo`), [exactly(0), exactly(0)]);
    assert.equal(await rig.state(`${ADA}-bo`), 'gone process-gone');
    using _ = rig.source.hints?.(() => {});
    await rig.clock.advance(RETENTION_MS + 10_001);
    assert.deepEqual(await rig.list(), []);
    assert.ok(rig.source.isGone?.(rig.source.named(`${ADA}-bo`)));
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
  });

  test('claude 9: after a restart, what vanished meanwhile is gone where its team is, and read where it is not', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    const delivered = createDelivered();
    const poll = async (): Promise<readonly string[]> => {
      const before = delivered.events.length;
      await using rig = createRig(store);
      await rig.source.personas(never).catch(() => []);
      const watched = watchPersona(rig.source, rig.source.named(`${ADA}-bo`), rig.clock, delivered);
      for (let n = 0; n < 3; n += 1) await watched.poll();
      return delivered.events.slice(before).flatMap((event) => ('id' in event ? [event.event] : []));
    };
    store.deliver(ADA, 'bo', mail('one'));
    assert.deepEqual(await poll(), ['new']);
    store.take(ADA, 'bo');
    store.deliver(ADA, 'bo', mail('two'));
    assert.deepEqual(await poll(), ['new', 'read']);
    rmSync(join(store.root, 'teams', `session-${ADA}`), { recursive: true });
    assert.deepEqual(await poll(), ['gone']);
    assert.deepEqual(await poll(), []);
  });

  test('claude 11: a name of any kind never leaves teams, and its label is cleaned', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    const names = ['../../../outside', 'quo"te\u0007\u202e', 'x'.repeat(300), 'with space'];
    store.setMembers(ADA, names);
    const opened: string[] = [];
    const files: Files = {
      ...realFiles,
      open: (path, flags, mode) => {
        opened.push(path);
        return realFiles.open(path, flags, mode);
      },
    };
    await using rig = createRig(store, { files });
    const members = (await rig.list()).filter((address) => address !== ADA);
    assert.equal(members.length, names.length);
    for (const address of members) {
      await rig.poll(address);
      assert.match(address, /^aaaaaaaa-[\w-]{1,47}$/);
      assert.doesNotMatch(rig.source.named(address).label, /[\p{Cc}\p{Cf}]/u);
      assert.ok(rig.source.named(address).label.length < 200);
    }
    for (const path of opened) assert.ok(path.startsWith(`${store.root}/`) && !path.includes('..'), path);
    writeFileSync(
      join(store.root, 'teams', `session-${ADA}`, 'inboxes', 'with-space.json'),
      JSON.stringify([mail('by its file name')]),
    );
    await rig.list();
    const [spaced = ''] = members.filter((address) => address.startsWith('aaaaaaaa-with-space'));
    assert.deepEqual(await rig.events(spaced), ['new by its file name']);
  });

  test('claude 8.2: a request is a question and urgent; one for a plan only when nobody answers it for 3 s', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    await rig.list();
    await rig.poll(ADA);
    const ask = (fields: object): object =>
      mail(JSON.stringify(fields), { from: 'bo', timestamp: new Date(rig.clock.now()).toISOString() });
    store.deliver(
      ADA,
      'team-lead',
      ask({ type: 'permission_request', tool_name: 'Write', description: 'Write a file', input: { file_path: '/x' } }),
    );
    assert.deepEqual(await rig.events(ADA), ['question Write a file\n{"file_path":"/x"}']);
    assert.deepEqual(await rig.unread(ADA), [exactly(1), exactly(1)]);
    store.take(ADA, 'team-lead');
    assert.deepEqual(await rig.events(ADA), ['read']);
    store.deliver(ADA, 'team-lead', ask({ type: 'plan_approval_request', planContent: 'the plan' }));
    assert.deepEqual(await rig.events(ADA), []);
    assert.deepEqual(await rig.unread(ADA), [exactly(1), exactly(0)]);
    store.take(ADA, 'team-lead');
    assert.deepEqual(await rig.events(ADA), ['new the plan', 'read'], 'the program of the lead approved it');
    store.deliver(ADA, 'team-lead', ask({ type: 'plan_approval_request', planContent: 'another' }));
    assert.deepEqual(await rig.events(ADA), []);
    await rig.clock.advance(3001);
    assert.deepEqual(await rig.events(ADA), ['question another']);
    assert.deepEqual(await rig.unread(ADA), [exactly(1), exactly(1)]);
    store.deliver(ADA, 'team-lead', mail('now', { from: 'bo', summary: '[URGENT] now' }));
    store.deliver(ADA, 'team-lead', mail('{"type":"shutdown_approved"}', { from: 'bo' }));
    assert.deepEqual(await rig.unread(ADA), [exactly(2), exactly(2)]);
  });

  test('claude 8.3: mail that nobody takes for 60 s is stalled; waiting takes precedence', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    await using rig = createRig(store);
    await rig.list();
    for (const name of ['bo', 'team-lead'])
      store.deliver(ADA, name, mail('hello', { timestamp: new Date(rig.clock.now()).toISOString() }));
    const states = async (): Promise<readonly string[]> => [await rig.state(ADA), await rig.state(`${ADA}-bo`)];
    assert.deepEqual(await states(), ['working', 'live']);
    await rig.clock.advance(60_001);
    assert.deepEqual(await states(), ['stalled no-reader', 'stalled no-reader']);
    session.set({ status: 'waiting', waitingFor: 'permission prompt' });
    assert.deepEqual(await states(), ['waiting permission', 'live']);
    for (const name of ['bo', 'team-lead']) store.take(ADA, name);
    session.set({ status: 'idle', waitingFor: undefined });
    assert.deepEqual(await states(), ['idle', 'live']);
  });

  test('claude 8.5: a killed lead leaves its team, whose unread mail stays on the board', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo', 'cy']);
    await using rig = createRig(store);
    using _ = rig.source.hints?.(() => {});
    await rig.list();
    store.deliver(ADA, 'bo', mail('nobody reads this'));
    store.deliver(ADA, 'team-lead', mail('nor this', { from: 'bo' }));
    await rig.list();
    assert.deepEqual(await rig.events(ADA), ['new nor this']);
    session.kill();
    await rig.clock.advance(RETENTION_MS + 20_002);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-team-lead', 'aaaaaaaa-bo']);
    assert.deepEqual(await rig.unread('aaaaaaaa-team-lead'), [exactly(1), exactly(0)]);
    assert.deepEqual(await rig.events('aaaaaaaa-team-lead'), [], 'it was delivered to the session');
    assert.deepEqual(await rig.events(ADA), [], 'nobody read it');
    assert.equal(await rig.state('aaaaaaaa-bo'), 'gone process-gone');
  });

  test('what a stranger left in the read state is no news, and what is read at once later is', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'busy' });
    store.addTeam(ADA, ['bo']);
    store.deliver(ADA, 'bo', mail('from before', { read: true }));
    await using rig = createRig(store);
    await rig.list();
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
    store.deliver(ADA, 'bo', mail('read at once', { read: true }));
    assert.deepEqual(await rig.events(`${ADA}-bo`), ['new read at once', 'read']);
    assert.deepEqual(await rig.events(`${ADA}-bo`), []);
  });
});

describe('claude: sessions that a persona announced', () => {
  test('one row, not two: it moves when it is announced and when that ends, and nothing is delivered twice', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'idle' });
    store.addTeam(ADA, ['bo']);
    let announced = null as PersonaId | null;
    await using rig = createRig(store, { findSessionPersona: (id) => (id === toSessionId(ADA) ? announced : null) });
    const woken: string[] = [];
    using _ = rig.source.hints?.((address) => void woken.push(address));
    await rig.list();
    store.deliver(ADA, 'team-lead', mail('one', { from: 'bo' }));
    assert.deepEqual(await rig.events(ADA), ['new one']);
    assert.equal(rig.facts.length, 0);

    announced = 'ada';
    await rig.clock.advance(10_001);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-team-lead', 'aaaaaaaa-bo']);
    assert.ok(woken.includes(ADA) && woken.includes('aaaaaaaa-team-lead'));
    assert.deepEqual(await rig.events(ADA), [], 'nobody read it');
    assert.ok(rig.source.isGone?.(rig.source.named(ADA)));
    assert.deepEqual(await rig.events('aaaaaaaa-team-lead'), [], 'it was delivered to the session');
    assert.deepEqual(await rig.unread('aaaaaaaa-team-lead'), [exactly(1), exactly(0)]);
    store.deliver(ADA, 'team-lead', mail('two', { from: 'bo' }));
    assert.deepEqual(await rig.events('aaaaaaaa-team-lead'), ['new two']);
    assert.deepEqual(readReport(rig), ['ada', 'session', { is: 'idle', since: 1_795_943_471_997, cwd: '/proj' }]);
    session.set({ status: 'waiting', waitingFor: 'permission prompt', statusUpdatedAt: 1_795_943_480_000 });
    await rig.list();
    const waiting = { is: 'waiting', why: 'permission', since: 1_795_943_480_000, cwd: '/proj' };
    assert.deepEqual(readReport(rig), ['ada', 'session', waiting]);

    announced = null;
    session.set({ status: 'idle', waitingFor: undefined });
    await rig.clock.advance(10_001);
    assert.deepEqual(await rig.list(), ['aaaaaaaa-bo', ADA]);
    assert.deepEqual(readReport(rig), ['ada', 'session', null]);
    assert.deepEqual(await rig.events('aaaaaaaa-team-lead'), []);
    assert.deepEqual(await rig.events(ADA), [], 'both were delivered');
    assert.deepEqual(await rig.unread(ADA), [exactly(2), exactly(0)]);
    store.take(ADA, 'team-lead');
    assert.deepEqual(await rig.events(ADA), ['read'], 'of the one that it delivered');
  });

  test('a store that cannot say who announced a session changes nothing', async () => {
    using store = claudeStore();
    store.addSession(ADA, { status: 'idle' });
    let isBroken = false;
    const findSessionPersona = (): PersonaId => {
      if (isBroken) throw new Fault('database', 'damaged', { is: 'machine', key: 'store' });
      return 'ada';
    };
    await using rig = createRig(store, { findSessionPersona });
    using _ = rig.source.hints?.(() => {});
    assert.deepEqual(await rig.list(), []);
    isBroken = true;
    store.addSession('bbbbbbbb', { status: 'idle' });
    await rig.clock.advance(10_001);
    assert.deepEqual(await rig.list(), ['bbbbbbbb']);
  });

  test('one that ended is not listed again', async () => {
    using store = claudeStore();
    const session = store.addSession(ADA, { status: 'idle' });
    let announced = 'ada' as PersonaId | null;
    await using rig = createRig(store, { findSessionPersona: () => announced });
    using _ = rig.source.hints?.(() => {});
    assert.deepEqual(await rig.list(), []);
    session.end();
    announced = null;
    await rig.clock.advance(10_001);
    assert.deepEqual(await rig.list(), []);
    const since = rig.clock.now();
    const [persona, , state] = readReport(rig);
    assert.deepEqual([persona, state?.is, state?.since !== undefined && state.since <= since], ['ada', 'gone', true]);
    await rig.clock.advance(RETENTION_MS + 10_001);
    assert.deepEqual(readReport(rig), ['ada', 'session', null]);
  });
});
