import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { createMail } from '../../test/kit/status-rig.ts';
import { applyChange } from '../../ui-static/apply-change.ts';
import { createCurrentStatus } from './current-status.ts';
import { createStream } from './stream.ts';
import type { NewestWire, StatusChangeWire, StatusWire } from './wire.ts';

const STALE_MS = 30_000;
const THROTTLE_MS = 250;

/** A stream under a clock that stands still, with these personas on the board. */
function open(personas: readonly string[]) {
  const clock = fakeClock();
  const board = createBoard();
  for (const persona of personas) board.put(joined(persona, clock));
  const current = createCurrentStatus({ board, clock, version: '1', port: () => 1, run: 'r' });
  const events = {
    ...{
      newest: () => null,
      after: () => [],
      mailBefore: () => [],
      listNewest: () => [],
      since: () => ({ is: 'unknown-id' }) as const,
    },
    onDelivered: () => ({ [Symbol.dispose]: () => {} }),
  };
  const stream = createStream({ board, events, clock, current, findMarks: () => null, log: silentLog });
  const stop = new AbortController();
  void stream.service.run(stop.signal);
  const join = (right: 'owner' | 'anyone' = 'anyone') => {
    const written: string[] = [];
    let isFull = false;
    const outlet = { write: (text: string) => written.push(text) > 0 && !isFull, drop: () => {} };
    const reader = stream.join(outlet, stream.start(null), { right, events: false, status: 'changes' });
    const list = <T>(event: string): T[] =>
      written.flatMap((text) => {
        const data = new RegExp(`^event: ${event}\ndata: (.*)\n\n$`).exec(text)?.[1];
        return data === undefined ? [] : [JSON.parse(data) as T];
      });
    return {
      written,
      reader,
      fill: (is: boolean) => {
        isFull = is;
      },
      statuses: () => list<StatusWire>('status'),
      changes: () => list<StatusChangeWire>('change'),
      newest: () => list<NewestWire>('newest').map(({ newest }) => newest),
      names: () => written.map((text) => /^event: (\w+)/m.exec(text)?.[1] ?? 'comment').slice(1),
      /** What a page shows that applied everything. */
      shown: () => {
        let status: StatusWire | null = null;
        for (const text of written) {
          const [, event, data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text) ?? [];
          if (event === 'status') status = JSON.parse(data) as StatusWire;
          if (event === 'change' && status !== null) status = applyChange(status, JSON.parse(data)).status;
        }
        return status;
      },
    };
  };
  return {
    ...{ clock, board, current, join },
    [Symbol.dispose]() {
      stream[Symbol.dispose]();
      stop.abort();
    },
  };
}

function joined(persona: string, clock: FakeClock): Fact {
  return {
    ...{ is: 'joined', at: clock.now(), persona, source: 's', address: persona, label: persona, stem: persona },
    ...{ eventsFile: null, lastEventId: null, staleAfterMs: STALE_MS },
  };
}

function polled(persona: string, unread: number, clock: FakeClock): Fact {
  return {
    ...{ is: 'polled', at: clock.now(), persona, health: { is: 'up', since: 0 }, cursor: 1 },
    ...{ unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED },
  };
}

const delivered = (persona: string, id: number, clock: FakeClock): Fact => ({
  ...{ is: 'delivered', at: clock.now(), persona, events: [createMail(persona, id)] },
});

/** Without what only freshness says, and what differs from answer to answer. */
function pickShown(status: StatusWire | null) {
  if (status === null) return null;
  return { ...status, generatedAt: '', personas: status.personas.map((p) => ({ ...p, asOf: '', staleAfter: null })) };
}

test('given a reader of changes, it gets the whole status once and then only what changed', async () => {
  using rig = open(['ada', 'bo', 'cy']);
  for (const persona of ['ada', 'bo', 'cy']) rig.board.put(polled(persona, 0, rig.clock));
  const page = rig.join();
  assert.deepEqual(page.names(), ['status']);
  await rig.clock.advance(THROTTLE_MS);
  rig.board.put(polled('bo', 3, rig.clock));
  await rig.clock.advance(THROTTLE_MS);
  const [change, ...others] = page.changes();
  assert.equal(others.length, 0);
  assert.deepEqual(
    change?.personas.map(({ id, unread }) => [id, unread]),
    [['bo', 3]],
  );
  assert.deepEqual(Object.keys(change?.set ?? {}), ['totals']);
  assert.deepEqual([change?.removed, change?.stale], [[], undefined]);
});

test('given personas that come and go, a page that applies the changes shows what the whole status says', async () => {
  using rig = open(['bo', 'cy']);
  const page = rig.join();
  const steps: (() => void)[] = [
    () => rig.board.put(joined('ada', rig.clock)),
    () => rig.board.put(polled('ada', 4, rig.clock)),
    () => rig.board.put({ is: 'left', at: rig.clock.now(), persona: 'bo' }),
    () => rig.board.put({ is: 'hidden', at: rig.clock.now(), persona: 'cy', hidden: true }),
    () => rig.board.put({ is: 'surface', at: rig.clock.now(), surface: 'tray', state: 'shown' }),
    () => rig.board.put({ is: 'muted', at: rig.clock.now(), persona: 'ada', until: { is: 'forever' } }),
    () => rig.board.put(joined('bo', rig.clock)),
  ];
  for (const step of steps) {
    step();
    await rig.clock.advance(THROTTLE_MS);
    assert.deepEqual(pickShown(page.shown()), pickShown(rig.current().wire));
  }
  assert.equal(page.statuses().length, 1);
});

