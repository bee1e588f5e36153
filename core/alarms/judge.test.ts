import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DirectoryMember, PersonaDirectory } from '../sources/index.ts';
import { findRecipients, isNews, latchAlarm, releaseAlarms, toAlarms } from './hive-alarms.ts';
import {
  type AlarmRules,
  type AlarmState,
  type Judgement,
  judge,
  NOTHING_OBSERVED,
  observe,
  type PolledCounts,
} from './judge.ts';

const RULES: AlarmRules = { stranded: true, urgent: true, pollMs: 60_000, suppressed: new Set() };
const MEMBER: DirectoryMember = { memories: 5, retired: false, writeOnly: false, mail: null };
const members = (changes: Record<string, Partial<DirectoryMember>>, asked = 1e9): PersonaDirectory => ({
  requestedAt: asked,
  byAddress: new Map(Object.entries(changes).map(([name, says]) => [name, { ...MEMBER, ...says }])),
});

type Mail = Record<string, number | readonly [unread: number, urgent: number] | null>;

function toCounts(n: Mail[string]): PolledCounts {
  if (n === null || n === undefined) return { unread: null, urgent: null };
  const [unread, urgent] = typeof n === 'number' ? [n, 0] : n;
  return { unread, urgent };
}

/** A hive that is polled once a minute, and every inbox of it looked at as often. */
function hive(rules: Partial<AlarmRules> = {}) {
  const all = { ...RULES, ...rules };
  let state: AlarmState = NOTHING_OBSERVED;
  let at = 0;
  const counts = (mail: Mail): ReadonlyMap<string, PolledCounts> =>
    new Map(Object.entries(mail).map(([name, n]) => [name, toCounts(n)]));
  const made = {
    polls(times: number, mail: Mail, apart = 60_000) {
      for (let n = 0; n < times; n += 1) {
        at += apart;
        state = observe(state, { at, is: 'polled', wall: at, counts: counts(mail), newest: 7 }, all);
      }
      return made;
    },
    sends(from: string, id = 9) {
      state = observe(state, { at, is: 'sent', messages: [{ from, id, at, wall: at }] }, all);
      return made;
    },
    unobserved() {
      state = observe(state, { at, is: 'unobserved' }, all);
      return made;
    },
    judged: (roll: PersonaDirectory | null, covered: number | null = at): Judgement => judge(state, roll, covered, all),
    get state() {
      return state;
    },
    /** Tells whatever is to be told, and says what that was. */
    reported(roll: PersonaDirectory, isAccepted = true): readonly string[] {
      const now = judge(state, roll, at, all);
      state = releaseAlarms(state, now);
      const raised = toAlarms(now).filter((alarm) => isNews(state, alarm));
      if (isAccepted) for (const alarm of raised) state = latchAlarm(state, alarm);
      return raised.map(({ kind, names }) => `${kind} ${names.join(' ')}`);
    },
  };
  return made;
}

