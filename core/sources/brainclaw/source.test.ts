import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brainclaw, EXPECTED, LAST, line, readOnlyFiles, type Store } from '../../../test/kit/brainclaw-store.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { until } from '../../../test/kit/until.ts';
import { Fault } from '../../model/index.ts';
import { realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Checkpoint, PollResult } from '../source.ts';
import type { Cursor, Seed } from './read/index.ts';
import { createBrainclawSource } from './source.ts';
import { BOARD, type BrainclawOptions, type BrainclawSource, toSourceId } from './source-poll.ts';

const never = new AbortController().signal;
const UNSET: Checkpoint = { is: 'unset' };

interface Rig {
  readonly source: BrainclawSource;
  readonly clock: FakeClock;
  readonly saves: readonly Cursor[];
  /** System calls of the disk since it was asked last. */
  calls(): number;
  poll(address?: string, from?: Checkpoint): Promise<PollResult>;
  keys(address?: string, from?: Checkpoint): Promise<readonly string[]>;
}

function rig(store: Store, more: Partial<BrainclawOptions> = {}): Rig {
  const clock = fakeClock();
  const disk = createRealDisk(silentLog);
  let calls = 0;
  const { files } = readOnlyFiles();
  const counted = <A extends readonly unknown[], R>(call: (...args: A) => R) => {
    return (...args: A): R => {
      calls += 1;
      return call(...args);
    };
  };
  const { open, read, fstat, close, readdir, lstat } = files;
  const countedFiles = {
    ...{ open: counted(open), read: counted(read), fstat: counted(fstat), close: counted(close) },
    ...{ readdir: counted(readdir), lstat: counted(lstat) },
  };
  const saves: Cursor[] = [];
  const source = createBrainclawSource({
    project: { root: store.dir, store: store.root, id: 'lab' },
    ...{
      disk: { ...disk, files: { ...realFiles, ...countedFiles } },
      clock,
      log: silentLog,
      contentChars: 40,
      mail: true,
      seed: null,
    },
    cursor: { load: () => null, save: (cursor) => void saves.push(cursor) },
    ...more,
  });
  const poll: Rig['poll'] = async (address = BOARD, from = UNSET) =>
    await source.poll(source.named(address), from, never);
  return {
    ...{ source, clock, saves, poll },
    calls() {
      const before = calls;
      calls = 0;
      return before;
    },
    keys: async (address, from) => {
      const { evidence } = await poll(address, from);
      return evidence.is === 'set'
        ? evidence.items.map(({ key, fingerprint, appeared }) => `${key} ${fingerprint} ${appeared}`)
        : [];
    },
  };
}

/** What a watch remembers once it has told all of a look. */
function listDelivered({ evidence }: PollResult): Checkpoint {
  assert.ok(evidence.is === 'set');
  const keys = evidence.items.map(({ key, fingerprint, vanished, extra, appeared }, i) => {
    return { key, fingerprint, seq: appeared === 'quiet' ? null : i + 1, changes: 0, vanished, extra };
  });
  return { is: 'known', epoch: evidence.epoch, next: keys.length + 1, keys };
}

const fails = async (run: () => Promise<unknown>): Promise<Fault> => {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error;
  }
  throw new Error('it did not fail');
};

