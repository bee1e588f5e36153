import type { SourceId } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Persona, Source } from '../source.ts';
import type { Cursor, Project, ProjectSheet, Seed, SheetPage } from './read/index.ts';
import { BRAINCLAW_PREFIX } from './settings.ts';

export interface BrainclawOptions {
  readonly project: Project;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** False: only the journal and the configuration of the store are read (observer protocol 1). */
  readonly mail: boolean;
  /** How far an earlier run came, stored outside the project's store (brainclaw contract 9). */
  readonly cursor: { load(): Cursor | null; save(cursor: Cursor): void };
  /**
   * Asks brainclaw once at activation, when the journal is off or partial. Null when nobody may be asked (brainclaw contract 9).
   */
  readonly seed: (() => Promise<Seed | null>) | null;
  /** Called when the sheet may have changed, even when the counts did not. */
  readonly changed?: () => void;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** A project as a source: its board and its agents (brainclaw contract 9). */
export interface BrainclawSource extends Source {
  readonly project: Project;
  /** The board (`BOARD`) or an agent as a persona, also an agent that does not exist, or not any more. */
  named(address: string): Persona;
  /** What surfaces show of the project; null before the first read. */
  readonly sheet: ProjectSheet | null;
  /** The sheet with only one page of one section. */
  sheetAt(page: SheetPage): ProjectSheet | null;
  /** The current problems of the store, one line each. */
  readonly defects: readonly string[];
}

/** The address of a project's board: no directory can have this name, so no agent has it. */
export const BOARD = '';

/** `bc-` and the project's id, in which anything but letters, digits, `_` and `-` becomes `_`. */
export const toSourceId = ({ id }: Pick<Project, 'id'>): SourceId =>
  `${BRAINCLAW_PREFIX}${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
