import type { DaemonStatus, ErrorClass, Handlers } from '../link/index.ts';
import type { Clock } from '../ports/index.ts';
import { createUpstreamCalls, type UpstreamCalls, type UpstreamCallsNeeds } from './calls.ts';
import type { DaemonFrame } from './frames.ts';
import type { DaemonLog } from './log/index.ts';
import { computeDueMono, createMachineState, step } from './machine.ts';
import type { DaemonEffect, DaemonRules, Happening, MachineState, Now } from './machine-state.ts';
import { createPendingAsks } from './pending-asks.ts';
import type { HookDesk, Plugin } from './plugins/index.ts';
import type { SurfaceStatus } from './surface-status.ts';

export interface DaemonNeeds extends Omit<UpstreamCallsNeeds, 'tell'> {
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
export interface DaemonEnding {
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
      refused: (error) => failed(error, 'a line without the token, or none of this protocol'),
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
