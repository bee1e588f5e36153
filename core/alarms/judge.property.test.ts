import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DirectoryMember, PersonaDirectory } from '../sources/index.ts';
import { findRecipients, isNews, latchAlarm, releaseAlarms, toAlarms } from './hive-alarms.ts';
import { judge, NOTHING_OBSERVED, observe, STRANDED_POLLS, URGENT_POLLS } from './judge.ts';

const RULES = { stranded: true, urgent: true, pollMs: 60_000, suppressed: new Set<string>() };
const NAMES = ['ada', 'Ada', 'bo', 'ghost'] as const;
const PLAIN = { noNullPrototype: true };

type Mail = { readonly unread: number | null; readonly urgent: number } | null;
type Happening =
  | { readonly is: 'poll'; readonly mail: readonly Mail[] }
  | { readonly is: 'sends'; readonly who: string }
  | { readonly is: 'unobserved' };

const mail: fc.Arbitrary<Mail> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 8,
    arbitrary: fc.record(
      { unread: fc.constantFrom(1, 1, 2, 2, 3, null), urgent: fc.constantFrom(0, 1, 1, 1, 1) },
      PLAIN,
    ),
  },
);
/** Mostly nothing changes from one poll to the next: silence is what is looked for. */
const stretch: fc.Arbitrary<readonly Happening[]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(mail, { minLength: NAMES.length, maxLength: NAMES.length }), fc.integer({ min: 1, max: 7 }))
      .map(([now, times]) => Array.from({ length: times }, () => ({ is: 'poll', mail: now }) as const)),
  },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES).map((name) => [{ is: 'sends', who: name }] as const) },
  { weight: 1, arbitrary: fc.constant([{ is: 'unobserved' }] as const) },
);
const member: fc.Arbitrary<DirectoryMember | null> = fc.option(
  fc.record(
    {
      memories: fc.constantFrom(null, 0, 0, 4),
      retired: fc.boolean(),
      writeOnly: fc.boolean(),
      mail: fc.constantFrom(null, { total: 2, unread: 2 }, { total: 2, unread: 1 }),
    },
    PLAIN,
  ),
);

/** The same from the whole story, told over again for each name: what the state must never say otherwise. */
function inHindsight(
  story: readonly Happening[],
  index: number,
  directoryMember: DirectoryMember | null,
  name: string,
) {
  let before: Mail = null;
  let [lies, silent, acted] = [0, 0, false];
  for (const now of story) {
    if (now.is === 'sends' && now.who === name) [acted, silent] = [true, 0];
    if (now.is === 'unobserved') silent = Number.NaN; // until the urgent mail is seen anew
    if (now.is !== 'poll') continue;
    const next = now.mail[index] ?? null;
    if (next?.unread === null) {
      silent = Number.NaN;
      continue;
    }
    const isLess = (before?.unread ?? 0) > (next?.unread ?? 0);
    acted ||= isLess;
    lies = next === null ? 0 : lies + 1;
    const urgent = next?.urgent ?? 0;
    const isAnew = before === null || isLess || before.urgent === 0 || Number.isNaN(silent);
    silent = next === null || urgent === 0 ? 0 : isAnew ? 1 : silent + 1;
    before = next;
  }
  const isDormant = directoryMember !== null && (directoryMember.retired || directoryMember.writeOnly);
  const ownsNothing =
    directoryMember === null ||
    (directoryMember.memories === 0 &&
      !(directoryMember.mail !== null && directoryMember.mail.unread < directoryMember.mail.total));
  return {
    stranded: lies >= STRANDED_POLLS && !isDormant && !acted && ownsNothing,
    urgent:
      directoryMember !== null && !directoryMember.retired && !directoryMember.writeOnly && silent >= URGENT_POLLS,
  };
}

test('after any story, what is judged is what the whole story says, and its alarms reach somebody else', () => {
  fc.assert(
    fc.property(
      fc.array(stretch, { maxLength: 8 }).map((parts) => parts.flat()),
      fc.tuple(member, member, member, member),
      (story, says) => {
        const listed = NAMES.flatMap((name, i) => (says[i] ? [[name, says[i]] as const] : []));
        const roll: PersonaDirectory = { requestedAt: Number.POSITIVE_INFINITY, byAddress: new Map(listed) };
        let state = NOTHING_OBSERVED;
        story.forEach((happening, n) => {
          const at = n * RULES.pollMs;
          if (happening.is === 'unobserved') state = observe(state, { at, is: 'unobserved' }, RULES);
          else if (happening.is === 'sends')
            state = observe(
              state,
              { at, is: 'sent', messages: [{ from: happening.who, id: n + 1, at, wall: at }] },
              RULES,
            );
          else {
            const counts = new Map(NAMES.flatMap((name, i) => (happening.mail[i] ? [[name, happening.mail[i]]] : [])));
            state = observe(state, { at, is: 'polled', wall: at, counts, newest: n }, RULES);
          }
        });
        const now = judge(state, roll, Number.POSITIVE_INFINITY, RULES);
        for (const [i, name] of NAMES.entries()) {
          const { stranded, urgent } = inHindsight(story, i, says[i] ?? null, name);
          assert.equal(now.stranded.includes(name), stranded, `${name} stranded`);
          // It is never called silent when it was not; where nobody owns the name the other alarm speaks.
          if (now.urgent.includes(name)) assert.ok(urgent, `${name} is not silent`);
          if (urgent && !now.stranded.includes(name) && says[i]?.memories !== 0)
            assert.ok(now.urgent.includes(name), `${name} is silent`);
        }
        for (const name of now.urgent) assert.ok(!now.stranded.includes(name), 'two alarms of one inbox');
        const to = findRecipients(NAMES, state, roll);
        assert.ok(to.length > 0, 'told to nobody');
        if (to.length < NAMES.length) for (const name of now.stranded) assert.ok(!to.includes(name), `told to ${name}`);
        let reported = state;
        for (const alarm of toAlarms(now)) reported = latchAlarm(reported, alarm);
        reported = releaseAlarms(reported, now);
        for (const alarm of toAlarms(now)) assert.ok(!isNews(reported, alarm), 'told twice');
      },
    ),
    { numRuns: 3000 },
  );
});
