import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenPermission } from '../../core/board/index.ts';
import { Scene } from '../../test/kit/notify-scene.ts';
import { findNotificationAction } from './channels/index.ts';
import { NOTIFY_RULES } from './state.ts';

/** ada and bo are watched, the desktop works, and prompts can be answered. */
function scene(): Scene {
  const made = new Scene();
  made.rules = { ...NOTIFY_RULES, answersPermissions: true };
  made.join('ada', 'bo');
  return made;
}

function prompt(s: Scene, number: number, over: Partial<OpenPermission> = {}): OpenPermission {
  return {
    ...{
      id: `secret-${number}`,
      number,
      persona: 'ada',
      harness: 'claude',
      isSubagent: false,
      cwd: null,
      tool: 'Bash',
    },
    ...{ text: 'command: npm test\ndescription: Run tests', cut: 0, created: s.at, expires: s.at + 590_000 },
    ...over,
  };
}

const asks = (s: Scene, ...permissions: OpenPermission[]): void =>
  s.facts({ is: 'permissions', at: s.at, permissions });
const waits = (s: Scene): void => s.agent('ada', { is: 'waiting', why: 'permission', since: s.at });

test('a prompt is one banner with the whole call, in place of that of the wait; answered anywhere it is withdrawn', () => {
  const s = scene();
  waits(s);
  s.wait(0.04);
  asks(s, prompt(s, 1));
  const banner = s.screen.get('permission:1');
  const part = (id: 'answer-1' | 'answer-2' | 'banner') => banner && findNotificationAction(banner, id, null);
  const permit = (answer: string) => ({
    name: 'permit',
    params: { permission: 'secret-1', answer, from: 'notification' },
  });
  assert.deepEqual([part('answer-1'), part('answer-2')], [permit('allow'), permit('deny')]);
  assert.deepEqual(part('banner'), { name: 'page', params: { persona: 'ada' } });
  s.wait(60);
  asks(s);
  s.wait(0.1);
  s.agent('ada', { is: 'working', since: s.at });
  s.wait(600);
  assert.deepEqual(
    s.transcript.map((line) => line.replace(/^\S+ /, '')),
    ['show [critical] ada asks to use Bash | command: npm test ⏎ description: Run tests', 'withdraw permission:1'],
  );
});

test('given a prompt that nobody answered, when its terminal asks, then the banner of the wait comes', () => {
  const s = scene();
  waits(s);
  asks(s, prompt(s, 1));
  s.wait(8);
  asks(s);
  s.wait(10);
  assert.deepEqual(
    [...s.screen.values()].map(({ title }) => title),
    ['ada waits at a permission prompt'],
  );
});

test('given prompts that cannot be answered here, then the banner of a wait comes as without the setting', () => {
  const s = scene();
  waits(s);
  s.wait(5);
  assert.deepEqual([...s.screen.keys()], ['wait:ada']);
});

test('given a call that the banner cannot show to its end, then nothing in the banner allows it', () => {
  const long = 'x'.repeat(121);
  for (const over of [
    { text: `command: ${long}` },
    { cut: 1 },
    { text: 'command: a  b' },
    { text: 'command: a ⏎ b' },
    { text: 'command: a\tb' },
    { tool: long },
  ]) {
    const s = scene();
    asks(s, prompt(s, 1, over));
    const banner = s.screen.get('permission:1');
    assert.deepEqual(
      banner?.buttons.map(({ label }) => label),
      ['Deny'],
      JSON.stringify(over),
    );
    assert.match(banner?.body ?? '', /read all of it on the page/);
  }
});

test('given a prompt of a muted or hidden persona, or in a pause, then there is no banner', () => {
  for (const silence of [
    (s: Scene) => s.mute('ada', { is: 'forever' }),
    (s: Scene) => s.mute(null, { is: 'forever' }),
    (s: Scene) => s.hide('ada'),
  ]) {
    const s = scene();
    silence(s);
    asks(s, prompt(s, 1));
    s.wait(5);
    assert.deepEqual([...s.screen.keys()], []);
  }
});

test('given many prompts at once, then they share one banner, which answers none', () => {
  const s = scene();
  asks(s, ...[1, 2, 3, 4, 5].map((number) => prompt(s, number)));
  s.wait(5);
  assert.deepEqual([...s.screen.keys()], ['permissions']);
  assert.deepEqual(s.screen.get('permissions')?.buttons, []);
});
