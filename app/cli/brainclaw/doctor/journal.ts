import {
  type At,
  FAR,
  type Inspected,
  MOST_LINE,
  type Refusal,
  type RevisionBreak,
  type View,
  type Violation,
} from '../../../../core/sources/brainclaw/index.ts';
import { type Finding, finding } from './finding.ts';

/** Why a line is no record, for a script and for a person. */
const REFUSALS: Readonly<Record<Refusal, readonly [what: string, says: string]>> = {
  'not-json': ['not-json', 'a line is no JSON: a record that was torn, or no record, and no writer accounts for it'],
  'not-utf8': ['cut-utf8', 'a line is no UTF-8: a character was cut'],
  'not-an-object': ['no-object', 'a line is JSON, and no object'],
  version: ['wrong-version', 'a record is not of version 2'],
  seq: ['bad-seq', 'a record has a seq that is no whole number above 0 that JSON keeps'],
  'seq-too-far': ['far-seq', `a record is more than ${FAR} ahead of all others, and is not believed`],
  action: ['no-action', 'a record has no action'],
  'item-type': ['no-item-type', 'a record has no item_type'],
  field: ['bad-field', 'a record has a field of the wrong type'],
  payload: ['bad-payload', 'a record has a payload that is no object'],
  'too-long': ['too-long', `a line is over ${MOST_LINE} bytes long`],
};

const VIOLATIONS: Readonly<Record<Exclude<Violation, 'payload-elsewhere'>, string>> = {
  'no-item-id': 'a record of a state or a deletion names no item',
  'no-payload': 'a record of a state has no payload: it is counted as activity',
  'no-revision': 'a record of a state or a deletion has no entity_rev',
  'payload-forbidden': 'a deletion has a payload',
};

/** What is wrong in the segments of a journal. */
export function inJournal(view: View, inspected: Inspected): readonly Finding[] {
  return [...inSegments(view), ...inLines(view), ...betweenRecords(view, inspected), ...ofClasses(view, inspected)];
}

function inSegments({ segments, replay, decoys, base }: View): readonly Finding[] {
  const unreadable = segments.flatMap(({ name, unreadable: why }) => (why === null ? [] : [`${name}: ${why}`]));
  const torn = segments.filter(({ unfinished }) => unfinished > 0);
  const open = torn.filter(({ name }) => name === segments.at(-1)?.name);
  const old = torn.filter((one) => !open.includes(one));
  const places = (all: typeof torn): readonly string[] =>
    all.map(({ name, offset, unfinished }) => `${name} at byte ${offset}, ${unfinished} bytes`);
  const { missing } = replay;
  const lost = missing.map(({ from, to }) => (from === to ? `seq ${from}` : `seq ${from} to ${to}`));
  return [
    ...finding('defect', 'unreadable-segment', unreadable.length, 'a segment can not be read', unreadable),
    ...finding(
      'defect',
      'missing-segment',
      missing.length,
      'no segment holds these: the board lacks what they did',
      lost,
    ),
    ...finding('note', 'from-checkpoint', base === null ? 0 : 1, `the board begins at seq ${base?.seq}`, [
      base?.name ?? '',
    ]),
    ...finding(
      'note',
      'unfinished-line',
      open.length,
      'the last line has no end: it is being written, or torn',
      places(open),
    ),
    ...finding('defect', 'unexplained-tear', old.length, 'an older segment ends in the middle of a line', places(old)),
    ...finding('note', 'decoy', decoys.length, 'is called like a segment and is none', decoys),
    ...finding(
      'note',
      'registry-partial',
      replay.projection.registryAuthoritative ? 0 : 1,
      'no registry_genesis: counts of claims, assignments, runs and actions may be too low',
    ),
  ];
}

