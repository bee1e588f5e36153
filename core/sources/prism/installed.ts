import { join } from 'node:path';
import { type DaemonConfig, joinedName, readDaemonConfig } from '../../link/index.ts';
import { Fault, faultOf } from '../../model/index.ts';
import { type Disk, errnoOf } from '../../state/index.ts';

/** The shape of a joined name; anything else in that directory is no daemon. */
const NAME = /^[a-z0-9-]{3,65}$/;

/** Directories under which a daemon is installed, or is about to be. @throws Fault `unreadable` */
export function namesIn(disk: Disk, dir: string, source: string): readonly string[] {
  try {
    return disk.files.readdir(dir).filter((name) => NAME.test(name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    const scope = { is: 'source', key: source } as const;
    throw new Fault('unreadable', faultOf(error, scope).message, scope, { cause: error });
  }
}

/** Null: none is installed under this name. @throws Fault `daemon-config` or `unreadable` */
export function installedAs(disk: Disk, dir: string, name: string): DaemonConfig | null {
  const config = join(dir, name, 'daemon.json');
  const read = readDaemonConfig(disk, { config });
  if (read === null || joinedName(read) === name) return read;
  const what = `${config} is of the daemon ${joinedName(read)}, which has another name than its directory`;
  throw new Fault('daemon-config', what, { is: 'machine', key: `file:${config}` });
}
