import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asks, decisionRig, formatOutcome, PLACES, says } from '../../../test/kit/decisions.ts';
import { Fault } from '../../model/index.ts';
import { type Decision, type Decisions, parseNewDecision, parseReply, toDecisionJson } from './index.ts';

const HOUR = 3_600_000;

/** What the first decision is now. */
const first = (decisions: Pick<Decisions, 'get'>): Decision => {
  const found = decisions.get(1);
  assert.ok(found !== null);
  return found;
};

describe('a decision', () => {
  test('opens the gate of who asked, and an answer closes it', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    const asked = decisions.create(asks());
    assert.deepEqual([asked.id, formatOutcome(asked), rig.gates.get('ada')], [1, 'open', 'open']);
    const done = decisions.respond(1, says({ select: 'b', text: 'but be careful' }));
    assert.deepEqual(
      [done.is, formatOutcome(first(decisions)), rig.gates.get('ada')],
      ['done', 'resolved b', 'closed'],
    );
  });

  test('seed 2: is answered in this order: database and gate, inbox, wake, event', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    rig.done.length = 0;
    decisions.respond(1, says({ select: 'a' }));
    assert.deepEqual(rig.done, ['gate closed ada', 'push decision:1', 'wake ada', 'emit 1 resolved']);
  });

  test('tells who asked everything at once: the question, the choice, the note', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks({ urgency: 'high' }));
    decisions.respond(1, says({ select: 'b', text: 'mind the gap' }));
    const item = rig.inbox.get('decision:1');
    assert.equal(
      item?.content,
      'Decision 1 was answered by operator.\nYou asked: Which way?\nChosen: b (the short way)\nNote: mind the gap',
    );
    assert.deepEqual([item.persona, item.type, item.priority], ['ada', 'decision', 0]);
  });

  test('keeps the gate open while another one of the same persona is', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    decisions.create(asks());
    decisions.create(asks({ persona: 'bo' }));
    decisions.respond(2, says({ select: 'a' }));
    assert.equal(rig.gates.get('ada'), 'open');
    decisions.respond(1, says({ select: 'a' }));
    assert.deepEqual(Object.fromEntries(rig.gates), { ada: 'closed', bo: 'open' });
  });

  test('answered twice: the first wins, and the second is told what was chosen, by whom', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    decisions.respond(1, says({ select: 'a', by: 'tom' }));
    const late = decisions.respond(1, says({ select: 'b' }));
    assert.equal(late.is, 'too-late');
    assert.deepEqual(late.decision.outcome, {
      is: 'resolved',
      at: rig.clock.now(),
      by: 'tom',
      choice: 'a',
      text: null,
    });
    assert.equal(rig.inbox.size, 1);
  });

  test('is asked again with the guidance when text comes alone, until the last iteration', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks({ mostIterations: 2, forMs: HOUR }));
    rig.clock.setBy(HOUR / 2);
    const done = decisions.respond(1, says({ text: 'something cheaper' }));
    assert.ok(done.is === 'done' && done.next !== null);
    assert.deepEqual(
      [done.next.iteration, done.next.parent, done.next.guidance, done.next.options.length, formatOutcome(done.next)],
      [2, 1, 'something cheaper', 2, 'open'],
    );
    assert.equal(done.next.expires, rig.clock.now() + HOUR, 'with as much time as at first');
    assert.equal(rig.gates.get('ada'), 'open');
    assert.match(
      rig.inbox.get('decision:1')?.content ?? '',
      /is not decided[\s\S]*Guidance: something cheaper[\s\S]*--refines 2/,
    );
    assert.throws(() => decisions.respond(2, says({ text: 'cheaper still' })), /iteration 2 of 2.*--accept-guidance/);
    decisions.respond(2, says({ text: 'cheaper still', acceptGuidance: true }));
    assert.equal(formatOutcome(decisions.get(2) ?? first(decisions)), 'resolved "cheaper still"');
    assert.equal(rig.gates.get('ada'), 'closed');
  });

  test('of free text is closed by text', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks({ options: [], freeText: true }));
    decisions.respond(1, says({ text: 'call it Bee' }));
    assert.equal(formatOutcome(first(decisions)), 'resolved "call it Bee"');
    assert.match(rig.inbox.get('decision:1')?.content ?? '', /Answer: call it Bee$/);
  });

  test('without options is answered with text, whether or not the agent said that it takes text', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    for (const freeText of [undefined, null, false]) {
      const { id } = decisions.create(
        parseNewDecision({ persona: 'ada', prompt: 'Which name?', options: [], freeText }),
      );
      assert.equal(decisions.respond(id, says({ text: 'call it Bee' })).is, 'done');
      assert.equal(formatOutcome(decisions.get(id) ?? first(decisions)), 'resolved "call it Bee"');
    }
  });

  test('nobody answered in time becomes its default, else timed out; who asked is told, and later answers are too late', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks({ forMs: HOUR, fallback: 'b' }));
    decisions.create(asks({ persona: 'bo', forMs: HOUR }));
    decisions.create(asks({ persona: 'cy', forMs: null }));
    assert.equal(decisions.nextDue(), rig.clock.now() + HOUR);
    rig.clock.setBy(HOUR - 1);
    assert.equal(decisions.closeDue(), 0);
    rig.clock.setBy(HOUR);
    assert.equal(decisions.respond(1, says({ select: 'a' })).is, 'too-late');
    assert.equal(decisions.closeDue(), 1);
    assert.deepEqual(
      [1, 2, 3].map((id) => formatOutcome(decisions.get(id) ?? first(decisions))),
      ['resolved b', 'timed-out', 'open'],
    );
    assert.match(rig.inbox.get('decision:1')?.content ?? '', /the default was chosen by itself[\s\S]*Chosen: b/);
    assert.match(rig.inbox.get('decision:2')?.content ?? '', /not answered in time, and has no default/);
    assert.deepEqual(Object.fromEntries(rig.gates), { ada: 'closed', bo: 'closed', cy: 'open' });
    assert.equal(decisions.nextDue(), null);
  });

  test('is cancelled: by another, who asked is told; by itself, it is not, and its gate stays open', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    decisions.create(asks({ persona: 'bo' }));
    decisions.cancel(1, 'operator', 'no longer needed');
    decisions.cancel(2, 'Bo', null);
    assert.match(rig.inbox.get('decision:1')?.content ?? '', /cancelled by operator[\s\S]*Reason: no longer needed/);
    assert.deepEqual([...rig.inbox.keys()], ['decision:1']);
    assert.deepEqual(Object.fromEntries(rig.gates), { ada: 'closed', bo: 'open' });
    assert.equal(decisions.respond(2, says({ select: 'a' })).is, 'too-late');
    assert.equal(decisions.cancel(7, 'operator', null).is, 'none');
  });

  test('answered by who asked it leaves the gate as it is', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    decisions.respond(1, says({ select: 'a', by: 'ada' }));
    assert.equal(rig.gates.get('ada'), 'open');
    assert.equal(rig.inbox.get('decision:1')?.source, 'hivebar');
  });

  test('refined is another decision: an answer to the older proposal is too late', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    decisions.respond(1, says({ text: 'cheaper' }));
    assert.throws(() => decisions.create(asks({ persona: 'bo', refines: 2 })), /was asked by ada, not by bo/);
    assert.throws(() => decisions.create(asks({ refines: 1 })), /is resolved/);
    assert.throws(() => decisions.create(asks({ refines: 9 })), /no decision 9/);
    const refined = decisions.create(asks({ refines: 2, prompt: 'By bike?' }));
    assert.deepEqual([refined.iteration, refined.parent, refined.guidance], [2, 2, 'cheaper']);
    const late = decisions.respond(2, says({ select: 'a' }));
    assert.ok(late.is === 'too-late');
    assert.deepEqual([late.decision.outcome.is, late.decision.next], ['cancelled', 3]);
    assert.equal(rig.gates.get('ada'), 'open');
  });

  test('of a store of gates that fails is not asked, and not answered', () => {
    using rig = decisionRig();
    const broken = { open: fail, close: fail, waiting: fail };
    assert.throws(() => rig.start({ gates: broken }).create(asks()), /no gate/);
    const decisions = rig.start();
    assert.deepEqual(decisions.list({ persona: null, onlyOpen: false, limit: 9 }), []);
    decisions.create(asks());
    assert.throws(() => rig.start({ gates: broken }).respond(1, says({ select: 'a' })), /no gate/);
    assert.equal(formatOutcome(first(decisions)), 'open');
    assert.equal(rig.inbox.size, 0);
  });

  test('whose answer cannot be pushed is answered, said, and pushed later; a wake that fails is only said', () => {
    using rig = decisionRig();
    const decisions = rig.start({ items: { pushOwn: fail } });
    decisions.create(asks());
    assert.equal(decisions.respond(1, says({ select: 'a' })).is, 'done');
    assert.match(rig.warned.join(), /ada gets the answer later: no gate/);
    rig.start({ wake: fail }).reconcile();
    assert.deepEqual([...rig.inbox.keys()], ['decision:1']);
    assert.match(rig.warned.join(), /ada was not woken/);
    rig.done.length = 0;
    rig.start().reconcile();
    assert.deepEqual(rig.done, []);
  });

  test('that was closed and told is deleted after a time, an open one never', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks({ forMs: null }));
    decisions.create(asks({ forMs: null }));
    decisions.respond(1, says({ select: 'a' }));
    rig.clock.setBy(HOUR);
    assert.equal(decisions.reap(rig.clock.now() - 2 * HOUR), 0);
    assert.equal(decisions.reap(rig.clock.now()), 1);
    assert.deepEqual(
      decisions.list({ persona: 'ada', onlyOpen: false, limit: 9 }).map(({ id }) => id),
      [2],
    );
    assert.equal(decisions.create(asks()).id, 3);
  });
});

