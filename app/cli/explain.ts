import { Fault } from '../../core/model/index.ts';
import { printable } from '../printable.ts';

/** What a person reads when a command threw, and the exit code it ends with. */
export function explain(name: string, error: unknown): { readonly text: string; readonly exit: number } {
  if (error instanceof Fault && error.code === 'usage') {
    return { text: `hivebar ${name}: ${printable(error.message)}: see hivebar ${name} --help\n`, exit: 2 };
  }
  if (error instanceof Fault && error.code !== 'internal') {
    return { text: `hivebar ${name}: ${printable(error.explain())}\n`, exit: 1 };
  }
  if (isFolderGone(error)) {
    const next = 'change into a folder that is there, or give absolute paths';
    return { text: `hivebar ${name}: the current folder was removed: ${next}\n`, exit: 1 };
  }
  // Not foreseen, so the place matters more than a short line.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `hivebar ${name}: this is a fault of Hivebar itself, please report it\n${text}\n`, exit: 1 };
}

/** Somebody removed the folder that a relative path is relative to. */
function isFolderGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}
