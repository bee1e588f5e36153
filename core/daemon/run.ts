import { posix, win32 } from 'node:path';
import type { DaemonStatus, ErrorClass, Handlers, RingAnswer } from '../link/index.ts';
import { type Clock, readVariable } from '../ports/index.ts';
import { createUpstreamCalls, type DaemonFrame, type UpstreamCalls, type UpstreamCallsNeeds } from './calls.ts';
import type { DaemonLog } from './daemon-log.ts';
import { computeDueMono, createMachineState, step } from './machine.ts';
import type { DaemonEffect, DaemonRules, Happening, MachineState, Now } from './machine-state.ts';
import type { HookDesk, Plugin } from './plugins/index.ts';
import type { SurfaceStatus } from './status.ts';

interface DaemonNeeds extends Omit<UpstreamCallsNeeds, 'tell'> {
  readonly rules: DaemonRules;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly draw: () => number;
  readonly desk: HookDesk;
  readonly log: DaemonLog;
  /** Returns the answer to `status`. `surface`: the last status of the surface; null: it was not asked yet. */
  readonly status: (state: MachineState, surface: SurfaceStatus | null) => DaemonStatus;
  /** Returns the frame of a heartbeat. */
  readonly heartbeat: (state: MachineState, seq: number) => DaemonFrame;
}

/** How the daemon ended, and within how many milliseconds the process must exit. */
interface DaemonEnding {
  readonly exit: 0 | 78;
  readonly reason: string;
  readonly leftMs: number;
}

/** The machine of one persona, driven by its clock, its stream and its control socket. */
export interface Daemon {
  readonly handlers: Handlers;
  readonly state: MachineState;
  /** Opens the stream and keeps it open, and rings through this plugin. Before the start, only the control socket is answered. */
  start(through: Plugin): void;
  /** Reports that the agent did something; `touched` by the wall clock, `moment` as its hook noted it. */
  active(touched: number, moment: string | null): void;
  /** Reports a failure outside the machine: it is counted, and its text goes to the log. */
  failed(error: ErrorClass, why: unknown): void;
  /** Asks the surface for its status at once, because its shim started or ended. */
  probe(): void;
  shutdown(reason: string, deadlineMs: number): void;
  /** Resolves once, when the daemon said goodbye and its stream is closed. */
  readonly ended: Promise<DaemonEnding>;
}

