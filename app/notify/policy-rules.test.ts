import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDecision, Scene } from '../../test/kit/notify-scene.ts';
import { createPersonaRules, type PersonaRule } from './channels/index.ts';
import { NOTIFY_RULES } from './state.ts';

function sceneWith(...rules: PersonaRule[]): Scene {
  const scene = new Scene();
  scene.rules = { ...NOTIFY_RULES, personas: createPersonaRules(rules) };
  scene.join('ada', 'bo');
  for (const name of ['ada', 'bo']) scene.poll(name);
  return scene;
}

const titles = (scene: Scene): string[] =>
  scene.transcript.map((line) => line.replace(/^\d+s \w+ \[\w+\] (.*) \|.*$/, '$1'));

/** Everything that a persona may notify of. */
function happen(scene: Scene, name: string): void {
  scene.mail(name, 1, 'hi');
  scene.wait(40);
  scene.count(name, 2, 1);
  scene.deliver(name, 'now!');
  scene.wait(40);
  scene.ask(createDecision(1, { persona: name }));
  scene.agent(name, { is: 'waiting', why: 'input', since: scene.at });
  scene.wait(40);
  scene.down(name, `key-${name}`, 'persona');
  scene.wait(40);
}

const EVERYTHING = ['ada: 1 new', 'ada: 2 new, urgent', 'ada asks', 'ada waits for your input', 'ada down'];

test('a persona without a rule, or with one that leaves out nothing, notifies of everything', () => {
  for (const rules of [[], [{ persona: 'ada' }], [{ persona: 'bo', only: [] }]]) {
    const scene = sceneWith(...rules);
    happen(scene, 'ada');
    assert.deepEqual(titles(scene), EVERYTHING);
  }
});

test('a rule names the kinds that notify; what is left out stays in the menu', () => {
  for (const [only, expected] of [
    [['mail'], EVERYTHING.slice(0, 2)],
    [['urgent'], ['ada: 2 new, urgent']],
    [['questions'], ['ada asks']],
    [['waits'], ['ada waits for your input']],
    [['outages'], ['ada down']],
    [
      ['urgent', 'questions'],
      ['ada: 2 new, urgent', 'ada asks'],
    ],
    [[], []],
  ] as const) {
    const scene = sceneWith({ persona: 'ada', only });
    happen(scene, 'ada');
    assert.deepEqual(titles(scene), expected, only.join());
  }
});

test('a decision of high urgency is urgent, and the first rule that fits applies', () => {
  const scene = sceneWith(
    { persona: 'a*', only: ['urgent'] },
    { persona: 'ada', only: [] },
    { persona: '*', only: [] },
  );
  scene.ask(createDecision(1, { persona: 'ada' }), createDecision(2, { persona: 'ada', urgency: 'high' }));
  scene.mail('bo', 1, 'hi');
  scene.wait(5);
  assert.deepEqual(titles(scene), ['ada asks']);
});

test('an outage of a whole hive is announced while one of its personas wants it', () => {
  const both = sceneWith({ persona: 'ada', only: [] });
  const none = sceneWith({ persona: '*', only: ['mail'] });
  for (const scene of [both, none]) {
    scene.down('ada');
    scene.down('bo');
    scene.wait(10);
  }
  assert.deepEqual([titles(both), titles(none)], [['kijito down: 2 personas'], []]);
});

test('the sound of a rule goes with the notification; without one the setting decides', () => {
  const scene = sceneWith({ persona: 'ada', sound: true });
  scene.mail('ada', 1, 'hi');
  scene.mail('bo', 1, 'hi');
  assert.deepEqual([scene.screen.get('mail:ada')?.sound, scene.screen.get('mail:bo')?.sound], [true, undefined]);
});
