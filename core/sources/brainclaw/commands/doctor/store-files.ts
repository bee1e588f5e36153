import { join } from 'node:path';
import type { AgentInbox, Base, InspectionReport, JournalView, MetaRead, RefusedBase } from '../../index.ts';
import { type BrainclawFinding, createFindings } from './finding.ts';

const META = 'meta.json';

/** Compares the writer's `meta.json` with the journal. Hivebar does not depend on it, but writers do. */
export function checkMeta(
  read: MetaRead,
  { replay, segments, base }: JournalView,
  { revisions }: InspectionReport,
): readonly BrainclawFinding[] {
  if (read.is === 'absent')
    return createFindings('note', 'meta-missing', 1, `${META} is missing: the next writer makes it anew`);
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
export function checkCheckpoints(
  bases: readonly Base[],
  refused: readonly RefusedBase[],
  met: ReadonlySet<string>,
): readonly BrainclawFinding[] {
  const foreign = bases
    .filter(({ name }) => !met.has(name))
    .map(({ name }) => `${name} the journal does not have the record it ends with`);
  const refusals = [...refused.map(({ name, why }) => `${name} ${why}`), ...foreign];
  return createFindings('defect', 'checkpoint-refused', refusals.length, 'a checkpoint is not believed', refusals);
}

/** Checks for files in the inboxes of agents that are not messages. */
export function checkMail(inboxes: readonly AgentInbox[]): readonly BrainclawFinding[] {
  const bad = inboxes.flatMap(({ agent, bad: files }) => files.map(({ name, why }) => `${join(agent, name)} ${why}`));
  return createFindings(
    'defect',
    'bad-mail',
    bad.length,
    'a file in an inbox is no message: the store passes it over',
    bad,
  );
}

/** Checks for directories beside the inboxes whose name no agent can have, so that nobody reads them. */
export function checkForeignInboxes(
  directories: readonly string[],
  agents: ReadonlySet<string>,
): readonly BrainclawFinding[] {
  const foreign = directories.filter((name) => !agents.has(name));
  return createFindings(
    'note',
    'no-inbox',
    foreign.length,
    'is beside the inboxes, and no agent is called so',
    foreign,
  );
}

const DELIVERY = /^task-\d+\.md$/;

/**
 * Checks for tasks that an older brainclaw left for agents beside the store. They no longer count as mail (brainclaw contract
 * 5).
 */
export function checkOlderDeliveries(
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
    'a task lies where an older brainclaw put it: it is not counted',
    deliveries,
  );
}

/** Whether the journal has records beyond those that `meta.json` knows. */
export const isBehind = (read: MetaRead, { replay }: JournalView): boolean =>
  read.is === 'meta' && read.meta.nextSeq <= (replay.cursor?.seq ?? 0);
