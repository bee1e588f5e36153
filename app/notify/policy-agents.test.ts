import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, type WaitReason } from '../../core/model/index.ts';
import { createDecision, createNewEvent, Scene } from '../../test/kit/notify-scene.ts';
import { findNotificationAction } from './channels/index.ts';
import { decide } from './policy.ts';

const FOREVER = { is: 'forever' } as const;
const NEVER = { is: 'never' } as const;

/** ada, bo and others are watched, and the desktop works. */
function scene(): Scene {
  const made = new Scene();
  made.join('ada', 'bo', 'cy', 'dee', 'eve');
  return made;
}

const waits = (s: Scene, persona = 'ada', why = 'permission', since = s.at): void =>
  s.agent(persona, { is: 'waiting', why, since });

test('an agent that waits is one banner, whose click brings its session; it is withdrawn when the agent goes on', () => {
  const s = scene();
  waits(s);
  const banner = s.screen.get('wait:ada');
  assert.deepEqual(banner && findNotificationAction(banner, 'banner', 'token'), {
    name: 'open',
    params: { persona: 'ada', activationToken: 'token' },
  });
  assert.deepEqual(
    banner?.buttons.map(({ label }) => label),
    ['Open session', 'Mute 1 h'],
  );
  s.wait(100);
  waits(s, 'ada', 'permission', s.at - 100_000);
  s.wait(100);
  s.agent('ada', { is: 'working', since: s.at });
  s.wait(600);
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
    '200s withdraw wait:ada',
  ]);
});

test('the same state again costs nothing: not even the state of the policy is copied', () => {
  const s = scene();
  waits(s);
  s.agent('bo', { is: 'idle' });
  const before = s.state;
  const again = decide(before, {
    ...{ is: 'facts', at: s.at, facts: [] },
    agents: [
      { persona: 'ada', state: { is: 'waiting', why: 'permission', since: s.at } },
      { persona: 'bo', state: { is: 'working' } },
    ],
  });
  for (const table of ['asks', 'announcedWaits', 'open', 'asking', 'personas'] as const)
    assert.equal(again.state[table], before[table], table);
  assert.deepEqual([again.show, again.withdraw], [[], []]);
});

test('each general reason is said in plain words, any other in those of its reporter, cleaned and cut', () => {
  const titles: readonly (readonly [WaitReason, string])[] = [
    ['permission', 'ada waits at a permission prompt'],
    ['input', 'ada waits for your input'],
    ['decision', 'ada waits for your decision'],
    ['dialog', 'ada waits at an open dialog'],
  ];
  for (const [why, title] of titles) {
    const s = scene();
    waits(s, 'ada', why);
    assert.equal(s.screen.get('wait:ada')?.title, title);
    assert.notEqual(s.screen.get('wait:ada')?.body, '');
  }
  const s = scene();
  waits(s, 'ada', `sandbox-request\u001b[31m\n${'x'.repeat(5000)}`);
  const banner = s.screen.get('wait:ada');
  assert.equal(banner?.title, 'ada waits for you');
  assert.match(banner?.body ?? '', /^sandbox request x+…$/);
  assert.ok([...(banner?.body ?? '')].length <= 200);
});

test('an agent that cannot work is one banner with the reason, until it works', () => {
  const s = scene();
  const since = s.at;
  waits(s, 'ada', 'failed-billing-error', since);
  s.wait(30);
  waits(s, 'ada', 'failed-billing-error', since);
  s.agent('ada', { is: 'working', since: s.at });
  s.wait(600);
  waits(s, 'ada', 'failed-\u202eodd');
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada cannot work | Its account has a billing problem. It goes on when you say something in its session.',
    '30s withdraw wait:ada',
    '630s show [critical] ada cannot work | Its model could not be asked (odd). It goes on when you say something in its session.',
  ]);
});

test('an agent that waits for an open decision has the banner of that decision, and a prompt beside it has its own', () => {
  const s = scene();
  s.ask(createDecision(7, { prompt: 'Merge?', blocking: true }));
  s.agent('ada', { is: 'waiting', why: 'decision', since: s.at, decision: 7 });
  s.wait(30);
  waits(s);
  s.wait(10);
  s.agent('ada', { is: 'waiting', why: 'decision', since: s.at - 40_000, decision: 7 });
  s.wait(10);
  s.ask();
  s.agent('ada', { is: 'unknown', why: 'not-reported', decision: null });
  s.wait(600);
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada asks | Merge?',
    '30s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
    '40s withdraw wait:ada',
    '50s withdraw decision:7',
  ]);
});

test('the folder is named where the label does not name it', () => {
  const s = scene();
  s.agent('ada', { is: 'waiting', why: 'input', cwd: '/srv/work/hive\u202ebar/' });
  s.agent('bo', { is: 'waiting', why: 'input', cwd: '/srv/bo' });
  assert.equal(s.screen.get('wait:ada')?.body, 'It goes on when you answer in its session. (hivebar)');
  assert.equal(s.screen.get('wait:bo')?.body, 'It goes on when you answer in its session.');
});

