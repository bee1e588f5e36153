import { join } from 'node:path';
import {
  type Applied,
  type Base,
  basesIn,
  keepAgentMail,
  keepJournal,
  readConfig,
  readMeta,
  startInspection,
} from '../../../../core/sources/brainclaw/index.ts';
import { errnoOf } from '../../../../core/state/index.ts';
import { printable } from '../../../printable.ts';
import type { Io } from '../../command.ts';
import type { BrainclawArgs } from '../args.ts';
import { complain, type Ground, groundOf, isUnreadable, sayJson } from '../ground.ts';
import { foreignInboxes, inCheckpoints, inMail, inMeta, isBehind, olderDeliveries } from './beside.ts';
import { type Finding, finding } from './finding.ts';
import { inJournal } from './journal.ts';

const CLEAN = 0;
const DEFECTS = 1;
const NOT_LOOKED = 3;
/** So often a note that seems to be behind is read again: somebody may be writing. */
const WRITING = 4;

/** How much there was to look at; null: the journal is off. */
interface Looked {
  readonly findings: readonly Finding[];
  readonly journal: {
    readonly records: number;
    readonly segments: number;
    readonly cursor: number | null;
    readonly checkpoints: readonly string[];
  } | null;
}

/** Whether a store is in order. Nothing is changed. */
export async function examine(asked: BrainclawArgs, io: Io): Promise<number> {
  try {
    const ground = await groundOf(asked, io);
    return report(ground, looked(ground));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (asked.flags.json === true) sayJson({ io }, { clean: false, unreadable: error.message, findings: [] });
    complain({ io }, error.explain());
    return NOT_LOOKED;
  }
}

function looked(ground: Ground): Looked {
  const { disk, project } = ground;
  const inbox = join(project.store, 'coordination', 'inbox');
  const mail = keepAgentMail(disk.files, inbox, () => '').look();
  const directories = namesIn(ground, inbox).filter(
    (name) => disk.files.lstat(join(inbox, name))?.kind === 'directory',
  );
  const { findings, journal } = ofJournal(ground);
  const beside = [
    ...inMail([...(mail?.values() ?? [])]),
    ...foreignInboxes(directories, new Set(mail?.keys())),
    ...olderDeliveries((path) => namesIn(ground, path), project.root),
  ];
  return { findings: [...findings, ...beside].sort(byWeight), journal };
}

function ofJournal({ disk, project }: Ground): Looked {
  const { files } = disk;
  const events = join(project.store, 'events');
  const { projectId } = readConfig(files, join(project.store, 'config.yaml'));
  const inspection = startInspection();
  const at = join(events, 'checkpoints');
  const { bases, refused } = basesIn(files, at, projectId, 1);
  const met = new Set<string>();
  const journal = keepJournal(files, events, {
    bases: (first) => basesIn(files, at, projectId, first),
    listener: {
      begin: inspection.begin,
      skipped: inspection.skipped,
      applied: (one, effect) => {
        meet(bases, met, one);
        inspection.applied(one, effect);
      },
    },
  });
  // Writers append first and note it then: read the other way round, a note could only seem to lie.
  let meta = readMeta(files, events);
  journal.refresh();
  for (let attempt = 0; attempt < WRITING && journal.view !== null && isBehind(meta, journal.view); attempt += 1) {
    meta = readMeta(files, events);
    journal.refresh();
  }
  const { view } = journal;
  if (view === null) {
    const says =
      'the journal is off: nothing is known of the board; `brainclaw migrate --enable-journal` switches it on';
    return { findings: finding('note', 'journal-off', 1, says), journal: null };
  }
  if (view.base !== null) met.add(view.base.name); // its last record lies before all that is applied
  const { inspected } = inspection;
  return {
    findings: [...inJournal(view, inspected), ...inMeta(meta, view, inspected), ...inCheckpoints(bases, refused, met)],
    journal: {
      records: view.replay.applied,
      segments: view.segments.length,
      cursor: view.replay.cursor?.seq ?? null,
      checkpoints: [...met].sort(),
    },
  };
}

function meet(bases: readonly Base[], met: Set<string>, { record }: Applied): void {
  for (const base of bases) if (!met.has(base.name) && base.isAnchor(record)) met.add(base.name);
}

/** Nothing where nothing is to be seen: what is beside a store is no part of it. */
function namesIn({ disk }: Ground, path: string): readonly string[] {
  try {
    return disk.files.readdir(path).sort();
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return [];
  }
}

const byWeight = (a: Finding, b: Finding): number => Number(a.is === 'note') - Number(b.is === 'note');

function report(ground: Ground, { findings, journal }: Looked): number {
  const { io, project } = ground;
  const defects = findings.filter(({ is }) => is === 'defect').length;
  const isClean = defects === 0;
  if (ground.asJson) {
    sayJson(ground, { clean: isClean, project: project.id, journal, findings });
    return isClean ? CLEAN : DEFECTS;
  }
  for (const { is, what, count, says, where } of findings) {
    io.out(`${is === 'defect' ? 'defect' : 'note  '}  ${what} (${count}): ${printable(says)}\n`);
    for (const place of where) io.out(`          ${printable(place)}\n`);
  }
  const size = journal === null ? 'journal off' : `${journal.records} records in ${journal.segments} segments`;
  io.out(
    `${printable(project.id)}: ${size}, ${isClean ? 'no defect' : defects === 1 ? '1 defect' : `${defects} defects`}\n`,
  );
  return isClean ? CLEAN : DEFECTS;
}
