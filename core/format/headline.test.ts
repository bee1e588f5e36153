import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAsked, formatAsked, formatNeeds, type NeedCounts } from './index.ts';

const NOTHING: NeedCounts = {
  ...{ questions: 0, permissions: 0, waiting: 0 },
  ...{ unread: 0, unreadIs: 'exact', urgent: 0, urgentIs: 'exact' },
};
const format = (counts: Partial<NeedCounts>): string => formatNeeds({ ...NOTHING, ...counts });

test('what is asked of a person comes before mail, and zeros are left out', () => {
  assert.equal(format({ questions: 1, unread: 6, urgent: 1 }), '1 question for you, 6 unread, 1 urgent');
  assert.equal(
    format({ questions: 2, permissions: 1, waiting: 2, unread: 1 }),
    '1 permission prompt for you, 2 questions for you, 2 agents wait for you, 1 unread',
  );
  assert.equal(format({ unread: 3 }), '3 unread');
  assert.equal(format({ waiting: 1 }), '1 agent waits for you');
  assert.equal(format({}), 'No unread messages');
  assert.equal(formatAsked(NOTHING), null);
});

test('a number that is not known is never 0, and a lower bound says so', () => {
  assert.equal(format({ unread: 200, unreadIs: 'atLeast', urgent: 1, urgentIs: 'atLeast' }), '200+ unread, 1+ urgent');
  assert.equal(
    format({ unread: null, unreadIs: 'unknown', urgent: null, urgentIs: 'unknown' }),
    'Unread count unknown',
  );
  assert.equal(format({ unread: 0, unreadIs: 'atLeast' }), 'No unread messages known');
  assert.equal(format({ questions: 1, unread: null, unreadIs: 'unknown' }), '1 question for you');
});

test('an agent that waits for an answer counts once, and hidden personas do not count', () => {
  const persona = (id: string, agent: string, rest = {}) => ({ id, agent, questions: null, hidden: false, ...rest });
  const personas = [
    persona('ada', 'waiting'),
    persona('bo', 'waiting'),
    persona('cy', 'waiting'),
    persona('dee', 'idle', { questions: 2 }),
    persona('eve', 'waiting', { questions: 5, hidden: true }),
  ];
  assert.deepEqual(countAsked({ personas, decisions: [{ persona: 'ada' }], permissions: [{ persona: 'bo' }] }), {
    questions: 3,
    permissions: 1,
    waiting: 1,
  });
});
