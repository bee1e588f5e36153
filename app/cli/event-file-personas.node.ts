import { closeSync, constants, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

const FILE = /^events\.(.+)\.ndjson$/;
/** Enough for the first line of a file, because content is cut. */
const FIRST_BYTES = 16 * 1024;

/**
 * Returns the ids of the personas that have an event file in `events/` of the state directory; empty when the folder cannot be
 * read. It uses only `node:fs`, because the completion of a shell waits for it.
 */
export function listEventFilePersonas(state: string): readonly string[] {
  const directory = join(state, 'events');
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return []; // the folder does not exist yet
  }
  return names.toSorted().flatMap((name) => {
    const stem = FILE.exec(name)?.[1];
    if (stem === undefined) return [];
    // A stem with a hash does not contain the id, but every line of the file does.
    return stem.includes('~') ? (readPersona(join(directory, name)) ?? []) : stem;
  });
}

function readPersona(path: string): string | null {
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const bytes = Buffer.alloc(FIRST_BYTES);
      const [line = ''] = bytes.toString('utf8', 0, readSync(fd, bytes, 0, FIRST_BYTES, 0)).split('\n');
      const { persona } = JSON.parse(line) as { readonly persona?: unknown };
      return typeof persona === 'string' ? persona : null;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null; // these names are only suggestions; a command that needs the file reports what is wrong with it
  }
}
