import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { displayJson, displayName, formatDuration } from '../../../core/format/index.ts';
import {
  type Answers,
  type AskResult,
  askDaemon,
  type DaemonName,
  type DaemonPlaces,
  type DaemonStatus,
  findOwnDaemonPlaces,
  isSlug,
  type LinkRequest,
  loadInstalledDaemons,
  MOST_DEADLINE_MS,
  type RingWhy,
  readOwnSurroundings,
  toDaemonsDir,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createRealDisk, isLocked } from '../../../core/state/index.ts';
import { createStderrLog } from '../process.node.ts';
import { type DaemonValues, type DaemonVerb, parseDaemonArgs } from './schema.ts';

interface ResolvedDaemon {
  readonly daemon: DaemonName;
  readonly places: DaemonPlaces;
}

/** What the command line of a verb for one daemon says about it. */
type DaemonSelection = Pick<DaemonValues<'status'>, 'name' | 'tenant' | 'identity'> & { readonly verb: DaemonVerb };

/**
 * Resolves the daemon of a command line: `T-I` or `--tenant T --identity I`, else the only one that is installed. A joined name
 * must be an installed daemon; any other daemon is named with both flags.
 *
 * @throws Fault `usage`; `daemon-config` when the configuration of an installed daemon cannot be read
 */
export function resolveDaemon({ verb, name, tenant, identity }: DaemonSelection, io: Io): ResolvedDaemon {
  try {
    const daemon = parseName(name, tenant, identity) ?? findInstalled(verb, name, io);
    return { daemon, places: findOwnDaemonPlaces(daemon, io.env) };
  } catch (error) {
    throw error instanceof Fault ? error : toUsageFault(error);
  }
}

function parseName(
  joined: string | undefined,
  tenant: string | undefined,
  identity: string | undefined,
): DaemonName | null {
  if (tenant === undefined && identity === undefined) return null;
  if (joined !== undefined) throw new Error(`use either ${joined} or --tenant and --identity`);
  if (tenant === undefined || identity === undefined) throw new Error('use both --tenant and --identity');
  for (const slug of [tenant, identity])
    if (!isSlug(slug))
      throw new Error(`${slug || 'an empty text'} is not valid: use 1 to 32 letters a-z, digits and dashes`);
  return { tenant, identity };
}

function findInstalled(verb: string, joined: string | undefined, io: Io): DaemonName {
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const daemons = loadInstalledDaemons(disk, toDaemonsDir(readOwnSurroundings(io.env)));
  const fitting = joined === undefined ? daemons : daemons.filter(({ name }) => name === joined);
  const [first, another] = fitting;
  if (first === undefined) {
    if (joined === undefined) throw new Error(`daemon ${verb}: no daemon is installed; use --tenant and --identity`);
    throw new Error(
      `${joined}: no daemon of that name is installed; use --tenant and --identity, or see hivebar daemon list`,
    );
  }
  if (another !== undefined)
    throw new Error(
      `daemon ${verb}: several daemons are installed; name one of them: ${fitting.map(({ name }) => name).join(', ')}`,
    );
  if (first.is === 'bad') throw new Fault('daemon-config', first.why, { is: 'machine', key: `daemon:${first.name}` });
  return first.config;
}

/** A daemon that rings waits 2 s for its surface. No other answer takes as long. */
const WITHIN_MS = 5000;

/**
 * Asks a daemon and returns its answer.
 * @throws Fault `daemon-gone` when it does not run; `daemon-refused` when it gives another answer or none
 */
export async function requestAnswer<R extends LinkRequest>(
  places: DaemonPlaces,
  request: R,
): Promise<Answers[R['verb']]> {
  const response = await askDaemon(places, request, { timeoutMs: WITHIN_MS });
  if (response.is === 'answered') return response.answer;
  throw new Fault(response.is === 'not-running' ? 'daemon-gone' : 'daemon-refused', formatRefusal(places, response), {
    is: 'machine',
    key: `daemon:${places.name}`,
  });
}

