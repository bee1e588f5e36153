import { type Finding, fail, ok, warn } from './finding.ts';
import { quoteShellWord } from './shell-word.ts';

export type DirectoryProbe =
  | {
      readonly is: 'absent';
      readonly path: string;
      /** The nearest parent that exists. */
      readonly parent: string;
      readonly canMake: boolean;
    }
  | { readonly is: 'other'; readonly path: string; readonly kind: 'file' | 'symlink' | 'other' }
  | { readonly is: 'failed'; readonly path: string; readonly why: string }
  | {
      readonly is: 'directory';
      readonly path: string;
      /** Permission bits and owner; null where the platform has none. */
      readonly mode: number | null;
      readonly uid: number | null;
      readonly me: number | null;
      readonly isWritable: boolean;
      readonly freeBytes: number;
    };

const MIB = 1024 * 1024;
/** Below this limit mail may soon be refused; below the other limit it is refused at once. */
const LOW_BYTES = 200 * MIB;
const FULL_BYTES = 5 * MIB;

export function judgeDirectory(result: DirectoryProbe): Finding {
  const { path } = result;
  switch (result.is) {
    case 'absent':
      if (result.canMake) return ok(`${path} is not there yet; it is made at the first start`);
      return fail(
        `${path} is not there, and ${result.parent} cannot be written to`,
        `make it yours: ls -ld ${quoteShellWord(result.parent)}`,
      );
    case 'other':
      return fail(
        `${path} is ${result.kind === 'symlink' ? 'a symlink, which is refused' : 'no directory'}`,
        result.kind === 'symlink' ? 'set HIVEBAR_HOME to the directory itself' : 'move it away',
      );
    case 'failed':
      return fail(`${path}: ${result.why}`, `see who may enter: ls -ld ${quoteShellWord(path)}`);
    case 'directory': {
      if (result.me !== null && result.uid !== result.me)
        return fail(
          `${path} belongs to user ${result.uid}, not to us (user ${result.me})`,
          `run: sudo chown -R ${result.me} ${quoteShellWord(path)}`,
        );
      if (!result.isWritable)
        return fail(`${path} cannot be written to`, `run: chmod 700 ${quoteShellWord(path)}, or remount the disk`);
      const free = `${formatSize(result.freeBytes)} free`;
      if (result.freeBytes < FULL_BYTES) return fail(`${path}: ${free}`, 'free space on that disk');
      if (result.mode !== null && result.mode !== 0o700)
        return warn(
          `${path} has mode ${formatMode(result.mode)} instead of 0700`,
          `run: chmod 700 ${quoteShellWord(path)} (the next start does)`,
        );
      if (result.freeBytes < LOW_BYTES) return warn(`${path}: only ${free}`, 'free space on that disk');
      return ok(`${path}${result.mode === null ? '' : `, mode ${formatMode(result.mode)}`}, ${free}`);
    }
  }
}

export function formatMode(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

export function formatSize(bytes: number): string {
  if (bytes >= 1024 * MIB) return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${bytes} bytes`;
}
