import { type Finding, fail, ok, warn } from './finding.ts';
import { shellWord } from './shell-word.ts';

export type DirectorySeen =
  | {
      readonly is: 'absent';
      readonly path: string;
      /** The nearest one that is there. */
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
/** Below it mail may be refused soon, and below the other at once. */
const LOW_BYTES = 200 * MIB;
const FULL_BYTES = 5 * MIB;

export function judgeDirectory(seen: DirectorySeen): Finding {
  const { path } = seen;
  switch (seen.is) {
    case 'absent':
      if (seen.canMake) return ok(`${path} is not there yet; it is made at the first start`);
      return fail(
        `${path} is not there, and ${seen.parent} can not be written to`,
        `make it yours: ls -ld ${shellWord(seen.parent)}`,
      );
    case 'other':
      return fail(
        `${path} is ${seen.kind === 'symlink' ? 'a symlink, which is refused' : 'no directory'}`,
        seen.kind === 'symlink' ? 'set HIVEBAR_HOME to the directory itself' : 'move it away',
      );
    case 'failed':
      return fail(`${path}: ${seen.why}`, `see who may enter: ls -ld ${shellWord(path)}`);
    case 'directory': {
      if (seen.me !== null && seen.uid !== seen.me)
        return fail(
          `${path} belongs to user ${seen.uid}, not to us (user ${seen.me})`,
          `run: sudo chown -R ${seen.me} ${shellWord(path)}`,
        );
      if (!seen.isWritable)
        return fail(`${path} can not be written to`, `run: chmod 700 ${shellWord(path)}, or remount the disk`);
      const free = `${size(seen.freeBytes)} free`;
      if (seen.freeBytes < FULL_BYTES) return fail(`${path}: ${free}`, 'free space on that disk');
      if (seen.mode !== null && seen.mode !== 0o700)
        return warn(
          `${path} has mode ${octal(seen.mode)} instead of 0700`,
          `run: chmod 700 ${shellWord(path)} (the next start does)`,
        );
      if (seen.freeBytes < LOW_BYTES) return warn(`${path}: only ${free}`, 'free space on that disk');
      return ok(`${path}${seen.mode === null ? '' : `, mode ${octal(seen.mode)}`}, ${free}`);
    }
  }
}

export function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

export function size(bytes: number): string {
  if (bytes >= 1024 * MIB) return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${bytes} bytes`;
}
