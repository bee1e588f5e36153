import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOARD, toBoardSummary } from '../../core/sources/brainclaw/index.ts';
import { brainclaw, EXPECTED, LAST, line, NEXT, openCold, type Store, stepBytes } from '../kit/brainclaw-store.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';
import { formatUnread, type ProjectWatcher, watching } from '../kit/watch-brainclaw.ts';

const ready = (watched: ProjectWatcher, unread = '20'): Promise<unknown> =>
  watched.until(`${unread} unread`, (shown) => formatUnread(shown) === unread);
const findInbox = (store: Store, agent: string): string => join(store.root, 'coordination', 'inbox', agent);

/** A message, written as a whole or where it stands. */
function message(store: Store, agent: string, id: string, more: object = {}, inPlace = false): void {
  const text = JSON.stringify({
    ...{
      schema_version: 2,
      id,
      from: 'claude-code',
      to: agent,
      type: 'review',
      text: `text of ${id}`,
      ref: 'pln_0001',
    },
    ...{ requires_ack: true, status: 'pending', created_at: '2026-06-20T10:00:00.000Z', ...more },
  });
  const folder = findInbox(store, agent);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.json`);
  writeFileSync(inPlace ? path : `${path}.tmp`, text);
  if (!inPlace) renameSync(`${path}.tmp`, path);
}

const state = (seq: number, id: string, more: object = {}): string =>
  line(seq, { item_type: 'state', item_id: id, payload: { status: 'pending', agent: 'hermes', title: id, ...more } });

describe('brainclaw checks 3 and 4: the step files, one by one', () => {
  test('each is on the board at once, told once, and a restart after each says the same and nothing new', async () => {
    using store = brainclaw();
    using home = scratch();
    const expected = [
      ['20', []],
      ['21', ['new state:act_c0']],
      ['21', ['new state:act_c0']],
      ['20', ['new state:act_c0', 'cleared state:act_c0']],
    ] as const;
    {
      await using first = await watching(store.root, home);
      await ready(first);
      assert.deepEqual(first.delivered(), []);
    }
    for (const [index, [unread, delivered]] of expected.entries()) {
      await using running = await watching(store.root, home);
      await ready(running, index === 0 ? '20' : expected[index - 1]?.[0]);
      store.step(index + 1);
      const after = EXPECTED.steps[index]?.after;
      await until(`cursor ${after?.cursor}`, () => running.source.sheet?.seq === after?.cursor);
      await ready(running, unread);
      await until('what it tells', () => running.delivered().length >= delivered.length);
      const { sheet } = running.source;
      assert.deepEqual(sheet?.attention, after?.attention_required);
      assert.equal(sheet?.counts.plans, after?.counts.plans);
      await running.stop();
      await using cold = await watching(store.root, home);
      await ready(cold, unread);
      assert.deepEqual(cold.source.sheet, sheet);
      assert.deepEqual(cold.delivered(), delivered);
    }
  });

  test('the event says what, why, who and where', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await ready(watched);
    store.step(1);
    store.step(2);
    await until('the event', () => watched.delivered().length === 1);
    const [event] = watched.events();
    assert.deepEqual(
      [event?.persona, event?.source, event?.from, event?.item, event?.why, event?.journal_seq, event?.created],
      ['bc-prj_lab0001', 'brainclaw', 'codex', 'state:act_c0', 'pending_actions', 361, '2026-06-20T09:19:05.000Z'],
    );
    await until('the agent', () => watched.delivered('hermes').length === 1);
    const [action] = watched.events('hermes');
    assert.deepEqual(
      [action?.event, action?.persona, action?.wake_class, action?.from, action?.item, action?.journal_seq],
      ['action', 'bc-prj_lab0001-hermes', 'mail', 'codex', 'state:act_c0', 361],
    );
  });
});

test('A9 given a store that is checked out at an earlier commit and back, nothing of it is told again', async () => {
  using store = brainclaw();
  using home = scratch();
  const put = (from: string): void => {
    for (const name of ['events', 'coordination']) {
      rmSync(join(store.root, name), { recursive: true });
      cpSync(join(from, name), join(store.root, name), { recursive: true });
    }
  };
  store.step(1);
  cpSync(store.root, home.at('before'), { recursive: true });
  {
    await using watched = await watching(store.root, home, { pollSeconds: 1 });
    await ready(watched);
    store.step(2);
    message(store, 'hermes', 'msg_fresh');
    await until('the board', () => watched.delivered().length === 1);
    await until('the agent', () => watched.delivered('hermes').length === 2);
    cpSync(store.root, home.at('after'), { recursive: true });
    for (let turn = 0; turn < 2; turn += 1) {
      put(home.at('before'));
      await ready(watched, '20');
      await watched.until('nothing unread', (shown) => formatUnread(shown) === '0', 'hermes');
      put(home.at('after'));
      await ready(watched, '21');
      await watched.until('one unread', (shown) => formatUnread(shown) === '1', 'hermes');
    }
  }
  await using watched = await watching(store.root, home);
  await ready(watched, '21');
  message(store, 'hermes', 'msg_later');
  await until('what came since', () => watched.delivered('hermes').includes('new msg_later'));
  const mail = (address?: string): readonly string[] =>
    watched.delivered(address).filter((line) => !/^(cleared|read) /.test(line));
  assert.deepEqual(mail(), ['new state:act_c0']);
  assert.deepEqual(mail('hermes').toSorted(), ['action state:act_c0', 'new msg_fresh', 'new msg_later']);
  const ids = new Set(watched.events('hermes').map(({ id, item, message_id: message }) => `${id} ${item ?? message}`));
  assert.equal(ids.size, 3, 'each thing has one id');
});

test('brainclaw check 5: a record that comes byte by byte is told once, whole, and not before its newline', async () => {
  using store = brainclaw();
  using home = scratch();
  await using watched = await watching(store.root, home);
  await ready(watched);
  store.step(1);
  await until('step 1', () => watched.source.sheet?.seq === 360);
  const bytes = stepBytes(2);
  for (const byte of bytes.subarray(0, -1)) {
    appendFileSync(store.event(LAST), Buffer.of(byte));
    await sleep(1);
    assert.deepEqual(watched.delivered(), []);
  }
  assert.equal(watched.source.sheet?.seq, 360);
  appendFileSync(store.event(LAST), bytes.subarray(-1));
  await until('the event', () => watched.delivered().length > 0);
  assert.deepEqual(watched.delivered(), ['new state:act_c0']);
  assert.equal(watched.events()[0]?.content, 'Merge?\nMerge now? — 지금 병합 🌱');
});

describe('brainclaw check 6: what is not the journal, and another journal', () => {
  test('meta.json decides nothing: gone, garbage, behind or ahead, the board is the same and nothing is told', async () => {
    using store = brainclaw();
    using home = scratch();
    const meta = store.event('meta.json');
    const behind = JSON.stringify({ next_seq: 7, active_segment: 'seg-00000001.jsonl', entity_revs: {} });
    for (const text of [null, '{"next', behind, behind.replace('7', '999999')]) {
      if (text === null) rmSync(meta);
      else writeFileSync(meta, text);
      await using watched = await watching(store.root, home);
      await ready(watched);
      writeFileSync(meta, `${text ?? ''} `);
      appendFileSync(meta, ' ');
      watched.poll();
      assert.deepEqual(watched.source.sheet?.attention, EXPECTED.observer.attention_required);
      assert.deepEqual(watched.delivered(), []);
    }
  });

  for (const when of ['while it is watched', 'while nobody watches'] as const) {
    test(`events/ replaced ${when} is a cold start without a burst; what comes then is told`, async () => {
      using store = brainclaw();
      using home = scratch();
      let watched = await watching(store.root, home);
      await ready(watched);
      if (when === 'while nobody watches') await watched.stop();
      renameSync(store.journal, store.event('../events.parked'));
      mkdirSync(store.journal);
      const genesis = line(4, { action: 'journal_note', item_type: 'journal', payload: { kind: 'registry_genesis' } });
      const all = `${state(1, 'act_1')}${state(2, 'act_2')}${state(3, 'act_3')}${genesis}`;
      writeFileSync(store.event('seg-00000001.jsonl'), all);
      if (when === 'while nobody watches') watched = await watching(store.root, home);
      await using running = watched;
      await ready(running, '3');
      assert.deepEqual(running.delivered(), []);
      appendFileSync(store.event('seg-00000001.jsonl'), state(5, 'act_4'));
      await until('the next', () => running.delivered().length > 0);
      assert.deepEqual(running.delivered(), ['new state:act_4']);
      assert.deepEqual(running.source.sheet?.attention?.total, 4);
    });
  }

  test('mail that comes in the same moment as another journal is told all the same', async () => {
    using store = brainclaw();
    using home = scratch();
    await (async () => {
      await using watched = await watching(store.root, home);
      await ready(watched);
      await watched.until('its mail', (shown) => formatUnread(shown) === '2', 'codex');
    })();
    renameSync(store.journal, store.event('../events.parked'));
    mkdirSync(store.journal);
    writeFileSync(store.event('seg-00000001.jsonl'), state(1, 'act_1', { agent: 'codex' }));
    message(store, 'codex', 'msg_same');
    message(store, 'codex', 'msg_0000000000000001', { ...readMessage(store, 'msg_0000000000000001'), status: 'read' });
    await using watched = await watching(store.root, home);
    await until('both', () => watched.delivered('codex').length >= 2);
    await watched.until('its mail', (shown) => formatUnread(shown) === '2', 'codex');
    assert.deepEqual(watched.delivered('codex'), ['new msg_same', 'read msg_0000000000000001']);
    assert.deepEqual(watched.delivered(), []);
  });
});

const readMessage = (store: Store, id: string): object =>
  JSON.parse(readFileSync(join(findInbox(store, 'codex'), `${id}.json`), 'utf8')) as object;

describe('the mail of agents', () => {
  test('is new, read and acknowledged, each told once with its keys; a file that is rewritten where it stands is no new one', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await watched.until('codex', (shown) => formatUnread(shown) === '2', 'codex');
    assert.deepEqual(watched.delivered('codex'), []);
    message(store, 'codex', 'msg_a');
    await until('new', () => watched.delivered('codex').length === 1);
    await watched.until('3', (shown) => formatUnread(shown) === '3', 'codex');
    const path = join(findInbox(store, 'codex'), 'msg_a.json');
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40));
    await watched.until('one that is bad', ({ agentState }) => agentState.why === 'skipped=3', 'codex');
    message(store, 'codex', 'msg_a', { status: 'read' }, true);
    await until('read', () => watched.delivered('codex').length === 2);
    message(store, 'codex', 'msg_a', { status: 'acknowledged' });
    await until('acked', () => watched.delivered('codex').length === 3);
    rmSync(path);
    message(store, 'codex', 'msg_b', { requires_ack: false, ref: undefined, type: 'info' });
    await until('the next', () => watched.delivered('codex').length === 4);
    assert.deepEqual(watched.delivered('codex'), ['new msg_a', 'read msg_a', 'acked msg_a', 'new msg_b']);
    const [event, , acked, next] = watched.events('codex');
    const keys = ({ message_id, type, ref, requires_ack, id }: Record<string, unknown>) =>
      [message_id, type, ref, requires_ack, id].join(' ');
    assert.equal(keys(event ?? {}), `msg_a review pln_0001 true ${event?.id}`);
    assert.equal(keys(acked ?? {}), `msg_a review pln_0001 true ${event?.id}`);
    assert.equal(keys(next ?? {}), `msg_b info  false ${next?.id}`);
    assert.deepEqual(
      [event?.from, event?.content, event?.created],
      ['claude-code', 'text of msg_a', '2026-06-20T10:00:00.000Z'],
    );
  });

  test('an inbox that is made is a persona, with its first mail told; one that is taken away is none any more', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await ready(watched);
    message(store, 'new-one', 'msg_1');
    await watched.until('it', (shown) => formatUnread(shown) === '1', 'new-one');
    await until('its mail', () => watched.delivered('new-one').length === 1);
    message(store, 'new-one', 'msg_2');
    await until('more mail', () => watched.delivered('new-one').length === 2);
    assert.equal(watched.persona('new-one')?.label, `new-one · ${store.dir.split('/').at(-1)}`);
    rmSync(findInbox(store, 'new-one'), { recursive: true });
    await until('nobody', () => watched.persona('new-one') === undefined);
    assert.deepEqual(watched.delivered('new-one'), ['new msg_1', 'new msg_2']);
  });

  test('switched off, no inbox is read and nothing is said of how much is unread', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home, { mail: false });
    await ready(watched);
    const shown = await watched.until('codex', () => true, 'codex');
    assert.equal(formatUnread(shown), 'unknown');
    message(store, 'codex', 'msg_a');
    store.step(1);
    store.step(2);
    await until('the event', () => watched.delivered().length === 1);
    assert.deepEqual(watched.delivered('codex'), []);
  });
});

describe('work of agents in the journal', () => {
  const work = (itemType: string, id: string, seq: number, payload: object): string =>
    line(seq, { item_type: itemType, item_id: id, payload });

  test('a handoff, an assignment and an action come under their names and are cleared when they are done', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await ready(watched);
    store.step(1);
    const handoff = { from: 'codex', to: 'Zoe B', text: 'all yours' };
    const assignment = { agent: 'zoe_b', dispatcher_agent: 'claude-code', description: 'do it', scope: 'src' };
    appendFileSync(
      store.event(LAST),
      [
        work('handoff', 'hnd_1', 361, { ...handoff, status: 'open' }),
        work('assignment', 'asg_1', 362, { ...assignment, status: 'created' }),
        state(363, 'act_1', { agent: 'ZOE_B' }),
      ].join(''),
    );
    await until('three', () => watched.delivered('zoe_b').length === 3);
    assert.deepEqual(watched.delivered('zoe_b'), [
      'handoff handoff:hnd_1',
      'assigned assignment:asg_1',
      'action state:act_1',
    ]);
    const shown = await watched.until('no mail', (board) => formatUnread(board) === '0', 'zoe_b');
    assert.deepEqual(
      shown.latestMessages.map(({ from, text }) => `${from}: ${text}`),
      ['codex: act_1', 'claude-code: do it\nsrc', 'codex: all yours'],
    );
    appendFileSync(
      store.event(LAST),
      [
        work('handoff', 'hnd_1', 364, { ...handoff, status: 'accepted' }),
        work('assignment', 'asg_1', 365, { ...assignment, status: 'started' }),
        state(366, 'act_1', { agent: 'zoe_b', status: 'resolved' }),
      ].join(''),
    );
    await until('two are done', () => watched.delivered('zoe_b').length === 5);
    assert.deepEqual(watched.delivered('zoe_b').slice(3), ['cleared handoff:hnd_1', 'cleared state:act_1']);
    appendFileSync(store.event(LAST), work('assignment', 'asg_1', 367, { ...assignment, status: 'completed' }));
    await until('nobody', () => watched.persona('zoe_b') === undefined);
    assert.equal(watched.delivered('zoe_b').at(-1), 'cleared assignment:asg_1');
    appendFileSync(store.event(LAST), work('handoff', 'hnd_2', 368, { ...handoff, status: 'open' }));
    await until('again', () => watched.delivered('zoe_b').length === 7);
    const ids = watched.events('zoe_b').map(({ event_id: id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('what cannot be read', () => {
  test('events/ parked and back: nothing is told of what went and came, and what came meanwhile is', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await ready(watched);
    appendFileSync(store.event(LAST), Buffer.concat([stepBytes(1)]));
    const handoff = { item_type: 'handoff', item_id: 'hnd_1', payload: { status: 'open', to: 'zoe' } };
    appendFileSync(store.event(LAST), line(361, handoff));
    await until('an agent of the journal alone', () => watched.delivered('zoe').length === 1);
    const parked = `${store.journal}.parked`;
    renameSync(store.journal, parked);
    const off = await watched.until('off', (shown) => formatUnread(shown) === 'unknown');
    assert.deepEqual([off.health.is, off.agentState.why], ['up', 'journal-off']);
    watched.poll();
    message(store, 'codex', 'msg_meanwhile');
    await until('mail goes on', () => watched.delivered('codex').length === 1);
    assert.ok(watched.persona('zoe') !== undefined, 'nobody knows that it has nothing to do any more');
    appendFileSync(join(parked, LAST), stepBytes(2));
    renameSync(parked, store.journal);
    await ready(watched, '21');
    await until('what came', () => watched.delivered().length > 0);
    assert.deepEqual(watched.delivered(), ['new state:act_c0']);
    appendFileSync(store.event(NEXT), Buffer.from(line(362)));
    await until('it goes on', () => watched.source.sheet?.seq === 362);
    assert.deepEqual(watched.delivered('zoe'), ['handoff handoff:hnd_1']);
  });

  test('the inboxes moved away and back: how much is unread is not known meanwhile, and nothing is told twice', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home);
    await ready(watched);
    const away = join(store.root, 'away');
    renameSync(join(store.root, 'coordination'), away);
    await watched.until('not known', (shown) => formatUnread(shown) === 'unknown', 'codex');
    watched.poll();
    renameSync(away, join(store.root, 'coordination'));
    await watched.until('2 again', (shown) => formatUnread(shown) === '2', 'codex');
    message(store, 'codex', 'msg_a');
    await until('what came', () => watched.delivered('codex').length > 0);
    assert.deepEqual(watched.delivered('codex'), ['new msg_a']);
  });

  test('a restart while the journal is off forgets nothing', async () => {
    using store = brainclaw();
    using home = scratch();
    {
      await using watched = await watching(store.root, home);
      await ready(watched);
    }
    const parked = `${store.journal}.parked`;
    renameSync(store.journal, parked);
    await using watched = await watching(store.root, home);
    await watched.until('off', (shown) => formatUnread(shown) === 'unknown');
    renameSync(parked, store.journal);
    await ready(watched);
    watched.poll();
    store.step(1);
    store.step(2);
    await until('what came', () => watched.delivered().length > 0);
    assert.deepEqual(watched.delivered(), ['new state:act_c0']);
  });

  test('a journal that is off is not known, unless somebody was asked', async () => {
    using store = brainclaw();
    using home = scratch();
    rmSync(store.journal, { recursive: true });
    const none = { plans: 1, claims: 2, assignments: null, runs: null, agents: null, sessions: null, failedRuns: null };
    let asked = 0;
    const seed = async () => {
      asked += 1;
      return { ...none, actions: 7 };
    };
    {
      await using watched = await watching(store.root, home);
      const shown = await watched.until('it', ({ health }) => health.is === 'up');
      assert.deepEqual(
        [formatUnread(shown), shown.agentState.why, watched.source.sheet?.attention],
        ['unknown', 'journal-off', null],
      );
    }
    await using watched = await watching(store.root, home, { seed });
    const shown = await watched.until('seven', (board) => formatUnread(board) === '7');
    assert.equal(shown.agentState.why, 'seeded');
    watched.poll();
    message(store, 'codex', 'msg_x');
    await until('mail is told all the same', () => watched.delivered('codex').length === 1);
    assert.equal(asked, 1);
  });

  test('before the registry is in the journal there are at least so many, and what it brings is no news', async () => {
    using store = brainclaw();
    using home = scratch();
    rmSync(store.journal, { recursive: true });
    mkdirSync(store.journal);
    writeFileSync(store.event('seg-00000001.jsonl'), state(1, 'act_1'));
    await using watched = await watching(store.root, home);
    await ready(watched, '>=1');
    const genesis = line(3, { action: 'journal_note', item_type: 'journal', payload: { kind: 'registry_genesis' } });
    appendFileSync(store.event('seg-00000001.jsonl'), `${state(2, 'act_2')}${genesis}`);
    await ready(watched, '2');
    appendFileSync(store.event('seg-00000001.jsonl'), state(4, 'act_3'));
    await ready(watched, '3');
    await until('what came then', () => watched.delivered().length > 0);
    assert.deepEqual(watched.delivered(), ['new state:act_3']);
  });

  test('neither a journal nor an inbox is an outage of the whole project; back, it is up and nothing is told twice', async () => {
    using store = brainclaw();
    using home = scratch();
    await using watched = await watching(store.root, home, { pollSeconds: 1 });
    await ready(watched);
    renameSync(store.root, `${store.root}.away`);
    await watched.until('down', ({ health }) => health.is === 'down');
    await watched.until('down', ({ health }) => health.is === 'down', 'codex');
    await until(
      'one cause',
      () => watched.snapshot().causes[0]?.personas.length === watched.snapshot().personas.length,
    );
    assert.deepEqual(
      watched.snapshot().causes.map(({ scope, key }) => `${scope} ${key}`),
      ['source bc-prj_lab0001'],
    );
    renameSync(`${store.root}.away`, store.root);
    await watched.until('up', ({ health }) => health.is === 'up');
    await watched.until('up', ({ health }) => health.is === 'up', 'codex');
    await ready(watched);
    const delivered = ['', 'codex', 'hermes'].flatMap((address) => watched.delivered(address));
    assert.deepEqual(delivered, []);
  });

  test('a store that is not there at the start is down, and watched once it comes', async () => {
    using store = brainclaw();
    using home = scratch();
    cpSync(store.root, `${store.root}.away`, { recursive: true });
    rmSync(store.root, { recursive: true });
    await using watched = await watching(store.root, home);
    await until('it is said', () => watched.snapshot().hives[0]?.state === 'DOWN');
    renameSync(`${store.root}.away`, store.root);
    await ready(watched);
  });
});

test('started and stopped again and again while records and mail come, and the journal is parked between: each thing is told once', async () => {
  using store = brainclaw();
  using home = scratch();
  store.step(1);
  {
    await using first = await watching(store.root, home);
    await first.until('the board', (shown) => formatUnread(shown) === '20');
    await first.until('codex', (shown) => formatUnread(shown) === '2', 'codex');
  }
  const messages: string[] = [];
  const items: string[] = [];
  let seq = 361;
  const put = (more: readonly string[]): void => {
    appendFileSync(store.event(LAST), more.join(''));
  };
  for (let round = 0; round < 8; round += 1) {
    await using watched = await watching(store.root, home);
    if (round % 2 === 0) await ready(watched, `${20 + items.length}`);
    for (let n = 0; n < 5; n += 1) {
      const id = `${round}_${n}`;
      put([state(seq, `act_${id}`, { agent: 'codex' })]);
      seq += 1;
      items.push(`act_${id}`);
      message(store, 'codex', `msg_${id}`, {}, n % 2 === 0);
      messages.push(`msg_${id}`);
      if (n === 2 && round % 3 === 1) {
        renameSync(store.journal, `${store.journal}.parked`);
        await sleep(round);
        renameSync(`${store.journal}.parked`, store.journal);
      }
      await sleep(n);
    }
  }
  await using last = await watching(store.root, home);
  await until(
    'all',
    () => last.delivered().length >= items.length && last.delivered('codex').length >= 2 * items.length,
  );
  assert.deepEqual([...last.delivered()].sort(), items.map((id) => `new state:${id}`).sort());
  const expected = [...items.map((id) => `action state:${id}`), ...messages.map((id) => `new ${id}`)];
  assert.deepEqual([...last.delivered('codex')].sort(), expected.sort());
  for (const address of ['', 'codex']) {
    const ids = last.events(address).map(({ event_id: id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  }
});

test('the numbers are those of a reader that starts now', async () => {
  using store = brainclaw();
  using home = scratch();
  await using watched = await watching(store.root, home);
  await ready(watched);
  store.step(1);
  await until('step 1', () => watched.source.sheet?.seq === 360);
  const cold = toBoardSummary(openCold(store).replay.projection);
  assert.deepEqual(watched.source.sheet?.attention, cold.attention_required);
  assert.equal(watched.persona(BOARD)?.unread.is, 'exact');
});
