import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface WatchedTreeOptions {
  /** A reader of an SQLite database may touch its `-shm`. Its name, kind and mode are compared all the same. */
  readonly ignoreShm?: boolean;
  /** Leaves out entries by their path below the root, and what is below them. */
  readonly ignore?: (path: string) => boolean;
}

/**
 * Describes a whole tree, one line per entry, sorted: its path, kind, mode, time of change in nanoseconds, and a hash of its content
 * or the target of a link. Directories are entries, so a file that was created and removed again shows in the time of its directory.
 * Compare two of them with `assert.deepEqual` to see which entry changed.
 */
export function describeTree(root: string, options: WatchedTreeOptions = {}): readonly string[] {
  const lines: string[] = [];
  visit('');
  return lines.sort();

  function visit(path: string): void {
    if (path !== '' && options.ignore?.(path)) return;
    const full = join(root, path);
    const stat = lstatSync(full, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return void lines.push(`${path} absent`);
    const mode = (stat.mode & 0o7777n).toString(8);
    if (stat.isDirectory()) {
      lines.push(`${path}/ directory ${mode} ${stat.mtimeNs}`);
      for (const name of readdirSync(full)) visit(join(path, name));
    } else if (stat.isSymbolicLink()) lines.push(`${path} symlink ${mode} ${stat.mtimeNs} ${readlinkSync(full)}`);
    else if (!stat.isFile()) lines.push(`${path} other ${mode} ${stat.mtimeNs}`);
    else if (options.ignoreShm && path.endsWith('-shm')) lines.push(`${path} file ${mode}`);
    else lines.push(`${path} file ${mode} ${stat.mtimeNs} ${stat.size} ${hash(readFileSync(full))}`);
  }
}

/** One hash of everything that `describeTree` says, for a tree that is compared often or is large. */
export function hashTree(root: string, options: WatchedTreeOptions = {}): string {
  return hash(describeTree(root, options).join('\n'));
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
