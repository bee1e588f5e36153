import { join } from 'node:path';
import type { Io } from '../../../command/index.ts';
import { displayName } from '../../../format/index.ts';
import { getErrno } from '../../../state/index.ts';
import type { CommandHost } from '../../module.ts';
import {
  type AgentInbox,
  type AppliedRecord,
  type Base,
  createAgentMailReader,
  createJournalReader,
  type InspectionReport,
  type JournalView,
  type MetaRead,
  type RefusedBase,
  readBases,
  readConfig,
  readMeta,
  startInspection,
} from '../index.ts';
import type { BrainclawArgs } from './args.ts';
import { type BrainclawContext, complain, createContext, isUnreadable, printJson } from './brainclaw-context.ts';
import { type BrainclawFinding, checkJournal, createFindings } from './doctor-journal.ts';

const CLEAN = 0;
const DEFECTS = 1;
const EXIT_UNREADABLE = 3;
/** How many times a `meta.json` that seems to be behind is read again, because a writer may be active. */
const WRITING = 4;

/** The findings, and how much was examined; `journal` is null when the journal is off. */
interface BrainclawExamination {
  readonly findings: readonly BrainclawFinding[];
  readonly journal: {
    readonly records: number;
    readonly segments: number;
    readonly cursor: number | null;
    readonly checkpoints: readonly string[];
  } | null;
}

/** Examines whether a store is in order. It changes nothing. */
export async function examine(options: BrainclawArgs, io: Io, host: CommandHost): Promise<number> {
  try {
    const context = await createContext(options, io, host);
    return report(context, examineStore(context));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (options.flags.json === true) printJson({ io }, { clean: false, unreadable: error.message, findings: [] });
    complain({ io }, error.explain());
    return EXIT_UNREADABLE;
  }
}

function examineStore(context: BrainclawContext): BrainclawExamination {
  const { disk, project } = context;
  const inbox = join(project.store, 'coordination', 'inbox');
  const mail = createAgentMailReader(disk.files, inbox, () => '').read();
  const directories = listNames(context, inbox).filter(
    (name) => disk.files.lstat(join(inbox, name))?.kind === 'directory',
  );
  const { findings, journal } = examineJournal(context);
  const beside = [
    ...checkMail([...(mail?.values() ?? [])]),
    ...checkForeignInboxes(directories, new Set(mail?.keys())),
    ...checkOlderDeliveries((path) => listNames(context, path), project.root),
  ];
  return { findings: [...findings, ...beside].sort(compareWeight), journal };
}

function examineJournal({ disk, project }: BrainclawContext): BrainclawExamination {
  const { files } = disk;
  const events = join(project.store, 'events');
  const { projectId } = readConfig(files, join(project.store, 'config.yaml'));
  const inspection = startInspection();
  const at = join(events, 'checkpoints');
  const { bases, refused } = readBases(files, at, projectId, 1);
  const met = new Set<string>();
  const journal = createJournalReader(files, events, {
    bases: (first) => readBases(files, at, projectId, first),
    listener: {
      begin: inspection.begin,
      skipped: inspection.skipped,
      applied: (appliedRecord, effect) => {
        meet(bases, met, appliedRecord);
        inspection.applied(appliedRecord, effect);
      },
    },
  });
  // Writers append first and update `meta.json` then. Reading the journal first would make a correct `meta.json` look wrong.
  let meta = readMeta(files, events);
  journal.refresh();
  for (let attempt = 0; attempt < WRITING && journal.view !== null && isBehind(meta, journal.view); attempt += 1) {
    meta = readMeta(files, events);
    journal.refresh();
  }
  const { view } = journal;
  if (view === null) {
    const says = 'the journal is off, so the board is unknown; `brainclaw migrate --enable-journal` switches it on';
    return { findings: createFindings('note', 'journal-off', 1, says), journal: null };
  }
  if (view.base !== null) met.add(view.base.name); // the base's last record comes before all records that are applied
  const { inspected } = inspection;
  return {
    findings: [
      ...checkJournal(view, inspected),
      ...checkMeta(meta, view, inspected),
      ...checkCheckpoints(bases, refused, met),
    ],
    journal: {
      records: view.replay.applied,
      segments: view.segments.length,
      cursor: view.replay.cursor?.seq ?? null,
      checkpoints: [...met].sort(),
    },
  };
}

function meet(bases: readonly Base[], met: Set<string>, { record }: AppliedRecord): void {
  for (const base of bases) if (!met.has(base.name) && base.isAnchor(record)) met.add(base.name);
}

/** Lists names; a folder that cannot be read counts as empty, because the files beside a store are not part of it. */
function listNames({ disk }: BrainclawContext, path: string): readonly string[] {
  try {
    return disk.files.readdir(path).sort();
  } catch (error) {
    if (getErrno(error) === '') throw error;
    return [];
  }
}

const compareWeight = (a: BrainclawFinding, b: BrainclawFinding): number =>
  Number(a.is === 'note') - Number(b.is === 'note');

function report(context: BrainclawContext, { findings, journal }: BrainclawExamination): number {
  const { io, project } = context;
  const defects = findings.filter(({ is }) => is === 'defect').length;
  const isClean = defects === 0;
  if (context.asJson) {
    printJson(context, { clean: isClean, project: project.id, journal, findings });
    return isClean ? CLEAN : DEFECTS;
  }
  for (const { is, what, count, says, where } of findings) {
    io.out(`${is === 'defect' ? 'defect' : 'note  '}  ${what} (${count}): ${displayName(says)}\n`);
    for (const place of where) io.out(`          ${displayName(place)}\n`);
  }
  const size = journal === null ? 'journal off' : `${journal.records} records in ${journal.segments} segments`;
  io.out(
    `${displayName(project.id)}: ${size}, ${isClean ? 'no defect' : defects === 1 ? '1 defect' : `${defects} defects`}\n`,
  );
  return isClean ? CLEAN : DEFECTS;
}

