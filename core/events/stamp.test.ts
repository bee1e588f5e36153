import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClockReading } from '../ports/index.ts';
import { toEmissionTime } from './event.ts';
import { createStamper, type Event, formatEventLine, parseEventLine } from './index.ts';

const WALL = Date.UTC(2026, 5, 20, 10);
const ISO = '2026-06-20T10:00:00.000000+00:00';
const LINUX: ClockReading = {
  wall: WALL,
  monotonic: { seconds: 42309.957973, src: 'CLOCK_MONOTONIC' },
  boottime: { seconds: 50000.5, src: 'CLOCK_BOOTTIME' },
};
const MAIL: Event = {
  event: 'new',
  source: 'kijito-inbox',
  ts: '2026-06-20T09:59:58.000000+00:00',
  id: 2,
  from: 'bo',
  created: '',
  persona: 'ada',
  content: 'hé',
  event_id: 'ada:new:2',
  wake_class: 'mail',
};

const STAMPED =
  '{"event": "new", "source": "kijito-inbox", "ts": "2026-06-20T09:59:58.000000+00:00", "id": 2, "from": "bo", "created": "", ' +
  '"persona": "ada", "content": "hé", "event_id": "ada:new:2", "wake_class": "mail", "nonce": "VUZRfrYFvqH", ' +
  `"emitted": {"wall": "${ISO}", "monotonic": 42309.957973, "boottime": 50000.5, ` +
  '"src": {"monotonic": "CLOCK_MONOTONIC", "boottime": "CLOCK_BOOTTIME"}}}';

test('a stamped event: exact bytes, and all that was in the line before stands before it', () => {
  assert.equal(createStamper(LINUX)(MAIL), STAMPED);
  assert.ok(STAMPED.startsWith(formatEventLine(MAIL).slice(0, -2)));
});

test('what is read from such a line is written as the same line again', () => {
  const read = parseEventLine(STAMPED);
  assert.ok(read !== null);
  assert.equal(formatEventLine(read), `${STAMPED}\n`);
  assert.equal(formatEventLine(Object.fromEntries(Object.entries(read).reverse()) as unknown as Event), `${STAMPED}\n`);
});

test('trap 64: an event that is taken again keeps id and nonce and gets the time it is taken at, never two of them', () => {
  const first = parseEventLine(createStamper(LINUX)(MAIL));
  const again = createStamper({ ...LINUX, wall: WALL + 1000 })(first ?? MAIL);
  assert.equal(again, STAMPED.replace('"wall": "2026-06-20T10:00:00', '"wall": "2026-06-20T10:00:01'));
});

test('a clock that is not there is left out, with its name, and never faked', () => {
  const { monotonic, boottime } = LINUX;
  assert.deepEqual(toEmissionTime({ wall: WALL, monotonic: null, boottime: null }), { wall: ISO, src: {} });
  assert.deepEqual(toEmissionTime({ wall: WALL, monotonic, boottime: null }), {
    wall: ISO,
    monotonic: 42309.957973,
    src: { monotonic: 'CLOCK_MONOTONIC' },
  });
  assert.deepEqual(toEmissionTime({ wall: WALL, monotonic: null, boottime }), {
    wall: ISO,
    boottime: 50000.5,
    src: { boottime: 'CLOCK_BOOTTIME' },
  });
});

test('trap 66: a clock of sleep that is behind the one without is no reading: it is removed and reported', () => {
  const behind = { seconds: 42309.957972, src: 'CLOCK_MONOTONIC_RAW' };
  assert.deepEqual(toEmissionTime({ ...LINUX, boottime: behind }), {
    wall: ISO,
    monotonic: 42309.957973,
    src: { monotonic: 'CLOCK_MONOTONIC' },
    clock_defect: { boottime: 42309.957972, src: 'CLOCK_MONOTONIC_RAW' },
  });
  const level = { seconds: 42309.957973, src: 'CLOCK_BOOTTIME' };
  assert.deepEqual(Object.keys(toEmissionTime({ ...LINUX, boottime: level })), [
    'wall',
    'monotonic',
    'boottime',
    'src',
  ]);
});
