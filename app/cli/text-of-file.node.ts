import { readFileSync } from 'node:fs';
import { errnoOf, ioFault } from '../../core/state/index.ts';

/** The text of a file, null when there is none. @throws Fault `unreadable` */
export function textOfFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw ioFault(error, path, 'unreadable');
  }
}
