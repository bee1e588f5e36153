import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AskResult,
  askDaemon,
  type DaemonConfig,
  type DaemonPlaces,
  type DaemonStatus,
  findOwnDaemonPlaces,
  type LinkRequest,
  type RingAnswer,
  type TurnBoundary,
  type TurnBoundaryKind,
  writeDaemonConfig,
} from '../../core/link/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, writeAtomically } from '../../core/state/index.ts';
import { type Cli, type ProcessExit, startCli } from './process.ts';
import { measurePause } from './until.ts';
import type { ReferenceUpstream, UpstreamPersona } from './upstream/index.ts';

/** A state directory for any number of daemons. Gone when the test leaves its scope. */
export interface DaemonHome extends Disposable {
  /** `HIVEBAR_HOME`: short, since sockets are in it. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** A folder to be bound to. */
  readonly project: string;
  places(identity: string, tenant?: string): DaemonPlaces;
  /** What `daemon install` leaves behind, for a persona of this upstream. */
  install(persona: UpstreamPersona, upstream: Pick<ReferenceUpstream, 'url'>, config?: Partial<DaemonConfig>): void;
  /** `hivebar daemon run` for it, whatever becomes of it. */
  spawn(persona: DaemonIdentity, more?: DaemonOptions): Cli;
  /** The same, as soon as its control socket answers. @throws with what it said when it ends instead */
  start(persona: DaemonIdentity, more?: DaemonOptions): Promise<DaemonProcess>;
}

type DaemonIdentity = Pick<UpstreamPersona, 'tenant' | 'identity'>;

export interface DaemonOptions {
  readonly args?: readonly string[];
  /** Another folder than the home's. */
  readonly project?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Its time runs so many times as fast. Default 1. */
  readonly faster?: number;
}

export interface DaemonProcess extends AsyncDisposable {
  readonly pid: number;
  readonly cli: Cli;
  readonly places: DaemonPlaces;
  /** @throws when it does not answer */
  status(): Promise<DaemonStatus>;
  /** Waits until its status fits. @throws showing the last one */
  until(goal: string, fits: (status: DaemonStatus) => boolean, ms?: number): Promise<DaemonStatus>;
  /** Until it is reconciled. */
  connected(): Promise<DaemonStatus>;
  /** A boundary as the hook reports it; each call is a turn of its own unless `turn` says which. */
  turnBoundary(kind?: TurnBoundaryKind, turn?: string): Promise<RingAnswer>;
  /** `notify_surface` as it is said; null: without a boundary. */
  notify(turnBoundary: TurnBoundary | null): Promise<RingAnswer>;
  /** SIGTERM, and what came of it. */
  stop(): Promise<ProcessExit & { readonly ms: number }>;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
}

const FASTER = import.meta.resolve('./fast-time.mjs');
const ASK_MS = 10_000;

export function daemonHome(): DaemonHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hbd-')));
  const dir = join(root, 'h');
  const project = join(root, 'project');
  const home = join(root, 'home');
  mkdirSync(project);
  mkdirSync(home);
  const env = { HOME: home, HIVEBAR_HOME: dir, XDG_CACHE_HOME: join(homedir(), '.cache') };
  const disk = createRealDisk(silentLog);
  const places = (identity: string, tenant = 'acme'): DaemonPlaces => findOwnDaemonPlaces({ tenant, identity }, env);

  const spawn = (
    { tenant, identity }: DaemonIdentity,
    { args = [], env: more = {}, faster = 1, project: at = project }: DaemonOptions = {},
  ): Cli => {
    const words = ['daemon', 'run', '--tenant', tenant, '--identity', identity, '--project', at, ...args];
    const time = faster === 1 ? {} : { NODE_OPTIONS: `--import=${FASTER}`, FASTER: String(faster) };
    return startCli(words, { env: { ...env, ...time, ...more } });
  };
  return {
    dir,
    env,
    project,
    places,
    install({ tenant, identity, observe, act }, { url }, config = {}) {
      const at = places(identity, tenant);
      writeDaemonConfig(disk, realRandom, at, {
        tenant,
        identity,
        address: identity,
        project,
        surface: 'claude-code',
        autonomy: null,
        upstream: url,
        wakeIdle: false,
        owner: 'launcher',
        shim: null,
        installDeps: false,
        activateVenv: false,
        paused: false,
        ...config,
      });
      writeAtomically(disk, realRandom, at.observeToken, `${observe}\n`);
      writeAtomically(disk, realRandom, at.actToken, `${act}\n`);
    },
    spawn,
    start: async (persona, more) => await answering(spawn(persona, more), places(persona.identity, persona.tenant)),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/**
 * One whose time runs fast gives who connects a few milliseconds to speak, and hangs up on a machine that is busy. What it has
 * not heard is said again.
 */
async function asking<R extends LinkRequest>(places: DaemonPlaces, request: R): Promise<AskResult<R['verb']>> {
  for (let more = 5; ; more -= 1) {
    const asked = await askDaemon(places, request, { timeoutMs: ASK_MS });
    if (asked.is !== 'refused' || asked.error !== null || more === 0) return asked;
  }
}

/** One that was started, as soon as its control socket answers. @throws with what it said when it ends instead */
export async function answering(cli: Cli, places: DaemonPlaces): Promise<DaemonProcess> {
  let isThere = false;
  const ask = async (): Promise<DaemonStatus | null> => {
    const asked = await asking(places, { verb: 'status' });
    return asked.is === 'answered' && asked.answer.pid === cli.pid ? asked.answer : null;
  };
  const looking = (async () => {
    while (!isThere) {
      isThere = (await ask()) !== null;
      await sleep(10);
    }
  })();
  try {
    await cli.until('its control socket', () => isThere);
  } catch (error) {
    await cli[Symbol.asyncDispose]();
    throw error;
  } finally {
    isThere = true;
    await looking;
  }

  const status = async (): Promise<DaemonStatus> => {
    const output = await ask();
    if (output === null) throw new Error(`the daemon does not answer\n${cli.stderr}`);
    return output;
  };
  const notify = async (turnBoundary: TurnBoundary | null): Promise<RingAnswer> => {
    const asked = await asking(places, { verb: 'notify_surface', boundary: turnBoundary });
    if (asked.is !== 'answered') throw new Error(`not answered: ${JSON.stringify(asked)}\n${cli.stderr}`);
    return asked.answer;
  };
  const until = async (goal: string, fits: (status: DaemonStatus) => boolean, ms = 60_000): Promise<DaemonStatus> => {
    for (const start = performance.now(); ; await sleep(measurePause(performance.now() - start, 30))) {
      const now = await status();
      if (fits(now)) return now;
      if (performance.now() - start > ms) {
        throw new Error(`not within ${ms} ms: ${goal}\n${JSON.stringify({ ...now, metrics: '' })}\n${cli.stderr}`);
      }
    }
  };
  let turns = 0;
  return {
    pid: cli.pid,
    cli,
    places,
    status,
    until,
    connected: () => until('it is reconciled', ({ fsm, pending }) => fsm === 'CONNECTED' && pending.fresh),
    turnBoundary: (kind = 'Stop', turn = `turn ${++turns}`) => notify({ kind, session: 'a session', turn }),
    notify,
    async stop() {
      const start = performance.now();
      const ended = await cli.stop();
      return { ...ended, ms: performance.now() - start };
    },
    async kill() {
      cli.kill('SIGKILL');
      await cli.ended();
    },
    [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
  };
}
