import { askLink, type DaemonConfig, type DaemonStatus } from '../../../core/link/index.ts';
import { isHeld } from '../../service/index.ts';
import type { Ground } from './ground.ts';

/** What one installed daemon is and does. */
export type DaemonRow =
  | { readonly is: 'bad'; readonly name: string; readonly why: string }
  | {
      readonly is: 'good';
      readonly name: string;
      readonly config: DaemonConfig;
      /** `silent`: its process is there and does not answer. */
      readonly life: 'runs' | 'silent' | 'gone' | 'paused';
      /** Null unless it answers. */
      readonly status: DaemonStatus | null;
      readonly unit: UnitWord;
    };

/** `tray`: the tray program starts it; `old`: not what would be installed now; `stopped`: there, and not run by its launcher. */
export type UnitWord = 'tray' | 'active' | 'stopped' | 'installed' | 'old' | 'absent' | 'foreign';

const ASK_MS = 2000;

/** Everything that is installed, by name; all are asked at the same time. */
export async function daemonRows(ground: Ground): Promise<readonly DaemonRow[]> {
  return await Promise.all(
    ground.installed.map(async (one): Promise<DaemonRow> => {
      if (one.is === 'bad') return one;
      const { name, config } = one;
      const places = ground.places(config);
      const asked = await askLink(places, { verb: 'status' }, { timeoutMs: ASK_MS });
      const status = asked.is === 'answered' ? asked.answer : null;
      const life =
        status !== null ? 'runs' : isHeld(ground.disk, places) ? 'silent' : config.paused ? 'paused' : 'gone';
      return { is: 'good', name, config, life, status, unit: await unitOf(config, ground) };
    }),
  );
}

async function unitOf(config: DaemonConfig, ground: Ground): Promise<UnitWord> {
  if (config.owner === 'tray') return 'tray';
  const service = ground.service(config);
  const look = await service.look();
  if (look.is !== 'ours') return look.is;
  if (look.isOld) return 'old';
  const runs = await service.runs();
  return runs === null ? 'installed' : runs ? 'active' : 'stopped';
}