const META = 'meta.json';

/** Compares the writer's `meta.json` with the journal. Hivebar does not depend on it, but writers do. */
function checkMeta(
  read: MetaRead,
  { replay, segments, base }: JournalView,
  { revisions }: InspectionReport,
): readonly BrainclawFinding[] {
  if (read.is === 'absent')
    return createFindings('note', 'meta-missing', 1, `${META} is missing: the next writer creates it again`);
  if (read.is === 'refused') return createFindings('defect', 'meta-broken', 1, `${META} ${read.why}`);
  const { nextSeq, activeSegment, revisions: statedRevisions } = read.meta;
  const next = (replay.cursor?.seq ?? 0) + 1;
  const last = segments.at(-1)?.name ?? null;
  const isOld = segments.some(({ name }) => name === activeSegment);
  const isBehind = nextSeq < next;
  const lower = [...revisions].filter(([id, revision]) => (statedRevisions.get(id) ?? 0) < revision);
  const isWhole = base === null && replay.missing.length === 0; // otherwise meta.json may be right about records that are gone
  const higher = isWhole ? [...statedRevisions].filter(([id, revision]) => (revisions.get(id) ?? 0) < revision) : [];
  const text = ([id, revision]: readonly [string, number]): string =>
    `${id}: the journal has ${revisions.get(id) ?? 'none'}, ${META} ${statedRevisions.get(id) ?? 'none'} (${revision})`;
  return [
    ...createFindings(
      'note',
      'meta-behind',
      isBehind ? 1 : 0,
      `${META} has next_seq ${nextSeq}, and the journal ends at ${next - 1}`,
    ),
    ...createFindings(
      'defect',
      'meta-lies',
      nextSeq > next ? 1 : 0,
      `${META} has next_seq ${nextSeq}, and the journal ends at ${next - 1}`,
    ),
    ...createFindings(
      isBehind && isOld ? 'note' : 'defect',
      isBehind && isOld ? 'meta-behind' : 'meta-lies',
      activeSegment === last ? 0 : 1,
      `${META} has the active segment ${activeSegment}, and the last one is ${last}`,
    ),
    ...createFindings(
      isBehind ? 'note' : 'defect',
      isBehind ? 'meta-behind' : 'meta-lies',
      lower.length,
      `${META} has revisions that are too low`,
      lower.map(text),
    ),
    ...createFindings(
      'defect',
      'meta-lies',
      higher.length,
      `${META} has revisions that the journal does not have`,
      higher.map(text),
    ),
  ];
}

/** @param met names of the bases whose last record is in the journal */
function checkCheckpoints(
  bases: readonly Base[],
  refused: readonly RefusedBase[],
  met: ReadonlySet<string>,
): readonly BrainclawFinding[] {
  const foreign = bases
    .filter(({ name }) => !met.has(name))
    .map(({ name }) => `${name} the journal does not have the record it ends with`);
  const refusals = [...refused.map(({ name, why }) => `${name} ${why}`), ...foreign];
  return createFindings('defect', 'checkpoint-refused', refusals.length, 'a checkpoint is rejected', refusals);
}

/** Checks for files in the inboxes of agents that are not messages. */
function checkMail(inboxes: readonly AgentInbox[]): readonly BrainclawFinding[] {
  const bad = inboxes.flatMap(({ agent, bad: files }) => files.map(({ name, why }) => `${join(agent, name)} ${why}`));
  return createFindings(
    'defect',
    'bad-mail',
    bad.length,
    'a file in an inbox is not a message, and brainclaw skips it',
    bad,
  );
}

/** Checks for directories beside the inboxes whose name no agent can have, so that nobody reads them. */
function checkForeignInboxes(directories: readonly string[], agents: ReadonlySet<string>): readonly BrainclawFinding[] {
  const foreign = directories.filter((name) => !agents.has(name));
  return createFindings(
    'note',
    'no-inbox',
    foreign.length,
    'is beside the inboxes, but no agent has this name',
    foreign,
  );
}

const DELIVERY = /^task-\d+\.md$/;

/**
 * Checks for tasks that an older brainclaw left for agents beside the store. They no longer count as mail (brainclaw contract
 * 5).
 */
function checkOlderDeliveries(
  listNames: (path: string) => readonly string[],
  root: string,
): readonly BrainclawFinding[] {
  const inbox = join(root, 'coordination', 'inbox');
  const deliveries = listNames(inbox).flatMap((agent) =>
    listNames(join(inbox, agent)).flatMap((name) =>
      DELIVERY.test(name) ? [join('coordination', 'inbox', agent, name)] : [],
    ),
  );
  return createFindings(
    'note',
    'older-delivery',
    deliveries.length,
    'a task is in a place that only an older brainclaw used, and is not counted',
    deliveries,
  );
}

/** Whether the journal has records beyond those that `meta.json` knows. */
const isBehind = (read: MetaRead, { replay }: JournalView): boolean =>
  read.is === 'meta' && read.meta.nextSeq <= (replay.cursor?.seq ?? 0);
