import { askDaemon, type DaemonConfig, type DaemonStatus } from '../../../core/link/index.ts';
import { isHeld } from '../../service/index.ts';
import type { DaemonContext } from './daemon-context.ts';

/** An installed daemon and its state. */
export type DaemonRow =
  | { readonly is: 'bad'; readonly name: string; readonly why: string }
  | {
      readonly is: 'good';
      readonly name: string;
      readonly config: DaemonConfig;
      /** `silent`: its process exists and does not answer. */
      readonly life: 'runs' | 'silent' | 'gone' | 'paused';
      /** Null unless the daemon answers. */
      readonly status: DaemonStatus | null;
      readonly unit: UnitWord;
    };

/**
 * `tray`: the tray program starts it. `old`: an install would write another unit. `stopped`: the unit exists, and its launcher
 * does not run it.
 */
export type UnitWord = 'tray' | 'active' | 'stopped' | 'installed' | 'old' | 'absent' | 'foreign';

const ASK_MS = 2000;

/** Returns every installed daemon by name; all are asked at the same time. */
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