test('the next wait of an agent that was not seen to go on replaces the banner; two reporters of one wait are one', () => {
  const s = scene();
  waits(s);
  s.wait(1);
  waits(s, 'ada', 'permission', s.at); // another reporter saw the same prompt a second later
  waits(s, 'ada', 'decision', s.at); // and this one knows better what it is
  s.wait(20);
  waits(s, 'ada', 'permission', s.at);
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
    '1s replace [critical] ada waits for your decision | It goes on when you choose in its session.',
    '21s replace [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
  ]);
});

test('a banner that a person closed does not come back for the same wait, also with another reason', () => {
  const s = scene();
  waits(s);
  s.input({ is: 'closed', key: 'wait:ada', by: 'person' });
  s.screen.clear();
  s.wait(1);
  waits(s, 'ada', 'decision', s.at);
  s.wait(100);
  assert.equal(s.transcript.length, 1);
  s.agent('ada', { is: 'working', since: s.at });
  waits(s);
  assert.equal(s.transcript.length, 2);
});

test('several agents at once share a banner, which names them, opens the page and goes with the last of them', () => {
  const s = scene();
  for (const persona of ['ada', 'bo', 'cy', 'dee']) waits(s, persona);
  s.wait(60);
  for (const persona of ['ada', 'bo', 'cy']) s.agent(persona, { is: 'gone', why: 'ended' });
  s.wait(60);
  s.agent('dee', { is: 'idle' });
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
    '0s show [critical] bo waits at a permission prompt | Allow or refuse what it wants to do.',
    '0s show [critical] cy waits at a permission prompt | Allow or refuse what it wants to do.',
    '1s show [critical] 1 more agent waits for you | dee',
    '60s withdraw wait:ada',
    '60s withdraw wait:bo',
    '60s withdraw wait:cy',
    '120s withdraw waits',
  ]);
});

test('an agent that waits again and again rings a few times, and then every half minute', () => {
  const s = scene();
  for (let n = 0; n < 300; n += 1) {
    s.agent('ada', { is: 'working', since: s.at });
    waits(s);
    s.wait(0.1);
  }
  assert.ok(s.transcript.length < 30, String(s.transcript.length));
});

test('over a restart a wait is neither announced again nor lost, and its banner is withdrawn when it is over', () => {
  const s = scene();
  waits(s, 'ada', 'permission', s.at);
  s.broken = true;
  waits(s, 'bo', 'input', s.at);
  s.broken = false;
  s.restart();
  s.join('ada', 'bo');
  s.agent('ada', { is: 'unknown', why: 'not-reported' });
  s.wait(5);
  waits(s, 'ada', 'permission', s.at - 5000);
  waits(s, 'bo', 'input', s.at - 5000);
  s.wait(5);
  s.restart();
  s.join('ada', 'bo');
  s.agent('ada', { is: 'working', since: s.at });
  s.wait(100);
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
    '0s refused wait:bo',
    '5s show [critical] bo waits for your input | It goes on when you answer in its session.',
    '10s withdraw wait:ada',
  ]);
});

test('after a restart a wait that began since is announced', () => {
  const s = scene();
  waits(s);
  s.restart();
  s.join('ada');
  s.wait(60);
  waits(s);
  assert.equal(s.transcript.length, 2);
});

test('an agent of which nobody says anything any more has no banner; the same wait is not announced again', () => {
  const s = scene();
  const since = s.at;
  waits(s, 'ada', 'permission', since);
  s.agent('ada', { is: 'unknown', why: 'not-reported' });
  s.wait(10);
  waits(s, 'ada', 'permission', since);
  s.wait(10);
  s.facts({ is: 'left', at: s.at, persona: 'ada' });
  assert.deepEqual(s.transcript.slice(1), ['0s withdraw wait:ada']);
  assert.deepEqual([s.state.asks, s.state.announcedWaits], [{}, {}]);
});

test('nothing is shown of a muted or hidden persona or in a pause, also not afterwards', () => {
  for (const silence of ['mute', 'hide', 'pause'] as const) {
    const s = scene();
    if (silence === 'mute') s.mute('ada', FOREVER);
    if (silence === 'hide') s.hide('ada');
    if (silence === 'pause') s.mute(null, FOREVER);
    waits(s);
    s.wait(10);
    if (silence === 'mute') s.mute('ada', NEVER);
    if (silence === 'hide') s.hide('ada', false);
    if (silence === 'pause') s.mute(null, NEVER);
    s.wait(100);
    assert.deepEqual(s.transcript, [], silence);
  }
  const s = scene();
  waits(s);
  s.mute('ada', FOREVER);
  assert.equal(s.transcript.at(-1), '0s withdraw wait:ada');
});

