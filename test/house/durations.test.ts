import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatWakeText } from '../../app/follow/program-output.ts';
import { buildRecoveryNotification } from '../../app/notify/texts.ts';
import { formatAge } from '../../app/tray/persona-row.ts';
import { formatAgo } from '../../ui-static/present.ts';
import { programFiles } from './source-file.ts';

const MINUTE = 60_000;

/** Each prints a constant, or days of a clock that is wrong. */
const NO_DURATIONS: readonly string[] = [
  'app/daemon/daemon-binding.ts',
  'app/local/store-upkeep.ts',
  'test/kit/menu-samples.ts',
];

test('E5 no other file than that of core/format spells minutes, hours or days', () => {
  const spells = /\} (min|minutes?|h|hours?|d|days?)\b|'(min|h)'/;
  const found = programFiles().filter(({ path, text }) => spells.test(text) && !NO_DURATIONS.includes(path));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['core/format/quantity.ts'],
  );
});

/** Texts that core/format makes, each as it would be spelled by hand, and who may. */
const SPELLED: readonly (readonly [string, RegExp, readonly string[]])[] = [
  [
    'local time',
    /\.toLocale\w*\(|\.getHours\(|DateTimeFormat/,
    // a stamp in the form of the garden, and the axis of a chart
    ['core/format/clock-time.node.ts', 'core/sources/garden/act/local-system.node.ts', 'ui-static/chart.ts'],
  ],
  ['UTC to the second', /slice\(0, 19\)\}Z/, ['core/format/quantity.ts']],
  ['the rest of a list', / and \$\{[^}]+\} more[`']/, ['core/format/quantity.ts']],
  ['a number that may be higher', /\$\{(n|count|[\w.]+\.n)\}\+`/, ['core/format/quantity.ts']],
  ['the end of a silence', /until \$\{(timeText|formatClockTime|new Date)/, []],
];

test('E5 counts, lists, silence and clock times are spelled in core/format alone', () => {
  for (const [label, pattern, allowed] of SPELLED) {
    const found = programFiles().filter(({ path, text }) => pattern.test(text) && !path.startsWith('test/'));
    assert.deepEqual(found.map(({ path }) => path).sort(), [...allowed].sort(), label);
  }
});

test('E5 90 minutes are the same words for an agent, in a banner, in the menu and on the page', () => {
  const ts = '2026-06-20T10:00:00.000000+00:00';
  const now = Date.parse(ts) + 90 * MINUTE;
  const mail = { event: 'new', source: 'local', ts, id: 1, from: 'bo', created: ts, persona: 'ada', event_id: 'ada:1' };
  assert.match(formatWakeText(mail as unknown as Parameters<typeof formatWakeText>[0], now), / 1 h ago/);
  const announced = { cause: { is: 'persona', key: 'ada', personas: ['ada'] } } as unknown as Parameters<
    typeof buildRecoveryNotification
  >[0];
  assert.equal(
    buildRecoveryNotification(announced, ['ada'], 90 * MINUTE, 90 * MINUTE).body,
    'Down for 1 h, back for 1 h.',
  );
  assert.equal(formatAge(90 * MINUTE), '1 h');
  assert.equal(formatAgo(90 * MINUTE), '1 h ago');
});
