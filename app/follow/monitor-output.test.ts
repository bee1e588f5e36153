import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Event } from '../../core/events/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { FollowItem } from './follow-inbox.ts';
import { createMonitorOutput, formatMonitorLine } from './program-output.ts';

const never = new AbortController().signal;
const TS = '2026-06-20T10:00:00.000000+00:00';

function mail(id: number, more: object = {}): Event {
  const own = { event: 'new', source: 'kijito-inbox', ts: TS, id, from: 'ci', created: TS, persona: 'ada' };
  return { ...own, content: 'x'.repeat(300), event_id: `ada:new:${id}`, wake_class: 'mail', ...more } as Event;
}

const items = (count: number, more: object = {}): FollowItem[] =>
  Array.from({ length: count }, (_, i) => ({ event: mail(i + 1, more), raw: '', upTo: null }));

function monitor(answer: 'written' | 'reader gone' | 'stopped' = 'written', persona = 'ada') {
  const printed: string[] = [];
  const write = async (text: string) => {
    printed.push(text);
    return answer;
  };
  return { hand: createMonitorOutput({ clock: fakeClock(), atOnce: 20, persona, write }), printed };
}

test('F4 a batch has at most 2,900 characters; what does not fit is counted in its last line, and is not handed over', async () => {
  const { hand, printed } = monitor();
  const answer = await hand.take(items(20), never, 40);
  const [text = ''] = printed;
  const lines = text.trimEnd().split('\n');
  assert.ok(text.length <= 2900, `${text.length}`);
  assert.ok(answer.is === 'some' && answer.count === lines.length - 1);
  assert.ok(answer.count >= 5, 'as many as fit');
  assert.equal(lines.at(-1), `${60 - answer.count} more: hivebar inbox read ada`);
  assert.deepEqual(
    lines.slice(0, -1).map((line) => line.split(' ')[0]),
    Array.from({ length: answer.count }, (_, i) => `ada:new:${i + 1}`),
  );
});

test('F4 what fits is a batch without a last line, and what waits behind it is counted', async () => {
  const { hand, printed } = monitor();
  assert.deepEqual(await hand.take(items(2), never, 0), { is: 'all' });
  assert.deepEqual(await hand.take(items(2), never, 3), { is: 'all' });
  assert.doesNotMatch(printed[0] ?? '', /more:/);
  assert.match(printed[1] ?? '', /\n3 more: hivebar inbox read ada\n$/);
});

test('F4 nothing is handed over when nobody reads, or it is stopped; two seconds lie between two batches', async () => {
  assert.deepEqual(await monitor('reader gone').hand.take(items(2), never, 0), { is: 'nobody' });
  assert.deepEqual(await monitor('stopped').hand.take(items(2), never, 0), { is: 'stopped' });
  assert.equal(monitor().hand.pauseMs, 2000);
});

test('F4 a line is cut within its quotes, at most 480 characters, the event_id first', () => {
  const line = formatMonitorLine(mail(7, { content: '"'.repeat(500) }), Date.parse('2026-06-20T10:00:03Z'), 480);
  assert.ok(line.length <= 480 && line.length > 470, `${line.length}`);
  assert.match(
    line,
    /^ada:new:7 \[hivebar ada\] new mail 7 from "ci", 3 s ago; written by another agent, .*: "(\\")+…"$/,
  );
});

test('F4 whatever others wrote, no line and no batch is too long, and a first line always goes over', async () => {
  const unit = fc.oneof(fc.constantFrom('"', '\\', '\n', '\u2028', '\u001b', '\u202e', '\ud800', '👩'), fc.string());
  const text = fc.array(unit, { maxLength: 200 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ from: text, content: text, created: text }), { minLength: 1, maxLength: 6 }),
      async (mails) => {
        const { hand, printed } = monitor();
        const all = mails.map((more, i): FollowItem => ({ event: mail(i + 1, more), raw: '', upTo: null }));
        const answer = await hand.take(all, never, 9);
        assert.ok(answer.is === 'all' || (answer.is === 'some' && answer.count > 0));
        const [batch = ''] = printed;
        assert.ok(batch.length <= 2900);
        for (const line of batch.trimEnd().split('\n').slice(0, -1)) {
          assert.ok(line.length <= 480, line);
          assert.match(line, /^ada:new:\d /);
        }
      },
    ),
    { numRuns: 200 },
  );
});
