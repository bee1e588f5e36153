import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decideEnter, decideTyping, type PaneState, readComposer, TYPED_WORDS, type TypingFacts } from './nudge.ts';

const WIDTH = 100;
const RULE = '─'.repeat(WIDTH);
/** As Claude Code draws it, with the cursor behind what stands in the composer. */
function screen(text: string, more: Partial<PaneState> = {}): PaneState {
  const lines = ['● fine', '', RULE, `❯\u00a0${text}`, RULE, '  ⏸ manual mode on · ? for shortcuts'];
  const cursor = { x: 2 + [...text].length, y: 3 };
  return { isInMode: false, takesKeys: true, hasAgentInFront: true, cursor, width: WIDTH, lines, ...more };
}
const facts = (pane: PaneState, more: Partial<TypingFacts> = {}): TypingFacts => ({
  ...{ harness: 'idle', isAtPrompt: false, pane },
  ...more,
});
/** A permission prompt: the cursor stands at the choice. */
const ASKS = [
  '● fine',
  RULE,
  ' Create file · from the general-purpose agent',
  ' Do you want to create SUB2.md?',
  ' ❯ 1. Yes',
  '   2. No',
];

describe('C2 when words may be typed', () => {
  test('C2 only into an empty composer of an idle agent', () => {
    assert.deepEqual(decideTyping(facts(screen(''))), { is: 'type' });
    const waits: readonly (readonly [string, TypingFacts])[] = [
      ['a draft', facts(screen('please do NOT delete the'))],
      ['a draft whose cursor was moved to its begin', facts(screen('no', { cursor: { x: 2, y: 3 } }))],
      ['a placeholder', facts(screen('describe a task for a new session', { cursor: { x: 2, y: 3 } }))],
      ['a permission prompt', facts(screen('', { lines: ASKS, cursor: { x: 1, y: 4 } }))],
      [
        'a permission prompt where the cursor stands behind the sign',
        facts(screen('', { lines: ASKS, cursor: { x: 3, y: 4 } })),
      ],
      ['a second line below', facts(screen('', { lines: [RULE, '❯ ', '  draft', RULE], cursor: { x: 2, y: 1 } }))],
      ['a shell', facts(screen('', { lines: ['> '], cursor: { x: 2, y: 0 } }))],
      ['bash mode', facts(screen('', { lines: [RULE, '! ', RULE], cursor: { x: 2, y: 1 } }))],
      ['copy mode', facts(screen('', { isInMode: true }))],
      ['keys that go to several panes', facts(screen('', { takesKeys: false }))],
      ['another program', facts(screen('', { hasAgentInFront: false }))],
      ['a narrow pane', facts(screen('', { width: 30 }))],
      ['busy', facts(screen(''), { harness: 'busy' })],
      ['waiting', facts(screen(''), { harness: 'waiting' })],
      ['unknown', facts(screen(''), { harness: 'unknown' })],
      ['a hook said that it asks', facts(screen(''), { isAtPrompt: true })],
      ['nothing at all', facts(screen('', { lines: [], cursor: { x: 0, y: 0 } }))],
    ];
    for (const [label, given] of waits) assert.equal(decideTyping(given).is, 'wait', label);
  });

  test('C2 whatever else is known, one fact against it is enough', () => {
    const bad: fc.Arbitrary<Partial<TypingFacts> & { readonly pane?: Partial<PaneState> }> = fc.constantFrom(
      ...[
        { harness: 'busy' as const },
        { harness: 'waiting' as const },
        { harness: 'unknown' as const },
        { isAtPrompt: true },
      ],
    );
    fc.assert(
      fc.property(bad, fc.string({ minLength: 1 }), (badText, draft) => {
        assert.equal(decideTyping({ ...facts(screen('')), ...badText }).is, 'wait');
        assert.notEqual(decideEnter({ ...facts(screen(TYPED_WORDS)), ...badText }), 'enter');
        const text = draft.replaceAll(/[\s\u00a0\p{Cc}]/gu, 'x');
        assert.equal(decideTyping(facts(screen(text))).is, 'wait');
        assert.equal(decideEnter(facts(screen(`${TYPED_WORDS}${text}`))), 'leave');
        assert.equal(decideEnter(facts(screen(`${text}${TYPED_WORDS}`))), 'leave');
      }),
    );
  });

  test('C2 whatever a screen shows, nothing is typed unless the line of the cursor is an empty composer', () => {
    const line = fc.constantFrom(RULE, '❯ ', '❯', '> ', '❯ 1. Yes', ' ❯ 1. Yes', '', 'x', '! ', '$ ');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.nat(8), fc.nat(4), (lines, y, x) => {
        const typed = decideTyping(facts(screen('', { lines, cursor: { x, y } }))).is === 'type';
        const isEmpty =
          ['❯ ', '❯', '> '].includes(lines[y] ?? '') && lines[y - 1] === RULE && lines[y + 1] === RULE && x === 2;
        assert.equal(typed, isEmpty);
      }),
    );
  });
});

describe('C2 what is done with the words once they were typed', () => {
  test('C2 Enter when exactly they stand there; taken back when they stand alone but the agent went on; else left', () => {
    const typed = screen(TYPED_WORDS);
    assert.equal(decideEnter(facts(typed)), 'enter');
    assert.equal(decideEnter(facts(typed, { harness: 'busy' })), 'take back');
    assert.equal(decideEnter(facts(typed, { isAtPrompt: true })), 'take back');
    assert.equal(decideEnter(facts({ ...typed, isInMode: true })), 'leave');
    assert.equal(decideEnter(facts({ ...typed, hasAgentInFront: false })), 'leave');
    assert.equal(decideEnter(facts(screen(''))), 'leave');
    assert.equal(decideEnter(facts(screen('', { lines: ASKS, cursor: { x: 1, y: 4 } }))), 'leave');
  });

  test('C2 the words hold no digit, which would choose in a menu, and nothing a shell acts on', () => {
    assert.match(TYPED_WORDS, /^[a-z: ]+$/);
    assert.deepEqual(readComposer(screen(TYPED_WORDS)), { is: 'there', text: TYPED_WORDS });
  });
});
