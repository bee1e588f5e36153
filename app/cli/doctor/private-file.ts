import { octal } from './directory.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { shellWord } from './shell-word.ts';

export interface FileSeen {
  readonly path: string;
  readonly is: 'absent' | 'file' | 'symlink' | 'other';
  readonly mode: number | null;
  readonly uid: number | null;
  readonly me: number | null;
}

/** Files of which nobody else may read a byte; what is in them is not looked at. */
export function judgeFiles(seen: readonly FileSeen[]): Finding {
  const there = seen.filter(({ is }) => is !== 'absent');
  if (there.length === 0) return skipped('none is there yet');
  for (const { path, is, uid, me } of there) {
    if (is !== 'file')
      return fail(`${path} is ${is === 'symlink' ? 'a symlink, which is refused' : 'no regular file'}`, 'move it away');
    if (me !== null && uid !== me)
      return fail(`${path} belongs to user ${uid}, not to us (user ${me})`, `run: sudo chown ${me} ${shellWord(path)}`);
  }
  const all = there.map(({ path }) => path).join(', ');
  if (there.every(({ mode }) => mode === null))
    return skipped(`${all}: not checked; Windows keeps access lists, which icacls shows`);
  const loose = there.find(({ mode }) => mode !== null && mode !== 0o600);
  if (loose !== undefined)
    return warn(
      `${loose.path} has mode ${octal(loose.mode ?? 0)} instead of 0600`,
      `run: chmod 600 ${shellWord(loose.path)}`,
    );
  return ok(`${all}: for their owner alone`);
}