describe('stranded mail', () => {
  const typo = { adda: { memories: 0 }, ada: {} };

  test('a name that is in the directory only because somebody wrote to it', () => {
    const { stranded } = hive().polls(3, { adda: 1, ada: 2 }).judged(members(typo));
    assert.deepEqual(stranded, ['adda']);
  });

  test('a name that no directory lists', () => {
    assert.deepEqual(
      hive()
        .polls(3, { ghost: 1 })
        .judged(members({ ada: {} })).stranded,
      ['ghost'],
    );
  });

  test('not before it has lain for three polls, and answers that come close together are one', () => {
    assert.deepEqual(hive().polls(2, { adda: 1 }).judged(members(typo)).stranded, []);
    assert.deepEqual(hive().polls(30, { adda: 1 }, 100).judged(members(typo)).stranded, []);
  });

  test('a directory that is older than the mail is asked for again before anything is claimed', () => {
    const { stranded, wantsDirectory: wantsRoll } = hive().polls(3, { adda: 1, ghost: 1 }).judged(members(typo, 0));
    assert.deepEqual([stranded, wantsRoll], [[], true]);
    assert.equal(hive().polls(3, { ada: 1 }).judged(members(typo, 0)).wantsDirectory, false);
    assert.equal(hive().polls(3, { adda: 1 }).judged(members(typo)).wantsDirectory, false);
  });

  test('no directory, no claim', () => {
    const { stranded, urgent } = hive()
      .polls(9, { ghost: [1, 1] })
      .judged(null);
    assert.deepEqual([stranded, urgent], [[], []]);
  });

  test('trap 48: members of whom it is not known whether they own memories are not called stranded', () => {
    assert.deepEqual(
      hive()
        .polls(9, { ada: 1 })
        .judged(members({ ada: { memories: null } })).stranded,
      [],
    );
  });

  test('trap 43: a name that differs from a member in case alone is an inbox of its own, whatever the member does', () => {
    const history = hive().polls(3, { Ada: 1, ada: 2 }).sends('ada').polls(1, { Ada: 1, ada: 1 });
    assert.deepEqual(history.judged(members({ ada: {} })).stranded, ['Ada']);
  });

  test('somebody who was seen to send or to read is a reader, although nothing is remembered of them yet', () => {
    const first = members({ new: { memories: 0 } });
    assert.deepEqual(hive().polls(3, { new: 2 }).sends('new').judged(first).stranded, []);
    assert.deepEqual(hive().polls(1, { new: 2 }).polls(4, { new: 1 }).judged(first).stranded, []);
    assert.deepEqual(hive().polls(1, { new: 2 }).polls(1, {}).polls(4, { new: 1 }).judged(first).stranded, []);
  });

  test('retired and write-only members, and names whose mail was read once, are named as dormant and alarm nobody', () => {
    const roll = members({
      old: { retired: true },
      digest: { writeOnly: true, memories: 0 },
      once: { memories: 0, mail: { total: 3, unread: 1 } },
      never: { memories: 0, mail: { total: 1, unread: 1 } },
    });
    const now = hive().polls(3, { old: 1, digest: 1, once: 1, never: 1 }).judged(roll);
    assert.deepEqual([now.stranded, now.dormant], [['never'], ['digest', 'old', 'once']]);
  });
});

describe('urgent mail without an answer', () => {
  const roll = members({ ada: {}, bo: {} });

  test('a member that holds urgent mail and does nothing for five polls', () => {
    assert.deepEqual(
      hive()
        .polls(4, { ada: [1, 1] })
        .judged(roll).urgent,
      [],
    );
    assert.deepEqual(
      hive()
        .polls(5, { ada: [1, 1] })
        .judged(roll).urgent,
      ['ada'],
    );
  });

  test('trap 50: an idle member without urgent mail is not alarmed', () => {
    assert.deepEqual(hive().polls(50, { ada: 3 }).judged(roll).urgent, []);
  });

  test('trap 50: a silence that was not watched as a whole is no silence', () => {
    const at = 60_000;
    assert.deepEqual(
      hive()
        .polls(9, { ada: [1, 1] })
        .judged(roll, null).urgent,
      [],
      'some inbox could not be read',
    );
    assert.deepEqual(
      hive()
        .polls(9, { ada: [1, 1] })
        .judged(roll, at - 1).urgent,
      [],
      'one was last looked at before',
    );
    assert.deepEqual(
      hive()
        .polls(9, { ada: [1, 1] })
        .judged(roll, at).urgent,
      ['ada'],
    );
    assert.deepEqual(
      hive()
        .polls(4, { ada: [1, 1] })
        .unobserved()
        .polls(4, { ada: [1, 1] })
        .judged(roll).urgent,
      [],
    );
    assert.deepEqual(
      hive()
        .polls(4, { ada: [1, 1] })
        .polls(1, { ada: null })
        .polls(4, { ada: [1, 1] })
        .judged(roll).urgent,
      [],
    );
  });

  test('whoever sends or reads meanwhile is not silent', () => {
    const busy = () => hive().polls(4, { ada: [2, 1] });
    assert.deepEqual(
      busy()
        .sends('ada')
        .polls(1, { ada: [2, 1] })
        .judged(roll).urgent,
      [],
    );
    assert.deepEqual(
      busy()
        .polls(1, { ada: [1, 1] })
        .judged(roll).urgent,
      [],
    );
    assert.deepEqual(
      busy()
        .sends('bo')
        .polls(1, { ada: [2, 1] })
        .judged(roll).urgent,
      ['ada'],
    );
    assert.deepEqual(
      busy()
        .sends('ada')
        .polls(5, { ada: [2, 1] })
        .judged(roll).urgent,
      ['ada'],
      'silent since',
    );
    assert.deepEqual(
      busy()
        .polls(9, { ada: [3, 2] })
        .judged(roll).urgent,
      ['ada'],
      'more mail is no act of its own',
    );
  });

  test('the same message told again is no new act', () => {
    const history = hive()
      .sends('ada', 9)
      .polls(4, { ada: [1, 1] })
      .sends('ada', 9)
      .polls(1, { ada: [1, 1] });
    assert.deepEqual(history.judged(roll).urgent, ['ada']);
  });

  test('the two alarms do not speak of the same inbox, and a write-only one is named apart', () => {
    const all = members({ typo: { memories: 0 }, old: { retired: true }, digest: { writeOnly: true }, ada: {} });
    const mail = { typo: [1, 1], ghost: [1, 1], old: [1, 1], digest: [1, 1], ada: [1, 1] } as const;
    const now = hive().polls(5, mail).judged(all);
    assert.deepEqual([now.urgent, now.urgentWriteOnly, now.stranded], [['ada'], ['digest'], ['ghost', 'typo']]);
  });

  test('of a suppressed author it is never seen that it sends, so it is never called silent', () => {
    const history = hive({ suppressed: new Set(['ada']) }).polls(9, { ada: [1, 1] });
    assert.deepEqual(history.judged(roll).urgent, []);
  });
});

