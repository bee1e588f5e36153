import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, Fault, formatIso } from '../../core/model/index.ts';
import { createJoinedFact, createNewEvent, REFUSED, Scene } from '../../test/kit/notify-scene.ts';
import { findNotificationAction, toMailKey } from './channels/index.ts';
import { NOTIFY_RULES } from './state.ts';

const NEVER = { is: 'never' } as const;
const FOREVER = { is: 'forever' } as const;

function inSeconds(scene: Scene, seconds: number): { readonly is: 'at'; readonly at: number } {
  return { is: 'at', at: scene.at + seconds * 1000 };
}

test('a hidden persona has no banner, and its outage alone none either', () => {
  const scene = new Scene();
  scene.hide('ada'); // known before it joins
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.down('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.hide('ada', false);
  scene.wait(1);
  assert.deepEqual(scene.transcript, [`60s show [critical] kijito down: ada | ${REFUSED}`], 'what lasts is told then');
});

test('hidden personas are left out of an outage of others, and of its end', () => {
  const scene = new Scene();
  scene.hide('bo');
  scene.join('ada', 'bo', 'cy');
  for (const p of ['ada', 'bo', 'cy']) scene.down(p);
  scene.wait(60);
  for (const p of ['ada', 'bo', 'cy']) scene.poll(p);
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    `1s show [critical] kijito down: 2 personas | ${REFUSED} (ada, cy)`,
    '61s replace [normal] kijito is back: 2 personas | Down for 1 min.',
  ]);
});

test('who becomes hidden is gone from the screen, mail and outage, and is not heard of again', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.down('ada');
  scene.wait(10);
  scene.hide('ada');
  assert.deepEqual(scene.transcript.slice(2), ['10s withdraw mail:ada', '10s withdraw outage:kijito']);
  assert.deepEqual(scene.state.announced, {});
  scene.poll('ada', exactly(1));
  scene.wait(60);
  assert.equal(scene.transcript.length, 4);
});

test('a shared banner stays for the others when one of them is hidden, and goes with the last', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, crowdAbove: 0 };
  scene.join('ada', 'bo');
  scene.mail('ada', 1, 'one');
  scene.mail('bo', 1, 'one');
  scene.wait(5);
  scene.hide('ada');
  assert.equal(scene.screen.size, 1);
  scene.mute('bo', FOREVER);
  assert.equal(scene.screen.size, 0);
});

test('a shared banner that grows no longer counts who was hidden meanwhile', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, crowdAbove: 0 };
  scene.join('ada', 'bo', 'cy');
  for (const p of ['ada', 'bo']) scene.mail(p, 1, 'one');
  scene.wait(5);
  scene.hide('ada');
  scene.mail('cy', 1, 'one');
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    '1s show [normal] 2 messages for 2 personas | ada, bo',
    '31s replace [normal] 2 messages for 2 personas | bo, cy',
  ]);
});

test('a source that cannot say who is there is silent when all that is known of it is hidden', () => {
  const scene = new Scene();
  scene.hide('ada');
  scene.join('ada');
  const fault = new Fault('refused', 'no directory', { is: 'source', key: 'kijito' });
  scene.facts({ is: 'source', at: scene.at, source: 'kijito', address: 'http://127.0.0.1:7474', fault });
  scene.down('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.hide('ada', false);
  assert.match(scene.transcript[0] ?? '', /^60s show \[critical\] kijito down: ada/);
});

test('a mute takes the banner of mail down; after it mail is told again', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.wait(5);
  scene.mute('ada', inSeconds(scene, 3600));
  scene.mail('ada', 2, 'two');
  scene.wait(3600);
  scene.mail('ada', 3, 'three');
  assert.deepEqual(scene.transcript, [
    '0s show [normal] ada: 1 new | bob: one',
    '5s withdraw mail:ada',
    '3605s show [normal] ada: 3 new | bob: three',
  ]);
});

test('muted while it goes down, unmuted while it is still down: one banner', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mute('ada', inSeconds(scene, 600));
  scene.down('ada');
  scene.wait(1200);
  assert.deepEqual(scene.transcript, [`600s show [critical] kijito down: ada | ${REFUSED}`]);
});

test('down and announced, muted, back while muted: the banner goes at once, and the end is told after the mute, with its time', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(60);
  scene.mute('ada', inSeconds(scene, 3600));
  scene.wait(60);
  scene.poll('ada');
  scene.wait(600);
  assert.deepEqual(scene.transcript.slice(1), ['121s withdraw outage:kijito']);
  scene.restart();
  scene.mute('ada', inSeconds(scene, 2940));
  scene.join('ada');
  scene.poll('ada');
  scene.wait(7200);
  assert.deepEqual(scene.transcript.slice(2), [
    '3660s show [normal] kijito is back: ada | Down for 2 min, back for 59 min.',
  ]);
});