test('given 20 changes a second, there are few frames, and the last one is the newest', async () => {
  using rig = open(['ada']);
  const page = rig.join();
  await rig.clock.advance(THROTTLE_MS);
  for (let i = 1; i <= 40; i += 1) {
    rig.board.put(polled('ada', i, rig.clock));
    await rig.clock.advance(50);
  }
  await rig.clock.advance(THROTTLE_MS);
  assert.ok(page.changes().length <= 9, `${page.changes().length}`);
  assert.equal(page.changes().at(-1)?.personas[0]?.unread, 40);
});

test('given polls that find nothing new, a small frame says that the numbers are fresh before they would look old', async () => {
  using rig = open(['ada', 'bo']);
  for (const persona of ['ada', 'bo']) rig.board.put(polled(persona, 0, rig.clock));
  const page = rig.join();
  for (let i = 0; i < 60; i += 1) {
    for (const persona of ['ada', 'bo']) rig.board.put(polled(persona, 0, rig.clock));
    await rig.clock.advance(1000);
  }
  const beats = page.changes();
  assert.ok(beats.length >= 5 && beats.length <= 8, `${beats.length}`);
  for (const { personas, set, stale } of beats) assert.deepEqual([personas, set, stale], [[], {}, undefined]);
  assert.ok(Math.max(...page.written.slice(2).map(({ length }) => length)) < 200);
  const ada = page.shown()?.personas[0];
  assert.ok(rig.clock.now() - Date.parse(ada?.asOf ?? '') < STALE_MS / 2);
  assert.equal(ada?.staleAfter, null);
});

test('given numbers that nobody reads again, the frames name who is stale, and who no longer is', async () => {
  using rig = open(['ada', 'bo']);
  for (const persona of ['ada', 'bo']) rig.board.put(polled(persona, 0, rig.clock));
  const page = rig.join();
  for (let i = 0; i < 50; i += 1) {
    rig.board.put(polled('ada', 0, rig.clock));
    await rig.clock.advance(1000);
  }
  const [frame, ...others] = page.changes().filter(({ stale }) => stale !== undefined);
  assert.deepEqual(Object.keys(frame?.stale ?? {}), ['bo']);
  assert.equal(others.length, 0, 'it is said once');
  const [ada, bo] = page.shown()?.personas ?? [];
  assert.deepEqual([ada?.staleAfter, bo?.staleAfter], [null, frame?.stale?.bo]);
  const late = rig.join();
  assert.ok((late.statuses()[0]?.personas[1]?.staleAfter ?? '') < (late.statuses()[0]?.generatedAt ?? ''));
  rig.board.put(polled('ada', 1, rig.clock));
  await rig.clock.advance(THROTTLE_MS);
  assert.equal(late.shown()?.personas[1]?.staleAfter, frame?.stale?.bo, 'also for a page that came when it was stale');
  rig.board.put(polled('bo', 0, rig.clock));
  await rig.clock.advance(STALE_MS);
  assert.deepEqual(page.shown()?.personas[1]?.staleAfter, null);
});

test('given a value that changes and changes back while another page opens, no page keeps the value between', async () => {
  using rig = open(['ada']);
  rig.board.put(polled('ada', 1, rig.clock));
  const first = rig.join();
  await rig.clock.advance(THROTTLE_MS);
  rig.board.put(polled('ada', 2, rig.clock));
  await rig.clock.advance(1);
  rig.board.put(polled('ada', 3, rig.clock));
  const second = rig.join(); // before the frame with 3
  rig.board.put(polled('ada', 2, rig.clock));
  await rig.clock.advance(2 * THROTTLE_MS);
  for (const page of [first, second]) assert.equal(page.shown()?.personas[0]?.unread, 2);
});

test('given a page that reads nothing for a while, it gets the whole status again, and nothing in between', async () => {
  using rig = open(['ada']);
  const page = rig.join('owner');
  page.fill(true);
  for (let i = 1; i <= 5; i += 1) {
    rig.board.put(polled('ada', i, rig.clock));
    await rig.clock.advance(1000);
  }
  const before = page.written.length;
  rig.board.put(delivered('ada', 1, rig.clock));
  await rig.clock.advance(1000);
  assert.equal(page.written.length, before);
  page.fill(false);
  page.reader.drained();
  assert.deepEqual(page.names().slice(-2), ['status', 'newest']);
  assert.equal(page.statuses().at(-1)?.personas[0]?.unread, 5);
  assert.equal(page.newest().at(-1)?.ada?.id, 1);
  rig.board.put(polled('ada', 6, rig.clock));
  await rig.clock.advance(1000);
  assert.equal(page.changes().at(-1)?.personas[0]?.unread, 6);
});

test('given the owner, the newest messages come whole and then as they change; anyone else gets none', async () => {
  using rig = open(['ada', 'bo']);
  for (const persona of ['ada', 'bo']) rig.board.put(delivered(persona, 1, rig.clock));
  const [owner, other] = [rig.join('owner'), rig.join()];
  assert.deepEqual(Object.keys(owner.newest()[0] ?? {}), ['ada', 'bo']);
  await rig.clock.advance(1000);
  rig.board.put(delivered('bo', 2, rig.clock));
  rig.board.put(polled('ada', 0, rig.clock));
  await rig.clock.advance(1000);
  rig.board.put(polled('ada', 0, rig.clock));
  await rig.clock.advance(60_000);
  const [, ...changed] = owner.newest();
  const found = Object.assign({}, ...changed);
  assert.deepEqual([found.bo?.id, found.ada?.unread], [2, false]);
  assert.equal(changed.flatMap((newest) => Object.keys(newest)).length, 2, 'each once');
  assert.deepEqual(other.newest(), []);
  assert.doesNotMatch(other.written.join(''), /SECRET/);
});
