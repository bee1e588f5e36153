import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readLine } from './lines.ts';

const path = join(import.meta.dirname, '..', '..', '..', 'assets', 'source-lines.schema.json');
const fits = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(
  JSON.parse(readFileSync(path, 'utf8')) as object,
);

const ITEM = { op: 'item', persona: 'ada', key: 'k', state: 'unread' };

/** Lines that both must accept, without anything left out. */
const GOOD: readonly object[] = [
  { op: 'ready', protocol: 1, source: 'my-mail', label: 'x', can: ['hint', 'markRead', 'reply'] },
  { op: 'ready', protocol: 1, source: 'ab' },
  { op: 'persona', persona: 'ada' },
  { op: 'persona', persona: 'a/b', unread: 0, urgent: null, agent: 'waiting', why: 'permission', cwd: '/a', you: true },
  {
    op: 'persona',
    persona: 'ada',
    resume: ['claude', '--resume', 'x'],
    pane: '/tmp/tmux-0/default,4711,0 %1',
    label: null,
  },
  ITEM,
  { ...ITEM, from: 'bo', created: '2026-11-29T09:00:00Z', subject: 's', content: 'c', urgent: true, kind: 'question' },
  { ...ITEM, open: { url: 'https://example.org/1' }, thread: 't', extra: { a: 1, 'b.c': 'x', d: null, e: true } },
  { ...ITEM, open: { argv: ['less', '/a'] }, state: 'gone' },
  { op: 'fault', code: 'auth', message: 'log in', retryMs: 5000 },
  { op: 'fault', code: 'busy', persona: 'ada' },
  { op: 'done' },
  { op: 'done', id: 3, cursor: 'c', full: false, more: true },
  { op: 'changed' },
  { op: 'changed', persona: 'ada' },
  { op: 'result', id: 1, ok: false, message: 'no' },
  { ...ITEM, later: { anything: [1] } },
];

/** Lines of which the reader refuses or leaves out something, so the schema must refuse them. */
const BAD: readonly unknown[] = [
  [],
  'x',
  {},
  { op: 'ready', protocol: 2, source: 'ab' },
  { op: 'ready', protocol: 1, source: 'A' },
  { op: 'persona' },
  { op: 'persona', persona: '' },
  { op: 'persona', persona: '../x' },
  { op: 'persona', persona: '__proto__' },
  { op: 'persona', persona: 'a\nb' },
  { op: 'persona', persona: 'ada', unread: -1 },
  { op: 'persona', persona: 'ada', unread: 1.5 },
  { op: 'persona', persona: 'ada', agent: 'asleep' },
  { op: 'persona', persona: 'ada', resume: [] },
  { op: 'persona', persona: 'ada', pane: '%7' },
  { op: 'item', persona: 'ada', key: 'k' },
  { ...ITEM, key: 'k'.repeat(201) },
  { ...ITEM, key: '\0' },
  { ...ITEM, state: 'lost' },
  { ...ITEM, kind: 'joke' },
  { ...ITEM, from: 7 },
  { ...ITEM, open: {} },
  { ...ITEM, extra: { a: {} } },
  { ...ITEM, extra: { 'a b': 1 } },
  { ...ITEM, extra: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, i])) },
  { op: 'fault', code: 'sad' },
  { op: 'fault', code: 'auth', retryMs: -1 },
  { op: 'done', full: 'yes' },
  { op: 'done', id: 'x' },
  { op: 'done', cursor: 'c'.repeat(4097) },
  { op: 'changed', persona: '..' },
  { op: 'result', id: 1 },
];

test('the published schema accepts what the reader accepts as a whole, and nothing else', () => {
  for (const line of GOOD) {
    const reading = readLine(line, 220);
    assert.ok(reading.is === 'line' && reading.defects.length === 0, JSON.stringify([line, reading]));
    assert.ok(fits(line), JSON.stringify([line, fits.errors]));
  }
  for (const line of BAD) {
    const reading = readLine(line, 220);
    assert.ok(reading.is !== 'line' || reading.defects.length > 0, JSON.stringify([line, reading]));
    assert.equal(fits(line), false, JSON.stringify(line));
  }
});
