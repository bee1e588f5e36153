import { basename, dirname, join, resolve } from 'node:path';
import type { Io } from '../../../command/index.ts';
import { displayJson, displayName } from '../../../format/index.ts';
import { Fault } from '../../../model/index.ts';
import { type Clock, realClock } from '../../../ports/index.ts';
import { createRealDisk, createRefusal, type Disk, findWorkFolder, toIoFault } from '../../../state/index.ts';
import type { CommandHost } from '../../module.ts';
import {
  assignIds,
  createJournalReader,
  findProjects,
  findRemarks,
  type JournalReader,
  type JournalReaderOptions,
  type JournalView,
  type Project,
  readBases,
  readConfig,
  resolveBrainclawPlaces,
  STORE,
  toSafeId,
} from '../index.ts';
import type { BrainclawSettings } from '../settings.ts';
import { type BrainclawArgs, parseWholeNumber } from './args.ts';

/** What every command that reads a project needs. */
export interface BrainclawContext {
  readonly host: CommandHost;
  readonly io: Io;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly project: Project;
  readonly asJson: boolean;
}

/** The prefix of messages on stderr. */
export const NAME = 'hivebar brainclaw';

/** Reads the settings of this source. @throws Fault `settings` when the settings have a mistake */
export async function readSettings(host: CommandHost, { env }: Io): Promise<BrainclawSettings> {
  return (await host.readSettings(env)) as BrainclawSettings; // the house checked them against the schema of the module
}

/** @throws Fault `unreadable` when there is no such project */
export async function createContext({ flags }: BrainclawArgs, io: Io, host: CommandHost): Promise<BrainclawContext> {
  const disk = createRealDisk(host.createLog(io, NAME));
  const project = await findProject(disk, io, host, flags.project);
  return { host, io, disk, clock: realClock, project, asJson: flags.json === true };
}

/** Finds a project by its folder, else by its id. */
async function findProject(disk: Disk, io: Io, host: CommandHost, named: string | undefined): Promise<Project> {
  const cwd = findWorkFolder();
  const project = findProjectAt(disk, resolve(cwd, named ?? ''));
  if (project !== null) return project;
  const watched = await findWatchedProject(disk, await readSettings(host, io), named ?? '');
  if (watched !== null) return watched;
  throw createRefusal(named ?? cwd, 'is neither a directory nor the id of a project in the settings', 'unreadable');
}

/** Creates a reader of a project's journal, which has read nothing yet. No position is stored. */
export function createProjectJournal(
  { disk, project }: BrainclawContext,
  options: Pick<JournalReaderOptions, 'until' | 'listener'> = {},
): JournalReader {
  const events = join(project.store, 'events');
  const { projectId } = readConfig(disk.files, join(project.store, 'config.yaml'));
  const bases = (first: number) => readBases(disk.files, join(events, 'checkpoints'), projectId, first);
  return createJournalReader(disk.files, events, { bases, ...options });
}

/**
 * Reads the journal as it is now, up to the seq that the flags name. Null: the journal is off, and the person was told.
 * @throws Fault `unreadable` when the disk fails
 */
export function loadView(context: BrainclawContext, { flags }: BrainclawArgs): JournalView | null {
  const journal = createProjectJournal(context, { until: parseWholeNumber(flags, 'until', 1) });
  journal.refresh();
  if (journal.view !== null) return journal.view;
  if (context.asJson) printJson(context, { project: context.project.id, remarks: findRemarks(null) });
  complain(context, formatJournalOff(context.project));
  return null;
}

/** Exit code: the journal is off, so its contents are unknown. */
export const NOT_KNOWN = 1;

export const formatJournalOff = ({ store }: Project): string =>
  `${join(store, 'events')} does not exist: the journal of this project is off (journal-off), so its board is ` +
  'unknown; `brainclaw migrate --enable-journal` switches it on';

/** Prints one value as a line of JSON. */
export function printJson({ io }: Pick<BrainclawContext, 'io'>, value: unknown): void {
  io.out(`${displayJson(JSON.stringify(value))}\n`);
}

/** Prints a message to stderr. The exit code says whether it matters. */
export function complain({ io }: Pick<BrainclawContext, 'io'>, text: string): void {
  io.err(`${NAME}: ${displayName(text)}\n`);
}

/** Prints the reservations about the numbers for a person; nothing when there are none. */
export function printRemarks(context: BrainclawContext, view: JournalView): void {
  const remarks = findRemarks(view);
  if (remarks.length > 0) context.io.out(`${remarks.join(', ')}\n`);
}

export function isUnreadable(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'unreadable';
}

/** Formats rows of cells as aligned lines; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): string {
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

/** Finds the project with this id among the projects of the settings; null when none has it. */
async function findWatchedProject(disk: Disk, { brainclaw }: BrainclawSettings, id: string): Promise<Project | null> {
  const { projects } = await findProjects(disk.files, resolveBrainclawPlaces(brainclaw), async () => {});
  const ids = assignIds(projects, [], () => null);
  const index = ids.findIndex((project) => project.id === toSafeId(id));
  return projects[index] ?? null;
}

/**
 * Finds the project of a directory: the directory contains `.brainclaw`, is `.brainclaw`, or is below a folder that contains
 * it. Null when the path is not a directory.
 * @throws Fault `unreadable` when there is no project; it names the folders that were searched
 */
function findProjectAt(disk: Disk, directory: string): Project | null {
  const from = resolve(directory);
  if (!isDirectory(disk, from)) return null;
  for (let at = from; ; at = dirname(at)) {
    const root = basename(at) === STORE ? dirname(at) : at;
    const store = join(root, STORE);
    if (isDirectory(disk, store)) {
      const { projectId } = readConfig(disk.files, join(store, 'config.yaml'));
      return { root, store, id: projectId ?? basename(root) };
    }
    if (at === dirname(at)) break;
  }
  const why = `neither it nor a directory above it has a ${STORE}, so it belongs to no project: use --project`;
  throw createRefusal(from, why, 'unreadable');
}

/** Whether the path is a directory, also through a symlink: a worktree may share the store of another. */
function isDirectory(disk: Disk, path: string): boolean {
  try {
    return disk.files.lstat(`${path}/.`)?.kind === 'directory';
  } catch (error) {
    const fault = toIoFault(error, path, 'unreadable');
    if (isNoDirectory(error)) return false;
    throw fault;
  }
}

const isNoDirectory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTDIR';
