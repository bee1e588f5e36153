import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPersona, createStatus } from '../../test/kit/status-sample.ts';
import type { MessageWire, StatusWire } from '../status/index.ts';
import { listPersonas } from './status-json.ts';
import { formatStatusTable } from './status-table.ts';
import { measureWidth } from './terminal-text.ts';

test('a person reads the sum, then a row a persona: exact, at least, unknown, old and never seen', () => {
  const text = formatStatusTable(
    createStatus(
      [
        createPersona({}),
        createPersona({
          id: 'bo',
          label: 'Bo\u001b[2J',
          state: 'DOWN',
          reason: 'refused: look',
          unread: 12,
          unreadIs: 'atLeast',
          asOf: '2026-06-20T09:56:00.000000+00:00',
          staleAfter: '2026-06-20T09:57:00.000000+00:00',
        }),
        createPersona({
          id: 'cy',
          label: 'cy',
          state: 'PENDING',
          unread: null,
          unreadIs: 'unknown',
          asOf: null,
          staleAfter: null,
        }),
      ],
      15,
    ),
  );
  assert.equal(
    text,
    [
      '15+ unread, 1 up, 1 down',
      '',
      'STATE    UNREAD  PERSONA',
      'DOWN        12+  Bo\\u001b[2J (bo): refused: look, checked 4 min ago, overdue',
      'UP            3  ada',
      'PENDING       ?  cy',
      '',
    ].join('\n'),
  );
});

test('what waits for a person to decide is in the summary, with the command that shows it', () => {
  const rest = {
    urgency: 'normal',
    blocking: false,
    created: '2026-06-20T10:00:00.000000+00:00',
    expires: null,
  } as const;
  const text = formatStatusTable({
    ...createStatus([createPersona({})], 3),
    decisions: [{ id: 4, persona: 'ada', ...rest }],
  });
  assert.match(text, /^1 question for you, 3\+ unread, 1 up, 1 down\nsee what is asked with: hivebar decision list\n/);
  assert.match(text, / ada: 1 question for you\n$/);
});

test('who is hidden is counted and not shown', () => {
  const text = formatStatusTable(
    createStatus([createPersona({}), createPersona({ id: 'bo', label: 'bo', hidden: true })], 3),
  );
  assert.match(text, /^3\+ unread, 1 up, 1 down, 1 hidden\n/);
  assert.ok(!text.includes('bo'));
});

test('with nobody to watch it says so', () => {
  assert.equal(
    formatStatusTable(createStatus([], null)),
    'Unread count unknown, 1 up, 1 down\n\nno inbox is watched yet\n',
  );
});

test('one that is up and whose reader gets nothing done is a state of its own, with the reason', () => {
  const row = (over: Parameters<typeof createPersona>[0]): string =>
    formatStatusTable(createStatus([createPersona(over)], 3)).split('\n')[3] ?? '';
  assert.equal(
    row({ agent: 'stalled', agentReason: 'drain-stalled' }),
    'STALLED       3  ada: nobody takes its mail (drain-stalled)',
  );
  assert.match(
    row({ agent: 'stalled', agentReason: 'drain-stalled', state: 'DOWN', reason: 'gone' }),
    /^DOWN .*ada: gone$/,
  );
  assert.match(row({ agent: 'gone', agentReason: 'owner-dead' }), /^UP .*ada: gone$/);
});

test('who waits for a person is counted first and stands first; each row says what its agent does and for how long', () => {
  const since = { agentSince: '2026-06-10T11:57:00.000000+00:00' };
  const text = formatStatusTable(
    createStatus(
      [
        createPersona({ agent: 'working', ...since }),
        createPersona({ id: 'bo', label: 'bo', agent: 'waiting', agentReason: 'permission', ...since }),
        createPersona({ id: 'cy', label: 'cy', agent: 'idle' }),
      ],
      3,
    ),
  );
  const [summary, , , ...rows] = text.trimEnd().split('\n');
  assert.match(summary ?? '', /^1 agent waits for you, 3\+ unread/);
  assert.match(rows[0] ?? '', /^WAITS .* {2}bo: waits at a permission prompt, \d+ \w+$/);
  assert.match(rows[1] ?? '', /^UP .* {2}ada: working, \d+ \w+$/);
  assert.match(rows[2] ?? '', /^UP .* {2}cy: idle$/);
});

test('F2 a lower bound of nothing is no number', () => {
  const text = formatStatusTable(createStatus([createPersona({ unread: 0, unreadIs: 'atLeast' })], 0));
  assert.match(text, /^No unread messages known,/);
  assert.ok(!text.includes('0+'), text);
});

