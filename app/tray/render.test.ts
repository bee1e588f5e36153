import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { exactly, formatIso } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { TrayModel } from './model.ts';
import { renderTray } from './render.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = fakeClock();
  const board = createBoard(silentLog);
  const shown: string[] = [];
  const driver = {
    show: (model: TrayModel) => void shown.push(model.summary),
    [Symbol.asyncDispose]: async () => {},
  };
  const at = (): number => clock.now();
  board.put({
    is: 'joined',
    at: at(),
    persona: 'ada',
    source: 'local',
    address: 'ada',
    label: 'ada',
    stem: 'ada',
    eventsFile: null,
    lastEventId: null,
    staleAfterMs: 60_000,
  });
  const toPolled = (unread: number, cursor = 0): Fact => ({
    is: 'polled',
    at: at(),
    persona: 'ada',
    health: { is: 'up', since: at() },
    unread: exactly(unread),
    urgent: exactly(0),
    agentState: { is: 'live' },
    cursor,
  });
  return { clock, board, shown, driver, toPolled };
}

test('a burst is drawn at once and once more at its end: two a second, and the last word is the last state', async () => {
  const { clock, board, shown, driver, toPolled } = setUp();
  await turn();
  using _ = renderTray(board, driver, clock);
  for (let i = 1; i <= 100; i += 1) {
    board.put(toPolled(i));
    await turn();
    await clock.advance(10);
  }
  await clock.advance(500);
  assert.deepEqual(shown, ['Checking for the first time', '50 unread', '100 unread']);
});

test('what looks the same is not drawn again', async () => {
  const { clock, board, shown, driver, toPolled } = setUp();
  board.put(toPolled(2));
  await turn();
  using _ = renderTray(board, driver, clock);
  let changes = 0;
  using _counting = board.changes(() => {
    changes += 1;
  });
  for (let i = 0; i < 10; i += 1) {
    await clock.advance(1000);
    board.put(toPolled(2, i)); // the page shows a cursor, the tray does not
    await turn();
  }
  assert.ok(changes >= 9);
  assert.deepEqual(shown, ['2 unread']);
});

test('a pause that ends by itself is drawn when it ends, and once stopped no timer is left', async () => {
  const { clock, board, shown, driver, toPolled } = setUp();
  board.put(toPolled(0));
  board.put({ is: 'muted', at: clock.now(), persona: null, until: { is: 'at', at: clock.now() + 50_000 } });
  await turn();
  const rendering = renderTray(board, driver, clock);
  await clock.advance(51_000);
  assert.deepEqual(shown, ['No unread messages, notifications paused', 'No unread messages']);
  rendering[Symbol.dispose]();
  board.put(toPolled(5));
  await turn();
  assert.equal(clock.waiting, 0);
  assert.equal(shown.length, 2);
});

describe('a crowd of two hundred', () => {
  const PERSONAS = 200;
  const name = (i: number): string => `p${i}`;

  function crowd() {
    const clock = fakeClock();
    const board = createBoard(silentLog);
    const drawn: { readonly at: number; readonly model: TrayModel }[] = [];
    const driver = {
      show: (model: TrayModel) => void drawn.push({ at: clock.monotonic(), model }),
      [Symbol.asyncDispose]: async () => {},
    };
    const toPolled = (i: number, unread: number): void =>
      board.put({
        is: 'polled',
        at: clock.now(),
        persona: name(i),
        health: { is: 'up', since: 0 },
        unread: exactly(unread),
        urgent: exactly(0),
        agentState: { is: 'live' },
        cursor: unread,
      });
    const reported = (i: number, id: number): void =>
      board.put({
        is: 'delivered',
        at: clock.now(),
        persona: name(i),
        events: [
          {
            event: 'new',
            source: 'local',
            ts: formatIso(clock.now()),
            id,
            from: 'bo',
            created: formatIso(clock.now()),
            persona: name(i),
            content: `mail ${id}`,
            event_id: `${name(i)}:new:${id}`,
            wake_class: 'mail',
          },
        ],
      });
    for (let i = 0; i < PERSONAS; i += 1) {
      board.put({
        is: 'joined',
        at: clock.now(),
        persona: name(i),
        source: 'local',
        address: name(i),
        label: name(i),
        stem: name(i),
        eventsFile: null,
        lastEventId: null,
        staleAfterMs: 60_000,
      });
      toPolled(i, 0);
    }
    return { clock, board, driver, drawn, toPolled, reported };
  }

  test('a storm of 10,000 mails in 50 s is drawn twice a second and no more, the last one included', async () => {
    const { clock, board, driver, drawn, toPolled, reported } = crowd();
    await turn();
    using _ = renderTray(board, driver, clock);
    for (let id = 1; id <= 10_000; id += 1) {
      toPolled(id % PERSONAS, Math.ceil(id / PERSONAS));
      reported(id % PERSONAS, id);
      await turn();
      await clock.advance(5);
    }
    await clock.advance(500);
    const apart = drawn.slice(1).map(({ at }, i) => at - (drawn[i]?.at ?? 0));
    assert.ok(Math.min(...apart) >= 500, `${Math.min(...apart)} ms apart`);
    assert.ok(drawn.length > 90 && drawn.length <= 102, `${drawn.length} drawings`);
    assert.equal(drawn.at(-1)?.model.summary, '10000 unread');
  });

  test('at rest it is drawn at most once a minute for the ages of its messages, and in the end once an hour', async () => {
    const { clock, board, driver, drawn, reported } = crowd();
    for (let i = 0; i < PERSONAS; i += 1) {
      reported(i, 1);
      await clock.advance(217); // each has its own second
    }
    await turn();
    using _ = renderTray(board, driver, clock);
    drawn.length = 0;
    for (let minute = 0; minute < 30; minute += 1) await clock.advance(60_000);
    assert.ok(drawn.length > 0 && drawn.length <= 30, `${drawn.length} in half an hour`);
    for (let minute = 0; minute < 60; minute += 1) await clock.advance(60_000);
    drawn.length = 0;
    for (let minute = 0; minute < 10 * 60; minute += 1) await clock.advance(60_000);
    assert.ok(drawn.length > 0 && drawn.length <= 20, `${drawn.length} in ten hours`);
    assert.equal(clock.waiting, 1);
  });
});

test('a pause that ended in a sleep, while timers stood still, is drawn within a minute', async () => {
  const { clock, board, shown, driver } = setUp(); // nothing was seen yet, so no number grows old
  board.put({ is: 'muted', at: clock.now(), persona: null, until: { is: 'at', at: clock.now() + 1_800_000 } });
  await turn();
  using _ = renderTray(board, driver, clock);
  clock.setBy(3_600_000);
  await clock.advance(60_000);
  assert.equal(shown.at(-1)?.includes('paused'), false, shown.at(-1));
});
