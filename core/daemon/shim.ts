import type { DaemonStatus, Doorbell } from '../link/index.ts';
import { parseJson } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import { every } from '../services/index.ts';
import { DETAIL_CLASSES, type DetailClass, STATUS_WITHIN_MS, type SurfaceStatus } from './status.ts';

const PROBE_EVERY_MS = 15_000;

/** The shim as `status` shows it. */
export type ShimView = DaemonStatus['shim'];

/** The view of a surface without a shim. */
export const NO_SHIM: ShimView = { state: 'none', pid: null, restarts: 0 };

interface ShimNeeds {
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
  /** @throws Error if no shim is running, if it ends before it answers, or if it does not answer within `withinMs` */
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
  let probing: AbortController | null = null;
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
        probing?.abort();
        for (const pendingCall of [...pendingCalls.values()]) pendingCall.failed(new Error('the shim ended'));
        step({ is: 'ended', at: clock.monotonic(), chance: chance() });
      },
    });
    running = own;
    if (own.pid === null) return; // `ended` follows
    step({ is: 'started', pid: own.pid, at: clock.monotonic() });
    probing?.abort();
    probing = new AbortController();
    const probes = every({ name: 'shim probe', ms: PROBE_EVERY_MS, firstMs: PROBE_EVERY_MS, round: probe, clock });
    void probes.run(probing.signal);
  }

  async function probe(): Promise<void> {
    const shimProcess = running;
    const answered = await ask({ call: 'status' }, STATUS_WITHIN_MS).then(
      () => true,
      () => false, // no answer counts as a failed probe
    );
    if (running !== shimProcess || shimProcess === null) return; // another process by now, which has its own probes
    step({ is: 'probed', answered, at: clock.monotonic() });
  }

  function ask(call: ShimCall, withinMs: number): Promise<ShimAnswer> {
    const shimProcess = running;
    if (shimProcess === null) return Promise.reject(new Error('no shim is running'));
    ids += 1;
    const id = ids;
    return new Promise<ShimAnswer>((resolve, reject) => {
      const timer = clock.after(withinMs, () =>
        finish(() => reject(new Error(`the shim did not answer ${call.call}`))),
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

/** A call to a shim: the calls of a plugin, one per line. */
type ShimCall =
  | { readonly call: 'notify_surface'; readonly payload: Doorbell }
  | { readonly call: 'resume_surface' }
  | { readonly call: 'status' };

/** The answer of a shim. `status` is set only if it was asked for and given. */
interface ShimAnswer {
  readonly id: number;
  readonly ok: boolean;
  readonly status: SurfaceStatus | null;
}

/** A longer line does not belong to this protocol, and the shim is ended. */
const LONGEST_LINE = 16 * 1024;

function formatShimLine(id: number, call: ShimCall): string {
  return `${JSON.stringify({ id, ...call })}\n`;
}

/** Parses an answer; null: the line is not an answer and is ignored. Unknown fields are ignored. */
function parseShimLine(line: string): ShimAnswer | null {
  const fields = parseObject(line);
  if (fields === null || typeof fields.id !== 'number' || typeof fields.ok !== 'boolean') return null;
  const { id, ok, alive, accepting, detail_class } = fields;
  const hasStatus = typeof alive === 'boolean' && typeof accepting === 'boolean';
  return {
    id,
    ok,
    status: hasStatus ? { alive, accepting, detail_class: toDetailClass(detail_class, accepting) } : null,
  };
}

/** An unknown class is replaced by one that matches `accepting`. */
function toDetailClass(value: unknown, accepting: boolean): DetailClass {
  return DETAIL_CLASSES.find((known) => known === value) ?? (accepting ? 'ready' : 'busy');
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // for example output of a library
  }
}

/** Splits pieces of text into whole lines. `null` in the result: a line is too long, and nothing after it is read. */
export function createLineSplitter(): (piece: string) => readonly (string | null)[] {
  let torn = '';
  let isOver = false;
  return (piece) => {
    if (isOver) return [];
    const lines: (string | null)[] = (torn + piece).split('\n');
    torn = lines.pop() ?? '';
    if (torn.length > LONGEST_LINE || lines.some((line) => (line?.length ?? 0) > LONGEST_LINE)) {
      isOver = true;
      return [null];
    }
    return lines;
  };
}

/** Waits before a shim is restarted, in milliseconds; the last one repeats (persona daemon, contract 5). */
const LADDER_MS = [1000, 2000, 4000, 8000, 16_000, 30_000] as const;
/** A shim that lived this long starts again at the shortest wait. */
const SOUND_AFTER_MS = 60_000;
const WINDOW_MS = 10 * 60_000;
const MOST_FAILURES = 8;
export const RETRY_MS = 5 * 60_000;
/** A running shim is ended and restarted after this many failed probes in a row. */
const MOST_UNANSWERED = 2;
const JITTER = 0.2;

/** What is known of a shim; it survives a JSON round trip. Times are monotonic milliseconds. */
export interface Supervision {
  readonly state: 'none' | 'running' | 'backoff' | 'failed';
  /** The id of the running process; null: none runs. */
  readonly pid: number | null;
  readonly since: number;
  readonly restarts: number;
  /** Which entry of `LADDER_MS` is the next wait. */
  readonly rung: number;
  /** Times of the failures within the last ten minutes. */
  readonly failures: readonly number[];
  readonly unanswered: number;
  /** The shim failed too often; only a run that lasts resets this. */
  readonly isGivenUp: boolean;
  readonly isStopped: boolean;
}

export const UNSUPERVISED: Supervision = {
  state: 'none',
  pid: null,
  since: 0,
  restarts: 0,
  rung: 0,
  failures: [],
  unanswered: 0,
  isGivenUp: false,
  isStopped: false,
};

/** `chance` is a number from 0 to 1, for the jitter. */
export type ShimInput = { readonly at: number } & (
  | { readonly is: 'started'; readonly pid: number }
  /** The process ended, or could not be started. */
  | { readonly is: 'ended'; readonly chance: number }
  | { readonly is: 'probed'; readonly answered: boolean }
  /** The requested wait is over. */
  | { readonly is: 'waited' }
  /** The surface is back: there is no reason to wait longer. */
  | { readonly is: 'resumed' }
  | { readonly is: 'stopped' }
);

/** What the shell must do. `wait` replaces an earlier wait; `start` and `end` cancel it. */
export type ShimOrder = { readonly is: 'start' | 'end' } | { readonly is: 'wait'; readonly ms: number } | null;

interface ShimStep {
  readonly next: Supervision;
  readonly order: ShimOrder;
}

/**
 * One step of the supervision of a shim (persona daemon, contract 5). It restarts the shim for ever, with longer and longer
 * waits.
 */
export function superviseShim(state: Supervision, input: ShimInput): ShimStep {
  const stay: ShimStep = { next: state, order: null };
  if (state.isStopped) return stay;
  switch (input.is) {
    case 'started':
      return {
        next: { ...state, state: 'running', pid: input.pid, since: input.at, unanswered: 0 },
        order: null,
      };
    case 'ended':
      return onFailed(state, input.at, input.chance);
    case 'probed':
      return onProbed(state, input.answered);
    case 'waited':
    case 'resumed':
      return state.pid === null ? { next: countRestart(state), order: { is: 'start' } } : stay;
    case 'stopped':
      return { next: { ...state, state: 'none', pid: null, isStopped: true }, order: { is: 'end' } };
  }
}

/** The first start does not count as a restart. */
function countRestart(state: Supervision): Supervision {
  return state.state === 'none' ? state : { ...state, restarts: state.restarts + 1 };
}

function onFailed(state: Supervision, at: number, chance: number): ShimStep {
  const wasSound = state.pid !== null && at - state.since >= SOUND_AFTER_MS;
  const failures = [...state.failures.filter((failedAt) => at - failedAt < WINDOW_MS), at];
  const isGivenUp = (state.isGivenUp && !wasSound) || failures.length >= MOST_FAILURES;
  const rung = wasSound ? 0 : state.rung;
  const ms = isGivenUp ? RETRY_MS : addJitter(LADDER_MS[Math.min(rung, LADDER_MS.length - 1)] ?? RETRY_MS, chance);
  return {
    next: {
      ...state,
      state: isGivenUp ? 'failed' : 'backoff',
      pid: null,
      since: at,
      rung: rung + 1,
      failures,
      unanswered: 0,
      isGivenUp,
    },
    order: { is: 'wait', ms },
  };
}

function addJitter(ms: number, chance: number): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * chance));
}

function onProbed(state: Supervision, answered: boolean): ShimStep {
  if (state.pid === null) return { next: state, order: null };
  const unanswered = answered ? 0 : state.unanswered + 1;
  const isOver = unanswered >= MOST_UNANSWERED;
  return { next: { ...state, unanswered: isOver ? 0 : unanswered }, order: isOver ? { is: 'end' } : null };
}

/** What a shim process reports. */
export interface ShimListener {
  /** A line of its stdout; null: the line was too long, and the rest of its output is ignored. */
  line(line: string | null): void;
  /** The process ended, or could not be started. Called once. */
  ended(): void;
}

/** The process of a shim, alone in its process group. */
export interface ShimProcess {
  /** Null: the process could not be started, and `ended` follows. */
  readonly pid: number | null;
  /** Writes to its stdin; does nothing if the shim is gone. */
  write(line: string): void;
  /** Asks the shim to end; if it does not end soon, kills it and whatever it started. Resolves when it is gone. */
  end(): Promise<void>;
}

export type StartShim = (listener: ShimListener) => ShimProcess;
