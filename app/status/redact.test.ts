import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactLine } from './to-wire.ts';

const HEAD = '"event_id": "ada:alert:00-1"';

test('without the token an alert says of which kind it is and its numbers, and no text of anybody', () => {
  const gap = `{"event": "alert", "reason": "gap", "omitted": 3, "content": "secret", ${HEAD}}`;
  assert.equal(redactLine(gap, 'anyone'), `{"event": "alert", "reason": "gap", "omitted": 3, ${HEAD}}`);
  const stranded = `{"event": "alert", "reason": "stranded", "stranded_inboxes": ["adda"], ${HEAD}}`;
  assert.equal(redactLine(stranded, 'anyone'), stranded);
});

test('what only a source knows of a message stays inside, and so does a sender', () => {
  const read = '{"event": "read", "id": 3, "stem": "who-said-what", "event_id": "ada:read:3-1"}';
  assert.equal(redactLine(read, 'anyone'), '{"event": "read", "id": 3, "event_id": "ada:read:3-1"}');
  const mail = '{"event": "new", "id": 3, "from": null, "created": null, "stem": "s", "event_id": "ada:new:3"}';
  assert.equal(redactLine(mail, 'anyone'), '{"event": "new", "id": 3, "created": null, "event_id": "ada:new:3"}');
});

test('the reason of any other event is a text, and stays inside', () => {
  const line = `{"event": "state_corrupt", "armed_at": 3, "reason": "/x/hive.json: torn", ${HEAD}}`;
  assert.doesNotMatch(redactLine(line, 'anyone'), /torn/);
  assert.equal(redactLine(line, 'owner'), line);
});

test('what an agent waits for is shown to anyone, as in the status', () => {
  const line = '{"event": "waiting", "reason": "permission", "cwd": "/w", "event_id": "ada:waiting:00-1"}';
  assert.equal(redactLine(line, 'anyone'), line);
});