describe('a crash', () => {
  for (const place of PLACES) {
    test(`at ${place} loses no answer and no push`, () => {
      using rig = decisionRig();
      rig.start().create(asks());
      rig.crashAt(place);
      try {
        rig.start().respond(1, says({ select: 'a' }));
      } catch {
        // the process is gone
      }
      rig.crashAt(null);
      rig.done.length = 0;
      const decisions = rig.start();
      decisions.reconcile();
      const isAnswered = place !== 'gate' && place !== 'commit';
      assert.equal(formatOutcome(first(decisions)), isAnswered ? 'resolved a' : 'open');
      assert.equal(rig.gates.get('ada'), isAnswered ? 'closed' : 'open', 'the gate is what the database says');
      assert.equal(rig.inbox.has('decision:1'), isAnswered);
      if (isAnswered) assert.deepEqual(rig.done, ['push decision:1', 'wake ada', 'emit 1 resolved']);
      rig.done.length = 0;
      rig.clock.setBy(HOUR);
      decisions.reconcile();
      decisions.reconcile();
      assert.ok(rig.done.length <= 1, 'a doubt is taken back in the end');
    });
  }

  test('while it was asked leaves no decision', () => {
    for (const place of ['gate', 'commit'] as const) {
      using rig = decisionRig();
      rig.crashAt(place);
      assert.throws(() => rig.start().create(asks()));
      const decisions = rig.start();
      decisions.reconcile();
      assert.equal(decisions.get(1), null);
    }
  });

  test('whose doubt outlives the answer does not close a gate again that was used up', () => {
    using rig = decisionRig();
    rig.start().create(asks());
    rig.crashAt('commit');
    assert.throws(() => rig.start().respond(1, says({ select: 'a' })));
    rig.start().respond(1, says({ select: 'a' }));
    rig.gates.set('ada', 'open'); // a stop went by, and used the mark
    rig.start().reconcile();
    assert.equal(rig.gates.get('ada'), 'open');
  });

  test('does not close a gate again that was used up meanwhile', () => {
    using rig = decisionRig();
    rig.start().create(asks());
    rig.crashAt('pushing');
    rig.start().respond(1, says({ select: 'a' }));
    assert.equal(rig.inbox.size, 0);
    rig.gates.set('ada', 'open'); // a stop went by, and used the mark
    rig.start().reconcile();
    assert.equal(rig.gates.get('ada'), 'open');
  });
});

