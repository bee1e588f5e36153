import { join } from 'node:path';
import { AT_REST, type Pacing, pacingIn } from '../../../core/hooks/index.ts';
import { realClock, realRandom } from '../../../core/ports/index.ts';
import { type Disk, readPrivate, stemOf, sweepOldTemps, writeAtomically } from '../../../core/state/index.ts';
import { changedAt } from './age.node.ts';

/** What is kept of a persona's session between two hooks: `<state>/hooks/<stem of the persona>/<stem of the session>.*` */
export interface Kept {
  readonly pacing: Pacing;
  /** @throws Fault `unwritable` or `no-space` */
  save(pacing: Pacing): void;
}

const ENDING = '.pacing.json';
const LONGEST = 16 * 1024;
/** So many sessions of a persona are remembered, as of each kind of file. */
const KEPT = 20;

export function folderOf(state: string, persona: string): string {
  return join(state, 'hooks', stemOf(persona));
}

export function keptOf(disk: Disk, folder: string, session: string): Kept {
  const path = join(folder, `${stemOf(session)}${ENDING}`);
  const text = Buffer.from(readPrivate(disk, path, LONGEST) ?? []).toString('utf8');
  return {
    pacing: pacingOf(text),
    save(pacing) {
      const now = textOf(pacing);
      if (now !== (text || textOf(AT_REST))) writeAtomically(disk, realRandom, path, now);
    },
  };
}

/** Files of sessions that are long over go; the newest of each kind stay. Never throws: they are litter and no failure. */
export function sweep({ files }: Disk, folder: string): void {
  sweepOldTemps(folder, realClock.now());
  try {
    const names = files.readdir(folder);
    for (const ending of [ENDING, '.events.json']) {
      const ours = names.filter((name) => name.endsWith(ending));
      if (ours.length <= KEPT) continue;
      const aged = ours.map((name) => ({ name, at: changedAt(join(folder, name)) })).sort((a, b) => b.at - a.at);
      for (const { name } of aged.slice(KEPT)) files.unlink(join(folder, name));
    }
  } catch {
    // Not there yet, or somebody else sweeps: the next session does it.
  }
}

const textOf = (pacing: Pacing): string => `${JSON.stringify({ schema: 1, ...pacing })}\n`;

function pacingOf(text: string): Pacing {
  try {
    return text === '' ? AT_REST : pacingIn(JSON.parse(text));
  } catch {
    return AT_REST; // a file that was damaged: the loop guard begins anew, nothing else hangs on it
  }
}
