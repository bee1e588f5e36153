import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
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
  const looked = (unread: number, cursor = 0): Fact => ({
    is: 'looked',
    at: at(),
    persona: 'ada',
    reach: { is: 'up', since: at() },
    unread: exactly(unread),
    urgent: exactly(0),
    vital: { is: 'live' },
    cursor,
  });
  return { clock, board, shown, driver, looked };
}

test('a burst is drawn at once and once more at its end: two a second, and the last word is the last state', async () => {
  const { clock, board, shown, driver, looked } = setUp();
  await turn();
  using _ = renderTray(board, driver, clock);
  for (let i = 1; i <= 100; i += 1) {
    board.put(looked(i));
    await turn();
    await clock.advance(10);
  }
  await clock.advance(500);
  assert.deepEqual(shown, ['Looking for mail', '50 unread', '100 unread']);
});

test('what looks the same is not drawn again', async () => {
  const { clock, board, shown, driver, looked } = setUp();
  board.put(looked(2));
  await turn();
  using _ = renderTray(board, driver, clock);
  let changes = 0;
  using _counting = board.changes(() => {
    changes += 1;
  });
  for (let i = 0; i < 10; i += 1) {
    await clock.advance(1000);
    board.put(looked(2, i)); // the page shows a cursor, the tray does not
    await turn();
  }
  assert.ok(changes >= 9);
  assert.deepEqual(shown, ['2 unread']);
});

test('a pause that ends by itself is drawn when it ends, and once stopped no timer is left', async () => {
  const { clock, board, shown, driver, looked } = setUp();
  board.put(looked(0));
  board.put({ is: 'muted', at: clock.now(), persona: null, until: { is: 'at', at: clock.now() + 90_000 } });
  await turn();
  const rendering = renderTray(board, driver, clock);
  await clock.advance(91_000);
  assert.deepEqual(shown, ['No unread, notifications paused', 'No unread']);
  rendering[Symbol.dispose]();
  board.put(looked(5));
  await turn();
  assert.equal(clock.waiting, 0);
  assert.equal(shown.length, 2);
});