describe('what is asked and answered is checked', () => {
  const good = { persona: 'ada', prompt: 'Which?', options: [{ id: 'a', label: 'A' }] };
  for (const [label, over, why] of [
    ['nobody', { persona: ' ' }, /"persona" must be a name/],
    ['a name a terminal acts on', { persona: 'a\u001bb' }, /"persona" must not contain control/],
    ['no prompt', { prompt: ' \n' }, /"prompt" must be text/],
    ['a long prompt', { prompt: 'é'.repeat(2001) }, /2000 characters at most, not 2001/],
    ['a long context', { context: 'x'.repeat(8001) }, /8000 characters at most/],
    ['control characters', { context: 'a\u0000b' }, /control characters/],
    ['an option without a name', { options: [{ id: '', label: 'A' }] }, /id of an option/],
    ['an option that looks like a flag', { options: [{ id: '-a', label: 'A' }] }, /id of an option/],
    [
      'two options of one id',
      {
        options: [
          { id: 'a', label: 'A' },
          { id: 'a', label: 'B' },
        ],
      },
      /a unique id, not "a"/,
    ],
    ['a label of two lines', { options: [{ id: 'a', label: 'A\nB' }] }, /must be one line/],
    [
      'too many options',
      { options: Array.from({ length: 21 }, (_, i) => ({ id: `o${i}`, label: 'x' })) },
      /20 options/,
    ],
    ['a default that is no option', { fallback: 'z' }, /default must be a, not "z"/],
    ['an urgency that is none', { urgency: 'now' }, /low, normal, high, not "now"/],
    ['no time', { forMs: 0 }, /"forMs" must be/],
    ['too long a time', { forMs: 31 * 86_400_000 }, /"forMs" must be/],
    ['too many iterations', { mostIterations: 11 }, /from 1 to 10/],
    ['an odd id', { refines: 1.5 }, /"refines" must be/],
  ] as const) {
    test(`${label} is refused`, () => {
      assert.throws(
        () => parseNewDecision({ ...good, ...over }),
        (error) => error instanceof Fault && error.code === 'usage' && why.test(error.message),
      );
    });
  }

  test('the longest of everything fits into what a hook may show', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    const label = 'x'.repeat(300);
    decisions.create(asks({ prompt: 'é'.repeat(2000), options: [{ id: 'a', label }] }));
    decisions.respond(1, says(parseReply({ select: 'a', text: '𝒳'.repeat(4000), by: 'o'.repeat(200) }) as object));
    assert.ok([...(rig.inbox.get('decision:1')?.content ?? '')].length < 7000);
  });

  test('an answer must say something, that fits', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    assert.throws(() => decisions.respond(1, says({ select: 'z' })), /has no option "z": choose a or b/);
    assert.throws(() => parseReply({ by: 'me', text: ' ' }), /must select an option or have text/);
    assert.throws(() => parseReply({ by: 'me', acceptGuidance: true, select: 'a' }), /text to accept/);
    assert.throws(() => parseReply({ by: 'me', acceptGuidance: true, select: 'a', text: 'x' }), /not both/);
    assert.throws(() => parseReply({ text: 'x' }), /"by" must be a name/);
    assert.equal(formatOutcome(first(decisions)), 'open');
    assert.equal(rig.inbox.size, 0);
  });

  test('a short text for a button is cut from a long label', () => {
    const { options } = parseNewDecision({
      ...good,
      options: [
        { id: 'a', label: 'x'.repeat(60) },
        { id: 'b', short: 'B!', label: 'b' },
      ],
    });
    assert.deepEqual(
      options.map(({ short }) => short),
      [`${'x'.repeat(37)}...`, 'B!'],
    );
  });

  test('printed as JSON it has every key, whatever became of it', () => {
    using rig = decisionRig();
    const decisions = rig.start();
    const open = toDecisionJson(decisions.create(asks()));
    decisions.respond(1, says({ select: 'a' }));
    const closed = toDecisionJson(first(decisions));
    assert.deepEqual(Object.keys(closed), Object.keys(open));
    assert.deepEqual(
      [open.state, open.choice, closed.state, closed.choice, closed.by],
      ['open', null, 'resolved', 'a', 'operator'],
    );
  });
});

function fail(): never {
  throw new Error('no gate');
}
