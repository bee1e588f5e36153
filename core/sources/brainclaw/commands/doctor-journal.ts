import {
  FAR,
  type InspectionReport,
  type JournalView,
  MOST_LINE,
  type RecordPosition,
  type RecordRefusal,
  type RevisionBreak,
  type Violation,
} from '../index.ts';

/** Why a line is no record: a word for scripts and a text for a person. */
const REFUSALS: Readonly<Record<RecordRefusal, readonly [what: string, says: string]>> = {
  'not-json': ['not-json', 'a line is not valid JSON, and no writer accounts for it as a torn record'],
  'not-utf8': ['cut-utf8', 'a line is not valid UTF-8: a character was cut'],
  'not-an-object': ['no-object', 'a line is JSON but not an object'],
  version: ['wrong-version', 'a record is not of version 2'],
  seq: ['bad-seq', 'the seq of a record is not a whole number above 0 that JSON can hold'],
  'seq-too-far': ['far-seq', `a record is more than ${FAR} ahead of all others, and is ignored`],
  action: ['no-action', 'a record has no action'],
  'item-type': ['no-item-type', 'a record has no item_type'],
  field: ['bad-field', 'a record has a field of the wrong type'],
  payload: ['bad-payload', 'the payload of a record is not an object'],
  'too-long': ['too-long', `a line is over ${MOST_LINE} bytes long`],
};

const VIOLATIONS: Readonly<Record<Exclude<Violation, 'payload-elsewhere'>, string>> = {
  'no-item-id': 'a record of a state or a deletion names no item',
  'no-payload': 'a record of a state has no payload: it is counted as activity',
  'no-revision': 'a record of a state or a deletion has no entity_rev',
  'payload-forbidden': 'a deletion has a payload',
};

/** Checks the segments of a journal. */
export function checkJournal(view: JournalView, inspected: InspectionReport): readonly BrainclawFinding[] {
  return [
    ...checkSegments(view),
    ...checkLines(view),
    ...checkRecordOrder(view, inspected),
    ...checkClasses(view, inspected),
  ];
}

function checkSegments({ segments, replay, decoys, base }: JournalView): readonly BrainclawFinding[] {
  const unreadable = segments.flatMap(({ name, unreadable: why }) => (why === null ? [] : [`${name}: ${why}`]));
  const torn = segments.filter(({ unfinished }) => unfinished > 0);
  const open = torn.filter(({ name }) => name === segments.at(-1)?.name);
  const old = torn.filter((segment) => !open.includes(segment));
  const places = (listed: typeof torn): readonly string[] =>
    listed.map(({ name, offset, unfinished }) => `${name} at byte ${offset}, ${unfinished} bytes`);
  const { missing } = replay;
  const lost = missing.map(({ from, to }) => (from === to ? `seq ${from}` : `seq ${from} to ${to}`));
  return [
    ...createFindings('defect', 'unreadable-segment', unreadable.length, 'a segment cannot be read', unreadable),
    ...createFindings(
      'defect',
      'missing-segment',
      missing.length,
      'no segment contains these records, so the board lacks their changes',
      lost,
    ),
    ...createFindings('note', 'from-checkpoint', base === null ? 0 : 1, `the board begins at seq ${base?.seq}`, [
      base?.name ?? '',
    ]),
    ...createFindings(
      'note',
      'unfinished-line',
      open.length,
      'the last line is incomplete: it is being written, or torn',
      places(open),
    ),
    ...createFindings(
      'defect',
      'unexplained-tear',
      old.length,
      'an older segment ends in the middle of a line',
      places(old),
    ),
    ...createFindings('note', 'decoy', decoys.length, 'a file has the name of a segment but is not one', decoys),
    ...createFindings(
      'note',
      'registry-partial',
      replay.projection.registryAuthoritative ? 0 : 1,
      'no registry_genesis: counts of claims, assignments, runs and actions may be too low',
    ),
  ];
}

function checkLines({ replay }: JournalView): readonly BrainclawFinding[] {
  const { skippedBy, adjudicatedBy, adjudicated, lastSkipped } = replay.diagnosis;
  const places = (why: RecordRefusal | null, isExplained: boolean): readonly string[] =>
    lastSkipped
      .filter((skip) => (why === null || skip.why === why) && skip.adjudicated === isExplained)
      .map((skip) => `${skip.segment} at byte ${skip.byte}${isExplained ? `, ${REFUSALS[skip.why][0]}` : ''}`);
  const unexplained = (Object.keys(REFUSALS) as RecordRefusal[]).flatMap((why) => {
    const [code, says] = REFUSALS[why];
    return createFindings('defect', code, (skippedBy[why] ?? 0) - (adjudicatedBy[why] ?? 0), says, places(why, false));
  });
  const says = 'a line is not a complete record, and a writer accounts for it';
  return [...unexplained, ...createFindings('note', 'adjudicated-tear', adjudicated, says, places(null, true))];
}

