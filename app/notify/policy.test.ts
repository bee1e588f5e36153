import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../core/board/index.ts';
import { exactly, Fault, UNKNOWN } from '../../core/model/index.ts';
import { createJoinedFact, createPolledFact, REFUSED, Scene } from '../../test/kit/notify-scene.ts';
import { toOutageKey } from './channels/index.ts';

test('S1: mail that was read does not nag: one banner, withdrawn when it is read, and nothing after', () => {
  const scene = new Scene();
  scene.join('ada');
  for (let i = 0; i < 20; i += 1) {
    scene.poll('ada', exactly(0));
    scene.wait(15);
  }
  scene.mail('ada', 1, 'lunch?');
  for (let i = 0; i < 20; i += 1) {
    scene.wait(15);
    scene.poll('ada', exactly(1));
  }
  for (let i = 0; i < 20; i += 1) {
    scene.poll('ada', exactly(0));
    scene.wait(15);
  }
  assert.deepEqual(scene.transcript, ['300s show [normal] ada: 1 new | bob: lunch?', '600s withdraw mail:ada']);
});

test('a persona has one banner: replaced at most every 30 s, with the whole count and the latest mail', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.wait(5);
  scene.mail('ada', 2, 'two');
  scene.wait(5);
  scene.mail('ada', 3, { content: 'three', from: 'cy' });
  scene.wait(60);
  scene.mail('ada', 4, 'four');
  assert.deepEqual(scene.transcript, [
    '0s show [normal] ada: 1 new | bob: one',
    '30s replace [normal] ada: 3 new | cy: three',
    '70s replace [normal] ada: 4 new | bob: four',
  ]);
});

test('C4 given the answer that Hivebar tells the agent, the person who gave it is not alarmed', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada', exactly(1));
  scene.deliver('ada', { content: 'Decision 1 was answered by operator.', from: 'operator', origin: 'hivebar' });
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.mail('ada', 2, { content: 'Decision 1 was answered by operator.', from: 'operator' });
  assert.deepEqual(scene.transcript, ['60s show [normal] ada: 1 new | operator: Decision 1 was answered by operator.']);
});

test('mail that was read before its banner was due is not shown', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.wait(5);
  scene.mail('ada', 2, 'two');
  scene.wait(5);
  scene.poll('ada', exactly(0));
  scene.wait(100);
  assert.deepEqual(scene.transcript, ['0s show [normal] ada: 1 new | bob: one', '10s withdraw mail:ada']);
});

test('mail told while nothing is unread waits for the next level', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada', exactly(0));
  scene.deliver('ada', 'read in the same moment');
  scene.poll('ada', exactly(0));
  scene.deliver('ada', 'the level comes later');
  assert.deepEqual(scene.transcript, []);
  scene.poll('ada', exactly(1));
  assert.deepEqual(scene.transcript, ['0s show [normal] ada: 1 new | bob: the level comes later']);
});

test('mail is shown where the source cannot say how much is unread', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada', UNKNOWN);
  scene.deliver('ada', { from: 'bob' });
  assert.deepEqual(scene.transcript, ['0s show [normal] ada: 1 new | from bob']);
});

test('a banner that a person closed is done with: the next one counts from there', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 2, 'one', 'two');
  scene.screen.delete('mail:ada');
  scene.input({ is: 'closed', key: 'mail:ada', by: 'person' });
  scene.wait(40);
  scene.mail('ada', 3, 'three');
  scene.screen.delete('mail:ada');
  scene.input({ is: 'closed', key: 'mail:ada', by: 'channel' });
  scene.wait(40);
  scene.mail('ada', 4, 'four');
  assert.deepEqual(scene.transcript, [
    '0s show [normal] ada: 2 new | bob: two',
    '40s show [normal] ada: 1 new | bob: three',
    '80s show [normal] ada: 2 new | bob: four',
  ]);
});

test('urgent mail says so, and is still not critical', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.count('ada', 1, 1);
  scene.deliver('ada', 'now!');
  assert.deepEqual(scene.transcript, ['0s show [high] ada: 1 new, urgent | bob: now!']);
});