/** Drives the pure machine (persona daemon, contract 3): inputs become steps, one after the other, and effects become calls. */
export function createDaemon(needs: DaemonNeeds): Daemon {
  const { rules, clock, draw, log, desk } = needs;
  const now = (): Now => ({ at: clock.now(), mono: clock.monotonic(), draw: draw() });
  const asks = createPendingAsks();
  const calls: UpstreamCalls = createUpstreamCalls({ ...needs, tell });
  const ending = Promise.withResolvers<DaemonEnding>();
  /** Inputs that come from an effect wait until the current step is done. */
  const waiting: { readonly happening: Happening; readonly raw: string }[] = [];
  let state = createMachineState(now());
  let plugin: Plugin | null = null;
  let surface: SurfaceStatus | null = null;
  let timer: { readonly due: number; readonly stop: Disposable } | null = null;
  let phase: 'before' | 'running' | 'over' = 'before';
  let isStepping = false;

  function tell(happening: Happening, raw = ''): void {
    if (phase === 'over') return;
    waiting.push({ happening, raw });
    if (isStepping || phase === 'before') return;
    isStepping = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const output = step(state, { ...now(), ...next.happening }, rules);
      state = output.state;
      for (const effect of output.effects) perform(effect, next.raw);
    }
    isStepping = false;
    arm();
  }

  /** Sets one timer for everything the machine waits for. */
  function arm(): void {
    if (phase !== 'running') return;
    const due = computeDueMono(state);
    if (timer?.due === due) return;
    timer?.stop[Symbol.dispose]();
    const stop = clock.after(Math.max(0, due - clock.monotonic()), () => {
      timer = null;
      tell({ is: 'tick' });
    });
    timer = { due, stop };
  }

  function perform(effect: DaemonEffect, raw: string): void {
    switch (effect.is) {
      case 'open':
        calls.open(effect.conn);
        break;
      case 'terminate':
        calls.terminate(effect.conn);
        break;
      case 'peek':
        calls.peek(effect.peek);
        break;
      case 'drop_peek':
        calls.dropPeek(effect.peek);
        break;
      case 'heartbeat':
        calls.heartbeat(effect.conn, effect.seq, needs.heartbeat(state, effect.seq));
        probe();
        break;
      case 'ring':
        void ring(effect);
        break;
      case 'answer':
        asks.answer(effect.ask, effect.answer);
        break;
      case 'error':
        log.failed(effect.error, new Error(raw === '' ? effect.why : `${effect.why}: ${raw}`));
        break;
      case 'moved': {
        const { from, to, why } = effect.transition;
        log.tell('info', 'transition', `${from} -> ${to}: ${why}`);
        break;
      }
      case 'stop':
        void stop(effect);
    }
  }

  async function ring({ ring, ask, doorbell }: Extract<DaemonEffect, { is: 'ring' }>): Promise<void> {
    using _seat = ask === null ? null : desk.sit(() => asks.hand(ask));
    try {
      await plugin?.notifySurface(doorbell);
      log.tell('info', 'doorbell', 'rung');
      tell({ is: 'accepted', ring });
    } catch (error) {
      tell({ is: 'rejected', ring }, formatError(error));
    }
  }

  function probe(): void {
    void plugin?.status().then(
      (newStatus) => {
        const wasAlive = surface?.alive ?? true;
        surface = newStatus;
        if (wasAlive && !newStatus.alive) failed('surface_unavailable', newStatus.detail_class);
      },
      (error) => failed('unclassified', error), // a plugin always answers: an error is a defect
    );
  }

  function failed(error: ErrorClass, why: unknown): void {
    tell({ is: 'failed', error }, formatError(why));
  }

  function shutdown(reason: string, deadlineMs: number): void {
    if (phase === 'before') void stop({ is: 'stop', exit: 0, reason, deadlineMs });
    else tell({ is: 'shutdown', reason, deadlineMs });
  }

  async function stop({ exit, reason, deadlineMs }: Extract<DaemonEffect, { is: 'stop' }>): Promise<void> {
    log.tell('info', 'stopping', reason);
    timer?.stop[Symbol.dispose]();
    phase = 'over';
    const began = clock.monotonic();
    using stack = new DisposableStack();
    // An upstream that does not answer a close must not delay the end.
    const late = new Promise<void>((resolve) => void stack.use(clock.after(deadlineMs / 2, resolve)));
    await Promise.race([calls.leave(reason), late]);
    calls.cut();
    ending.resolve({ exit, reason, leftMs: Math.max(0, deadlineMs - (clock.monotonic() - began)) });
  }

  return {
    handlers: {
      status: () => needs.status(state, surface),
      notify(turnBoundary, isRead) {
        if (phase !== 'running') {
          return Promise.resolve({ emitted: false, why: phase === 'over' ? 'stopping' : 'disconnected' });
        }
        const { ask, answered } = asks.open(isRead);
        tell({ is: 'notify', ask, turnBoundary });
        return answered;
      },
      async resume() {
        if (plugin === null) throw new Error('the surface is not bound yet');
        await plugin.resumeSurface();
        probe();
      },
      shutdown,
      refused: (error) => failed(error, 'a line has no token or does not follow the protocol'),
    },
    get state() {
      return state;
    },
    start(through) {
      if (phase !== 'before') return;
      plugin = through;
      phase = 'running';
      tell({ is: 'tick' });
    },
    active: (touched, moment) => tell({ is: 'activity', touched, moment }),
    failed,
    probe,
    shutdown,
    ended: ending.promise,
  };
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Askers at a boundary that wait for an answer. */
interface PendingAsks {
  /** Registers an asker. @param isRead as in the handlers of the control socket */
  open(isRead: Promise<boolean>): { readonly ask: number; readonly answered: Promise<RingAnswer> };
  /** Answers an asker. Only the first answer counts. */
  answer(ask: number, answer: RingAnswer): void;
  /** Gives the doorbell to the asker; resolves to whether the asker read it. */
  hand(ask: number): Promise<boolean>;
}