describe('the personas of a project', () => {
  test('are its board and everybody who has an inbox or work', async () => {
    using store = brainclaw();
    const { source } = rig(store);
    const all = await source.personas(never);
    assert.deepEqual(all.slice(0, 2), [
      { id: 'bc-lab', address: '', label: store.dir.split('/').at(-1) },
      { id: 'bc-lab-claude-code', address: 'claude-code', label: `claude-code · ${store.dir.split('/').at(-1)}` },
    ]);
    const { openHandoffsPerAddressee, openAssignmentsPerAgent, pendingActionsPerAgent } = EXPECTED.observer;
    const names = [openHandoffsPerAddressee, openAssignmentsPerAgent, pendingActionsPerAgent].flatMap(Object.keys);
    const agents = all.slice(1).map(({ address }) => address);
    assert.deepEqual(agents, [...new Set([...names, ...Object.keys(EXPECTED.inbox)])].sort());
    assert.equal(source.isGone?.(source.named('nobody')), true);
    assert.equal(source.isGone?.(source.named('codex')), false);
  });

  test('a project is called by its id, whatever that holds', () => {
    assert.equal(toSourceId({ id: 'prj_lab0001' }), 'bc-prj_lab0001');
    assert.equal(toSourceId({ id: '../a b/ü' }), 'bc-___a_b__');
  });

  test('an agent is whoever the journal means, in any spelling, and a name that is none is nobody', async () => {
    using store = brainclaw();
    store.step(1);
    const handoff = (seq: number, to: unknown): string =>
      line(seq, { item_type: 'handoff', item_id: `hnd_${seq}`, payload: { status: 'open', to } });
    const names = ['Copilot', '../../etc', '__proto__', 'x'.repeat(101), '', 7, null];
    appendFileSync(store.event(LAST), names.map((name, i) => handoff(361 + i, name)).join(''));
    const { source, keys } = rig(store);
    const before = rig(brainclaw());
    const were = (await before.source.personas(never)).map(({ address }) => address);
    const are = (await source.personas(never)).map(({ address }) => address);
    assert.deepEqual(are.filter((address) => !were.includes(address)).sort(), ['______etc', '__proto__']);
    assert.ok((await keys('github-copilot')).includes('handoff:hnd_361 361 handoff'));
  });

  test('more agents than a project can have are not all made', async () => {
    using store = brainclaw();
    store.step(1);
    const all = Array.from({ length: 300 }, (_, i) =>
      line(361 + i, { item_type: 'handoff', item_id: `hnd_${i}`, payload: { status: 'open', to: `a${i}` } }),
    );
    appendFileSync(store.event(LAST), all.join(''));
    assert.ok((await rig(store).source.personas(never)).length < 220);
  });
});

describe('a look', () => {
  test('at the board is all that asks for a person', async () => {
    using store = brainclaw();
    const { poll, keys } = rig(store);
    const { unread, urgent, agentState } = await poll();
    assert.deepEqual(unread, { is: 'exact', n: EXPECTED.observer.attention_required.total });
    assert.deepEqual(urgent, { is: 'exact', n: 0 });
    assert.deepEqual(agentState, { is: 'unknown', why: 'skipped=5' });
    assert.equal((await keys()).length, 20);
  });

  test('at an agent is its messages, those that ask for nothing any more in silence, and its work', async () => {
    using store = brainclaw();
    const { poll, keys } = rig(store);
    const { unread, agentState } = await poll('codex');
    assert.deepEqual(
      [unread, agentState],
      [
        { is: 'exact', n: 2 },
        { is: 'unknown', why: 'skipped=2' },
      ],
    );
    const all = await keys('codex');
    const mail = all.filter((key) => key.startsWith('message:')).map((key) => key.split(' ').slice(1).join(' '));
    assert.deepEqual(mail.sort(), [
      'acknowledged quiet',
      'archived quiet',
      'pending new',
      'pending new',
      'read new',
      'read quiet',
    ]);
    const { openHandoffsPerAddressee: handoffs, openAssignmentsPerAgent: assignments } = EXPECTED.observer;
    const work = all.filter((key) => !key.startsWith('message:'));
    const actions = EXPECTED.observer.pendingActionsPerAgent.codex ?? 0;
    assert.equal(work.length, (handoffs.codex ?? 0) + (assignments.codex ?? 0) + actions);
  });

  test('leaves out the text where none is wanted, and cuts it to whole characters', async () => {
    using store = brainclaw();
    store.step(1);
    store.step(2);
    const readContent = async (contentChars: number | null) => {
      const { evidence } = await rig(store, { contentChars }).poll();
      return evidence.is === 'set' && evidence.items.find(({ key }) => key === 'state:act_c0')?.content;
    };
    assert.equal(await readContent(null), null);
    assert.equal(await readContent(26), 'Merge?\nMerge now? — 지금 병합 ');
    assert.equal(await readContent(27), 'Merge?\nMerge now? — 지금 병합 🌱');
  });

  test('what cannot be read is an outage of the project, and no empty set', async () => {
    using store = brainclaw();
    const { source, poll } = rig(store);
    await source.personas(never);
    rmSync(store.root, { recursive: true });
    for (const run of [() => poll(), () => poll('codex'), () => source.personas(never)]) {
      const fault = await fails(run);
      assert.deepEqual([fault.code, fault.scope], ['unreadable', { is: 'source', key: 'bc-lab' }]);
      assert.match(fault.message, /has neither a journal nor an inbox$/);
    }
    mkdirSync(store.root);
    writeFileSync(join(store.root, 'events'), 'no directory');
    assert.equal((await fails(() => poll())).code, 'unreadable');
  });

  test('a message whose file is there is not gone, unlisted or unreadable as it may be', async () => {
    using store = brainclaw();
    const { poll, keys } = rig(store);
    const reported = listDelivered(await poll('codex'));
    const before = await keys('codex', reported);
    const path = join(store.root, 'coordination', 'inbox', 'codex', 'msg_0000000000000001.json');
    writeFileSync(path, '{"id": "msg_00');
    assert.deepEqual([...(await keys('codex', reported))].sort(), [...before].sort());
    rmSync(path);
    assert.equal((await keys('codex', reported)).length, before.length - 1);
  });
});