test('S2 S3: an outage and its end are one banner each, the second with the time it took', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada');
  scene.down('ada');
  for (let i = 0; i < 20; i += 1) {
    scene.wait(15);
    scene.down('ada');
  }
  scene.poll('ada');
  scene.wait(100);
  assert.deepEqual(scene.transcript, [
    `1s show [critical] kijito down: ada | ${REFUSED}`,
    '301s replace [normal] kijito is back: ada | Down for 5 min.',
  ]);
});

test('an outage that is over before it was told is not told', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.at += 500;
  scene.poll('ada');
  scene.wait(100);
  assert.deepEqual(scene.transcript, []);
});

test('S3: down and announced, killed, started, still down: nothing; then the recovery, once', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.down('ada');
  scene.down('bo');
  scene.wait(60);
  scene.restart();
  scene.join('ada', 'bo');
  for (const failures of [1, 2]) {
    const health = { is: 'failing', failures, why: 'refused' } as const;
    const fault = new Fault('refused', 'again', { is: 'source', key: 'kijito' });
    scene.facts({ is: 'failed', at: scene.at, persona: 'ada', health, fault });
    scene.wait(15);
  }
  scene.down('ada');
  scene.down('bo');
  scene.wait(60);
  assert.equal(scene.transcript.length, 1);
  scene.poll('bo');
  scene.poll('ada');
  scene.wait(60);
  scene.restart();
  scene.join('ada', 'bo');
  scene.poll('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    `1s show [critical] kijito down: 2 personas | ${REFUSED} (ada, bo)`,
    '151s replace [normal] kijito is back: 2 personas | Down for 2 min.',
  ]);
});

test('S3: stopped while up, broken, started: one banner', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada');
  scene.restart();
  scene.join('ada');
  scene.down('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, [`1s show [critical] kijito down: ada | ${REFUSED}`]);
});

test('S3: down and announced, stopped, healed, started: the recovery is told', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(60);
  scene.restart();
  scene.wait(3540);
  scene.join('ada');
  scene.poll('ada');
  scene.wait(60);
  assert.equal(scene.transcript[1], '3601s replace [normal] kijito is back: ada | Down for 1 h.');
});

test('an announced outage whose personas are gone after a restart cannot swallow the next one', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(60);
  scene.restart();
  scene.join('newcomer');
  scene.poll('newcomer');
  scene.wait(60);
  scene.down('newcomer');
  scene.wait(60);
  assert.deepEqual(
    scene.transcript.map((line) => line.split(' | ')[0]),
    [
      '1s show [critical] kijito down: ada',
      '61s replace [normal] kijito is back: ada',
      '121s replace [critical] kijito down: newcomer',
    ],
  );
});

