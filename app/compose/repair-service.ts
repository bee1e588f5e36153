import type { Fact } from '../../core/board/index.ts';
import { Fault, faultOf } from '../../core/model/index.ts';
import type { Installer } from '../hook/index.ts';
import type { DaemonService, LoginStart } from '../service/index.ts';
import type { Machine } from './machine.ts';

export interface KeepInstalledNeeds {
  readonly hooks: Pick<Installer, 'repair' | 'findGone'>;
  readonly login: Pick<LoginStart, 'repair'>;
  /** The units of persona daemons, looked up anew each time. */
  readonly daemons: () => readonly { readonly name: string; readonly service: Pick<DaemonService, 'repair'> }[];
  put(fact: Fact): void;
}

const EVERY_MS = 5 * 60_000;

/**
 * Mends what was installed to start this program once the Node or the copy of it that it names is gone, as after an upgrade: the
 * script of the hooks, start at login, the units of daemons. At start and every few minutes; what could not be mended is a
 * cause on the board until it is.
 */
export function keepInstalled(
  { hooks, login, daemons, put }: KeepInstalledNeeds,
  { clock, log, stop }: Pick<Machine, 'clock' | 'log' | 'stop'>,
): Disposable {
  const standing = new Set<string>();
  let next: Disposable | null = null;

  function say(key: string, fault: Fault | null): void {
    if (fault === null ? !standing.delete(key) : standing.has(key)) return;
    if (fault !== null) {
      standing.add(key);
      log.warn(fault.explain());
    }
    put({ is: 'machine', at: clock.now(), key, fault });
  }

  async function mend(key: string, work: () => Promise<Fault | null> | Fault | null): Promise<void> {
    try {
      say(key, await work());
    } catch (error) {
      say(key, faultOf(error, { is: 'machine', key }));
    }
  }

  async function tick(): Promise<void> {
    await mend('hooks', () => {
      if (hooks.repair()) log.info('what the hooks of agents ask was gone or older: they ask this Hivebar now');
      const gone = hooks.findGone();
      const why = `the hooks of agents ask ${gone}, which is not there`;
      return gone === null ? null : new Fault('hook-gone', why, { is: 'machine', key: 'hooks' });
    });
    await mend('login', async () => {
      const before = await login.repair();
      if (before.is === 'on' && before.gone !== null)
        log.info(`${before.path} started ${before.gone}, which is gone: at the next login it starts this Hivebar`);
      return null;
    });
    for (const { name, service } of daemons()) {
      await mend(`daemon ${name}`, async () => {
        const gone = await service.repair();
        if (gone !== null)
          log.info(`the unit of ${name} started ${gone}, which is gone: it was written anew and started`);
        return null;
      });
    }
    if (!stop.aborted) next = clock.after(EVERY_MS, () => void tick());
  }

  void tick();
  return { [Symbol.dispose]: () => next?.[Symbol.dispose]() };
}
