import { dirname, posix } from 'node:path';
import type { Disk } from '../../state/index.ts';
import type { NativeSession } from '../module.ts';

/** The variables TMUX and TMUX_PANE of a program that runs in tmux, with a blank between them. */
export const PANE = /^((\/.+),\d{1,10},\d{1,10}) (%\d{1,9})$/;

/**
 * Reads the pane that a source names. Its server is named too, because a pane without one is a pane of any server; and only a socket in
 * the folder that tmux makes for this user counts, because whoever answers at a socket can have its client run a program.
 * @returns null when it is none
 */
export function findPane(
  text: string,
  {
    env,
    disk,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly disk: Pick<Disk, 'files' | 'uid'> },
): NonNullable<NativeSession['tmux']> | null {
  const [, server = '', socket = '', pane = ''] = PANE.exec(text) ?? [];
  if (socket === '' || disk.uid === null) return null;
  const folders = ['/tmp', '/private/tmp', env.TMUX_TMPDIR ?? '/tmp'].map((base) =>
    posix.join(base, `tmux-${disk.uid}`),
  );
  const folder = dirname(socket);
  if (!folders.includes(folder) || posix.normalize(socket) !== socket) return null;
  const stat = readStat(disk, folder);
  return stat?.kind === 'directory' && stat.uid === disk.uid && (stat.mode & 0o022) === 0 ? { server, pane } : null;
}

function readStat({ files }: Pick<Disk, 'files'>, path: string) {
  try {
    return files.lstat(path);
  } catch {
    return null; // no server of tmux runs there
  }
}
