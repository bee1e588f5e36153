import { Fault } from '../../core/model/index.ts';
import { O } from '../../core/ports/index.ts';
import { type Disk, toIoFault } from '../../core/state/index.ts';

/**
 * Checks the token file before a service is installed. A watch only warns about these mistakes, but a service would run with
 * them for months (Kijito contract D22).
 * @throws Fault `unreadable` for a token file that is missing, is no plain file, or is open to others
 */
export function checkTokenFile({ files, uid }: Disk, path: string): void {
  const scope = { is: 'machine', key: 'token' } as const;
  let fd: number;
  try {
    fd = files.open(path, O.RDONLY | O.NONBLOCK, 0);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  }
  try {
    const { kind, mode, uid: owner } = files.fstat(fd);
    const say = (why: string): Fault => new Fault('unreadable', `${path} ${why}`, scope);
    if (kind !== 'file') throw say('is not a regular file');
    if (uid === null) return;
    if (owner !== uid)
      throw say(`belongs to user ${owner}, not to this user (${uid}), so ${owner} could change the token`);
    if ((mode & 0o077) !== 0)
      throw say(`has mode 0${mode.toString(8)}, so others can read the token; run \`chmod 600 ${path}\` first`);
  } finally {
    files.close(fd);
  }
}
