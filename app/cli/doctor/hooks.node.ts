import { join } from 'node:path';
import { type DaemonInstallation, loadInstalledDaemons } from '../../../core/link/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { checkHooks, createHookInstaller, findDeafness } from '../../hook/index.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { HooksSeen } from './hooks.ts';

/** Reads the hooks of this user, runs each once, and finds daemons without hooks. @throws Fault `settings`, `unreadable` */
export async function hooksSeen({ dirs, env }: DoctorContext): Promise<HooksSeen> {
  const own = await checkHooks(createHookInstaller(env), 'user');
  const daemons = loadInstalledDaemons(createRealDisk(silentLog), join(dirs.state, 'daemons'));
  const deaf = await Promise.all(daemons.map((daemon) => describeDeafness(daemon, env)));
  return { own, deaf: deaf.flat() };
}

async function describeDeafness(daemon: DaemonInstallation, env: DoctorContext['env']): Promise<readonly string[]> {
  if (daemon.is === 'bad' || daemon.config.paused) return []; // another check reports it, or it does not run
  const deafness = await findDeafness(daemon.config, env);
  return deafness === null ? [] : [`the daemon ${daemon.name} says nothing between turns: ${deafness}`];
}
