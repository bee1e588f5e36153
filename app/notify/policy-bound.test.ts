import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactly } from '../../core/model/index.ts';
import { createDecision, createJoinedFact, Scene } from '../../test/kit/notify-scene.ts';
import { NOTIFY_RULES } from './state.ts';

const NAMES = Array.from({ length: 1000 }, (_, i) => `p${i}`);
const WAITING = { is: 'waiting', why: 'input', since: 1_000_000_000 } as const;
const SHARED = /^(decisions|permissions|waits|questions|crowd|outages)$/;

/** A scene that counts the banners of one thing, with their times. */
class CountingScene extends Scene {
  readonly own: { readonly at: number; readonly title: string }[] = [];
  override input(input: Parameters<Scene['input']>[0]): void {
    const { notification } = input as { readonly notification?: { readonly key: string; readonly title: string } };
    if (input.is === 'shown' && notification !== undefined && !SHARED.test(notification.key))
      this.own.push({ at: this.at, title: notification.title });
    super.input(input);
  }

  /** The most banners of one thing in any minute. */
  countBusiestMinute(): number {
    return Math.max(
      0,
      ...this.own.map(({ at }) => this.own.filter((other) => other.at >= at && other.at < at + 60_000).length),
    );
  }
}

const list = (scene: Scene, pattern: RegExp): string[] => scene.transcript.filter((line) => pattern.test(line));

test('1,000 personas get mail in 12 s: six banners, and one summary that is replaced in place', () => {
  const scene = new CountingScene();
  scene.facts(...NAMES.map((name) => createJoinedFact(name, scene.at)));
  for (const name of NAMES) {
    scene.mail(name, 1, 'hi');
    scene.wait(0.012);
  }
  scene.wait(60);
  assert.equal(scene.own.length, 6, 'the room of a minute, without what is kept for needs');
  const summaries = list(scene, /personas/);
  assert.match(summaries.at(-1) ?? '', /replace \[normal\] 994 more messages for 994 personas \| p/);
  assert.ok(summaries.length <= 3, summaries.join('\n'));
  assert.equal(scene.screen.size, 7);
});

test('after a storm of mail, urgent mail, a question and an agent that waits still have their own banners', () => {
  const scene = new CountingScene();
  scene.facts(...NAMES.map((name) => createJoinedFact(name, scene.at)));
  for (const name of NAMES) scene.mail(name, 1, 'hi');
  scene.join('ada', 'bo', 'cy');
  scene.count('ada', 1, 1);
  scene.wait(11); // by now others would have banners of their own again
  scene.deliver('ada', 'now!');
  scene.ask(createDecision(1, { persona: 'bo' }));
  scene.agent('cy', WAITING);
  scene.wait(2);
  const titles = scene.own.slice(-3).map(({ title }) => title);
  assert.deepEqual(titles.toSorted(), ['ada: 1 new, urgent', 'bo asks', 'cy waits for your input']);
});

test('after a storm of mail and of outages, an agent that waits still has its own banner', () => {
  const scene = new CountingScene();
  const names = NAMES.slice(0, 60);
  scene.join(...names, 'cy');
  for (const name of [...names, 'cy']) scene.poll(name);
  for (const name of names.slice(0, 30)) scene.mail(name, 1, 'hi');
  for (const name of names.slice(30)) scene.down(name, `key-${name}`, 'persona');
  scene.wait(20);
  scene.agent('cy', WAITING);
  scene.wait(2);
  assert.equal(scene.own.at(-1)?.title, 'cy waits for your input');
});

test('when the minute is full, needs share a banner at once and are named in it', () => {
  const scene = new CountingScene();
  const agents = NAMES.slice(0, 40);
  scene.join(...agents);
  for (const name of agents) {
    scene.agent(name, WAITING);
    scene.wait(4); // slow enough for the bound of 10 s
  }
  assert.ok(scene.countBusiestMinute() <= NOTIFY_RULES.mostPerMinute, `${scene.countBusiestMinute()}`);
  scene.wait(60);
  assert.ok(list(scene, /more agents? waits? for you \| p/).length > 0);
  const named = scene.transcript.join('\n');
  assert.match(named, /\[critical\] \d+ more agents wait for you/);
  for (const ask of Object.values(scene.state.asks)) assert.equal(ask.announceState, 'done');
});

