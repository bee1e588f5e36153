import { Fault } from '../../../model/index.ts';
import type { Clock, Log } from '../../../ports/index.ts';
import { type McpSession, type McpToolCall, openSession, type ToolAnswer } from './session.ts';

export interface ActionClientOptions {
  /** The folder that holds `.brainclaw`. */
  readonly root: string;
  /** Returns how to run `brainclaw mcp`: the absolute program and its arguments. Null when brainclaw is not installed. */
  readonly command: () => readonly [file: string, ...args: string[]] | null;
  /** Only what a server needs of this is passed on. */
  readonly env: ServerEnv;
  /** The person who acts. */
  readonly principal: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The server is ended after this long without a call, in milliseconds. */
  readonly idleMs?: number;
  readonly callMs?: number;
  readonly killMs?: number;
}

/**
 * Asks one project's brainclaw, and has it act (observer protocol 7). A server starts with the first call and ends after a while
 * without calls; only one runs at a time. It makes no call by itself.
 * It does not report what a call changed: that shows when the record is in the journal.
 */
export interface ActionClient extends AsyncDisposable {
  /** @throws Fault `brainclaw-missing`, `brainclaw-gone` or `brainclaw-refused`; and the reason of `signal` */
  call(call: McpToolCall, signal: AbortSignal): Promise<ToolAnswer>;
  /** Ends the server now, unless a call is running. */
  rest(): void;
  /** The process id of the running server; null when none runs. */
  readonly pid: number | null;
}

const IDLE_MS = 60_000;
const CALL_MS = 15_000;
const KILL_MS = 5_000;

interface SessionOpening {
  readonly session: Promise<McpSession>;
  /** Ends the server while the session is not open yet. */
  readonly stop: AbortController;
}

export function createActionClient(options: ActionClientOptions): ActionClient {
  const { clock, log, root, idleMs = IDLE_MS, callMs = CALL_MS, killMs = KILL_MS } = options;
  let opened: SessionOpening | null = null;
  let running: McpSession | null = null;
  let calls = 0;
  let isClosed = false;
  let idle: Disposable | null = null;
  /** Servers that are ending. */
  const leaving = new Set<Promise<void>>();

  const forget = (which: SessionOpening): void => {
    if (opened !== which) return;
    opened = null;
    running = null;
    idle?.[Symbol.dispose]();
    idle = null;
  };

  const leave = (which: SessionOpening): void => {
    forget(which);
    which.stop.abort();
    const left = which.session
      .then(
        (session) => session.close(),
        () => {}, // it never opened, and the caller already got the error
      )
      .finally(() => leaving.delete(left));
    leaving.add(left);
  };

  const open = (): SessionOpening => {
    const program = options.command();
    if (program === null) throw createMissingFault(root);
    const [file, ...args] = program;
    const command = { file, args, cwd: root, env: toObserverEnv(options.env, options.principal) };
    const stop = new AbortController();
    const session = openSession({ command, version: options.version, clock, log, callMs, killMs }, stop.signal);
    const opening = { session, stop };
    session.then(
      (open) => {
        if (opened === opening) running = open;
        void open.ended.then(() => forget(opening));
      },
      () => forget(opening), // the caller gets the error
    );
    return opening;
  };

  return {
    async call(call, signal) {
      if (isClosed) throw createGoneFault(`${root} is not watched any more`);
      signal.throwIfAborted();
      idle?.[Symbol.dispose]();
      idle = null;
      opened ??= open();
      const which = opened;
      calls += 1;
      try {
        const session = await raceAbort(signal, which.session);
        return await session.call(call, signal);
      } catch (error) {
        // Asking this server again is of no use, so the next call gets a new one.
        if (error instanceof Fault && error.code === 'brainclaw-gone' && opened === which) leave(which);
        throw error;
      } finally {
        calls -= 1;
        const still = opened;
        if (calls === 0 && still !== null && !isClosed) idle = clock.after(idleMs, () => leave(still));
      }
    },
    rest() {
      if (calls === 0 && opened !== null) leave(opened);
    },
    get pid() {
      return running?.pid ?? null;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      if (opened !== null) leave(opened);
      await Promise.all(leaving);
    },
  };
}

/** Waits for `work`. @throws the reason of `signal`, as soon as it is aborted */
async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const SCOPE = { is: 'machine', key: 'brainclaw-action' } as const;
const createMissingFault = (root: string): Fault =>
  new Fault('brainclaw-missing', `there is no brainclaw on PATH to act in ${root}`, SCOPE);
const createGoneFault = (message: string): Fault => new Fault('brainclaw-gone', message, SCOPE);

/** Environment variables by name. */
type ServerEnv = Readonly<Record<string, string | undefined>>;

/**
 * The variables that a server needs to run. No other variable of an agent's shell gets through, whatever its name. Of brainclaw
 * these are known: BRAINCLAW_AGENT, _AGENT_ID, _AGENT_NAME, _SESSION_ID, _CLAIM_ID, _PROJECT, _CWD, _STORE_BOUNDARY, and
 * CLAUDE_SESSION_ID, COPILOT_SESSION_ID, OPENCLAW_SESSION_ID.
 */
const PASSED: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'],
  // Windows
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATHEXT', 'PROGRAMDATA', 'PROGRAMFILES'],
  ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]);

/**
 * The whole environment of a server that an observer asks (observer protocol 8). The server does not touch the store when it only
 * reads, and `principal` is the one who acts. Without that name brainclaw would take a project's only agent for the caller.
 */
function toObserverEnv(env: ServerEnv, principal: string): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = name.toUpperCase();
    if (value !== undefined && (PASSED.has(known) || known.startsWith('LC_'))) passed[name] = value;
  }
  return { ...passed, BRAINCLAW_OBSERVER: '1', BRAINCLAW_AGENT_NAME: principal };
}
