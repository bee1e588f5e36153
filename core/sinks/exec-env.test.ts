import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeNonce, type Event, type MailEvent } from '../events/index.ts';
import { toExecEnv } from './exec.ts';

const common = {
  source: 'kijito-inbox',
  ts: '2026-06-20T10:00:00.000000+00:00',
  persona: 'ada',
  wake_class: 'diagnostic',
} as const;
const EVENTS: readonly Event[] = [
  { ...common, event: 'new', event_id: 'e', wake_class: 'mail', id: 7, from: 'bo', created: 'c', content: 'hi' },
  { ...common, event: 'armed', event_id: 'e', wake_class: 'liveness', cursor: 7 },
  { ...common, event: 'alert', event_id: 'e', reason: 'unreachable', consecutive_failures: 3, seconds: 180 },
  { ...common, event: 'recovered', event_id: 'e', cursor: 7 },
  { ...common, event: 'heartbeat', event_id: 'e', wake_class: 'liveness', cursor: 7 },
  { ...common, event: 'seed_ahead', event_id: 'e', seeded: 9, current_max: 7 },
  { ...common, event: 'replay_capped', event_id: 'e', capped_to: 7, dropped: 60 },
  { ...common, event: 'persona_added', event_id: 'e' },
];

/** The table of the Kijito spec 6.2, with `_PERSONA`, `_EVENT_ID` and `_NONCE` for every event. */
const TABLE: Record<string, Record<string, string>> = {
  new: { ID: '7', FROM: 'bo', CONTENT: 'hi', CREATED: 'c' },
  armed: { CURSOR: '7' },
  alert: { REASON: 'unreachable', FAILURES: '3' },
  recovered: { CURSOR: '7' },
  heartbeat: { CURSOR: '7' },
  seed_ahead: { SEEDED: '9', CURRENT_MAX: '7' },
  replay_capped: { CAPPED_TO: '7', DROPPED: '60' },
  persona_added: {},
};

const kijitomon = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('KIJITOMON_')));

test('each event sets exactly its row of the table, whatever was inherited', () => {
  const everything = Object.fromEntries(
    [
      'EVENT',
      'SOURCE',
      'TS',
      'EVENT_ID',
      'NONCE',
      'PERSONA',
      ...new Set(Object.values(TABLE).flatMap(Object.keys)),
    ].map((name) => [`KIJITOMON_${name}`, 'inherited']),
  );
  for (const event of EVENTS) {
    const { source: SOURCE, ts: TS } = common;
    const expected = { EVENT: event.event, SOURCE, TS, EVENT_ID: 'e', NONCE: computeNonce('e'), PERSONA: 'ada' };
    assert.deepEqual(
      kijitomon(toExecEnv(event, everything)),
      Object.fromEntries(
        Object.entries({ ...expected, ...TABLE[event.event] }).map(([name, value]) => [`KIJITOMON_${name}`, value]),
      ),
    );
  }
});

test('what does not apply is absent: no content with --no-content, no cursor before the baseline, no persona of a --url', () => {
  const { content: _, persona: __, ...bare } = EVENTS[0] as MailEvent;
  const env = toExecEnv(bare, {});
  assert.ok(!('KIJITOMON_CONTENT' in env) && !('KIJITOMON_PERSONA' in env));
  assert.ok(!('KIJITOMON_CURSOR' in toExecEnv({ ...common, event: 'heartbeat', event_id: 'e', cursor: null }, {})));
  assert.equal(toExecEnv({ ...bare, content: '' }, {}).KIJITOMON_CONTENT, '');
});

test('the rest of the environment is inherited, the token is not, in whatever case', () => {
  const env = toExecEnv(EVENTS[1] as Event, {
    PATH: '/bin',
    KIJITOMON_TOKEN: 'secret',
    kijitomon_token: 'secret',
    KIJITOMON_STATE_FILE: '/s',
    GONE: undefined,
  });
  assert.equal(env.PATH, '/bin');
  assert.equal(env.KIJITOMON_STATE_FILE, '/s');
  assert.ok(!JSON.stringify(env).includes('secret'));
  assert.ok(!('GONE' in env));
});

test('trap 8: NUL is removed, a lone surrogate replaced, a value over 100,000 bytes cut at a character', () => {
  const env = toExecEnv({ ...(EVENTS[0] as MailEvent), content: 'a\0b\ud800c', from: '😀'.repeat(40_000) }, {});
  assert.equal(env.KIJITOMON_CONTENT, 'ab\ufffdc');
  assert.equal(env.KIJITOMON_FROM, '😀'.repeat(25_000));
  const odd = toExecEnv({ ...(EVENTS[0] as MailEvent), content: `x${'😀'.repeat(40_000)}` }, {});
  assert.equal(odd.KIJITOMON_CONTENT, `x${'😀'.repeat(24_999)}`);
});

test('a command is told the nonce of its event, and neither its clocks nor its class', () => {
  const env = toExecEnv({ ...(EVENTS[0] as MailEvent), event_id: 'ada:new:2' }, {});
  assert.equal(env.KIJITOMON_NONCE, 'VUZRfrYFvqH');
  assert.ok(!('KIJITOMON_EMITTED' in env) && !('KIJITOMON_WAKE_CLASS' in env));
});

test('stranded and dormant inboxes come with commas between them; urgent mail has its reason only', () => {
  const head = { ...common, event: 'alert', event_id: 'e' } as const;
  const own = /_(REASON|FAILURES|STRANDED|DORMANT|URGENT\w*)$/;
  const listOwnVariables = (event: Event) => {
    const env = kijitomon(toExecEnv(event, { KIJITOMON_DORMANT: 'inherited' }));
    return Object.fromEntries(Object.entries(env).filter(([name]) => own.test(name)));
  };
  const stranded = { ...head, reason: 'stranded', stranded_inboxes: ['adda', 'all'] } as const;
  const expected = { KIJITOMON_REASON: 'stranded', KIJITOMON_STRANDED: 'adda,all' };
  assert.deepEqual(listOwnVariables(stranded), expected);
  assert.deepEqual(listOwnVariables({ ...stranded, dormant_inboxes: ['old'] }), {
    ...expected,
    KIJITOMON_DORMANT: 'old',
  });
  assert.deepEqual(listOwnVariables({ ...head, reason: 'urgent-unanswered', urgent_unanswered: ['bo'] }), {
    KIJITOMON_REASON: 'urgent-unanswered',
  });
});
