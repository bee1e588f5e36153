import { join, resolve } from 'node:path';
import {
  askPending,
  createDaemon,
  createHookDesk,
  type Daemon,
  type DaemonFacts,
  type DaemonLog,
  formatMetrics,
  NO_SHIM,
  openDaemonLog,
  openSession,
  startMetricsFile,
  toDaemonStatus,
  toHeartbeat,
  watchActivityFile,
} from '../../core/daemon/index.ts';
import {
  askDaemon,
  type DaemonConfig,
  type DaemonPlaces,
  findOwnDaemonPlaces,
  LONGEST_SOCKET,
  openControlSocket,
  readMachineId,
} from '../../core/link/index.ts';
import { Fault, toFault } from '../../core/model/index.ts';
import { ensurePrivateDir, findOwnDirs, toStem } from '../../core/state/index.ts';
import { attachProject, type DaemonBinding, type DaemonPlan, readDaemonBinding } from '../daemon/daemon-binding.ts';
import { createWakePath, openSurface, type Surface } from '../daemon/daemon-surface.ts';
import type { Machine } from '../host/machine.node.ts';
import { readVersion } from '../package.node.ts';

/** Exit codes of `hivebar daemon run` (persona daemon, contract 5). */
export const DAEMON_EXIT = { clean: 0, again: 75, config: 78 } as const;

/** The longest that a shutdown may take. */
const STOP_MS = 5000;
/** This long after the start, the memory that the start needed is given back. */
const AT_REST_MS = 3000;
/** The time that a crashed daemon has to write its report. */
const CRASH_MS = 1000;
/** The time that a running daemon has to say what it is bound to. */
const ASK_MS = 2000;

export interface DaemonHost {
  readonly machine: Machine;
  /** The shutdown began. If something still hangs after `ms` milliseconds, the process ends with this code. */
  readonly exitBy: (ms: number, code: number) => void;
  /** Calls `report` for an error that nobody caught. The process ends with this code within `ms` milliseconds. */
  readonly onCrash: (report: (error: unknown) => Promise<void>, ms: number, code: number) => void;
}

interface DaemonRunContext extends DaemonHost {
  readonly plan: DaemonPlan;
  readonly places: DaemonPlaces;
  readonly log: DaemonLog;
}

/**
 * Runs one persona daemon from start to end (persona daemon): first its lock, then its project, then its stream. Returns the exit
 * code. The reason goes to the log of the daemon and to the log of the program that started it.
 */
export async function runDaemon(plan: DaemonPlan, host: DaemonHost): Promise<number> {
  const { machine } = host;
  const { disk, env, clock } = machine;
  const places = findOwnDaemonPlaces(plan, env);
  let daemon: Daemon | null = null;
  try {
    ensurePrivateDir(disk, places.runtime);
  } catch (error) {
    machine.log.error(toFault(error, { is: 'machine', key: `daemon:${places.name}` }).explain());
    return DAEMON_EXIT.again;
  }
  const binding = readBinding(plan, places, machine);
  if (!(binding instanceof Fault) && binding.config.paused) {
    // Exit 0, so that no launcher starts it again and again.
    machine.log.warn(
      `the daemon ${places.name} was ended by hivebar daemon wrap and does not start; start it again with ` +
        `hivebar daemon install --tenant ${plan.tenant} --identity ${plan.identity}`,
    );
    return DAEMON_EXIT.clean;
  }
  await using log = openDaemonLog({
    owner: {
      tenant_id: plan.tenant,
      agent_identity: plan.identity,
      agent_surface: binding instanceof Fault ? (plan.surface ?? 'unknown') : binding.config.surface,
      machine_id: readMachineId(),
      version: readVersion(),
    },
    label: places.unit,
    file: places.log,
    env,
    clock,
    fsm: () => daemon?.state.fsm ?? 'DISCONNECTED',
    secrets: () => (binding instanceof Fault ? [] : binding.secrets),
  });
  host.onCrash(
    async (error) => {
      log.failed('unclassified', error);
      machine.log.error(toFault(error, { is: 'machine', key: `daemon:${places.name}` }).explain());
      await log[Symbol.asyncDispose]();
    },
    CRASH_MS,
    DAEMON_EXIT.again,
  );
  const context: DaemonRunContext = { ...host, plan, places, log };
  try {
    if (binding instanceof Fault) throw binding;
    return await runLive(context, binding, (created) => {
      daemon = created;
    });
  } catch (error) {
    return await reportRefusal(context, toFault(error, { is: 'machine', key: `daemon:${places.name}` }));
  }
}

function readBinding(plan: DaemonPlan, places: DaemonPlaces, { disk, env }: Machine): DaemonBinding | Fault {
  try {
    return readDaemonBinding(plan, places, disk, findOwnDirs(env));
  } catch (error) {
    return toFault(error, { is: 'machine', key: `daemon:${places.name}` });
  }
}

