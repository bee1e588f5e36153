import { askDaemon, type DaemonConfig, type DaemonStatus } from '../../../core/link/index.ts';
import { isHeld } from '../../service/index.ts';
import type { DaemonContext } from './daemon-context.ts';

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
export async function loadDaemonRows(context: DaemonContext): Promise<readonly DaemonRow[]> {
  return await Promise.all(
    context.installed.map(async (entry): Promise<DaemonRow> => {
      if (entry.is === 'bad') return entry;
      const { name, config } = entry;
      const places = context.places(config);
      const response = await askDaemon(places, { verb: 'status' }, { timeoutMs: ASK_MS });
      const status = response.is === 'answered' ? response.answer : null;
      const life =
        status !== null ? 'runs' : isHeld(context.disk, places) ? 'silent' : config.paused ? 'paused' : 'gone';
      return { is: 'good', name, config, life, status, unit: await findUnitWord(config, context) };
    }),
  );
}

async function findUnitWord(config: DaemonConfig, context: DaemonContext): Promise<UnitWord> {
  if (config.owner === 'tray') return 'tray';
  const service = context.service(config);
  const status = await service.check();
  if (status.is !== 'ours') return status.is;
  if (status.isOld) return 'old';
  const runs = await service.isRunning();
  return runs === null ? 'installed' : runs ? 'active' : 'stopped';
}
