import { join } from 'node:path';
import { type Installed, installedDaemons } from '../../../core/link/index.ts';
import { silentLog } from '../../../core/ports/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { findDeafness, hookInstaller, tryHooks } from '../../hook/index.ts';
import type { HooksSeen } from './hooks.ts';
import type { Scene } from './scene.ts';

/** Looks at the hooks of this user and runs them once, and sees which daemons have none. @throws Fault `settings`, `unreadable` */
export async function hooksSeen({ dirs, env }: Scene): Promise<HooksSeen> {
  const own = await tryHooks(hookInstaller(env), 'user');
  const daemons = installedDaemons(realDisk(silentLog), join(dirs.state, 'daemons'));
  const deaf = await Promise.all(daemons.map((daemon) => deafnessOf(daemon, env)));
  return { own, deaf: deaf.flat() };
}

async function deafnessOf(daemon: Installed, env: Scene['env']): Promise<readonly string[]> {
  if (daemon.is === 'bad' || daemon.config.paused) return []; // it is told of elsewhere, or does not run
  const deafness = await findDeafness(daemon.config, env);
  return deafness === null ? [] : [`the daemon ${daemon.name} says nothing between turns: ${deafness}`];
}
