import { join, resolve } from 'node:path';
import {
  askPending,
  createDaemon,
  createHookDesk,
  type Daemon,
  type DaemonLog,
  type Facts,
  heartbeatOf,
  keepMetricsFile,
  metricsText,
  NO_SHIM,
  openDaemonLog,
  openSession,
  statusOf,
  watchTouched,
} from '../../core/daemon/index.ts';
import {
  askLink,
  type DaemonConfig,
  type DaemonPlaces,
  LONGEST_SOCKET,
  openLink,
  ownDaemonPlaces,
} from '../../core/link/index.ts';
import { Fault, faultOf } from '../../core/model/index.ts';
import { ensurePrivateDir, ownDirs, stemOf } from '../../core/state/index.ts';
import { version } from '../version.node.ts';
import { attachProject } from './daemon-attach.ts';
import type { DaemonPlan } from './daemon-plan.ts';
import { openSurface, type Surface } from './daemon-surface.ts';
import { type DaemonTruth, daemonTruth } from './daemon-truth.ts';
import { bannerHere, wakeHere } from './daemon-ways.ts';
import type { Machine } from './machine.ts';
import { ownMachineId } from './machine-id.node.ts';

/** Exit codes of `hivebar daemon run` (persona daemon, contract 5). */
export const DAEMON_EXIT = { clean: 0, again: 75, config: 78 } as const;

/** As long as a shutdown may take. */
const STOP_MS = 5000;
/** After the start is over, what it left is thrown away. */
const AT_REST_MS = 3000;
/** For the last words of one that broke. */
const CRASH_MS = 1000;
/** For a live daemon that is asked what it is bound to. */
const ASK_MS = 2000;

export interface DaemonHost {
  readonly machine: Machine;
  /** The end began: whatever still hangs then, the process ends with this code within so many milliseconds. */
  readonly exitBy: (ms: number, code: number) => void;
  /** Something broke that nobody caught: it is said, and the process ends with this code, within so many milliseconds. */
  readonly onCrash: (said: (error: unknown) => Promise<void>, ms: number, code: number) => void;
}

interface House extends DaemonHost {
  readonly plan: DaemonPlan;
  readonly places: DaemonPlaces;
  readonly log: DaemonLog;
}

/**
 * One persona daemon from start to end (persona daemon): the lock first, then its project, then its stream. Returns the exit
 * code, having said in its log, and to who started it, why.
 */
export async function runDaemon(plan: DaemonPlan, host: DaemonHost): Promise<number> {
  const { machine } = host;
  const { disk, env, clock } = machine;
  const places = ownDaemonPlaces(plan, env);
  let daemon: Daemon | null = null;
  try {
    ensurePrivateDir(disk, places.runtime);
  } catch (error) {
    machine.log.error(faultOf(error, { is: 'machine', key: `daemon:${places.name}` }).explain());
    return DAEMON_EXIT.again;
  }
  const truth = truthOf(plan, places, machine);
  if (!(truth instanceof Fault) && truth.config.paused) {
    // Exit 0, so that no launcher starts it again and again.
    machine.log.warn(
      `the daemon ${places.name} is wrapped and does not start: ` +
        `hivebar daemon install --tenant ${plan.tenant} --identity ${plan.identity} starts it again`,
    );
    return DAEMON_EXIT.clean;
  }
  await using log = openDaemonLog({
    owner: {
      tenant_id: plan.tenant,
      agent_identity: plan.identity,
      agent_surface: truth instanceof Fault ? (plan.surface ?? 'unknown') : truth.config.surface,
      machine_id: ownMachineId(),
      version: version(),
    },
    label: places.unit,
    file: places.log,
    env,
    clock,
    fsm: () => daemon?.state.fsm ?? 'DISCONNECTED',
    secrets: () => (truth instanceof Fault ? [] : truth.secrets),
  });
  host.onCrash(
    async (error) => {
      log.failed('unclassified', error);
      machine.log.error(faultOf(error, { is: 'machine', key: `daemon:${places.name}` }).explain());
      await log[Symbol.asyncDispose]();
    },
    CRASH_MS,
    DAEMON_EXIT.again,
  );
  const house: House = { ...host, plan, places, log };
  try {
    if (truth instanceof Fault) throw truth;
    return await live(house, truth, (born) => {
      daemon = born;
    });
  } catch (error) {
    return await refused(house, faultOf(error, { is: 'machine', key: `daemon:${places.name}` }));
  }
}

