import { existsSync, readdirSync } from 'node:fs';
import { holderOf } from '../../app/service/index.ts';
import { askLink, type DaemonPlaces, type DaemonStatus, ownDaemonPlaces } from '../../core/link/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { realDisk } from '../../core/state/index.ts';
import { type TrayHome, trayHome } from './tray-process.ts';

/** A home for a tray and the daemons it owns, which outlive a tray that is killed: leaving the scope kills them too. */
export interface TrayDaemons extends TrayHome {
  /** Of the tenant `acme`. */
  places(identity: string): DaemonPlaces;
  /** Null: it does not run. */
  statusOf(identity: string): Promise<DaemonStatus | null>;
}

export function trayDaemons(): TrayDaemons {
  const home = trayHome();
  const disk = realDisk(silentLog);
  const places = (identity: string): DaemonPlaces =>
    ownDaemonPlaces({ tenant: 'acme', identity }, { HIVEBAR_HOME: home.dir });
  return {
    ...home,
    places,
    async statusOf(identity) {
      const asked = await askLink(places(identity), { verb: 'status' }, { timeoutMs: 5000 });
      return asked.is === 'answered' ? asked.answer : null;
    },
    [Symbol.dispose]() {
      const runtime = home.at('run', 'prism-daemon');
      for (const name of existsSync(runtime) ? readdirSync(runtime) : [])
        holderOf(disk, places(name.replace(/^acme-/, ''))).signal('SIGKILL');
      home[Symbol.dispose]();
    },
  };
}
