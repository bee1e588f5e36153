import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { openPreferenceStore } from './index.ts';

test('what was clicked is there for the next opening of the database', () => {
  using db = openDatabase(':memory:');
  const first = openPreferenceStore(db);
  first.setMute(null, { is: 'forever' });
  first.setMute('ada', { is: 'at', at: 5 });
  first.setMute('bo', { is: 'forever' });
  first.setMute('bo', { is: 'never' });
  first.setHidden('ada', true);
  first.setHidden('ada', true);
  first.setHidden('bo', true);
  first.setHidden('bo', false);
  const next = openPreferenceStore(db);
  assert.deepEqual(next.mutes(), [
    { persona: null, until: { is: 'forever' } },
    { persona: 'ada', until: { is: 'at', at: 5 } },
  ]);
  assert.deepEqual(next.hidden(), ['ada']);
});

test('quiet hours are as the settings have them until somebody switched them', () => {
  using db = openDatabase(':memory:');
  const preferences = openPreferenceStore(db);
  assert.deepEqual([preferences.quietHours(true), preferences.quietHours(false)], [true, false]);
  preferences.setQuietHours(false);
  assert.equal(preferences.quietHours(true), false);
});