test('in quiet hours a wait is shown where urgent mail may break them, else at their end if it lasts', () => {
  const loud = scene();
  loud.rules = { ...loud.rules, urgentBreaksQuiet: true };
  loud.quiet(FOREVER);
  waits(loud);
  assert.equal(loud.transcript.length, 1);
  const s = scene();
  s.quiet({ is: 'at', at: s.at + 60_000 });
  waits(s);
  waits(s, 'bo');
  s.wait(30);
  s.agent('bo', { is: 'working', since: s.at });
  s.wait(60);
  assert.deepEqual(s.transcript, [
    '60s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
  ]);
});

test('after a sleep a wait is shown when the backlog was worked off, if it lasts', () => {
  const s = scene();
  s.facts({ is: 'gap', at: s.at, ms: 60_000, until: s.at + 30_000 });
  waits(s);
  waits(s, 'bo');
  s.agent('bo', { is: 'idle' });
  s.wait(60);
  assert.deepEqual(s.transcript, [
    '30s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
  ]);
});

test('mail that says that an agent waits, as some sources deliver it, does not ring', () => {
  const s = scene();
  const event = { ...createNewEvent('ada', 7, { content: 'permission prompt' }), event: 'action', wait: true } as const;
  s.poll('ada', exactly(1));
  s.facts({ is: 'delivered', at: s.at, persona: 'ada', events: [event] });
  waits(s);
  s.wait(100);
  assert.deepEqual(s.transcript, [
    '0s show [critical] ada waits at a permission prompt | Allow or refuse what it wants to do.',
  ]);
});

/** Delivers a question to ada. */
function question(s: Scene, id: number, extra: object = {}, content = 'May I drop the column?'): void {
  const event = { ...createNewEvent('ada', id, { from: 'bo', content }), event: 'question', ...extra } as const;
  s.poll('ada', exactly(id));
  s.facts({ is: 'delivered', at: s.at, persona: 'ada', events: [event] });
}

test('a question rings at once, like a decision, with its subject and first words; answered it is withdrawn', () => {
  const s = scene();
  question(s, 1);
  question(s, 2, { subject: 'Schema' });
  s.wait(1);
  const gone = { event: 'cleared', id: 2, source: 's', ts: '', persona: 'ada', event_id: 'x', wake_class: 'liveness' };
  s.facts({ is: 'delivered', at: s.at, persona: 'ada', events: [gone as never] });
  s.wait(60);
  s.poll('ada', exactly(0));
  s.wait(60);
  assert.deepEqual(s.transcript, [
    '0s show [high] ada: a question from bo | May I drop the column?',
    '0s show [high] ada: a question from bo | Schema · May I drop the column?',
    '1s withdraw question:2:ada',
    '61s withdraw question:1:ada',
  ]);
  assert.deepEqual(s.state.asks, {});
});

test('a click on a question opens its link, else the session; a link of mail opens where the banner is about one message', () => {
  const s = scene();
  question(s, 1);
  question(s, 2, { link: 'https://h/2' });
  const click = (key: 'question:1:ada' | 'question:2:ada' | 'mail:bo'): unknown => {
    const banner = s.screen.get(key);
    return banner && findNotificationAction(banner, 'banner', null);
  };
  assert.deepEqual(click('question:1:ada'), { name: 'open', params: { persona: 'ada' } });
  assert.deepEqual(click('question:2:ada'), { name: 'open-item', params: { persona: 'ada', id: 2 } });
  const mail = {
    ...createNewEvent('bo', 9, { content: 'The tests fail.' }),
    link: 'https://h/9',
    subject: 'Build is red',
  };
  s.poll('bo', exactly(1));
  s.facts({ is: 'delivered', at: s.at, persona: 'bo', events: [mail] });
  assert.deepEqual(click('mail:bo'), { name: 'open-item', params: { persona: 'bo', id: 9 } });
  assert.match(s.transcript.at(-1) ?? '', / \| bob: Build is red · The tests fail\.$/);
  s.wait(60);
  s.poll('bo', exactly(2));
  s.facts({ is: 'delivered', at: s.at, persona: 'bo', events: [{ ...mail, id: 10 }] });
  assert.deepEqual(click('mail:bo'), { name: 'open', params: { persona: 'bo' } });
});

test('many questions share a banner, and are not remembered for ever', () => {
  const s = scene();
  for (let id = 1; id <= 300; id += 1) {
    question(s, id);
    s.wait(2);
  }
  assert.ok(s.transcript.length < 200, String(s.transcript.length));
  assert.ok(Object.keys(s.state.asks).length <= 201, String(Object.keys(s.state.asks).length));
  assert.match(s.transcript.find((line) => line.includes('more')) ?? '', /more questions? for you \| ada$/);
});

test('a question is left to the menu in a pause, and waits for the end of quiet hours that nothing breaks', () => {
  const s = scene();
  s.mute(null, FOREVER);
  question(s, 1);
  s.mute(null, NEVER);
  s.quiet({ is: 'at', at: s.at + 60_000 });
  question(s, 2);
  s.wait(100);
  assert.deepEqual(s.transcript, ['60s show [high] ada: a question from bo | May I drop the column?']);
});
