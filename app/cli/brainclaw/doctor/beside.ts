import { join } from 'node:path';
import type {
  AgentInbox,
  Base,
  Inspected,
  MetaRead,
  RefusedBase,
  View,
} from '../../../../core/sources/brainclaw/index.ts';
import { type Finding, finding } from './finding.ts';

const META = 'meta.json';

/** How the writer's own note stands to the journal. Nothing depends on it here; writers do. */
export function inMeta(read: MetaRead, { replay, segments, base }: View, { revisions }: Inspected): readonly Finding[] {
  if (read.is === 'absent')
    return finding('note', 'meta-missing', 1, `${META} is missing: the next writer makes it anew`);
  if (read.is === 'refused') return finding('defect', 'meta-broken', 1, `${META} ${read.why}`);
  const { nextSeq, activeSegment, revisions: said } = read.meta;
  const next = (replay.cursor?.seq ?? 0) + 1;
  const last = segments.at(-1)?.name ?? null;
  const isOld = segments.some(({ name }) => name === activeSegment);
  const isBehind = nextSeq < next;
  const lower = [...revisions].filter(([id, revision]) => (said.get(id) ?? 0) < revision);
  const isWhole = base === null && replay.missing.length === 0; // else it may be right about what is gone
  const higher = isWhole ? [...said].filter(([id, revision]) => (revisions.get(id) ?? 0) < revision) : [];
  const text = ([id, revision]: readonly [string, number]): string =>
    `${id}: the journal has ${revisions.get(id) ?? 'none'}, ${META} ${said.get(id) ?? 'none'} (${revision})`;
  return [
    ...finding(
      'note',
      'meta-behind',
      isBehind ? 1 : 0,
      `${META} has next_seq ${nextSeq}, and the journal ends at ${next - 1}`,
    ),
    ...finding(
      'defect',
      'meta-lies',
      nextSeq > next ? 1 : 0,
      `${META} has next_seq ${nextSeq}, and the journal ends at ${next - 1}`,
    ),
    ...finding(
      isBehind && isOld ? 'note' : 'defect',
      isBehind && isOld ? 'meta-behind' : 'meta-lies',
      activeSegment === last ? 0 : 1,
      `${META} has the active segment ${activeSegment}, and the last one is ${last}`,
    ),
    ...finding(
      isBehind ? 'note' : 'defect',
      isBehind ? 'meta-behind' : 'meta-lies',
      lower.length,
      `${META} has revisions that are too low`,
      lower.map(text),
    ),
    ...finding(
      'defect',
      'meta-lies',
      higher.length,
      `${META} has revisions that the journal does not have`,
      higher.map(text),
    ),
  ];
}

/** @param met by the name of a base, whether the journal has the record it ends with */
export function inCheckpoints(
  bases: readonly Base[],
  refused: readonly RefusedBase[],
  met: ReadonlySet<string>,
): readonly Finding[] {
  const foreign = bases
    .filter(({ name }) => !met.has(name))
    .map(({ name }) => `${name} the journal does not have the record it ends with`);
  const all = [...refused.map(({ name, why }) => `${name} ${why}`), ...foreign];
  return finding('defect', 'checkpoint-refused', all.length, 'a checkpoint is not believed', all);
}

/** Files in the inboxes of agents that are no messages. */
export function inMail(inboxes: readonly AgentInbox[]): readonly Finding[] {
  const bad = inboxes.flatMap(({ agent, bad: files }) => files.map(({ name, why }) => `${join(agent, name)} ${why}`));
  return finding('defect', 'bad-mail', bad.length, 'a file in an inbox is no message: the store passes it over', bad);
}

/** Directories beside the inboxes that no agent can be called, so that nobody reads what is in them. */
export function foreignInboxes(directories: readonly string[], agents: ReadonlySet<string>): readonly Finding[] {
  const found = directories.filter((name) => !agents.has(name));
  return finding('note', 'no-inbox', found.length, 'is beside the inboxes, and no agent is called so', found);
}

const DELIVERY = /^task-\d+\.md$/;

/** What an older brainclaw left for agents beside the store; it is no mail any more (brainclaw contract 5). */
export function olderDeliveries(namesIn: (path: string) => readonly string[], root: string): readonly Finding[] {
  const inbox = join(root, 'coordination', 'inbox');
  const found = namesIn(inbox).flatMap((agent) =>
    namesIn(join(inbox, agent)).flatMap((name) =>
      DELIVERY.test(name) ? [join('coordination', 'inbox', agent, name)] : [],
    ),
  );
  return finding(
    'note',
    'older-delivery',
    found.length,
    'a task lies where an older brainclaw put it: it is not counted',
    found,
  );
}

/** Whether the journal goes on behind what the note says. */
export const isBehind = (read: MetaRead, { replay }: View): boolean =>
  read.is === 'meta' && read.meta.nextSeq <= (replay.cursor?.seq ?? 0);