interface OpenAsk {
  readonly isRead: Promise<boolean>;
  readonly answer: (answer: RingAnswer) => void;
}

function createPendingAsks(): PendingAsks {
  const open = new Map<number, OpenAsk>();
  let last = 0;
  const answer = (ask: number, answer: RingAnswer): OpenAsk | undefined => {
    const openAsk = open.get(ask);
    open.delete(ask);
    openAsk?.answer(answer);
    return openAsk;
  };
  return {
    open(isRead) {
      last += 1;
      const { promise, resolve } = Promise.withResolvers<RingAnswer>();
      open.set(last, { isRead, answer: resolve });
      return { ask: last, answered: promise };
    },
    answer: (ask, ringAnswer) => void answer(ask, ringAnswer),
    hand: async (ask) => (await answer(ask, { emitted: true, why: 'rung' })?.isRead) ?? false,
  };
}

type PreparationEnv = Readonly<Record<string, string | undefined>>;

/** A command that fetches the dependencies of a project; `program` is looked up on PATH. */
interface Preparation {
  readonly program: string;
  readonly args: readonly string[];
}

/** Which file means which command. In each family the first file that exists counts. */
const FAMILIES: readonly (readonly (readonly [file: string, ...command: readonly [string, ...string[]]])[])[] = [
  [
    ['pnpm-lock.yaml', 'pnpm', 'install', '--frozen-lockfile'],
    ['yarn.lock', 'yarn', 'install', '--frozen-lockfile'],
    ['bun.lock', 'bun', 'install', '--frozen-lockfile'],
    ['package-lock.json', 'npm', 'ci'],
    ['package.json', 'npm', 'install'],
  ],
  [
    ['uv.lock', 'uv', 'sync'],
    ['poetry.lock', 'poetry', 'install'],
    ['requirements.txt', 'pip', 'install', '--requirement', 'requirements.txt'],
  ],
  [['go.mod', 'go', 'mod', 'download']],
  [['Cargo.toml', 'cargo', 'fetch']],
];

/** The commands that `--install-deps` runs for a project with these files (persona daemon, SPEC-021's flags). */
export function listPreparations(files: readonly string[]): readonly Preparation[] {
  const existing = new Set(files);
  return FAMILIES.flatMap((family) => {
    const match = family.find(([file]) => existing.has(file));
    if (match === undefined) return [];
    const [, program, ...args] = match;
    return [{ program, args }];
  });
}

/** The environment after activating the virtual environment `venv`, as its own `activate` changes it. */
export function toVenvEnv(env: PreparationEnv, venv: string, platform: NodeJS.Platform): PreparationEnv {
  const path = platform === 'win32' ? win32 : posix;
  const bin = path.join(venv, platform === 'win32' ? 'Scripts' : 'bin');
  const before = readVariable(env, 'PATH', platform);
  // On Windows a copied environment may spell it `Path`; a second spelling would be a second value.
  const replaced = new Set(['PYTHONHOME', 'PATH']);
  const rest = Object.entries(env).filter(([name]) => !replaced.has(platform === 'win32' ? name.toUpperCase() : name));
  return {
    ...Object.fromEntries(rest),
    VIRTUAL_ENV: venv,
    PATH: [bin, ...(before ? [before] : [])].join(path.delimiter),
  };
}
