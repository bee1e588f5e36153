import type { Files, Log } from '../ports/index.ts';

/** What the file operations of this folder and of the sinks need from the machine. */
export interface Disk {
  readonly files: Files;
  readonly log: Log;
  /** The user files must belong to; null where the platform has no user ids and no modes (Windows). */
  readonly uid: number | null;
}