function inLines({ replay }: View): readonly Finding[] {
  const { skippedBy, adjudicatedBy, adjudicated, lastSkipped } = replay.diagnosis;
  const places = (why: Refusal | null, isExplained: boolean): readonly string[] =>
    lastSkipped
      .filter((one) => (why === null || one.why === why) && one.adjudicated === isExplained)
      .map((one) => `${one.segment} at byte ${one.byte}${isExplained ? `, ${REFUSALS[one.why][0]}` : ''}`);
  const unexplained = (Object.keys(REFUSALS) as Refusal[]).flatMap((why) => {
    const [what, says] = REFUSALS[why];
    return finding('defect', what, (skippedBy[why] ?? 0) - (adjudicatedBy[why] ?? 0), says, places(why, false));
  });
  const says = 'a line is no whole record, and a writer accounts for it';
  return [...unexplained, ...finding('note', 'adjudicated-tear', adjudicated, says, places(null, true))];
}

function betweenRecords({ replay, base }: View, inspected: Inspected): readonly Finding[] {
  const { duplicates, gaps, missingSeqs, seqRepairs } = replay.diagnosis;
  const { sameAgain, otherAgain, revisionGaps, revisionsBack, beginsLater, unfollowed } = inspected;
  const uncompared = duplicates - sameAgain.count - otherAgain.count;
  const isWhole = base === null && replay.missing.length === 0;
  const later = isWhole ? beginsLater : { count: 0, last: [] };
  const spans = gaps.map(({ from, to }) => (from === to ? `seq ${from}` : `seq ${from} to ${to}`));
  const broken = [...revisionGaps.last, ...later.last].map(breakText);
  return [
    ...finding(
      'defect',
      'seq-with-two-contents',
      otherAgain.count,
      'two records share a seq: the later line wins',
      otherAgain.last.map(placeText),
    ),
    ...finding('note', 'duplicate', sameAgain.count, 'a record is there twice', sameAgain.last.map(placeText)),
    ...finding('note', 'late-duplicate', Math.max(0, uncompared), 'a seq comes again long after: not compared'),
    ...finding('defect', 'seq-gap', missingSeqs, 'no record has these seqs', spans),
    ...finding('note', 'seq-repair', seqRepairs, 'a writer found meta.json behind, and repaired it'),
    ...finding('defect', 'revision-gap', revisionGaps.count + later.count, 'revisions of an item are missing', broken),
    ...finding(
      'defect',
      'revision-back',
      revisionsBack.count,
      'a revision is not above the one before',
      revisionsBack.last.map(breakText),
    ),
    ...finding('note', 'unfollowed', unfollowed, 'records of more items than are compared'),
  ];
}

function ofClasses({ replay }: View, { violations, payloadRefs, payloadRefBytes }: Inspected): readonly Finding[] {
  const { unknownActions } = replay.diagnosis;
  const actions = Object.entries(unknownActions).map(([action, count]) => `${action}, ${count}`);
  const sizes = payloadRefs.last.map((one) => `${placeText(one)}, ${one.bytes ?? 'unsaid'} bytes`);
  const kinds = Object.keys(VIOLATIONS) as (keyof typeof VIOLATIONS)[];
  const of = Object.values(unknownActions).reduce((sum, count) => sum + count, 0);
  return [
    ...kinds.flatMap((kind) => {
      const cases = violations.get(kind);
      return finding('defect', kind, cases?.count ?? 0, VIOLATIONS[kind], cases?.last.map(placeText));
    }),
    ...finding(
      'defect',
      'payload-elsewhere',
      payloadRefs.count,
      `a payload is not in its line: ${payloadRefBytes} bytes, all in all, that the board lacks`,
      sizes,
    ),
    ...finding(
      'note',
      'unknown-action',
      of,
      'an action is not in the table: with an item and a payload it counts as a state',
      actions,
    ),
  ];
}

const placeText = ({ seq, segment, byte }: At): string => `seq ${seq}, ${segment} at byte ${byte}`;
const breakText = (one: RevisionBreak): string =>
  `${one.item} from ${one.before} to ${one.revision}, ${placeText(one)}`;