describe('another journal', () => {
  const other = (store: Store): void => {
    renameSync(store.journal, `${store.journal}.parked`);
    mkdirSync(store.journal);
    writeFileSync(store.event('seg-00000001.jsonl'), line(1, { item_type: 'state', item_id: 'act_1', payload: {} }));
  };

  test('is another set; mail of the same moment waits for the next look, told mail stays what it was', async () => {
    using store = brainclaw();
    const { poll, keys } = rig(store);
    const reported = listDelivered(await poll('codex'));
    other(store);
    const inbox = join(store.root, 'coordination', 'inbox', 'codex');
    const text = { id: 'msg_new', from: 'a', to: 'b', type: 'info', text: 'x', created_at: 'c' };
    writeFileSync(join(inbox, 'msg_new.json'), JSON.stringify(text));
    const adopting = await poll('codex', reported);
    assert.ok(reported.is === 'known' && adopting.evidence.is === 'set');
    assert.notEqual(adopting.evidence.epoch, reported.epoch);
    const shown = adopting.evidence.items.map(({ key }) => key);
    assert.ok(!shown.includes('message:msg_new'));
    assert.equal(shown.length, reported.keys.filter(({ key }) => key.startsWith('message:')).length);
    assert.ok((await keys('codex', listDelivered(adopting))).includes('message:msg_new pending new'));
  });

  test('the same one, read from its start again, is the same set; so it is by its cursor where its first segments are gone', async () => {
    using store = brainclaw();
    const first = rig(store);
    const reported = listDelivered(await first.poll());
    assert.ok(reported.is === 'known');
    const now = first.source.sheet?.seq;
    assert.equal(now, 359);
    const { epoch } = reported;
    const again = await rig(store).poll(BOARD, reported);
    assert.ok(again.evidence.is === 'set');
    assert.equal(again.evidence.epoch, epoch);
    await first.source[Symbol.asyncDispose]();
    assert.equal(first.saves.length, 0, 'not while a watch is not known to know it');
    for (const { address } of await first.source.personas(never)) {
      await first.poll(address, listDelivered(await first.poll(address)));
    }
    await first.source[Symbol.asyncDispose]();
    const [saved] = first.saves;
    assert.equal(saved?.seq, 359);
    rmSync(store.event('seg-00000001.jsonl'));
    rmSync(store.event('seg-00000122.jsonl'));
    const archived = await rig(store, { cursor: { load: () => saved ?? null, save: () => {} } }).poll(BOARD, reported);
    assert.ok(archived.evidence.is === 'set');
    assert.equal(archived.evidence.epoch, `${epoch}:partial`, 'the same, of which not all is known');
    assert.deepEqual(archived.unread, { is: 'atLeast', n: 19 });
    assert.equal(archived.agentState.why, 'from-checkpoint');
  });
});

