import { join } from 'node:path';
import { eventOf } from '../../core/events/index.ts';
import { O, realFiles } from '../../core/ports/index.ts';

const FILE = /^events\.(.+)\.ndjson$/;
/** Enough for the first line of a file, whose content is cut. */
const FIRST_BYTES = 16 * 1024;

/** Who has an event file in `events/` of the state directory, by their ids; nobody where it can not be read. */
export function keptPersonas(state: string): readonly string[] {
  const directory = join(state, 'events');
  let names: readonly string[];
  try {
    names = realFiles.readdir(directory);
  } catch {
    return []; // not there yet: nobody has a file
  }
  return names.toSorted().flatMap((name) => {
    const stem = FILE.exec(name)?.[1];
    if (stem === undefined) return [];
    // A stem with a hash does not say the id; every line of the file does.
    return stem.includes('~') ? (personaIn(join(directory, name)) ?? []) : stem;
  });
}

function personaIn(path: string): string | null {
  try {
    const fd = realFiles.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    try {
      const bytes = new Uint8Array(FIRST_BYTES);
      const text = Buffer.from(bytes.subarray(0, realFiles.read(fd, bytes, 0))).toString('utf8');
      return eventOf(text.split('\n')[0] ?? '')?.persona ?? null;
    } finally {
      realFiles.close(fd);
    }
  } catch {
    return null; // names are only offered; whoever needs the file will say what is wrong with it
  }
}
