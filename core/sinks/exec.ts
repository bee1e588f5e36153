import { computeNonce, type Event } from '../events/index.ts';
import { Fault, type Scope } from '../model/index.ts';
import { type ChildCommand, type Log, type ProcessEnd, runByCmd, type Spawn } from '../ports/index.ts';
import { createTroubleLog } from '../services/index.ts';
import { type Ack, EMPTY_TAIL, type LostEvents, type Sink } from './sink.ts';

export interface ExecSinkOptions {
  /** The command of `--exec`. It goes to the shell unchanged. Event text reaches it only through the environment. */
  readonly command: string;
  readonly spawn: Spawn;
  readonly log: Log;
  readonly os: NodeJS.Platform;
  /** The environment that the command inherits beside the event. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TIMEOUT_MS = 10_000;

/**
 * Runs a command for every event, one after the other. Exit 0 acknowledges the event, and the first failure ends the
 * batch (Kijito spec 6.2; contract j, traps 1-2). After 10 s the whole process group of the command is killed (D9).
 */
export function createExecSink({ command, spawn, log, env, os }: ExecSinkOptions): Sink<unknown> {
  const serial = createSerial();
  const trouble = createTroubleLog(log);
  const scope: Scope = { is: 'machine', key: `exec:${command}` };

  async function takeAll(events: readonly Event[], signal: AbortSignal): Promise<Ack> {
    let count = 0;
    for (const event of events) {
      if (signal.aborted)
        return { is: 'stopped', count, fault: new Fault('exec-failed', 'stopped before it ran', scope) };
      const ended = await spawn.run(toShellCommand(command, toExecEnv(event, env), os), signal);
      const fault = toExecFault(ended, command, event, scope);
      if (fault !== null) {
        // The log line names the event and the last line of stderr. The cause stays the same while the command ends the
        // same way.
        if (!signal.aborted) trouble.raise(fault.explain(), ended.is === 'exited' ? `exit ${ended.code}` : ended.is);
        return { is: 'stopped', count, fault };
      }
      count += 1;
    }
    if (count > 0) trouble.clear(`--exec ${command}: succeeds again`);
    return { is: 'all' };
  }

  return {
    savesState: false,
    open: async () => EMPTY_TAIL,
    take: (events, _saved, signal) => serial(() => takeAll(events, signal)),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * Runs the command unchanged in the shell of the platform. On Windows cmd.exe gets a raw command line, so that quotes
 * in the command stay quotes, and `/v:on`: `!KIJITOMON_FROM!` is replaced after cmd.exe has parsed the line, so no
 * value ever becomes a part of the command.
 */
export function toShellCommand(command: string, env: Record<string, string>, platform: NodeJS.Platform): ChildCommand {
  const shell = platform === 'win32' ? runByCmd(command, env, '/v:on') : { file: '/bin/sh', args: ['-c', command] };
  return { ...shell, env, timeoutMs: TIMEOUT_MS };
}

/**
 * Returns why a command cannot be run safely and what to write instead; null when it can. cmd.exe replaces `%NAME%`
 * before it parses the line, so a sender named `x & del y` would become a command.
 */
export function refuseShellCommand(command: string, platform: NodeJS.Platform): string | null {
  const match = platform === 'win32' ? /%(KIJITOMON_\w+)/i.exec(command) : null;
  if (match === null) return null;
  return `--exec ${command}: cmd.exe would run what the sender wrote into %${match[1]}%; write !${match[1]}! instead, which is replaced after the line is parsed`;
}

function toExecFault(ended: ProcessEnd, command: string, event: Event, scope: Scope): Fault | null {
  const subject = `--exec ${command}`;
  const about = `for ${event.event_id}`;
  switch (ended.is) {
    case 'exited':
      if (ended.code === 0) return null;
      return new Fault('exec-failed', `${subject}: exit ${ended.code} ${about}${formatLastLine(ended.stderr)}`, scope);
    case 'killed':
      return new Fault(
        'exec-failed',
        `${subject}: killed by ${ended.signal} ${about}${formatLastLine(ended.stderr)}`,
        scope,
      );
    case 'timeout':
      return new Fault('exec-timeout', `${subject}: timed out after ${TIMEOUT_MS / 1000} s ${about}`, scope);
    case 'not-started':
      return new Fault('exec-failed', `${subject}: not started ${about}: ${ended.why}`, scope);
  }
}

/** Returns the last line the command wrote to stderr, where programs usually report the error. */
function formatLastLine(stderr: string): string {
  const line = (stderr.trim().split('\n').at(-1) ?? '').replace(/\p{Cc}/gu, ' ');
  return line === '' ? '' : ` (${line.slice(0, 200)})`;
}

/** Runs one task at a time, in the order of the calls. A task that throws does not stop the next. */
export function createSerial(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => {}); // the caller of `run` gets the failure; here it only ends the wait
    return run;
  };
}

const PREFIX = 'KIJITOMON_';
const TOKEN = 'KIJITOMON_TOKEN';

/** Maps an event key to its variable, for keys that only some events have. */
const SOMETIMES: Readonly<Record<string, string>> = {
  persona: 'PERSONA',
  id: 'ID',
  from: 'FROM',
  content: 'CONTENT',
  created: 'CREATED',
  cursor: 'CURSOR',
  reason: 'REASON',
  consecutive_failures: 'FAILURES',
  seeded: 'SEEDED',
  current_max: 'CURRENT_MAX',
  capped_to: 'CAPPED_TO',
  dropped: 'DROPPED',
  stranded_inboxes: 'STRANDED',
  dormant_inboxes: 'DORMANT',
};

const ALWAYS: Readonly<Record<string, string>> = {
  event: 'EVENT',
  source: 'SOURCE',
  ts: 'TS',
  event_id: 'EVENT_ID',
};

const NONCE = 'NONCE';

const NAMES: Readonly<Record<string, string>> = { ...ALWAYS, ...SOMETIMES };
const SET_HERE: ReadonlySet<string> = new Set([...Object.values(NAMES), NONCE].map((name) => PREFIX + name));

// Linux refuses to start a command with a variable over 128 KiB, and a message must never block the watcher (trap 8).
const MOST_BYTES = 100_000;

/**
 * Returns the environment of a command for one event (Kijito spec 6.2). It is the inherited environment without the
 * token (D12), plus `KIJITOMON_EVENT`, `_SOURCE`, `_TS`, `_EVENT_ID`, `_NONCE`, `_PERSONA` and the variables that apply
 * to the event. A variable that does not apply is unset, even when it was inherited. NUL is removed, a lone surrogate
 * is replaced, and a huge value is cut.
 */
export function toExecEnv(
  event: Event,
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    const upper = name.toUpperCase(); // these names ignore case on Windows
    if (value !== undefined && upper !== TOKEN && !SET_HERE.has(upper)) env[name] = value;
  }
  for (const [key, name] of Object.entries(NAMES)) {
    const value = (event as unknown as Record<string, unknown>)[key];
    if (value !== undefined && value !== null) env[PREFIX + name] = clean(String(value));
  }
  env[PREFIX + NONCE] = computeNonce(event.event_id);
  return env;
}

