import { join, resolve } from 'node:path';
import { parseUpstreamUrls, type UpstreamEndpoint } from '../../core/daemon/index.ts';
import {
  type DaemonConfig,
  type DaemonPlaces,
  LOCAL,
  readDaemonConfig,
  readDaemonToken,
} from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Dirs, type Disk, readPrivate } from '../../core/state/index.ts';
import type { DaemonPlan } from './daemon-plan.ts';

/** The configuration that a daemon was installed with, and what belongs to this start. */
export interface DaemonBinding {
  readonly config: DaemonConfig;
  /** Returns the current address and token of the upstream. @throws Fault, or Error while the tray process does not run */
  readonly upstream: () => UpstreamEndpoint;
  /** The tokens that were read so far. No log may contain them. */
  readonly secrets: readonly string[];
}

const LONGEST_PORT = 8;

/**
 * Reads what was installed and compares it with the command line: a daemon is bound to one project for its life (persona daemon,
 * check 18).
 *
 * @throws Fault `daemon-config` or `unreadable`
 */
export function readDaemonBinding(
  plan: DaemonPlan,
  places: DaemonPlaces,
  disk: Disk,
  { run }: Pick<Dirs, 'run'>,
): DaemonBinding {
  const installed = readDaemonConfig(disk, places);
  if (installed === null) throw createConfigFault(places.config, 'is not there; hivebar daemon install makes it');
  const project = resolve(plan.project);
  if (resolve(installed.project) !== project) {
    throw createConfigFault(
      places.config,
      `the daemon ${places.name} is bound to the project ${installed.project}, not to ${project}; wrap it, and install it for the other`,
    );
  }
  const config: DaemonConfig = {
    ...installed,
    project,
    surface: plan.surface ?? installed.surface,
    autonomy: plan.autonomy ?? installed.autonomy,
    installDeps: plan.installDeps || installed.installDeps,
    activateVenv: plan.activateVenv || installed.activateVenv,
  };
  const secrets = new Set<string>();
  const upstream = (): UpstreamEndpoint => {
    const token = readObserveToken(disk, places);
    secrets.add(token);
    const base = config.upstream === LOCAL ? readLocalBase(disk, run) : config.upstream;
    const urls = parseUpstreamUrls(base);
    if (urls !== null) return { ...urls, token };
    throw createConfigFault(
      places.config,
      `upstream is ${base}: no token is sent there, say https or wss, or an address of this machine`,
    );
  };
  // A permanent error is reported now. That the tray process does not run is temporary.
  if (config.upstream === LOCAL) readObserveToken(disk, places);
  else upstream();
  return {
    config,
    upstream,
    get secrets() {
      return [...secrets];
    },
  };
}

function readObserveToken(disk: Disk, { observeToken: path }: DaemonPlaces): string {
  const token = readDaemonToken(disk, path);
  if (token === null) throw createConfigFault(path, 'is not there; hivebar daemon install makes it');
  return token;
}

/** Returns where the tray process serves now. The port changes with each of its starts. @throws Error while it does not run */
export function readLocalBase(disk: Disk, run: string): string {
  const bytes = readPrivate(disk, join(run, 'port'), LONGEST_PORT);
  const port = bytes === null ? '' : Buffer.from(bytes).toString('latin1').trim();
  if (!/^\d+$/.test(port)) throw new Error('the tray process, which is the upstream, does not run');
  return `http://127.0.0.1:${port}`;
}

function createConfigFault(path: string, message: string): Fault {
  return new Fault('daemon-config', `${path}: ${message}`, { is: 'machine', key: `file:${path}` });
}
