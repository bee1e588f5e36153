import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly } from '../../core/model/index.ts';
import { createDecision, Scene } from '../../test/kit/notify-scene.ts';
import { findNotificationAction } from './channels/index.ts';
import { decide } from './policy.ts';
import { NOTIFY_RULES } from './state.ts';

const FOREVER = { is: 'forever' } as const;
const NEVER = { is: 'never' } as const;

/** ada and bo are watched, and the desktop works. */
function scene(): Scene {
  const made = new Scene();
  made.join('ada', 'bo');
  return made;
}

test('a decision is one banner with its options; answered anywhere it is withdrawn, and nothing after', () => {
  const s = scene();
  s.ask(createDecision(7, { prompt: 'Merge the branch?' }));
  const banner = s.screen.get('decision:7');
  assert.deepEqual(
    banner?.buttons.map(({ label, action: wants }) => [label, wants]),
    [
      ['Merge', { name: 'decide', params: { decision: 7, select: 'yes' } }],
      ['Wait', { name: 'decide', params: { decision: 7, select: 'no' } }],
    ],
  );
  assert.deepEqual(banner && findNotificationAction(banner, 'banner', 'token'), {
    name: 'page',
    params: { persona: 'ada', activationToken: 'token' },
  });
  assert.deepEqual(banner && findNotificationAction(banner, 'answer-2', 'token'), {
    name: 'decide',
    params: { decision: 7, select: 'no' },
  });
  s.wait(100);
  s.ask();
  s.wait(100);
  assert.deepEqual(s.transcript, ['0s show [normal] ada asks | Merge the branch?', '100s withdraw decision:7']);
});

test('a banner says which option is chosen by itself, and when, also when that option has no button', () => {
  const s = scene();
  const options = ['a', 'b', 'c', 'd'].map((id) => ({ id, short: `Take ${id}`, label: id }));
  const expires = s.at + 23 * 3_600_000;
  s.ask(
    createDecision(1, { options, fallback: 'd', expires }),
    createDecision(2, { options, fallback: 'd' }),
    createDecision(3, { options, expires, prompt: 'x'.repeat(300) }),
  );
  assert.equal(s.screen.get('decision:1')?.body, 'Question 1? (chosen by itself in 23 h: Take d)');
  assert.equal(s.screen.get('decision:2')?.body, 'Question 2?', 'it waits for ever');
  assert.equal(s.screen.get('decision:3')?.body, `${'x'.repeat(199)}…`, 'it ends without a choice');
});

test('a decision that is still open is announced again after the time that was set, and only then', () => {
  const s = scene();
  s.rules = { ...s.rules, remindMs: 600_000 };
  s.ask(createDecision(1), createDecision(2));
  s.wait(300);
  s.ask(createDecision(1));
  s.wait(1000);
  s.facts({ is: 'quiet', at: s.at, on: true, until: { is: 'at', at: s.at + 600_000 } });
  s.wait(1100);
  s.restart();
  s.join('ada');
  s.ask(createDecision(1));
  s.wait(601);
  s.ask();
  s.wait(2000);
  assert.deepEqual(s.transcript, [
    '0s show [normal] ada asks | Question 1?',
    '0s show [normal] ada asks | Question 2?',
    '300s withdraw decision:2',
    '600s withdraw decision:1',
    '600s show [normal] ada asks | Question 1?',
    '1200s withdraw decision:1',
    '1200s show [normal] ada asks | Question 1?',
    '1900s withdraw decision:1',
    '1900s show [normal] ada asks | Question 1?',
    '3000s replace [normal] ada asks | Question 1?',
    '3001s withdraw decision:1',
  ]);
});

test('the same decisions again cost nothing: not even the state is copied', () => {
  const s = scene();
  s.ask(createDecision(1), createDecision(2));
  const { state } = s;
  const again = decide(state, {
    is: 'facts',
    at: s.at,
    facts: [{ is: 'decisions', at: s.at, decisions: [createDecision(1), createDecision(2)] }],
  });
  for (const table of ['asks', 'announcedDecisions', 'open', 'asking'] as const)
    assert.equal(again.state[table], state[table], table);
  assert.deepEqual([again.show, again.withdraw], [[], []]);
});