test('down and announced, muted, back and down again while muted: to a person it was never back', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(60);
  scene.mute('ada', FOREVER);
  scene.poll('ada');
  scene.wait(60);
  scene.down('ada');
  scene.wait(60);
  scene.mute('ada', NEVER);
  scene.wait(60);
  assert.equal(scene.transcript.length, 2, 'announced, and taken down');
  scene.poll('ada');
  scene.wait(60);
  assert.equal(scene.transcript.at(-1), '241s show [normal] kijito is back: ada | Down for 4 min.');
});

test('in quiet hours nothing is shown; what is unread at their end is one banner in all, what was read is none', () => {
  const scene = new Scene();
  scene.join('ada', 'bo', 'cy');
  scene.quiet(inSeconds(scene, 8 * 3600));
  for (const [i, p] of ['ada', 'bo', 'cy'].entries()) {
    scene.mail(p, 1, 'one');
    scene.wait(60);
    scene.mail(p, 2 + i, 'two');
  }
  scene.poll('cy', exactly(0));
  scene.wait(9 * 3600);
  assert.deepEqual(scene.transcript, ['28801s show [normal] 4 messages for 2 personas | ada, bo']);
});

test('in quiet hours a banner that is there goes when its mail is read, and is not replaced before their end', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.mail('ada', 1, 'one');
  scene.mail('bo', 1, 'one');
  scene.quiet(inSeconds(scene, 3600));
  scene.mail('ada', 2, 'two');
  scene.wait(60);
  scene.poll('bo', exactly(0));
  scene.wait(3600);
  assert.deepEqual(scene.transcript.slice(2), ['60s withdraw mail:bo', '3600s replace [normal] ada: 2 new | bob: two']);
});

test('an outage in quiet hours is told at their end if it lasts; one that ended in them is not', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.quiet(inSeconds(scene, 3600));
  scene.down('ada');
  scene.down('bo', 'bo', 'persona');
  scene.wait(60);
  scene.poll('bo');
  scene.wait(7200);
  assert.deepEqual(scene.transcript, [`3600s show [critical] kijito down: ada | ${REFUSED}`]);
});

test('urgent mail breaks quiet hours where a person wants it, each time it is new, and only it', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet: true };
  scene.join('ada', 'bo');
  scene.count('ada', 1, 1); // urgent from before
  scene.quiet(inSeconds(scene, 3600));
  scene.count('bo', 1, 0);
  scene.deliver('bo', 'no hurry');
  scene.count('ada', 2, 1);
  scene.deliver('ada', 'no hurry either');
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.count('ada', 3, 2);
  scene.deliver('ada', 'the build is on fire');
  scene.wait(60);
  scene.count('ada', 4, 2);
  scene.deliver('ada', 'it can wait');
  scene.down('bo');
  scene.wait(60);
  assert.deepEqual(scene.transcript, ['61s show [high] ada: 2 new, urgent | bob: the build is on fire']);
});

test('urgent mail breaks no pause and no mute, and keeps quiet hours where nobody asked for it', () => {
  for (const silence of ['pause', 'mute', 'quiet'] as const) {
    const scene = new Scene();
    scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet: silence !== 'quiet' };
    scene.join('ada');
    if (silence === 'quiet') scene.quiet(FOREVER);
    else scene.mute(silence === 'mute' ? 'ada' : null, FOREVER);
    scene.count('ada', 1, 1);
    scene.deliver('ada', 'now!');
    scene.wait(60);
    assert.deepEqual(scene.transcript, [], silence);
  }
});

test('urgent mail that came while Hivebar was away breaks quiet hours at its start', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet: true };
  scene.quiet(FOREVER);
  scene.join('ada');
  scene.count('ada', 1, 1);
  const reported = scene.createDelivery('ada', 'while you were gone');
  assert.ok(reported.is === 'delivered');
  const [first] = reported.events;
  assert.ok(first !== undefined);
  const armed = { ...first, event: 'armed', wake_class: 'liveness', cursor: 1 } as const;
  scene.facts({ ...reported, events: [armed, ...reported.events] });
  scene.wait(5);
  assert.deepEqual(scene.transcript, ['1s show [high] ada: 1 new, urgent | bob: while you were gone']);
});

test('S5: after a gap: mail of that time is one banner in all, and what fails is given the grace to wake up', () => {
  const scene = new Scene();
  scene.join('ada', 'bo', 'cy');
  scene.wait(3600);
  scene.facts({ is: 'gap', at: scene.at, ms: 3600_000, until: scene.at + 30_000 });
  scene.down('cy', 'cy', 'persona');
  for (const p of ['ada', 'bo']) scene.mail(p, 2, 'one', 'two');
  scene.wait(20);
  assert.deepEqual(scene.transcript, ['3601s show [normal] 4 messages for 2 personas | ada, bo']);
  scene.wait(40);
  assert.match(scene.transcript[1] ?? '', /^3630s show \[critical\] cy down/);
  scene.mail('cy', 1, 'and now live');
  assert.match(scene.transcript[2] ?? '', /^3660s show \[normal\] cy: 1 new/);
});

