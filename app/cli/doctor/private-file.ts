import { formatMode } from './directory.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { quoteShellWord } from './shell-word.ts';

export interface FileProbe {
  readonly path: string;
  readonly is: 'absent' | 'file' | 'symlink' | 'other';
  readonly mode: number | null;
  readonly uid: number | null;
  readonly me: number | null;
}

/** Judges files that nobody else may read. Their contents are not examined. */
export function judgeFiles(results: readonly FileProbe[]): Finding {
  const existing = results.filter(({ is }) => is !== 'absent');
  if (existing.length === 0) return skipped('none is there yet');
  for (const { path, is, uid, me } of existing) {
    if (is !== 'file')
      return fail(`${path} is ${is === 'symlink' ? 'a symlink, which is refused' : 'no regular file'}`, 'move it away');
    if (me !== null && uid !== me)
      return fail(
        `${path} belongs to user ${uid}, not to us (user ${me})`,
        `run: sudo chown ${me} ${quoteShellWord(path)}`,
      );
  }
  const paths = existing.map(({ path }) => path).join(', ');
  if (existing.every(({ mode }) => mode === null))
    return skipped(`${paths}: not checked; Windows keeps access lists, which icacls shows`);
  const loose = existing.find(({ mode }) => mode !== null && mode !== 0o600);
  if (loose !== undefined)
    return warn(
      `${loose.path} has mode ${formatMode(loose.mode ?? 0)} instead of 0600`,
      `run: chmod 600 ${quoteShellWord(loose.path)}`,
    );
  return ok(`${paths}: for their owner alone`);
}
