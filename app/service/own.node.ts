import { join } from 'node:path';
import type { DaemonName } from '../../core/link/index.ts';
import type { Random, Spawn } from '../../core/ports/index.ts';
import { type Disk, findOwnDirs, findOwnHome } from '../../core/state/index.ts';
import { getAssetPath, ICON } from '../package.node.ts';
import { createDaemonService, type DaemonService } from './daemon-service.ts';
import { createHeadlessService, type HeadlessService } from './headless-service.ts';
import type { ServiceProgram } from './login-entries.ts';
import { createLoginStart, type LoginStart } from './login-start.ts';

/** The part of the machine that start at login needs. */
export interface LoginMachine {
  readonly os: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly disk: Disk;
  readonly random: Random;
  readonly spawn: Spawn;
}

/** Creates start at login for this program, on this machine, as this user. */
export function createOwnLoginStart(machine: LoginMachine): LoginStart {
  return createLoginStart({ ...machine, home: findOwnHome(), program: getOwnProgram(machine.env) });
}

/** Creates the headless watch as a service of this user, run by this program. */
export function createOwnHeadlessService(machine: LoginMachine): HeadlessService {
  const program = getOwnProgram(machine.env);
  const uid = process.geteuid?.() ?? null;
  return createHeadlessService({ ...machine, home: findOwnHome(), program, uid });
}

/** Creates a persona daemon as a service of this user, run by this program. */
export function createOwnDaemonService(
  machine: LoginMachine,
  daemon: DaemonName & { readonly project: string },
  directory: string,
): DaemonService {
  const uid = process.geteuid?.() ?? null;
  const unit = { ...daemon, program: getOwnProgram(machine.env) };
  return createDaemonService({ ...machine, home: findOwnHome(), uid }, unit, directory);
}

/** Returns the arguments that start this program as another process. */
export function getOwnStart(): { readonly node: string; readonly entry: string } {
  return { node: process.execPath, entry: ENTRY };
}

// In the package every compiled file is in dist/, beside the programs. In a checkout this file is in app/service/.
const ENTRY = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', 'cli', 'hivebar.node.ts')
  : join(import.meta.dirname, 'hivebar.cjs');

function getOwnProgram(env: LoginMachine['env']): ServiceProgram {
  const { state } = findOwnDirs({ ...env });
  // Made absolute, because at login the current folder is another one.
  const environment: Record<string, string> = env.HIVEBAR_HOME ? { HIVEBAR_HOME: state } : {};
  return { node: process.execPath, entry: ENTRY, icon: getAssetPath(ICON), state, environment };
}
