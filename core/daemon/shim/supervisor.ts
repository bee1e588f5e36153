import type { DaemonStatus } from '../../link/index.ts';
import type { Clock } from '../../ports/index.ts';
import { STATUS_WITHIN_MS } from '../surface-status.ts';
import { formatShimLine, parseShimLine, type ShimAnswer, type ShimCall } from './lines.ts';
import type { ShimProcess, StartShim } from './process.ts';
import { type ShimInput, type Supervision, superviseShim, UNSUPERVISED } from './supervision.ts';

const PROBE_EVERY_MS = 15_000;

/** The shim as `status` shows it. */
export type ShimView = DaemonStatus['shim'];

/** The view of a surface without a shim. */
export const NO_SHIM: ShimView = { state: 'none', pid: null, restarts: 0 };

export interface ShimNeeds {
  readonly start: StartShim;
  readonly clock: Clock;
  /** Returns a number from 0 to 1. */
  readonly chance: () => number;
  /** Called after each change of the view. */
  readonly changed: (view: ShimView) => void;
}

/** A supervised shim. Disposing ends it for good. */
export interface Shim extends AsyncDisposable {
  readonly view: ShimView;
  /** @throws Error if no shim runs, if it ends before it answers, or if it does not answer within `withinMs` */
  ask(call: ShimCall, withinMs: number): Promise<ShimAnswer>;
  /** Starts the shim now, if it only waits to be started. */
  resume(): void;
}

interface PendingCall {
  answered(answer: ShimAnswer): void;
  failed(error: Error): void;
}

/** Starts a shim and keeps it running (persona daemon, contract 5). */
export function startShim({ start, clock, chance, changed }: ShimNeeds): Shim {
  let state: Supervision = UNSUPERVISED;
  let running: ShimProcess | null = null;
  let waiting: Disposable | null = null;
  let probing: Disposable | null = null;
  let ending: Promise<void> = Promise.resolve();
  let ids = 0;
  const pendingCalls = new Map<number, PendingCall>();

  function step(input: ShimInput): void {
    const before = state;
    const { next, order } = superviseShim(state, input);
    state = next;
    if (before.state !== next.state || before.pid !== next.pid) changed(toShimView(next));
    switch (order?.is) {
      case 'start':
        waiting?.[Symbol.dispose]();
        launch();
        break;
      case 'wait':
        waiting?.[Symbol.dispose]();
        waiting = clock.after(order.ms, () => step({ is: 'waited', at: clock.monotonic() }));
        break;
      case 'end':
        waiting?.[Symbol.dispose]();
        ending = running?.end() ?? ending;
    }
  }

  function launch(): void {
    const own: ShimProcess = start({
      line: (line) => {
        if (line === null) return void own.end();
        const answer = parseShimLine(line);
        if (answer !== null) pendingCalls.get(answer.id)?.answered(answer);
      },
      ended: () => {
        running = null;
        probing?.[Symbol.dispose]();
        for (const pendingCall of [...pendingCalls.values()]) pendingCall.failed(new Error('the shim ended'));
        step({ is: 'ended', at: clock.monotonic(), chance: chance() });
      },
    });
    running = own;
    if (own.pid === null) return; // `ended` follows
    step({ is: 'started', pid: own.pid, at: clock.monotonic() });
    probeLater();
  }

  function probeLater(): void {
    probing?.[Symbol.dispose]();
    probing = clock.after(PROBE_EVERY_MS, () => void probe());
  }

  async function probe(): Promise<void> {
    const shimProcess = running;
    const answered = await ask({ call: 'status' }, STATUS_WITHIN_MS).then(
      () => true,
      () => false, // no answer counts as a failed probe
    );
    if (running !== shimProcess || shimProcess === null) return; // another process by now, which has its own probes
    step({ is: 'probed', answered, at: clock.monotonic() });
    probeLater();
  }

  function ask(call: ShimCall, withinMs: number): Promise<ShimAnswer> {
    const shimProcess = running;
    if (shimProcess === null) return Promise.reject(new Error('no shim runs'));
    ids += 1;
    const id = ids;
    return new Promise<ShimAnswer>((resolve, reject) => {
      const timer = clock.after(withinMs, () =>
        finish(() => reject(new Error(`the shim said nothing to ${call.call}`))),
      );
      const finish = (how: () => void): void => {
        timer[Symbol.dispose]();
        pendingCalls.delete(id);
        how();
      };
      pendingCalls.set(id, {
        answered: (answer) => finish(() => resolve(answer)),
        failed: (error) => finish(() => reject(error)),
      });
      shimProcess.write(formatShimLine(id, call));
    });
  }

  step({ is: 'waited', at: clock.monotonic() });
  return {
    get view() {
      return toShimView(state);
    },
    ask,
    resume() {
      if (running === null) step({ is: 'resumed', at: clock.monotonic() });
    },
    async [Symbol.asyncDispose]() {
      step({ is: 'stopped', at: clock.monotonic() });
      await ending;
    },
  };
}

function toShimView({ state, pid, restarts }: Supervision): ShimView {
  return { state, pid, restarts };
}