function checkRecordOrder({ replay, base }: JournalView, inspected: InspectionReport): readonly BrainclawFinding[] {
  const { duplicates, gaps, missingSeqs, seqRepairs } = replay.diagnosis;
  const { sameAgain, otherAgain, revisionGaps, revisionsBack, beginsLater, unfollowed } = inspected;
  const uncompared = duplicates - sameAgain.count - otherAgain.count;
  const isWhole = base === null && replay.missing.length === 0;
  const later = isWhole ? beginsLater : { count: 0, last: [] };
  const spans = gaps.map(({ from, to }) => (from === to ? `seq ${from}` : `seq ${from} to ${to}`));
  const broken = [...revisionGaps.last, ...later.last].map(formatBreak);
  return [
    ...createFindings(
      'defect',
      'seq-with-two-contents',
      otherAgain.count,
      'two records share a seq: the later line wins',
      otherAgain.last.map(formatPlace),
    ),
    ...createFindings(
      'note',
      'duplicate',
      sameAgain.count,
      'a record is stored twice',
      sameAgain.last.map(formatPlace),
    ),
    ...createFindings(
      'note',
      'late-duplicate',
      Math.max(0, uncompared),
      'a seq appears again much later; the records were not compared',
    ),
    ...createFindings('defect', 'seq-gap', missingSeqs, 'no record has these seqs', spans),
    ...createFindings('note', 'seq-repair', seqRepairs, 'a writer found meta.json behind, and repaired it'),
    ...createFindings(
      'defect',
      'revision-gap',
      revisionGaps.count + later.count,
      'revisions of an item are missing',
      broken,
    ),
    ...createFindings(
      'defect',
      'revision-back',
      revisionsBack.count,
      'a revision is not above the previous one',
      revisionsBack.last.map(formatBreak),
    ),
    ...createFindings('note', 'unfollowed', unfollowed, 'there are records of more items than can be compared'),
  ];
}

function checkClasses(
  { replay }: JournalView,
  { violations, payloadRefs, payloadRefBytes }: InspectionReport,
): readonly BrainclawFinding[] {
  const { unknownActions } = replay.diagnosis;
  const actions = Object.entries(unknownActions).map(([action, count]) => `${action}, ${count}`);
  const sizes = payloadRefs.last.map((ref) => `${formatPlace(ref)}, ${ref.bytes ?? 'unknown'} bytes`);
  const kinds = Object.keys(VIOLATIONS) as (keyof typeof VIOLATIONS)[];
  const unknownCount = Object.values(unknownActions).reduce((sum, count) => sum + count, 0);
  return [
    ...kinds.flatMap((kind) => {
      const cases = violations.get(kind);
      return createFindings('defect', kind, cases?.count ?? 0, VIOLATIONS[kind], cases?.last.map(formatPlace));
    }),
    ...createFindings(
      'defect',
      'payload-elsewhere',
      payloadRefs.count,
      `a payload is not in its line, so the board lacks ${payloadRefBytes} bytes in total`,
      sizes,
    ),
    ...createFindings(
      'note',
      'unknown-action',
      unknownCount,
      'an action is not in the table: with an item and a payload it counts as a state',
      actions,
    ),
  ];
}

const formatPlace = ({ seq, segment, byte }: RecordPosition): string => `seq ${seq}, ${segment} at byte ${byte}`;
const formatBreak = (broken: RevisionBreak): string =>
  `${broken.item} from ${broken.before} to ${broken.revision}, ${formatPlace(broken)}`;

/** A fact about a store that a person may want to know. */
export interface BrainclawFinding {
  /** `defect`: something is wrong, and the exit code says so. `note`: it is allowed, or it happens. */
  readonly is: 'defect' | 'note';
  /** One word for scripts. */
  readonly what: string;
  readonly count: number;
  readonly says: string;
  /** The places, at most a limited number. */
  readonly where: readonly string[];
}

const MOST_WHERE = 16;

export function createFindings(
  is: BrainclawFinding['is'],
  code: string,
  count: number,
  says: string,
  where: readonly string[] = [],
): readonly BrainclawFinding[] {
  return count === 0 ? [] : [{ is, what: code, count, says, where: where.slice(-MOST_WHERE) }];
}
