import type { Io } from '../../../core/command/index.ts';
import { displayJson, displayName, formatDuration } from '../../../core/format/index.ts';
import { askDaemon, type DaemonConfig, type DaemonStatus } from '../../../core/link/index.ts';
import { isHeld } from '../../service/index.ts';
import { createContext, type DaemonContext } from './daemon-context.ts';
import { parseDaemonArgs } from './schema.ts';

const HEAD = ['NAME', 'OWNER', 'STATE', 'MACHINE', 'PENDING', 'DRAINED', 'LAST ERROR', 'UNIT', 'PROJECT'];

/** `daemon list`: shows every daemon that is installed here, and its state. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { json } = parseDaemonArgs('list', args);
  const rows = await loadDaemonRows(createContext(io));
  if (json) io.out(`${displayJson(JSON.stringify(rows.map(toRowWire)))}\n`);
  else if (rows.length === 0) io.out('no daemon is installed: use hivebar daemon install\n');
  else for (const line of formatRows(rows)) io.out(`${displayName(line)}\n`);
  return 0;
}

function formatRows(rows: readonly DaemonRow[]): readonly string[] {
  const good = rows.flatMap((row) => (row.is === 'good' ? [formatCells(row)] : []));
  const table = [HEAD, ...good];
  const widths = HEAD.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const aligned = table.map((cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const bad = rows.flatMap((row) => (row.is === 'bad' ? [`${row.name}: ${row.why}`] : []));
  return [...(good.length === 0 ? [] : aligned), ...bad];
}

type GoodDaemonRow = Extract<DaemonRow, { is: 'good' }>;

function formatCells({ name, config, life, status, unit }: GoodDaemonRow): readonly string[] {
  const state = status === null ? life : (status.degraded ?? status.taxonomy);
  const pending = status === null ? '-' : `${status.pending.fresh ? '' : '~'}${status.pending.count}`;
  return [
    ...[name, config.owner, state, status?.fsm ?? '-', pending],
    status === null ? '-' : formatDuration(1000 * status.drain_age_s),
    ...[status?.last_error_class ?? '-', unit, config.project],
  ];
}

/** Converts a row to JSON for scripts; durations are in seconds. */
function toRowWire(row: DaemonRow): object {
  if (row.is === 'bad') return { name: row.name, error: row.why };
  const { name, config, life, status, unit } = row;
  const { tenant, identity, address, project, surface, upstream, owner, paused } = config;
  return {
    ...{ name, tenant, identity, address, project, surface, upstream, owner, paused, life, unit },
    pid: status?.pid ?? null,
    taxonomy: status?.taxonomy ?? null,
    fsm: status?.fsm ?? null,
    degraded: status?.degraded ?? null,
    pending: status?.pending.count ?? null,
    pending_fresh: status?.pending.fresh ?? null,
    drain_age_s: status?.drain_age_s ?? null,
    last_error_class: status?.last_error_class ?? null,
  };
}

/** An installed daemon and its state. */
type DaemonRow =
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
type UnitWord = 'tray' | 'active' | 'stopped' | 'installed' | 'old' | 'absent' | 'foreign';

const ASK_MS = 2000;

/** Returns every installed daemon by name; all are asked at the same time. */
async function loadDaemonRows(context: DaemonContext): Promise<readonly DaemonRow[]> {
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