function clean(value: string): string {
  const text = value.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  // The cut is in bytes. The streaming decoder drops a character that the cut tears.
  return new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, MOST_BYTES), { stream: true });
}

/**
 * Wraps a sink so that it tries each event once, for at-most-once delivery (Kijito spec 6.2). An event that fails is
 * lost, and the following events are still tried. Two things end a batch early: a stop of our own, and a reader that is
 * gone.
 */
export function tryEachOnce<Saved>(sink: Sink<Saved>): Sink<Saved> {
  async function takeAll(events: readonly Event[], saved: Saved, signal: AbortSignal): Promise<Ack> {
    const indexes = new Set<number>();
    let lost: { readonly lost?: LostEvents } = {};
    for (let from = 0; ; ) {
      const ack = await sink.take(from === 0 ? events : events.slice(from), saved, signal);
      if (ack.is === 'all') return { is: 'all', ...lost };
      const failed = from + ack.count;
      if (signal.aborted || ack.fault.code === 'reader-gone')
        return { is: 'stopped', count: failed, fault: ack.fault, ...lost };
      indexes.add(failed);
      lost = { lost: { indexes, fault: ack.fault } };
      from = failed + 1;
      if (from >= events.length) return { is: 'all', ...lost };
    }
  }

  return {
    savesState: sink.savesState,
    open: () => sink.open(),
    take: takeAll,
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}
