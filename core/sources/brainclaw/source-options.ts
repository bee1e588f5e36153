import { SOURCE_PREFIXES, type SourceId } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Persona, Source } from '../source.ts';
import type { Cursor, Project, ProjectSheet, Seed, SheetPage } from './read/index.ts';

export interface BrainclawOptions {
  readonly project: Project;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** Code points of content in an event; null leaves it out. */
  readonly contentChars: number | null;
  /** False: of the store only the journal and its configuration are read (observer protocol 1). */
  readonly mail: boolean;
  /** How far an earlier run came, kept outside the store (brainclaw contract 9). */
  readonly cursor: { load(): Cursor | null; save(cursor: Cursor): void };
  /** The one question at activation, where the journal is off or partial; null: nobody may be asked (brainclaw contract 9). */
  readonly seed: (() => Promise<Seed | null>) | null;
  /** Called when the sheet may be another than before, whatever became of the counts. */
  readonly changed?: () => void;
  /** Nothing is watched, as on a disk that tells of no change: it is looked at every 10 s. */
  readonly statOnly?: boolean;
}

/** A project as a source: its board and its agents (brainclaw contract 9). */
export interface BrainclawSource extends Source {
  readonly project: Project;
  /** The board (`BOARD`), or an agent, also one that is not there (any more). */
  named(address: string): Persona;
  /** What surfaces show of the project; null before the first read. */
  readonly sheet: ProjectSheet | null;
  /** The same with one page of one section alone. */
  sheetAt(page: SheetPage): ProjectSheet | null;
  /** What is wrong in the store, a line each. */
  readonly defects: readonly string[];
}

export const BRAINCLAW = 'brainclaw';
/** The address of a project's board: no directory can be called so, so no agent is. */
export const BOARD = '';

/** `bc-` and the project's id: what is no letter, digit, `_` or `-` becomes `_`. */
export const toSourceId = ({ id }: Pick<Project, 'id'>): SourceId =>
  `${SOURCE_PREFIXES.brainclaw}${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
