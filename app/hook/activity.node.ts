import * as fs from 'node:fs';
import { join } from 'node:path';
import type { PersonaId } from '../../core/model/index.ts';
import { O, realFiles } from '../../core/ports/index.ts';
import { getErrno, readText, toIoFault, toStem } from '../../core/state/index.ts';

/** The directory in which the hook notes an agent's last moment, one file per persona: `<run>/activity/<stem>`. */
export const getActivityDir = (run: string): string => join(run, 'activity');

/** Creates the directory, because the script creates none. @throws Fault `unwritable` or `no-space` */
export function makeActivityDir(run: string): void {
  const dir = getActivityDir(run);
  try {
    realFiles.mkdirAll(dir, 0o700);
  } catch (error) {
    throw toIoFault(error, dir, 'unwritable');
  }
}

const MOST_BYTES = 4096;

/** The moment that is noted in place of `Stop` when the agent was made to continue. */
export const CONTINUED = 'Continued';

/**
 * Notes a moment as the script does when it asks no program: the moment is the content, its time is that of the file. Never
 * throws, because losing a note costs little.
 */
export function noteActivity(run: string, persona: PersonaId, moment: string): void {
  const dir = getActivityDir(run);
  const write = (): void => writeNote(join(dir, toStem(persona)), `${moment}\n`);
  try {
    try {
      write();
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw error;
      realFiles.mkdirAll(dir, 0o700);
      write();
    }
  } catch {
    // The agent continues all the same; a later reader finds an older moment.
  }
}

/** Does not wait for a pipe that may be at this path. */
function writeNote(path: string, text: string): void {
  const fd = realFiles.open(path, O.WRONLY | O.CREAT | O.TRUNC | O.NOFOLLOW | O.NONBLOCK, 0o600);
  try {
    realFiles.write(fd, Buffer.from(text));
  } finally {
    realFiles.close(fd);
  }
}

/** Returns the moment and its time (ms since the epoch), or null when no hook of this persona ever ran. */
export function readActivity(run: string, persona: PersonaId): { readonly moment: string; readonly at: number } | null {
  try {
    const path = join(getActivityDir(run), toStem(persona));
    const at = fs.statSync(path).mtimeMs;
    return { moment: readText(realFiles, path, MOST_BYTES)?.trim() ?? '', at };
  } catch {
    return null; // no note, or one that cannot be read: not known
  }
}
