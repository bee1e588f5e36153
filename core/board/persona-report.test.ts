import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, UNKNOWN } from '../model/index.ts';
import { createBoard, type DaemonView, type Fact } from './index.ts';

const JOINED: Fact = {
  ...{ is: 'joined', at: 0, persona: 'daemon-acme-ada', source: 'daemon', address: 'acme-ada', label: 'ada' },
  ...{ stem: 'daemon-acme-ada', eventsFile: null, lastEventId: null, staleAfterMs: 1000 },
};
const DAEMON: DaemonView = {
  ...{ surface: 'claude-code', project: 'lab', fsm: 'CONNECTED', taxonomy: 'sleeping', isDegraded: false },
  ...{ drainedAt: 1_000_000, lastError: null },
};

test('the picture changes with what a daemon says, and not because its age is counted by another clock', () => {
  const board = createBoard();
  board.put(JOINED);
  const shown = (daemon: DaemonView | null): readonly [number, DaemonView | null | undefined] => {
    board.put({ is: 'reported', at: 1, persona: 'daemon-acme-ada', values: { daemon } });
    const { rev, personas } = board.snapshot();
    return [rev, personas[0]?.daemon];
  };
  const [first] = shown(DAEMON);
  assert.deepEqual(shown({ ...DAEMON, drainedAt: 1_001_900 }), [first, DAEMON], 'the same to the second');
  const others: readonly (DaemonView | null)[] = [
    { ...DAEMON, drainedAt: 1_002_000 },
    { ...DAEMON, fsm: 'DISCONNECTED' },
    { ...DAEMON, taxonomy: 'running' },
    { ...DAEMON, isDegraded: true },
    { ...DAEMON, lastError: 'unclassified' },
    { ...DAEMON, surface: 'codex' },
    { ...DAEMON, project: 'other' },
    null,
  ];
  let rev = first;
  for (const other of others) {
    assert.deepEqual(shown(other), [rev + 1, other]);
    rev += 1;
  }
  assert.equal(shown(null)[0], rev);
});

test('what is counted with another persona is no part of the sums, whether it can be read or not', () => {
  const board = createBoard();
  const sums = (): unknown => {
    const { unread, urgent, personas, up } = board.snapshot().totals;
    return [unread, urgent, personas, up];
  };
  const toPolled = (persona: string, n: number): void =>
    board.put({
      ...{ is: 'polled', at: 1, persona, health: { is: 'up', since: 1 }, agentState: { is: 'live' }, cursor: null },
      ...{ unread: exactly(n), urgent: UNKNOWN },
    });
  board.put({ ...JOINED, isEcho: true });
  board.put({ ...JOINED, persona: 'ada', source: 'local' });
  toPolled('daemon-acme-ada', 3);
  toPolled('ada', 3);
  assert.deepEqual(sums(), [exactly(3), UNKNOWN, 2, 2]);
  board.put(JOINED); // its upstream is another now
  assert.deepEqual(sums(), [exactly(6), UNKNOWN, 2, 2]);
});