async function runLive(
  { machine, places, log, exitBy }: DaemonRunContext,
  binding: DaemonBinding,
  onCreated: (daemon: Daemon) => void,
) {
  const { clock, random, disk } = machine;
  const { config, upstream } = binding;
  const { tenant, identity, project, autonomy } = config;
  const draw = (): number => Number.parseInt(random.hex(4), 16) / 2 ** 32;
  const desk = createHookDesk();
  let surface: Surface | null = null;
  const about = { pid: machine.pid, version: readVersion(), tenant, identity, surface: config.surface, project };
  const machineId = readMachineId();
  const facts = (surfaceAlive: boolean | null): DaemonFacts => ({
    ...{ ...about, machineId, surfaceAlive },
    shim: surface?.shim ?? NO_SHIM,
  });
  const now = (): { readonly mono: number } => ({ mono: clock.monotonic() });
  const strange = (name: string): void => daemon.failed('unclassified', new Error(`unknown label ${name}`));
  const daemon = createDaemon({
    rules: { tenant, identity, wakeIdle: config.wakeIdle },
    hello: {
      kind: 'daemon',
      tenant_id: tenant,
      identity,
      surface: config.surface,
      project,
      machine_id: machineId,
      version: about.version,
      proto: 1,
      ...(autonomy === null ? {} : { autonomy }),
    },
    ...{ clock, draw, upstream, openSession, askPending, desk, log },
    status: (state, surfaceStatus) => toDaemonStatus(state, facts(surfaceStatus?.alive ?? null), now(), strange),
    heartbeat: (state, seq) => ({
      type: 'heartbeat',
      seq,
      ...toHeartbeat(state, surface?.shim.state ?? 'none', now()),
    }),
  });
  onCreated(daemon);
  const over = new AbortController();
  const ended = daemon.ended.then((ending) => {
    exitBy(ending.leftMs, ending.exit);
    over.abort();
    return ending;
  });
  await using _link = await openControlSocket({ places, disk, random, clock, handlers: daemon.handlers });
  const stop = (): void => daemon.shutdown('signal', STOP_MS);
  machine.stop.addEventListener('abort', stop, { once: true });
  if (machine.stop.aborted) stop();
  log.tell('info', 'started', `bound to ${project}`);
  await using _metrics = startMetricsFile({
    path: places.metrics,
    text: () => formatMetrics(daemon.state, facts(null), now(), strange),
    clock,
    trouble: (error) => {
      if (error === null) log.tell('info', 'metrics', 'the metrics are written again');
      else daemon.failed('unclassified', error);
    },
  });
  const attached = await attachProject({
    ...{ config, places, machine, signal: over.signal },
    report: (line) => log.tell('info', 'note', line),
    failed: (why) => daemon.failed('unclassified', new Error(why)),
  });
  if (over.signal.aborted) return (await ended).exit; // it was stopped in the meantime
  await using opened = await openSurface({
    ...{ config, desk, machine, draw, env: attached },
    wake: createWakePath(config, machine),
    shimNote: join(places.runtime, 'shim.pid'),
    changed: () => daemon.probe(),
  });
  surface = opened;
  using _activity = watchActivity(config, places, machine, daemon);
  daemon.start(opened.plugin);
  using _rest = clock.after(AT_REST_MS, machine.atRest);
  const { exit, reason } = await ended;
  log.tell('info', 'stopped', reason);
  return exit;
}

/** Watches the files in which the hook notes agent activity: one for all daemons of this machine, and one for this daemon. */
function watchActivity({ address }: DaemonConfig, { activity }: DaemonPlaces, machine: Machine, daemon: Daemon) {
  const { clock, disk, env } = machine;
  const failed = (why: string): void =>
    daemon.failed('unclassified', new Error(`the activity of the agent cannot be watched: ${why}`));
  const dir = join(findOwnDirs(env).run, 'activity');
  ensurePrivateDir(disk, dir);
  const stack = new DisposableStack();
  for (const path of [join(dir, toStem(address)), activity]) {
    stack.use(watchActivityFile(path, { clock, heard: daemon.active, failed }));
  }
  return stack;
}

/** Reports why the daemon does not run, and what the user can do. */
async function reportRefusal({ machine, places, log, plan }: DaemonRunContext, fault: Fault): Promise<number> {
  switch (fault.code) {
    case 'daemon-runs': {
      const reply = await askDaemon(places, { verb: 'status' }, { timeoutMs: ASK_MS });
      const bound = reply.is === 'answered' ? reply.answer.project : null;
      if (bound === null || bound === resolve(plan.project)) {
        machine.log.info(fault.message);
        return DAEMON_EXIT.clean;
      }
      machine.log.error(
        `${fault.message} for the project ${bound} and stays bound to it until it ends; run hivebar daemon wrap first`,
      );
      return DAEMON_EXIT.config;
    }
    case 'daemon-config':
    case 'unreadable':
      log.failed('config_invalid', fault);
      machine.log.error(fault.explain());
      return DAEMON_EXIT.config;
    case 'daemon-socket':
      log.failed('ipc_bind_failed', fault);
      machine.log.error(fault.explain());
      return Buffer.byteLength(places.socket) > LONGEST_SOCKET ? DAEMON_EXIT.config : DAEMON_EXIT.again;
    default:
      log.failed('unclassified', fault);
      machine.log.error(fault.explain());
      return DAEMON_EXIT.again;
  }
}
