import type { Io } from '../../../core/command/index.ts';
import { displayJson, displayName, formatDuration } from '../../../core/format/index.ts';
import type { DaemonStatus } from '../../../core/link/index.ts';
import { requestAnswer, resolveDaemon } from './daemon-request.ts';
import { parseDaemonArgs } from './schema.ts';

/** How many of the 64 stored transitions are shown. */
const MOST_TRANSITIONS = 5;

/** `daemon status`: shows what a daemon reports about itself. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('status', args);
  const { places } = resolveDaemon(flags, io);
  const status = await requestAnswer(places, { verb: 'status' });
  if (flags.json) io.out(`${displayJson(JSON.stringify(status))}\n`);
  else for (const line of formatStatusLines(places.name, status)) io.out(`${displayName(line)}\n`);
  return 0;
}

/** Formats a status for a person, one line per subject. */
function formatStatusLines(name: string, status: DaemonStatus): readonly string[] {
  const { pid, version, surface, project, fsm, taxonomy, degraded, ws, shim, pending, transitions } = status;
  const since = ws.since === null ? '' : ` since ${ws.since}`;
  const shimPid = shim.pid === null ? '' : `, pid ${shim.pid}`;
  const outstandingText =
    status.outstanding === null ? '' : `; rung for, and not drained since revision ${status.outstanding}`;
  return [
    `${name}  ${taxonomy}  ${fsm}${degraded === null ? '' : `  ${degraded}`}`,
    `process    pid ${pid}, version ${version}, up ${formatDuration(1000 * status.uptime_s)}`,
    `surface    ${surface}, project ${project}`,
    `upstream   ${ws.connected ? `connected${since}` : `not connected${since}, attempts ${ws.attempts}`}`,
    `heartbeat  ${status.heartbeat_age_s === null ? 'none yet' : `${formatDuration(1000 * status.heartbeat_age_s)} ago`}`,
    ...(shim.state === 'none' ? [] : [`shim       ${shim.state}${shimPid}, started again ${shim.restarts} times`]),
    `pending    ${pending.fresh ? pending.count : `not known, last ${pending.count}`}${outstandingText}`,
    `drained    ${formatDuration(1000 * status.drain_age_s)} ago, or never since it started`,
    `last error ${status.last_error_class ?? 'none'}`,
    ...transitions.slice(-MOST_TRANSITIONS).map(({ at, from, to, why }) => `${at}  ${from} -> ${to}  ${why}`),
  ];
}
