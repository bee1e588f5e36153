import { displayName } from '../../core/format/index.ts';
import { Fault, toRemovedFolderFault } from '../../core/model/index.ts';

/** Formats the error that a command threw for a person, and chooses the exit code. */
export function explain(name: string, error: unknown): { readonly text: string; readonly exit: number } {
  const removed = toRemovedFolderFault(error);
  if (removed !== null) return explain(name, removed);
  if (error instanceof Fault && error.code === 'usage') {
    return { text: `hivebar ${name}: ${displayName(error.message)}: see hivebar ${name} --help\n`, exit: 2 };
  }
  if (error instanceof Fault && error.code !== 'internal') {
    return { text: `hivebar ${name}: ${displayName(error.explain())}\n`, exit: 1 };
  }
  // An unforeseen error: the place in the code matters more than a short line.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `hivebar ${name}: this is a fault of Hivebar itself, please report it\n${text}\n`, exit: 1 };
}