test('S4: sixty personas of one hive are one banner with their number, and one when they are back', () => {
  const scene = new Scene();
  const personas = Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(2, '0')}`);
  scene.join(...personas);
  for (const p of personas) {
    scene.down(p);
    scene.at += 10;
  }
  scene.wait(60);
  for (const p of personas) scene.poll(p);
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    `2s show [critical] kijito down: 60 personas | ${REFUSED} (p00, p01, p02 and 57 more)`,
    '62s replace [normal] kijito is back: 60 personas | Down for 1 min.',
  ]);
});

test('S4: three hives are three banners; late ones raise the count while the banner is on the screen', () => {
  const scene = new Scene();
  for (const hive of ['a', 'b', 'c']) {
    for (let i = 0; i < 20; i += 1) {
      scene.facts(createJoinedFact(`${hive}${i}`, scene.at, hive));
      if (i < 10) scene.down(`${hive}${i}`, hive);
    }
  }
  scene.wait(10);
  for (const hive of ['a', 'b', 'c']) for (let i = 10; i < 20; i += 1) scene.down(`${hive}${i}`, hive);
  scene.input({ is: 'closed', key: toOutageKey('c'), by: 'person' });
  scene.wait(60);
  assert.deepEqual(
    scene.transcript.map((line) => line.split(' | ')[0]),
    [
      '1s show [critical] a down: 10 personas',
      '1s show [critical] b down: 10 personas',
      '1s show [critical] c down: 10 personas',
      '31s replace [critical] a down: 20 personas',
      '31s replace [critical] b down: 20 personas',
    ],
  );
});

test('S5: after a long sleep the mail of that time is one banner a persona', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'before');
  scene.at += 12 * 3600_000;
  scene.mail('ada', 30, ...Array.from({ length: 29 }, (_, i) => `while asleep ${i}`));
  scene.wait(100);
  assert.deepEqual(scene.transcript, [
    '0s show [normal] ada: 1 new | bob: before',
    '43200s replace [normal] ada: 30 new | bob: while asleep 28',
  ]);
});

test('a clock that is set back holds no banner up', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, 'one');
  scene.at -= 3600_000;
  scene.mail('ada', 2, 'two');
  assert.equal(scene.transcript.length, 2);
});

test('a source that cannot say who is there is down after a while, unless its personas can be read', () => {
  const scene = new Scene();
  const fault = new Fault('refused', 'no directory', { is: 'source', key: 'kijito' });
  const source = { is: 'source', source: 'kijito', address: 'http://127.0.0.1:7474' } as const;
  scene.facts({ ...source, at: scene.at, fault });
  scene.wait(5);
  scene.facts({ ...source, at: scene.at, fault: null });
  scene.join('ada');
  scene.poll('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, [], 'it was only slower to start than we were');
  scene.facts({ ...source, at: scene.at, fault });
  scene.wait(60);
  assert.deepEqual(scene.transcript, [], 'a rescan failed, and ada is read all the same');
  scene.restart();
  scene.facts({ ...source, at: scene.at, fault });
  scene.wait(60);
  scene.restart();
  scene.facts({ ...source, at: scene.at, fault: null });
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    '135s show [critical] kijito down | no directory: check that the server is running at that address',
    '186s replace [normal] kijito is back | Down for 1 min.',
  ]);
});

test('everybody who was down leaves: the banner goes without a word of recovery', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(10);
  scene.facts({ is: 'left', at: scene.at, persona: 'ada' });
  scene.wait(10);
  assert.equal(scene.transcript[1], '10s withdraw outage:kijito');
  assert.deepEqual(scene.state.announced, {});
});

test('S16: an own message never notifies', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, { self: true, content: 'note to self' });
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.mail('ada', 3, { self: true, content: 'again' }, 'from somebody');
  assert.deepEqual(scene.transcript, ['60s show [normal] ada: 1 new | bob: from somebody']);
});

test('S17: a first start against 500 unread shows nothing; 40 that came while stopped are one banner', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.poll('ada', exactly(500));
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.restart();
  scene.join('ada');
  scene.mail('ada', 540, ...Array.from({ length: 40 }, (_, i) => `mail ${i}`));
  scene.wait(60);
  assert.deepEqual(scene.transcript, ['60s show [normal] ada: 40 new | bob: mail 39']);
});

test('S17: a thousand personas with mail at once are five banners and one for the others', () => {
  const scene = new Scene();
  const personas = Array.from({ length: 1000 }, (_, i) => `p${i}`);
  scene.join(...personas);
  scene.facts(
    ...personas.flatMap((p) => [createPolledFact(p, scene.at, exactly(2)), scene.createDelivery(p, 'a', 'b')]),
  );
  scene.wait(60);
  assert.equal(scene.transcript.length, 6);
  assert.equal(scene.transcript[5], '1s show [normal] 1990 more messages for 995 personas | p5, p6, p7 and 992 more');
  scene.facts(...personas.map((p) => createPolledFact(p, scene.at, exactly(0))));
  assert.equal(scene.screen.size, 0, 'all was read, all is gone');
});

test('S17: what came while Hivebar was away is one banner in all; what comes from then on is one a persona', () => {
  const scene = new Scene();
  const personas = ['ada', 'bo', 'cy'];
  scene.join(...personas);
  scene.facts(
    ...personas.flatMap((p) => [createPolledFact(p, scene.at, exactly(2)), away(scene.createDelivery(p, 'a', 'b'))]),
  );
  scene.wait(10);
  scene.mail('ada', 3, 'c');
  scene.wait(60);
  assert.deepEqual(scene.transcript, [
    '1s show [normal] 6 messages for 3 personas | ada, bo, cy',
    '31s show [normal] ada: 3 new | bob: c',
  ]);
  scene.facts(...personas.map((p) => createPolledFact(p, scene.at, exactly(0))));
  assert.equal(scene.screen.size, 0, 'all was read, all is gone');
});

test('S17: away for one persona alone is its own banner; a persona born meanwhile was never away', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.facts(createPolledFact('ada', scene.at, exactly(2)), away(scene.createDelivery('ada', 'a', 'b')));
  scene.wait(10);
  const born = away(scene.createDelivery('bo', 'first'));
  assert.ok(born.is === 'delivered');
  const [armed, ...rest] = born.events;
  assert.ok(armed?.event === 'armed');
  const added = { ...armed, event: 'persona_added' } as const;
  scene.facts(createPolledFact('bo', scene.at, exactly(1)), { ...born, events: [added, armed, ...rest] });
  assert.deepEqual(scene.transcript, [
    '1s show [normal] ada: 2 new | bob: b',
    '10s show [normal] bo: 1 new | bob: first',
  ]);
});

/** The same, told at the arming of the watch. */
function away(fact: Fact): Fact {
  if (fact.is !== 'delivered') return fact;
  const [first] = fact.events;
  assert.ok(first !== undefined);
  const { source, ts, event_id } = first;
  const armed = {
    event: 'armed',
    source,
    ts,
    event_id: `${event_id}-armed`,
    wake_class: 'liveness',
    cursor: 0,
  } as const;
  return { ...fact, events: [armed, ...fact.events] };
}

test('S19: a desktop that refuses is asked once a minute, not once a mail, and gets one banner when it is ready', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.broken = true;
  for (let i = 1; i <= 50; i += 1) {
    scene.mail('ada', i, `mail ${i}`);
    scene.wait(1);
  }
  scene.down('ada');
  scene.wait(5);
  assert.deepEqual(scene.transcript, ['0s refused mail:ada']);
  scene.broken = false;
  scene.input({ is: 'ready' });
  assert.deepEqual(scene.transcript.slice(1), [
    `55s show [critical] kijito down: ada | ${REFUSED}`,
    '55s show [normal] ada: 50 new | bob: mail 50',
  ]);
});

test('paused: mail is left to the badge; an outage that lasts is told afterwards, one that ended is not', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  scene.mute(null, { is: 'at', at: scene.at + 100_000 });
  scene.mail('ada', 1, 'one');
  scene.down('ada');
  scene.down('bo', 'bo', 'persona');
  scene.wait(50);
  scene.poll('bo');
  scene.wait(100);
  assert.deepEqual(scene.transcript, [`100s show [critical] kijito down: ada | ${REFUSED}`]);
  scene.poll('ada', exactly(2));
  scene.deliver('ada', 'two');
  assert.match(scene.transcript.at(-1) ?? '', /ada: 2 new/);
});

test('a recovery while paused is told afterwards', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.down('ada');
  scene.wait(10);
  scene.mute(null, { is: 'forever' });
  scene.wait(10);
  scene.poll('ada');
  scene.wait(100);
  scene.mute(null, { is: 'never' });
  assert.deepEqual(scene.transcript.slice(1), [
    '21s withdraw outage:kijito',
    '120s show [normal] kijito is back: ada | Down for 20 s, back for 1 min.',
  ]);
});

test('a muted persona is silent, known before it joins, and its source is not', () => {
  const scene = new Scene();
  scene.mute('ada', { is: 'forever' });
  scene.join('ada', 'bo');
  scene.mail('ada', 1, 'one');
  scene.down('ada');
  scene.wait(60);
  assert.deepEqual(scene.transcript, []);
  scene.down('bo');
  scene.wait(1);
  assert.match(scene.transcript[0] ?? '', /kijito down: 2 personas/);
});

test('a persona may be called __proto__', () => {
  const scene = new Scene();
  scene.join('__proto__', 'constructor');
  scene.mail('__proto__', 1, 'one');
  scene.mail('constructor', 1, 'two');
  scene.down('__proto__', '__proto__', 'persona');
  scene.wait(5);
  assert.deepEqual([...scene.screen.keys()], ['mail:__proto__', 'mail:constructor', 'outage:__proto__']);
});

test('hostile text stays text, on one line and short', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, { from: '\u202eevil\n', content: `<b>\u0007${'x'.repeat(100_000)}` });
  const [banner] = scene.screen.values();
  assert.match(banner?.body ?? '', /^evil: <b>x+…$/);
  assert.equal([...(banner?.body ?? '')].length, 200);
});

test('mail of whom nobody knows who wrote it is shown without a name; what becomes of it is no news', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, { from: null, content: 'hi' });
  const [banner] = scene.screen.values();
  assert.deepEqual([banner?.title, banner?.body], ['ada: 1 new', 'hi']);
  const read = { source: 's', ts: '', persona: 'ada', event: 'read', id: 1, wake_class: 'liveness' } as const;
  scene.facts({ is: 'delivered', at: scene.at, persona: 'ada', events: [{ ...read, event_id: 'ada:read:1-1' }] });
  assert.deepEqual([scene.screen.size, [...scene.screen.values()][0]?.title], [1, 'ada: 1 new']);
});

test('work that came for an agent is no news to a person: it is not among what is unread', () => {
  const scene = new Scene();
  scene.join('ada');
  scene.mail('ada', 1, { event: 'handoff', content: 'yours' });
  assert.equal(scene.screen.size, 0);
  scene.mail('ada', 1, { content: 'hi' });
  assert.equal([...scene.screen.values()][0]?.body, 'bob: hi');
});

test('a name from right to left stays in its place: it does not swap sides with the count or the text', () => {
  const scene = new Scene();
  scene.facts({ ...createJoinedFact('ada', scene.at), label: 'שלום' });
  scene.mail('ada', 1, { from: 'ٱلعربية', content: `${'ש'.repeat(300)}` });
  const [banner] = scene.screen.values();
  assert.equal(banner?.title, '\u2068שלום\u2069: 1 new');
  assert.match(banner?.body ?? '', /^\u2068ٱلعربية\u2069: \u2068ש+…\u2069$/);
  assert.ok([...(banner?.body ?? '')].length <= 204);
});

test('an outage keeps its names, however long its reason is', () => {
  const scene = new Scene();
  scene.join('ada', 'bo');
  const fault = new Fault('refused', 'x'.repeat(1000), { is: 'source', key: 'kijito' });
  for (const persona of ['ada', 'bo']) {
    const health = { is: 'down', since: scene.at, failures: 3, why: 'refused' } as const;
    scene.facts({ is: 'failed', at: scene.at, persona, health, fault });
  }
  scene.wait(2);
  assert.match(scene.screen.get('outage:kijito')?.body ?? '', /^x+… \(ada, bo\)$/);
});

test('A7 given a full disk, a person is told of it once, and once when there is room again', () => {
  const scene = new Scene();
  scene.join('ada');
  const fault = new Fault('no-space', 'nothing can be written', { is: 'machine', key: 'disk' });
  scene.facts({ is: 'machine', at: scene.at, key: 'disk', fault });
  scene.wait(600);
  scene.facts({ is: 'machine', at: scene.at, key: 'disk', fault });
  scene.wait(600);
  scene.facts({ is: 'machine', at: scene.at, key: 'disk', fault: null });
  scene.wait(600);
  const shown = scene.transcript.map((line) => line.replace(/^\d+s /, ''));
  assert.equal(shown.length, 2, shown.join('\n'));
  assert.match(shown[0] ?? '', /^show \[critical\] The disk is full \| nothing can be written: free space on the disk/);
  assert.match(shown[1] ?? '', /The disk has free space again \| Down for 20 min/);
});
