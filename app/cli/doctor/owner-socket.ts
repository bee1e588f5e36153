import type { TrayProbe } from './doctor-context.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { quoteShellWord } from './shell-word.ts';

export interface SocketProbe {
  readonly path: string;
  readonly is: 'absent' | 'socket' | 'other' | 'pipe';
  readonly mode: number | null;
  /** The longest path in bytes. */
  readonly most: number;
  readonly answer: TrayProbe;
}

export function judgeSocket({ path, is, mode, most, answer }: SocketProbe): Finding {
  const length = Buffer.byteLength(path);
  if (is !== 'pipe' && length > most)
    return fail(`${path} has ${length} bytes, and a socket may have ${most}`, 'set a shorter HIVEBAR_HOME');
  if (is === 'other') return warn(`${path} is not a socket`, 'the next start moves it aside, or move it away yourself');
  if (answer.is === 'failed') return fail(`${path}: ${answer.why}`, 'end the running Hivebar and start it again');
  if (answer.is === 'not-running') {
    return skipped(is === 'socket' ? `${path} was left behind; the next start replaces it` : 'Hivebar is not running');
  }
  if (mode !== null && (mode & 0o077) !== 0)
    return warn(`${path} answers, and others may open it`, `run: chmod 600 ${quoteShellWord(path)}`);
  return ok(`${path} answers`);
}