test('60 inboxes that fail for reasons of their own: ten banners and one that the others share, at both ends', () => {
  const scene = new CountingScene();
  const names = NAMES.slice(0, 60);
  scene.join(...names);
  for (const name of names) scene.poll(name);
  for (const name of names) scene.down(name, `key-${name}`, 'persona');
  scene.wait(40);
  assert.deepEqual(list(scene, /outages?/), ['2s show [critical] 50 more outages | Down: p10, p11, p12 and 47 more.']);
  assert.equal(scene.own.length, 10);
  scene.wait(60);
  for (const name of names) scene.poll(name, exactly(0));
  scene.wait(40);
  assert.equal(scene.own.length, 20);
  assert.match(list(scene, /over/).join(), /50 outages are over \| Back: p10/);
  assert.deepEqual(scene.state.announced, {});
  assert.deepEqual(scene.state.outages, {});
});

test('a shared banner of outages that the desktop refused is tried again', () => {
  const scene = new CountingScene();
  const names = NAMES.slice(0, 20);
  scene.join(...names);
  for (const name of names) scene.poll(name);
  for (const name of names) scene.down(name, `key-${name}`, 'persona');
  scene.wait(1);
  scene.broken = true;
  scene.wait(5);
  assert.equal(list(scene, /refused outages/).length, 1);
  scene.broken = false;
  scene.wait(120);
  assert.equal(Object.keys(scene.state.announced).length, 20);
});

test('whatever happens, a minute has a bounded number of banners of one thing, and in the end a person was told of everything', () => {
  const persona = fc.constantFrom(...NAMES.slice(0, 15));
  const step = fc.oneof(
    fc.record({ is: fc.constant('mail' as const), persona, urgent: fc.boolean() }),
    fc.record({ is: fc.constant('wait' as const), persona }),
    fc.record({ is: fc.constant('question' as const), persona }),
    fc.record({ is: fc.constant('down' as const), persona }),
    fc.record({ is: fc.constant('up' as const), persona }),
    fc.record({ is: fc.constant('pass' as const), persona, seconds: fc.integer({ min: 1, max: 20 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 150 }), (steps) => {
      const scene = new CountingScene();
      const names = NAMES.slice(0, 15);
      scene.join(...names);
      const unread = new Map(names.map((name) => [name, 0]));
      for (const name of names) scene.poll(name);
      for (const at of steps) {
        const more = (unread.get(at.persona) ?? 0) + 1;
        switch (at.is) {
          case 'mail':
            unread.set(at.persona, more);
            scene.count(at.persona, more, at.urgent ? more : 0);
            scene.deliver(at.persona, 'hi');
            break;
          case 'question':
            unread.set(at.persona, more);
            scene.count(at.persona, more, 0);
            scene.deliver(at.persona, { event: 'question', content: 'Which?' });
            break;
          case 'wait':
            scene.agent(at.persona, { ...WAITING, since: scene.at });
            break;
          case 'down':
            scene.down(at.persona, `key-${at.persona}`, 'persona');
            break;
          case 'up':
            scene.poll(at.persona, exactly(unread.get(at.persona) ?? 0));
            break;
          case 'pass':
            scene.wait(at.seconds);
        }
        scene.wait(0.2);
      }
      scene.wait(600);
      assert.ok(scene.countBusiestMinute() <= NOTIFY_RULES.mostPerMinute, `${scene.countBusiestMinute()} in a minute`);
      for (const { id, mail } of Object.values(scene.state.personas))
        assert.ok(mail.is === 'quiet' || mail.fresh === 0, `mail of ${id} is in no banner`);
      for (const { key, announceState } of Object.values(scene.state.asks)) assert.equal(announceState, 'done', key);
      for (const { health } of Object.values(scene.state.personas))
        for (const key of health.is === 'down' ? health.causes : [])
          assert.ok(scene.state.announced[key] !== undefined, key);
    }),
    { numRuns: 60 },
  );
});