test('high urgency and an agent that stands still are critical, so that the banner stays; all else is not', () => {
  const s = scene();
  s.ask(
    createDecision(1, { urgency: 'low' }),
    createDecision(2, { urgency: 'high' }),
    createDecision(3, { blocking: true }),
  );
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada asks | Question 2?',
    '0s show [critical] ada asks | Question 3?',
    '0s show [normal] ada asks | Question 1?',
  ]);
});

test('three options have a button, in their order; a label of nothing visible gives way to the id; text has the page', () => {
  const s = scene();
  const options = ['a', 'b', 'c', 'd'].map((id) => ({ id, short: id === 'b' ? '\u200b' : `S${id}`, label: id }));
  s.ask(createDecision(1, { options }), createDecision(2, { options: [], freeText: true }));
  const buttons = (id: number): unknown => s.screen.get(`decision:${id}`)?.buttons.map(({ id, label }) => [id, label]);
  assert.deepEqual(buttons(1), [
    ['answer-1', 'Sa'],
    ['answer-2', 'b'],
    ['answer-3', 'Sc'],
  ]);
  assert.deepEqual(buttons(2), []);
});

test('a crowd of more than three is one banner, which opens the page, and goes with the last of them', () => {
  const s = scene();
  const five = [1, 2, 3, 4, 5].map((id) => createDecision(id, { persona: id > 3 ? 'bo' : 'ada', blocking: id === 4 }));
  s.ask(...five);
  s.wait(60);
  const banner = s.screen.get('decisions');
  assert.deepEqual(banner && findNotificationAction(banner, 'banner', null), { name: 'page', params: {} });
  s.ask(...five.slice(4));
  s.wait(60);
  s.ask();
  s.wait(600);
  assert.deepEqual(s.transcript, ['1s show [critical] 5 decisions wait | bo, ada', '120s withdraw decisions']);
});

test('three at once are three; one after the other, from the fourth in ten seconds on they share one', () => {
  const s = scene();
  for (let n = 1; n <= 6; n += 1) {
    s.ask(...Array.from({ length: n }, (_, i) => createDecision(i + 1)));
    s.wait(0.1);
  }
  s.wait(100);
  s.ask(...Array.from({ length: 7 }, (_, i) => createDecision(i + 1)));
  assert.deepEqual(s.transcript, [
    '0s show [normal] ada asks | Question 1?',
    '0s show [normal] ada asks | Question 2?',
    '0s show [normal] ada asks | Question 3?',
    '1s show [normal] 3 more decisions wait | ada',
    '101s show [normal] ada asks | Question 7?',
  ]);
});

test('a flood of decisions is bounded: the shared banner is replaced at most every 30 s', () => {
  const s = scene();
  for (let n = 1; n <= 100; n += 1) {
    s.ask(...Array.from({ length: n * 4 }, (_, i) => createDecision(i + 1)));
    s.wait(1);
  }
  s.wait(100);
  assert.ok(s.transcript.length <= 5, s.transcript.join('\n'));
  assert.match(s.transcript.at(-1) ?? '', /400 decisions wait/);
});

test('of a crowd that was answered but for a few before it was shown, each has its own', () => {
  const s = scene();
  s.ask(createDecision(1), createDecision(2), createDecision(3), createDecision(4));
  s.ask(createDecision(2), createDecision(4));
  s.wait(100);
  assert.deepEqual(s.transcript, [
    '0s show [normal] ada asks | Question 2?',
    '0s show [normal] ada asks | Question 4?',
  ]);
});

