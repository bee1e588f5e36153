import { join, resolve } from 'node:path';
import { Fault } from '../../../core/model/index.ts';
import { type Clock, realClock } from '../../../core/ports/index.ts';
import {
  basesIn,
  type Journal,
  type JournalOptions,
  keepJournal,
  type Project,
  readConfig,
  remarksOn,
  type View,
} from '../../../core/sources/brainclaw/index.ts';
import { type Disk, realDisk, refusal } from '../../../core/state/index.ts';
import { printable, printableJson } from '../../printable.ts';
import type { Io } from '../command.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { stderrLog } from '../stderr-log.ts';
import { type BrainclawArgs, wholeOf } from './args.ts';
import { projectAt } from './project.ts';

/** What every command that looks at a project has at hand. */
export interface Ground {
  readonly io: Io;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly project: Project;
  readonly asJson: boolean;
}

/** Before what is said on stderr. */
export const NAME = 'hivebar brainclaw';

/** @throws Fault `unreadable` when there is no such project */
export async function groundOf({ flags }: BrainclawArgs, io: Io): Promise<Ground> {
  const disk = realDisk(stderrLog(io, NAME));
  const project = await projectOf(disk, io, flags.project);
  return { io, disk, clock: realClock, project, asJson: flags.json === true };
}

/** By its folder, else by its id. */
async function projectOf(disk: Disk, io: Io, named: string | undefined): Promise<Project> {
  const { cwd } = surroundings();
  const here = projectAt(disk, resolve(cwd, named ?? ''));
  if (here !== null) return here;
  const { watchedProject } = await import('./watched.ts'); // with the settings, which nothing else asks for
  const watched = await watchedProject(disk, io.env, named ?? '');
  if (watched !== null) return watched;
  throw refusal(named ?? cwd, 'is no directory, and no project of the settings has this id', 'unreadable');
}

/** The journal of a project, not read yet. Nothing of how far it is read is kept. */
export function journalOf(
  { disk, project }: Ground,
  options: Pick<JournalOptions, 'until' | 'listener'> = {},
): Journal {
  const events = join(project.store, 'events');
  const { projectId } = readConfig(disk.files, join(project.store, 'config.yaml'));
  const bases = (first: number) => basesIn(disk.files, join(events, 'checkpoints'), projectId, first);
  return keepJournal(disk.files, events, { bases, ...options });
}

/**
 * The journal as it is now, up to the seq that the flags name; null when it is off, which has been said.
 * @throws Fault `unreadable` when the disk does not let it
 */
export function viewOf(ground: Ground, { flags }: BrainclawArgs): View | null {
  const journal = journalOf(ground, { until: wholeOf(flags, 'until', 1) });
  journal.refresh();
  if (journal.view !== null) return journal.view;
  if (ground.asJson) sayJson(ground, { project: ground.project.id, remarks: remarksOn(null) });
  complain(ground, journalOff(ground.project));
  return null;
}

/** An exit code: the journal is off, and what it would say is not known. */
export const NOT_KNOWN = 1;

export const journalOff = ({ store }: Project): string =>
  `${join(store, 'events')} is not there: the journal of this project is off (journal-off), so nothing is known of its ` +
  'board; `brainclaw migrate --enable-journal` switches it on';

/** One value as a line of JSON. */
export function sayJson({ io }: Pick<Ground, 'io'>, value: unknown): void {
  io.out(`${printableJson(JSON.stringify(value))}\n`);
}

/** On stderr; the exit code says whether it matters. */
export function complain({ io }: Pick<Ground, 'io'>, text: string): void {
  io.err(`${NAME}: ${printable(text)}\n`);
}

/** What must be said beside the numbers, for a person. Nothing when they are all there is to know. */
export function sayRemarks(ground: Ground, view: View): void {
  const remarks = remarksOn(view);
  if (remarks.length > 0) ground.io.out(`${remarks.join(', ')}\n`);
}

export function isUnreadable(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'unreadable';
}

/** Rows of cells as lines with columns; the last one is not padded. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, n) => cell.padEnd(widths[n] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