function truthOf(plan: DaemonPlan, places: DaemonPlaces, { disk, env }: Machine): DaemonTruth | Fault {
  try {
    return daemonTruth(plan, places, disk, ownDirs(env));
  } catch (error) {
    return faultOf(error, { is: 'machine', key: `daemon:${places.name}` });
  }
}

async function live({ machine, places, log, exitBy }: House, truth: DaemonTruth, born: (daemon: Daemon) => void) {
  const { clock, random, disk } = machine;
  const { config, upstream } = truth;
  const { tenant, identity, project, autonomy } = config;
  const draw = (): number => Number.parseInt(random.hex(4), 16) / 2 ** 32;
  const desk = createHookDesk();
  let surface: Surface | null = null;
  const about = { pid: machine.pid, version: version(), tenant, identity, surface: config.surface, project };
  const machineId = ownMachineId();
  const facts = (surfaceAlive: boolean | null): Facts => ({
    ...{ ...about, machineId, surfaceAlive },
    shim: surface?.shim ?? NO_SHIM,
  });
  const now = (): { readonly mono: number } => ({ mono: clock.monotonic() });
  const strange = (name: string): void => daemon.failed('unclassified', new Error(`a label called ${name}`));
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
    status: (state, said) => statusOf(state, facts(said?.alive ?? null), now(), strange),
    heartbeat: (state, seq) => ({
      type: 'heartbeat',
      seq,
      ...heartbeatOf(state, surface?.shim.state ?? 'none', now()),
    }),
  });
  born(daemon);
  const over = new AbortController();
  const ended = daemon.ended.then((ending) => {
    exitBy(ending.leftMs, ending.exit);
    over.abort();
    return ending;
  });
  await using _link = await openLink({ places, disk, random, clock, handlers: daemon.handlers });
  const stop = (): void => daemon.shutdown('signal', STOP_MS);
  machine.stop.addEventListener('abort', stop, { once: true });
  if (machine.stop.aborted) stop();
  log.tell('info', 'started', `bound to ${project}`);
  await using _metrics = keepMetricsFile({
    path: places.metrics,
    text: () => metricsText(daemon.state, facts(null), now(), strange),
    clock,
    trouble: (error) => {
      if (error === null) log.tell('info', 'metrics', 'the metrics are written again');
      else daemon.failed('unclassified', error);
    },
  });
  const attached = await attachProject({
    ...{ config, places, machine, signal: over.signal },
    told: (line) => log.tell('info', 'note', line),
    failed: (why) => daemon.failed('unclassified', new Error(why)),
  });
  if (over.signal.aborted) return (await ended).exit; // it was stopped meanwhile
  await using opened = openSurface({
    ...{ config, desk, machine, draw, env: attached },
    ...{ wake: wakeHere(config, machine), banner: bannerHere(config, machine) },
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

/** Where the hook notes that an agent did something: for every daemon of this machine, and for this one alone. */
function watchActivity({ address }: DaemonConfig, { activity }: DaemonPlaces, machine: Machine, daemon: Daemon) {
  const { clock, disk, env } = machine;
  const failed = (why: string): void => daemon.failed('unclassified', new Error(`activity is not heard of: ${why}`));
  const dir = join(ownDirs(env).run, 'activity');
  ensurePrivateDir(disk, dir);
  const stack = new DisposableStack();
  for (const path of [join(dir, stemOf(address)), activity]) {
    stack.use(watchTouched(path, { clock, heard: daemon.active, failed }));
  }
  return stack;
}

/** Why it does not run, and what whoever starts it is to do. */
async function refused({ machine, places, log, plan }: House, fault: Fault): Promise<number> {
  switch (fault.code) {
    case 'daemon-runs': {
      const asked = await askLink(places, { verb: 'status' }, { timeoutMs: ASK_MS });
      const bound = asked.is === 'answered' ? asked.answer.project : null;
      if (bound === null || bound === resolve(plan.project)) {
        machine.log.info(fault.message);
        return DAEMON_EXIT.clean;
      }
      machine.log.error(`${fault.message} for the project ${bound}: it is bound to it until it ends; wrap it first`);
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