test('E1 given a hive that is not up, it is in the head and has a line of its own', () => {
  const hives: StatusWire['hives'] = [
    { source: 'kijito', address: 'http://127.0.0.1:7474', state: 'UP', reason: null },
    { source: 'far', address: 'https://far.example/', state: 'DOWN', reason: 'connection refused: is it running?' },
    { source: 'new', address: null, state: 'PENDING', reason: null },
  ];
  const totals = { unread: 0, unreadIs: 'exact', urgent: 0, urgentIs: 'exact', up: 4, down: 0, personas: 4 } as const;
  const text = formatStatusTable({ ...createStatus([createPersona({})], 0), hives, totals });
  assert.deepEqual(text.split('\n').slice(0, 4), [
    'No unread messages, 4 up, 0 down, 1 hive down',
    'hive far https://far.example/ is DOWN: connection refused: is it running?',
    'hive new is PENDING: not reached yet',
    '',
  ]);
});

test('D6 a citizen whose mail nobody will ever fetch says so in its row, whatever its agent does', () => {
  for (const agent of ['live', 'unknown'] as const) {
    const table = formatStatusTable(
      createStatus([createPersona({ agent, agentReason: 'no-drain', agentText: 'no agent reads this mailbox' })], 3),
    );
    assert.match(table, /^UP .*3 .* ada: no agent reads this mailbox \(no-drain\)$/m);
  }
});

test('questions in mail are counted in the summary, said in their row, and come before unread mail', () => {
  const table = formatStatusTable(
    createStatus(
      [
        createPersona({}),
        createPersona({ id: 'bo', label: 'bo', questions: 2 }),
        createPersona({ id: 'cy', label: 'cy', agent: 'waiting' }),
      ],
      3,
    ),
  );
  assert.match(table, /^2 questions for you, 1 agent waits for you, 3\+ unread/);
  assert.match(table, /bo: 2 questions for you\n.*cy: waits for you.*\n.* ada\n/);
});

test('who needs you most comes first; other orders and only the unread ones can be asked for', () => {
  const mail = (minute: number): string => `2026-06-20T09:0${minute}:00.000000+00:00`;
  const sample = createStatus(
    [
      createPersona({ id: 'ada', label: 'ada', unread: 0, lastMailAt: mail(3) }),
      createPersona({ id: 'bo', label: 'Zoe', lastMailAt: mail(2) }),
      createPersona({ id: 'cy', label: 'cy', unread: 1, urgent: 1, lastMailAt: mail(1) }),
      createPersona({ id: 'di', label: 'di', unread: 0, agent: 'gone' }),
      createPersona({ id: 'ed', label: 'ed', state: 'DOWN', unread: null, unreadIs: 'unknown' }),
      createPersona({ id: 'fay', label: 'fay', unread: 9, urgent: 9, hidden: true }),
    ],
    3,
  );
  const list = (...[sort, unread]: Parameters<typeof toSelection>) =>
    listPersonas(sample, toSelection(sort, unread))
      .map(({ id }) => id)
      .join(' ');
  assert.equal(list('need', false), 'cy ed bo ada di');
  assert.equal(list('need', true), 'cy ed bo');
  assert.equal(list('newest', false), 'ada bo cy di ed');
  assert.equal(list('name', true), 'bo cy ed');
  assert.match(formatStatusTable(sample), /\nUP +1 {2}cy: 1 urgent\n/);
});

const message = (persona: string, over: Partial<MessageWire> = {}): MessageWire => ({
  ...{
    id: 1,
    persona,
    from: 'bo',
    to: persona,
    subject: '',
    text: 'Die Prüfung ist rot',
    at: '2026-06-20T09:55:00.000000+00:00',
  },
  ...{ urgent: false, priority: null, unread: true, thread: null, link: false, question: false, ...over },
});

test('given a terminal with room, each row ends with the newest message, cut at the last column', () => {
  const sample = createStatus(
    [
      createPersona({ unread: 9 }),
      createPersona({ id: 'b', label: '日本', unread: 8 }),
      createPersona({ id: 'c', label: 'c', reason: 'held: the file of its events is on a disk that is full' }),
      createPersona({ id: 'd', label: 'd' }),
    ],
    3,
  );
  const newest = {
    ada: message('ada'),
    b: message('b', { from: 'cy\u001b[2J', subject: '日本語のとても長い件名'.repeat(3), text: 'no', at: null }),
    c: message('c'),
  };
  const list = (columns: number) =>
    formatStatusTable(sample, undefined, { newest, columns }).trimEnd().split('\n').slice(2);
  assert.deepEqual(list(80), [
    'STATE  UNREAD  PERSONA   AGE     NEWEST MESSAGE',
    'UP          9  ada       5 min   bo: Die Prüfung ist rot',
    'UP          3  c: held: the file of its events is on a disk that is full',
    'UP          3  d',
    'UP          8  日本 (b)          cy\\u001b[2J: 日本語のとても長い件名日本語のと…',
  ]);
  for (const line of list(80)) assert.ok(measureWidth(line) <= 80, line);
  assert.ok(!list(50).join().includes('Prüfung'), 'where a message has no room it is left out');
});

test('given nobody with unread mail, the table of unread ones says so', () => {
  const quiet = createStatus([createPersona({ unread: 0 })], 0);
  assert.match(formatStatusTable(quiet, toSelection('need', true)), /\n\nnobody has unread mail or needs you\n$/);
});

function toSelection(sort: 'need' | 'newest' | 'name', unread: boolean) {
  return { sort, unread };
}