test('a restart announces nothing again that a person was shown, and what was asked meanwhile once', () => {
  const s = scene();
  s.ask(createDecision(1), createDecision(2));
  s.restart();
  s.join('ada');
  s.ask(createDecision(1), createDecision(2), createDecision(3));
  s.wait(100);
  assert.deepEqual(s.transcript.slice(2), ['0s show [normal] ada asks | Question 3?']);
  s.ask(createDecision(3));
  assert.deepEqual(Object.keys(s.state.announcedDecisions), ['decision:3'], 'and what is closed is forgotten');
  s.restart();
  s.ask();
  assert.deepEqual(s.state.announcedDecisions, {});
});

test('who asks may join before or after; who never joins is told of all the same, by its id and with no page of its own', () => {
  const before = new Scene();
  before.join('ada');
  before.ask(createDecision(1));
  const after = new Scene();
  after.ask(createDecision(1));
  after.join('ada');
  assert.deepEqual(before.transcript, ['0s show [normal] ada asks | Question 1?']);
  assert.deepEqual(after.transcript, before.transcript);
  assert.deepEqual(after.screen.get('decision:1')?.opens, { is: 'persona', persona: 'ada' });
  const never = new Scene();
  never.ask(createDecision(1, { persona: 'ghost' }));
  never.wait(5);
  assert.deepEqual(never.transcript, ['1s show [normal] ghost asks | Question 1?']);
  assert.deepEqual(never.screen.get('decision:1')?.opens, { is: 'overview' });
  const muted = new Scene();
  muted.ask(createDecision(1));
  muted.mute('ada', FOREVER);
  muted.join('ada');
  muted.wait(100);
  assert.deepEqual(muted.transcript, []);
});

test('in a pause a decision is left to the menu; one that was shown before it stays', () => {
  const s = scene();
  s.ask(createDecision(1));
  s.mute(null, { is: 'at', at: s.at + 60_000 });
  s.ask(createDecision(1), createDecision(2, { urgency: 'high', blocking: true }));
  s.wait(100);
  assert.deepEqual(s.transcript, ['0s show [normal] ada asks | Question 1?']);
  s.restart();
  s.ask(createDecision(1), createDecision(2));
  s.wait(100);
  assert.equal(s.transcript.length, 1, 'nor is it told after a restart');
});

test('decisions of quiet hours are told at their end if they are still open; those of high urgency at once where urgent mail is', () => {
  for (const urgentBreaksQuiet of [false, true]) {
    const s = scene();
    s.rules = { ...NOTIFY_RULES, urgentBreaksQuiet };
    s.quiet({ is: 'at', at: s.at + 3600_000 });
    s.ask(
      createDecision(1),
      createDecision(2, { urgency: 'high' }),
      createDecision(3, { blocking: true }),
      createDecision(4),
    );
    s.wait(10);
    s.ask(createDecision(1), createDecision(2, { urgency: 'high' }), createDecision(3, { blocking: true }));
    s.wait(3600);
    const high = `${urgentBreaksQuiet ? 0 : 3600}s show [critical] ada asks | Question 2?`;
    assert.deepEqual(s.transcript, [
      high,
      '3600s show [critical] ada asks | Question 3?',
      '3600s show [normal] ada asks | Question 1?',
    ]);
  }
});

test('a mute and a hidden persona have no banner, and take down the one that is there; afterwards only what is new is told', () => {
  for (const hush of ['mute', 'hide'] as const) {
    const s = scene();
    const silence = (on: boolean): void => (hush === 'mute' ? s.mute('ada', on ? FOREVER : NEVER) : s.hide('ada', on));
    s.ask(createDecision(1));
    silence(true);
    s.ask(createDecision(1), createDecision(2), createDecision(3, { persona: 'bo' }));
    silence(false);
    s.ask(createDecision(1), createDecision(2), createDecision(3, { persona: 'bo' }), createDecision(4));
    s.wait(100);
    assert.deepEqual(s.transcript, [
      '0s show [normal] ada asks | Question 1?',
      '0s withdraw decision:1',
      '0s show [normal] bo asks | Question 3?',
      '0s show [normal] ada asks | Question 4?',
    ]);
  }
});