describe('raising and releasing', () => {
  const roll = members({ ada: {}, adda: { memories: 0 }, addda: { memories: 0 } });

  test('trap 10: an alarm that nobody took is not raised, and comes again', () => {
    const history = hive().polls(3, { adda: 1 });
    assert.deepEqual(history.reported(roll, false), ['stranded adda']);
    assert.deepEqual(history.reported(roll), ['stranded adda']);
    assert.deepEqual(history.reported(roll), []);
  });

  test('trap 47: when it is over and comes again, it is told again', () => {
    const history = hive().polls(3, { ghost: 1 });
    assert.deepEqual(history.reported(roll), ['stranded ghost']);
    assert.deepEqual(history.polls(1, {}).reported(roll), []);
    assert.deepEqual(history.polls(3, { Ghost: 1 }).reported(roll), ['stranded Ghost']);
    const again = hive().polls(3, { never: 1 });
    const [dead, alive] = [members({ never: { memories: 0 } }), members({ never: {} })];
    assert.deepEqual([again.reported(dead), again.reported(alive), again.reported(dead)].flat(), [
      'stranded never',
      'stranded never',
    ]);
    const urgent = hive().polls(5, { ada: [1, 1] });
    assert.deepEqual(urgent.reported(roll), ['urgent ada']);
    assert.deepEqual(urgent.sends('ada').reported(roll), []);
    assert.deepEqual(urgent.polls(5, { ada: [1, 1] }).reported(roll), ['urgent ada']);
  });

  test('one alarm sums up all that is so; it comes again when a name joins, not when one goes', () => {
    const history = hive().polls(3, { adda: 1 });
    assert.deepEqual(history.reported(roll), ['stranded adda']);
    assert.deepEqual(history.polls(3, { adda: 1, addda: 1 }).reported(roll), ['stranded adda addda']);
    assert.deepEqual(history.polls(1, { adda: 1 }).reported(roll), []);
  });

  test('trap 49: each alarm has a flag of its own', () => {
    const mail = { adda: 1, ada: [1, 1] } as const;
    assert.deepEqual(hive({ stranded: false }).polls(5, mail).reported(roll), ['urgent ada']);
    assert.deepEqual(hive({ urgent: false }).polls(5, mail).reported(roll), ['stranded adda']);
  });
});

describe('who is told', () => {
  test('trap 46: members with evidence of a reader, never the stranded inbox', () => {
    const roll = members({ ada: {}, unsaid: { memories: null }, dead: { memories: 0 }, old: { retired: true } });
    const { state } = hive().polls(3, { ghost: 1, dead: 1 }).sends('dead2');
    const watched = ['ada', 'unsaid', 'dead', 'old', 'ghost', 'dead2'];
    assert.deepEqual(findRecipients(watched, state, roll), ['ada', 'unsaid']);
  });

  test('trap 46: a filter that leaves nobody tells everybody: members first, and else whoever is watched', () => {
    const roll = members({ quiet: { memories: 0 }, dead: { memories: 0 } });
    const { state } = hive().polls(3, { ghost: 1, dead: 1 });
    assert.deepEqual(findRecipients(['quiet', 'dead', 'ghost'], state, roll), ['quiet']);
    assert.deepEqual(findRecipients(['dead', 'ghost'], state, roll), ['dead', 'ghost']);
  });
});