describe('levels and looks cost little', () => {
  test('who is as at the look before has its counts; of anybody else nothing is said', async () => {
    using store = brainclaw();
    const { source, poll } = rig(store);
    const unknown = async () => {
      const { byAddress } = (await source.pending?.once(never)) ?? {};
      return [...(byAddress ?? [])].flatMap(([address, { unread }]) => (unread.is === 'unknown' ? [address] : []));
    };
    const all = (await source.personas(never)).map(({ address }) => address);
    assert.deepEqual(await unknown(), all);
    for (const address of all) await poll(address, listDelivered(await poll(address)));
    assert.deepEqual(await unknown(), []);
    store.step(1);
    store.step(2);
    assert.deepEqual(await unknown(), [BOARD, 'hermes']);
    for (const address of [BOARD, 'hermes']) await poll(address, listDelivered(await poll(address)));
    assert.deepEqual(await unknown(), []);
    rmSync(join(store.root, 'coordination', 'inbox', 'claude-code', 'msg_0000000000000007.json'));
    assert.deepEqual(await unknown(), ['claude-code']);
  });

  test('while nothing is told of, one reading serves every look; a notice has it read again, that inbox alone', async () => {
    using store = brainclaw();
    const { source, poll, calls, clock } = rig(store);
    const all = (await source.personas(never)).map(({ address }) => address);
    const woken: string[] = [];
    using _ = source.hints?.((address) => void woken.push(address)) ?? { [Symbol.dispose]: () => {} };
    await clock.advance(2);
    calls();
    for (const address of all) await poll(address);
    assert.equal(calls(), 0);
    const inbox = join(store.root, 'coordination', 'inbox', 'codex');
    const text = { id: 'msg_new', from: 'a', to: 'b', type: 'info', text: 'x', created_at: 'c' };
    woken.length = 0;
    const { waiting } = clock;
    writeFileSync(join(inbox, 'msg_new.json'), JSON.stringify(text));
    await until('the notice', () => clock.waiting > waiting);
    await clock.advance(2);
    await until('the wake', () => woken.includes('codex'));
    assert.deepEqual([...new Set(woken)], ['codex']);
    await poll('codex');
    const zoe = join(inbox, '..', 'zoe');
    const before = clock.waiting;
    mkdirSync(zoe);
    await until('the notice', () => clock.waiting > before);
    await clock.advance(2);
    calls();
    await poll('zoe');
    assert.ok(calls() > 0, 'what came before it was followed was not heard');
    await clock.advance(1100);
    calls();
    await poll();
    assert.ok(calls() > 0, 'what is old is read again');
  });

  test('while it cannot be read a notice has it read again, and all are woken once it can', async () => {
    using store = brainclaw();
    const { source, poll, clock } = rig(store);
    const all = (await source.personas(never)).map(({ address }) => address);
    const woken: string[] = [];
    using _ = source.hints?.((address) => void woken.push(address)) ?? { [Symbol.dispose]: () => {} };
    await clock.advance(2);
    for (const address of all) await poll(address);
    woken.length = 0;
    renameSync(join(store.root, 'coordination'), join(store.root, 'away'));
    renameSync(store.journal, `${store.journal}.parked`);
    await until('the outage', () => {
      void clock.advance(2);
      return woken.includes(BOARD);
    });
    await fails(() => poll());
    woken.length = 0;
    renameSync(`${store.journal}.parked`, store.journal);
    await until('all', () => {
      void clock.advance(1);
      return all.every((address) => woken.includes(address));
    });
    assert.ok(clock.monotonic() < 9000, 'the timer had nothing to do with it');
  });

  test('where nothing is watched, it is looked at every 10 s, and who has something new is woken', async () => {
    using store = brainclaw();
    const { source, poll, clock } = rig(store, { statOnly: true });
    const all = (await source.personas(never)).map(({ address }) => address);
    const woken: string[] = [];
    const hints = source.hints?.((address) => void woken.push(address));
    await clock.advance(10);
    for (const address of all) await poll(address);
    woken.length = 0;
    store.step(1);
    store.step(2);
    await clock.advance(9000);
    assert.deepEqual(woken, []);
    await clock.advance(1500);
    assert.deepEqual([...new Set(woken)], [BOARD, 'hermes']);
    hints?.[Symbol.dispose]();
    assert.equal(clock.waiting, 0);
  });
});

describe('what is asked of brainclaw', () => {
  const SEED: Seed = {
    ...{
      plans: 1,
      claims: 2,
      assignments: null,
      runs: null,
      actions: 30,
      agents: null,
      sessions: null,
      failedRuns: null,
    },
  };

  test('is asked once, where the journal does not say all, and an answer that fails is none', async () => {
    using store = brainclaw();
    let asked = 0;
    const seed = async () => {
      asked += 1;
      return SEED;
    };
    const whole = rig(store, { seed });
    await whole.source.personas(never);
    assert.equal(asked, 0);
    rmSync(store.event('seg-00000001.jsonl'));
    rmSync(store.event('seg-00000122.jsonl'));
    const partial = rig(store, { seed });
    for (let i = 0; i < 3; i += 1) await partial.source.personas(never);
    assert.equal(asked, 1);
    assert.deepEqual((await partial.poll()).unread, { is: 'atLeast', n: 30 });
    const failing = rig(store, { seed: () => Promise.reject(new Error('no server')) });
    await failing.source.personas(never);
    assert.deepEqual((await failing.poll()).unread, { is: 'atLeast', n: 19 });
  });
});
