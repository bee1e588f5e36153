import * as fs from 'node:fs';
import { join } from 'node:path';
import type { PersonaId } from '../../core/model/index.ts';
import { errnoOf, ioFault, stemOf } from '../../core/state/index.ts';

/** Where the hook notes at which moment an agent was last, a file a persona: `<run>/activity/<stem>`. */
export const activityDir = (run: string): string => join(run, 'activity');

/** The script makes no folders. @throws Fault `unwritable` or `no-space` */
export function makeActivityDir(run: string): void {
  const dir = activityDir(run);
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw ioFault(error, dir, 'unwritable');
  }
}

/** What is noted in place of `Stop` when the agent was sent on instead. */
export const CONTINUED = 'Continued';

/** As the script does when it asks nobody: the moment as a word, the time as that of the file. Never throws: it is news, not truth. */
export function noteActivity(run: string, persona: PersonaId, moment: string): void {
  const dir = activityDir(run);
  const write = (): void => fs.writeFileSync(join(dir, stemOf(persona)), `${moment}\n`, { mode: 0o600 });
  try {
    try {
      write();
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
      write();
    }
  } catch {
    // The agent goes on all the same; who asks later finds an older moment.
  }
}

/** The moment and its time (ms since the epoch); null when no hook of this persona ever ran. */
export function activityOf(run: string, persona: PersonaId): { readonly moment: string; readonly at: number } | null {
  try {
    const path = join(activityDir(run), stemOf(persona));
    const at = fs.statSync(path).mtimeMs;
    return { moment: fs.readFileSync(path, 'utf8').trim(), at };
  } catch {
    return null; // never noted, or not to be read: not known
  }
}
