import { join } from 'node:path';
import { computeDaemonPlaces, type DaemonConfig, writeDaemonConfig, writeDaemonToken } from '../../core/link/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import type { SuitePersona } from './upstream-suite.ts';

/** Two personas with a daemon each, whose parent is told nowhere. */
export const DAEMON_PERSONAS: readonly DaemonConfig[] = ['ada', 'bo'].map((identity) => ({
  tenant: 'lab',
  identity,
  address: identity,
  project: 'lab',
  surface: 'claude-code',
  autonomy: null,
  upstream: 'local',
  wakeIdle: false,
  owner: 'launcher',
  shim: null,
  installDeps: false,
  activateVenv: false,
  paused: false,
}));

/** Writes what `hivebar daemon install` would, without a launcher. @param hivebarHome `HIVEBAR_HOME` */
export function installPersonas(
  hivebarHome: string,
  personas: readonly DaemonConfig[] = DAEMON_PERSONAS,
): readonly SuitePersona[] {
  const disk = createRealDisk(silentLog);
  return personas.map((config) => {
    const { tenant, identity, address } = config;
    const places = computeDaemonPlaces(config, {
      platform: 'linux',
      env: { HIVEBAR_HOME: hivebarHome },
      home: join(hivebarHome, 'home'),
      cwd: hivebarHome,
      uid: process.getuid?.() ?? null,
      temp: hivebarHome,
    });
    writeDaemonConfig(disk, realRandom, places, config);
    const observe = writeDaemonToken(disk, realRandom, places.observeToken);
    const act = writeDaemonToken(disk, realRandom, places.actToken);
    return { tenant, identity, address, observe, act };
  });
}
