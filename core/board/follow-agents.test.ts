import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_STATE_NOT_REPORTED, type AgentState, exactly } from '../model/index.ts';
import { createBoard, type Fact, followAgents } from './index.ts';

const join = (persona: string): Fact => ({
  ...{ is: 'joined', at: 1, persona, source: 'kijito', address: persona, label: persona, stem: persona },
  ...{ eventsFile: null, lastEventId: null, staleAfterMs: 60_000 },
});
const report = (persona: string, reporter: 'hook' | 'session', state: AgentState | null): Fact => ({
  ...{ is: 'agent', at: 2, persona, reporter, state },
});
const poll = (persona: string, unread: number, agentState = AGENT_STATE_NOT_REPORTED): Fact => ({
  ...{ is: 'polled', at: 3, persona, health: { is: 'up', since: 1 }, unread: exactly(unread), urgent: exactly(0) },
  ...{ agentState, cursor: 0 },
});

test('each report is heard as what the board chose, once per turn; polls that report nothing are not heard', async () => {
  const board = createBoard();
  board.put(join('ada'));
  const heard: string[] = [];
  const following = followAgents(board, ({ id, agentState }) => heard.push(`${id} ${agentState.is}`));
  board.put(join('bo'));
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), ['ada unknown', 'bo unknown'], 'at first everybody');
  board.put(report('ada', 'session', { is: 'waiting', why: 'permission', since: 5 }));
  board.put(report('ada', 'hook', { is: 'working', since: 4 }));
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), ['ada waiting'], 'a report of before the wait does not end it');
  board.put(poll('ada', 7));
  board.put(poll('bo', 7));
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), []);
  board.put(poll('bo', 7, { is: 'idle' }));
  board.put({ is: 'left', at: 4, persona: 'ada' });
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), ['bo idle']);
  const asks = { id: 1, persona: 'bo', prompt: '?', context: null, options: [], freeText: true, fallback: null };
  const decision = { ...asks, urgency: 'normal', blocking: true, created: 5, expires: null } as const;
  board.put({ is: 'decisions', at: 5, decisions: [decision] });
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), ['bo waiting'], 'a decision that blocks is a report too');
  board.put({ is: 'decisions', at: 6, decisions: [] });
  await Promise.resolve();
  assert.deepEqual(heard.splice(0), ['bo idle'], 'and so is its end');
  following[Symbol.dispose]();
  board.put(report('bo', 'hook', { is: 'working' }));
  await Promise.resolve();
  assert.deepEqual(heard, []);
});
