import type { Io } from '../../../core/command/index.ts';
import { displayJson, displayName, formatDuration } from '../../../core/format/index.ts';
import { createContext } from './daemon-context.ts';
import { type DaemonRow, loadDaemonRows } from './rows.ts';
import { parseDaemonArgs } from './schema.ts';

const HEAD = ['NAME', 'OWNER', 'STATE', 'MACHINE', 'PENDING', 'DRAINED', 'LAST ERROR', 'UNIT', 'PROJECT'];

/** `daemon list`: shows every daemon that is installed here, and its state. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { json } = parseDaemonArgs('list', args);
  const rows = await loadDaemonRows(createContext(io));
  if (json) io.out(`${displayJson(JSON.stringify(rows.map(toRowWire)))}\n`);
  else if (rows.length === 0) io.out('no daemon is installed: see hivebar daemon install\n');
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
