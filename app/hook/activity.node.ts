import * as fs from 'node:fs';
import { join } from 'node:path';
import type { PersonaId } from '../../core/model/index.ts';
import { O, realFiles } from '../../core/ports/index.ts';
import { getErrno, readText, toIoFault, toStem } from '../../core/state/index.ts';

/** Where the hook notes at which moment an agent was last, a file a persona: `<run>/activity/<stem>`. */
export const getActivityDir = (run: string): string => join(run, 'activity');

/** The script makes no folders. @throws Fault `unwritable` or `no-space` */
export function makeActivityDir(run: string): void {
  const dir = getActivityDir(run);
  try {
    realFiles.mkdirAll(dir, 0o700);
  } catch (error) {
    throw toIoFault(error, dir, 'unwritable');
  }
}

const MOST_BYTES = 4096;

/** What is noted in place of `Stop` when the agent was sent on instead. */
export const CONTINUED = 'Continued';

/** As the script does when it asks nobody: the moment as a word, the time as that of the file. Never throws: it is news, not truth. */
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
    // The agent goes on all the same; who asks later finds an older moment.
  }
}

/** A pipe that stands there is not waited for. */
function writeNote(path: string, text: string): void {
  const fd = realFiles.open(path, O.WRONLY | O.CREAT | O.TRUNC | O.NOFOLLOW | O.NONBLOCK, 0o600);
  try {
    realFiles.write(fd, Buffer.from(text));
  } finally {
    realFiles.close(fd);
  }
}

/** The moment and its time (ms since the epoch); null when no hook of this persona ever ran. */
export function readActivity(run: string, persona: PersonaId): { readonly moment: string; readonly at: number } | null {
  try {
    const path = join(getActivityDir(run), toStem(persona));
    const at = fs.statSync(path).mtimeMs;
    return { moment: readText(realFiles, path, MOST_BYTES)?.trim() ?? '', at };
  } catch {
    return null; // never noted, or not to be read: not known
  }
}