test('a flood of 10,000 mails is a banner each half minute for one persona, six for a hundred', () => {
  const scene = new Scene();
  scene.join('ada');
  for (let i = 1; i <= 10_000; i += 1) {
    scene.mail('ada', i, `mail ${i}`);
    scene.at += 10;
  }
  assert.equal(scene.transcript.length, 4, 'in 100 s');
  const crowd = new Scene();
  const personas = Array.from({ length: 100 }, (_, i) => `p${i}`);
  crowd.join(...personas);
  for (let i = 1; i <= 100; i += 1) for (const p of personas) crowd.mail(p, i, `mail ${i}`);
  crowd.wait(10);
  assert.equal(crowd.transcript.length, 6);
  assert.equal(crowd.screen.get('crowd')?.title, '9500 more messages for 95 personas');
});

test('the buttons of mail: open, mute, and mark as read where that can be done', () => {
  const scene = new Scene();
  scene.facts({ ...createJoinedFact('ada', scene.at), canMarkRead: true }, createJoinedFact('bo', scene.at));
  scene.mail('ada', 1, { id: 7, content: 'one' });
  scene.mail('bo', 1, 'one');
  const [ada, bo] = [scene.screen.get(toMailKey('ada')), scene.screen.get(toMailKey('bo'))];
  assert.ok(ada !== undefined && bo !== undefined);
  assert.deepEqual(
    ada.buttons.map(({ label }) => label),
    ['Open session', 'Mark as read', 'Mute 1 h'],
  );
  assert.deepEqual(
    bo.buttons.map(({ label }) => label),
    ['Open session', 'Mute 1 h'],
  );
  assert.deepEqual(findNotificationAction(ada, 'banner', 't'), {
    name: 'open',
    params: { persona: 'ada', activationToken: 't' },
  });
  assert.deepEqual(findNotificationAction(ada, 'open', 't'), {
    name: 'open',
    params: { persona: 'ada', activationToken: 't' },
  });
  assert.deepEqual(findNotificationAction(ada, 'read', 't'), { name: 'read', params: { persona: 'ada', id: 7 } });
  assert.deepEqual(findNotificationAction(ada, 'mute', null), {
    name: 'mute',
    params: { persona: 'ada', minutes: 60 },
  });
  assert.equal(findNotificationAction(bo, 'read', null), null, 'a button it does not have');
});

test('the buttons of an outage: its page, and a mute where it is about one persona', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.down('ada', 'ada', 'persona');
  scene.down('bo');
  scene.wait(2);
  const [own, shared] = [scene.screen.get('outage:ada'), scene.screen.get('outage:kijito')];
  assert.ok(own !== undefined && shared !== undefined);
  assert.deepEqual(findNotificationAction(own, 'banner', null), { name: 'page', params: { persona: 'ada' } });
  assert.deepEqual(
    own.buttons.map(({ id }) => id),
    ['mute'],
  );
  assert.deepEqual(findNotificationAction(shared, 'banner', 't'), { name: 'page', params: { activationToken: 't' } });
  assert.deepEqual(shared.buttons, []);
});

test('a clock that is set back leaves nobody without banners: the gap ends what the desktop was deaf for', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada');
  scene.broken = true;
  scene.mail('ada', 1, 'first');
  assert.equal(scene.screen.size, 0);
  scene.broken = false;
  scene.at -= 3_600_000;
  scene.facts({ is: 'gap', at: scene.at, ms: 3_600_000, until: scene.at + 1000 });
  scene.mail('ada', 2, 'second');
  scene.wait(5);
  assert.deepEqual([...scene.screen.keys()], ['mail:ada']);
});

/** What a look found: `urgent` of `unread`, and these messages with it. */
function found(scene: Scene, unread: number, urgent: number, ids: readonly number[]): void {
  const { at } = scene;
  const health = { is: 'up', since: at } as const;
  const agentState = { is: 'unknown', why: 'not-reported' } as const;
  const counts = { unread: exactly(unread), urgent: exactly(urgent) };
  const events = ids.map((id) => createNewEvent('ada', id, { ts: formatIso(at), content: `mail ${id}` }));
  scene.facts({ is: 'polled', at, persona: 'ada', health, ...counts, agentState, cursor: 0 });
  scene.wait(0.01); // the sink takes its time
  scene.facts({ is: 'delivered', at: scene.at, persona: 'ada', events });
}

test('F2 the first mail of a persona is urgent in its first banner, and breaks quiet hours', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet: true };
  scene.quiet(FOREVER);
  scene.join('ada');
  found(scene, 1, 1, [1]);
  scene.wait(60);
  assert.deepEqual(
    scene.transcript.map((line) => line.replace(/^\S+ /, '')),
    ['show [high] ada: 1 new, urgent | bob: mail 1'],
  );
});

test('F2 a first number says nothing of mail that comes with a later look', () => {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet: true };
  scene.quiet(FOREVER);
  scene.join('ada');
  found(scene, 1, 1, []);
  scene.wait(60);
  found(scene, 2, 1, [2]);
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
});
