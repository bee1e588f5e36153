import { existsSync, readdirSync } from 'node:fs';
import { createDaemonHandle } from '../../app/service/index.ts';
import { askDaemon, type DaemonPlaces, type DaemonStatus, findOwnDaemonPlaces } from '../../core/link/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { type TrayHome, trayHome } from './tray-process.ts';

/** A home for a tray and the daemons it owns, which outlive a tray that is killed: leaving the scope kills them too. */
export interface TrayDaemons extends TrayHome {
  /** Of the tenant `acme`. */
  places(identity: string): DaemonPlaces;
  /** Null: it does not run. */
  askStatus(identity: string): Promise<DaemonStatus | null>;
}

export function trayDaemons(): TrayDaemons {
  const home = trayHome();
  const disk = createRealDisk(silentLog);
  const places = (identity: string): DaemonPlaces =>
    findOwnDaemonPlaces({ tenant: 'acme', identity }, { HIVEBAR_HOME: home.dir });
  return {
    ...home,
    places,
    async askStatus(identity) {
      const asked = await askDaemon(places(identity), { verb: 'status' }, { timeoutMs: 5000 });
      return asked.is === 'answered' ? asked.answer : null;
    },
    [Symbol.dispose]() {
      const runtime = home.at('run', 'prism-daemon');
      for (const name of existsSync(runtime) ? readdirSync(runtime) : [])
        createDaemonHandle(disk, places(name.replace(/^acme-/, ''))).signal('SIGKILL');
      home[Symbol.dispose]();
    },
  };
}