function formatRefusal(
  { name, socket }: DaemonPlaces,
  response: Exclude<AskResult<LinkRequest['verb']>, { is: 'answered' }>,
): string {
  switch (response.is) {
    case 'not-running':
      return `the daemon ${name} is not running: nothing answers at ${socket}`;
    case 'refused':
      return `the daemon ${name} refused${response.error === null ? '' : ` (${response.error})`}: ${response.message}`;
    case 'bad-answer':
      return `the daemon ${name} sent an answer that this version does not know`;
    case 'silent':
      return `the daemon ${name} did not answer within ${WITHIN_MS / 1000} s`;
  }
}

const WORDS: Readonly<Record<RingWhy, string>> = {
  rung: 'has rung',
  queued: 'will ring at the next turn boundary, if something waits then',
  disconnected: 'did not ring: its upstream is not connected',
  reconciling: 'did not ring: it does not know yet whether something waits',
  emitting: 'did not ring: it is already ringing',
  nothing_pending: 'did not ring: nothing waits',
  outstanding: 'did not ring: it has rung, and nothing was drained since',
  duplicate_boundary: 'did not ring: it has already rung at this turn boundary',
  surface_inject_failed: 'did not ring: its surface did not accept the doorbell',
  stopping: 'did not ring: it is stopping',
};

/** `daemon notify`: asks for a doorbell at the next turn boundary. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function runNotify(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('notify', args);
  const { places } = resolveDaemon(flags, io);
  const { emitted, why } = await requestAnswer(places, { verb: 'notify_surface', boundary: null });
  io.out(flags.json ? `${JSON.stringify({ emitted, why })}\n` : `${places.name}: ${WORDS[why]}\n`);
  return 0;
}

/** `daemon resume`: binds the surface of a daemon again. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function runResume(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('resume', args);
  const { places } = resolveDaemon(flags, io);
  await requestAnswer(places, { verb: 'resume_surface' });
  io.out(flags.json ? '{"ok":true}\n' : `${places.name}: its surface is bound again\n`);
  return 0;
}

/** How many of the 64 stored transitions are shown. */
const MOST_TRANSITIONS = 5;

/** `daemon status`: shows what a daemon reports about itself. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function runStatus(args: readonly string[], io: Io): Promise<number> {
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
    status.outstanding === null
      ? ''
      : `; the doorbell has rung, and nothing was drained since revision ${status.outstanding}`;
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

const CHECK_EVERY_MS = 20;
/** Time after the daemon's own deadline for closing files and exiting. */
const GRACE_MS = 1000;
const REASON = 'asked by a person';

/**
 * `daemon shutdown`: asks a daemon to end, and waits for the end.
 * @throws Fault `usage`, `daemon-gone`, or `daemon-refused` when it still runs after its deadline
 */
export async function runShutdown(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('shutdown', args);
  const { places } = resolveDaemon(flags, io);
  const deadlineMs = parseDeadline(flags.deadline);
  const reason = flags.reason ?? REASON;
  await requestAnswer(places, { verb: 'shutdown', reason, deadlineMs });
  await waitForEnd(places, deadlineMs, io);
  io.out(flags.json ? '{"ok":true}\n' : `${places.name}: has ended\n`);
  return 0;
}

function parseDeadline(text: string | undefined): number {
  if (text === undefined) return MOST_DEADLINE_MS;
  const ms = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (ms <= MOST_DEADLINE_MS) return ms;
  throw toUsageFault(new Error(`--deadline ${text}: must be a number of milliseconds, at most ${MOST_DEADLINE_MS}`));
}

/** Waits until the lock is free: the system releases it whenever and however the process ends. */
async function waitForEnd({ name, locked }: DaemonPlaces, deadlineMs: number, io: Io): Promise<void> {
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const until = realClock.monotonic() + deadlineMs + GRACE_MS;
  while (isLocked(disk, `${locked}.lock`)) {
    if (realClock.monotonic() > until) {
      const message = `the daemon ${name} was asked to end but still runs after ${deadlineMs + GRACE_MS} ms`;
      throw new Fault('daemon-refused', message, { is: 'machine', key: `daemon:${name}` });
    }
    await realClock.sleep(CHECK_EVERY_MS, new AbortController().signal);
  }
}
