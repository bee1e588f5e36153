import { join } from 'node:path';
import { AT_REST, type Pacing, toPacing } from '../../../core/hooks/index.ts';
import { realClock, realRandom } from '../../../core/ports/index.ts';
import { type Disk, readPrivate, sweepOldTemps, toStem, writeAtomically } from '../../../core/state/index.ts';
import { readChangedAt } from './system.node.ts';

/** What is stored for a session between two hooks: `<state>/hooks/<stem of the persona>/<stem of the session>.*` */
export interface PacingStore {
  readonly pacing: Pacing;
  /** @throws Fault `unwritable` or `no-space` */
  save(pacing: Pacing): void;
}

const ENDING = '.pacing.json';
const LONGEST = 16 * 1024;
/** How many files of each kind a persona has at most, one per session. */
const MOST_FILES = 20;

export function getHookFolder(state: string, persona: string): string {
  return join(state, 'hooks', toStem(persona));
}

export function openPacingStore(disk: Disk, folder: string, session: string): PacingStore {
  const path = join(folder, `${toStem(session)}${ENDING}`);
  const text = Buffer.from(readPrivate(disk, path, LONGEST) ?? []).toString('utf8');
  return {
    pacing: parseStoredPacing(text),
    save(pacing) {
      const now = formatStoredPacing(pacing);
      if (now !== (text || formatStoredPacing(AT_REST))) writeAtomically(disk, realRandom, path, now);
    },
  };
}

/**
 * Removes files of sessions that are long over; the newest of each kind stay. Never throws, because leftover files do no harm.
 */
export function sweep({ files }: Disk, folder: string): void {
  sweepOldTemps(folder, realClock.now());
  try {
    const names = files.readdir(folder);
    for (const ending of [ENDING, '.events.json']) {
      const ours = names.filter((name) => name.endsWith(ending));
      if (ours.length <= MOST_FILES) continue;
      const aged = ours.map((name) => ({ name, at: readChangedAt(join(folder, name)) })).sort((a, b) => b.at - a.at);
      for (const { name } of aged.slice(MOST_FILES)) files.unlink(join(folder, name));
    }
  } catch {
    // The folder does not exist yet, or another process removes files too. The next session tries again.
  }
}

const formatStoredPacing = (pacing: Pacing): string => `${JSON.stringify({ schema: 1, ...pacing })}\n`;

function parseStoredPacing(text: string): Pacing {
  try {
    return text === '' ? AT_REST : toPacing(JSON.parse(text));
  } catch {
    return AT_REST; // the file is damaged: the loop guard starts anew, and nothing else depends on it
  }
}