test('a shared banner goes when all of whom it speaks are muted, and does not count them afterwards', () => {
  const s = scene();
  const four = [1, 2, 3, 4].map((id) => createDecision(id));
  s.ask(...four);
  s.wait(5);
  s.mute('ada', FOREVER);
  assert.deepEqual(s.transcript.slice(1), ['5s withdraw decisions']);
  s.ask(...four, ...[5, 6, 7, 8].map((id) => createDecision(id, { persona: 'bo' })));
  s.wait(60);
  assert.deepEqual(s.transcript.slice(2), ['31s show [normal] 4 decisions wait | bo']);
});

test('after a sleep they wait until it is caught up with, and what was answered meanwhile is none', () => {
  const s = scene();
  s.facts({ is: 'gap', at: s.at, ms: 3600_000, until: s.at + 30_000 });
  s.ask(createDecision(1), createDecision(2, { urgency: 'high' }));
  s.wait(10);
  s.ask(createDecision(2, { urgency: 'high' }));
  s.wait(60);
  assert.deepEqual(s.transcript, ['30s show [critical] ada asks | Question 2?']);
});

test('a desktop that refuses is asked again when it is ready; until then nothing counts as told', () => {
  for (const many of [1, 5]) {
    const s = scene();
    s.broken = true;
    s.ask(...Array.from({ length: many }, (_, i) => createDecision(i + 1)));
    s.wait(10);
    assert.deepEqual(s.state.announcedDecisions, {});
    s.restart();
    s.join('ada');
    s.ask(...Array.from({ length: many }, (_, i) => createDecision(i + 1)));
    s.wait(10);
    s.broken = false;
    s.input({ is: 'ready' });
    s.wait(10);
    assert.equal(s.screen.size, 1);
    assert.equal(Object.keys(s.state.announcedDecisions).length, many);
    s.wait(1000);
    assert.equal(s.screen.size, 1);
  }
});

test('a banner that a person closed does not come back, and one that was clicked goes', () => {
  const s = scene();
  s.ask(createDecision(1), createDecision(2));
  s.screen.delete('decision:1');
  s.input({ is: 'closed', key: 'decision:1', by: 'person' });
  s.input({ is: 'clicked', key: 'decision:2' });
  s.wait(100);
  s.ask(createDecision(1), createDecision(2), createDecision(3));
  assert.deepEqual(s.transcript.slice(2), ['0s withdraw decision:2', '100s show [normal] ada asks | Question 3?']);
});

test('it does not touch mail, and mail does not touch it', () => {
  const s = scene();
  s.ask(...[1, 2, 3, 4].map((id) => createDecision(id)));
  s.mail('ada', 1, 'lunch?');
  s.wait(2);
  s.poll('ada', exactly(0));
  s.wait(2);
  assert.deepEqual([...s.screen.keys()], ['decisions']);
  assert.deepEqual(s.transcript, [
    '0s show [normal] ada: 1 new | bob: lunch?',
    '1s show [normal] 4 decisions wait | ada',
    '2s withdraw mail:ada',
  ]);
});

test('B6 words of others are one short line, nothing in them is hidden, and none of it is bigger than it has to be', () => {
  const s = new Scene();
  const big = 'x'.repeat(1_000_000);
  s.ask(
    createDecision(1, {
      persona: '\u202eeve\n',
      prompt: `\u001b[31mשלום\nred\u001b[0m ${big}`,
      options: [{ id: 'a', short: `\u202e${big}`, label: big }],
    }),
  );
  s.wait(2);
  const banner = s.screen.get('decision:1');
  assert.ok(banner);
  assert.equal(banner.title, '\\u202eeve\\u000a asks');
  assert.match(banner.body, /^\u2068שלום red x+…\u2069$/u);
  assert.ok(banner.body.length < 210);
  assert.match(banner.buttons[0]?.label ?? '', /^x{39}…$/);
  assert.ok(JSON.stringify(s.state).length < 20_000);
});
