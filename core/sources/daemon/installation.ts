import { join } from 'node:path';
import { type DaemonConfig, readDaemonConfig, toJoinedName } from '../../link/index.ts';
import { Fault, toFault } from '../../model/index.ts';
import { type Disk, getErrno } from '../../state/index.ts';

/** The shape of a joined name. Other entries of that directory are no daemons. */
const NAME = /^[a-z0-9-]{3,65}$/;

/** The names of directories in which a daemon is installed, or is about to be. @throws Fault `unreadable` */
export function listInstalledNames(disk: Disk, dir: string, source: string): readonly string[] {
  try {
    return disk.files.readdir(dir).filter((name) => NAME.test(name));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    const scope = { is: 'source', key: source } as const;
    throw new Fault('unreadable', toFault(error, scope).message, scope, { cause: error });
  }
}

/** The configuration of an installed daemon; null when none has this name. @throws Fault `daemon-config` or `unreadable` */
export function readInstalled(disk: Disk, dir: string, name: string): DaemonConfig | null {
  const config = join(dir, name, 'daemon.json');
  const read = readDaemonConfig(disk, { config });
  if (read === null || toJoinedName(read) === name) return read;
  const message = `${config} is of the daemon ${toJoinedName(read)}, which has another name than its directory`;
  throw new Fault('daemon-config', message, { is: 'machine', key: `file:${config}` });
}
