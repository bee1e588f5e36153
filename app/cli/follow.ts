import { join, resolve } from 'node:path';
import {
  type CommandSchema,
  defineCommand,
  type Io,
  joinWithOr,
  type ParsedValues,
  toUsageFault,
} from '../../core/command/index.ts';
import { type EventFollower, openFollower } from '../../core/events/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Log, realClock, realFiles } from '../../core/ports/index.ts';
import {
  createRealDisk,
  type Disk,
  ensurePrivateDir,
  findOwnDirs,
  lockFile,
  openStore,
  sweepTemps,
  toStem,
} from '../../core/state/index.ts';
import {
  createExecOutput,
  createFifoOutput,
  createMonitorOutput,
  createReaderOutput,
  createTurnOutput,
  type FollowOutput,
  followInbox,
  isReaderGone,
  openFifo,
} from '../follow/index.ts';
import { openSessionStore, parseTmuxServer, readStartKey, type Session, type SessionStore } from '../open/index.ts';
import { listEventFilePersonas } from './event-file-personas.node.ts';
import { findNearest } from './nearest.ts';
import { createLineOutput } from './nonblocking-io.node.ts';
import { DATABASE } from './open-local-hive.ts';
import { createStderrLog, createStopSignal } from './process.node.ts';
import { findRunnerLife, getSurroundings } from './session-surroundings.node.ts';
import { openCursor, type TailCursor } from './tail-cursor.ts';

/** Nobody reads the output. The next follower has to begin where this one ends. */
const EXIT_NOBODY = 4;
/** The command waited for one turn, and nothing came. */
const EXIT_NOTHING = 5;

const STDOUT = 1;
const READER_CHECK_MS = 2000;

type FollowHarness = 'claude' | 'codex' | 'fifo' | 'exec';

interface FollowArgs {
  readonly persona: string;
  readonly harness: FollowHarness;
  /** The name under which the position is stored. */
  readonly consumer: string;
  readonly from: 'oldest' | 'now';
  readonly once: boolean;
  /** How long to wait for the first event; null: forever. */
  readonly timeoutMs: number | null;
  readonly limit: number;
  readonly json: boolean;
  readonly diagnostics: boolean;
  readonly session: boolean;
  readonly killAfterMs: number;
  readonly fifo: string | null;
  readonly command: readonly string[];
}

const HARNESSES = ['claude', 'codex', 'fifo', 'exec'] as const;
/** In seconds. A command for one event ends soon; a turn of an agent may take long. */
const KILL_AFTER_S = { exec: 60, turn: 3600 };

const SCHEMA = {
  name: 'follow',
  about: [
    'Wakes an agent for its events: each at least once and in order, across restarts, kills and the time between two turns.',
    'Mail from others wakes it, and so do diagnostic events, but not heartbeats. The position is kept per persona and consumer,',
    'and moves on only after the events were delivered. It reads only files, so hivebar need not run.',
    '',
    '--harness claude prints lines, for the Monitor tool or a background command of Claude Code; codex prints one batch and',
    'ends, for a command that Codex waits for. With -- COMMAND both run it with a batch as the prompt on its stdin; exit 0',
    'acknowledges it. fifo writes lines into a named pipe while a reader has it open. exec runs COMMAND for each event, with',
    'the KIJITOMON_* variables of watch --exec, HIVEBAR_TEXT, and the line on stdin.',
  ],
  positionals: {
    persona: { value: 'PERSONA', completes: 'persona', missing: 'PERSONA is missing: use the name of a persona' },
  },
  rest: { value: 'COMMAND...', help: 'the command that gets the events' },
  flags: {
    harness: {
      type: 'string',
      value: 'claude|codex|fifo|exec',
      completes: HARNESSES,
      parse: parseHarness,
      help: 'how the agent is woken',
    },
    as: {
      type: 'string',
      value: 'NAME',
      help: 'the name of this consumer, if two follow with the same harness (default: the name of the harness)',
    },
    from: {
      type: 'string',
      value: 'oldest|now',
      completes: ['oldest', 'now'],
      parse: parseFrom,
      help: 'where a new consumer starts (default: with the oldest event that is kept)',
    },
    once: { type: 'boolean', help: 'deliver one batch, then exit' },
    timeout: {
      type: 'number',
      value: 'S',
      parse: parseSeconds(0),
      help: 'with --once: wait no longer than S seconds; 0 does not wait',
    },
    limit: { type: 'number', default: '20', parse: parseLimit, help: 'most events per batch' },
    json: { type: 'boolean', help: 'print the lines of the event file instead of text' },
    'no-diagnostics': { type: 'boolean', help: 'wake only for mail' },
    'no-session': {
      type: 'boolean',
      help: 'do not announce the session (claude announces it while it prints, except with --once)',
    },
    fifo: {
      type: 'string',
      value: 'PATH',
      completes: 'file',
      help: 'the pipe (default: one below the state directory, which is printed on stderr)',
    },
    'kill-after': {
      type: 'number',
      value: 'S',
      parse: parseSeconds(1),
      help: 'kill a command after S seconds and try again (default: 60 for exec, else 3600)',
    },
  },
  notes: [
    'Exit codes: 0 stopped, or --once with events; 1 failed; 2 wrong usage; 4 the reader of stdout is gone; 5 --once',
    'without events.',
  ],
  examples: [
    { run: 'hivebar follow ada --harness claude', does: 'for the Monitor tool' },
    { run: 'hivebar follow ada --harness codex --timeout 240', does: 'wait for mail, at most four minutes' },
    { run: 'hivebar follow ada --harness codex -- codex exec resume SESSION -', does: 'a turn for each batch' },
    { run: 'hivebar follow ada --harness exec -- ./on-mail', does: 'a command for each event' },
  ],
} as const satisfies CommandSchema;

export const command = defineCommand(SCHEMA, async (values, io) => {
  const options = toFollowArgs(values);
  const { persona, consumer, once, timeoutMs } = options;
  const stop = createStopSignal();
  const log = createStderrLog(io, 'hivebar follow');
  const disk = createRealDisk(log);
  const { state } = findOwnDirs({ ...io.env });
  const folder = join(state, 'follow', toStem(persona));
  const position = join(folder, `${toStem(consumer)}.json`);
  ensurePrivateDir(disk, folder);
  using _lock = lockPosition(disk, position, options);
  sweepTemps(disk, position);
  const cursor = openCursor(disk, position, persona, 'hivebar follow');
  const path = join(state, 'events', `events.${toStem(persona)}.ndjson`);
  const { opened, lostAfter } = begin(path, cursor, options.from);
  using follower = opened.follower;
  if (opened.isEmpty) log.info(formatNoEvents(persona, listEventFilePersonas(state)));

  const over = new AbortController();
  using timers = new DisposableStack();
  if (timeoutMs !== null) timers.use(realClock.after(timeoutMs, () => over.abort()));
  const prints = options.command.length === 0 && options.harness !== 'fifo';
  const hand = createHand(options, folder, io, log);
  if (options.session && prints && !once) timers.use(announce(persona, state, io.env, log));
  let isRead = true;
  if (prints) {
    timers.use(
      watchReader(() => {
        isRead = false;
        over.abort();
      }),
    );
  }
  const end = await followInbox(
    {
      ...{ persona, follower, path, output: hand, lostAfter, log },
      rules: { diagnostics: options.diagnostics },
      once: once ? options.limit : null,
      clock: realClock,
      save: cursor.save,
    },
    stop,
    over.signal,
  );
  if (end === 'nobody' || (end === 'ended' && !isRead)) {
    log.warn('the reader of stdout is gone: events that were not written are delivered next time');
    return EXIT_NOBODY;
  }
  if (end === 'failed') return 1;
  return end === 'ended' && once ? EXIT_NOTHING : 0;
});

/** @throws Fault `lock-held` with the next step */
function lockPosition(disk: Disk, position: string, { persona, consumer }: FollowArgs): Disposable {
  try {
    return lockFile(disk, position);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'lock-held') throw error;
    const problem = `${displayName(persona)} is already followed as ${displayName(consumer)}`;
    throw new Fault(
      'lock-held',
      `${problem}: stop that one, or use another consumer name with --as NAME`,
      error.scope,
      {
        cause: error,
      },
    );
  }
}

interface FollowStart {
  readonly opened: { readonly follower: EventFollower; readonly isEmpty: boolean };
  readonly lostAfter: string | null;
}

/** Opens the follower at the consumer's position. For a new consumer the position is saved before anything is handed over. */
function begin(path: string, cursor: TailCursor, from: FollowArgs['from']): FollowStart {
  const { position } = cursor;
  if (position !== null) {
    const opened = openFollower(realFiles, path, { is: 'after', ...position });
    if (opened.is === 'open') return { opened, lostAfter: null };
  } else if (!cursor.isStored && from === 'now') {
    // The consumer starts behind the newest event.
    const opened = openFollower(realFiles, path, { is: 'last', events: 1 });
    if (opened.is === 'open') {
      using follower = opened.follower;
      const followed = follower.next();
      const last = followed.is === 'lines' ? (followed.lines.at(0) ?? null) : null;
      cursor.save(last);
      if (last !== null)
        return begin(path, { ...cursor, position: { eventId: last.event.event_id, place: last.place } }, from);
    }
  }
  const opened = openFollower(realFiles, path, { is: 'oldest' });
  if (opened.is === 'open') return { opened, lostAfter: position?.eventId ?? null };
  throw new Error(`cannot find the first event of ${path}`);
}

function createHand(options: FollowArgs, folder: string, io: Io, log: Log): FollowOutput {
  const { harness, command: argv, persona, consumer, json, killAfterMs, limit: atOnce } = options;
  const clock = realClock;
  if (harness === 'fifo') {
    const path = options.fifo === null ? join(folder, `${toStem(consumer)}.fifo`) : resolve(options.fifo);
    const fifo = openFifo(path, clock, io.env);
    log.info(`writing to ${path} once a reader opens it`);
    return createFifoOutput(fifo, json, clock);
  }
  if (argv.length === 0) {
    const { write } = createLineOutput();
    // Whole lines of the event file are for a program; Monitor shows text for a person.
    const isMonitor = harness === 'claude' && !json;
    return isMonitor
      ? createMonitorOutput({ clock, atOnce, persona, write })
      : createReaderOutput({ clock, atOnce, json, write });
  }
  const needs = { clock, argv, persona, consumer, env: io.env, killAfterMs, json };
  return harness === 'exec' ? createExecOutput(needs) : createTurnOutput({ ...needs, atOnce });
}

/**
 * Watches the reader of stdout even while there is nothing to write: a follower whose session is gone would block the next one.
 */
function watchReader(onGone: () => void): Disposable {
  let timer: Disposable;
  const next = (): void => {
    timer = realClock.after(READER_CHECK_MS, () => (isReaderGone(STDOUT) ? onGone() : next()));
  };
  next();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function formatNoEvents(persona: string, knownPersonas: readonly string[]): string {
  const close = findNearest(persona, knownPersonas);
  return `${persona} has no events yet${close === null ? '' : `: did you mean ${close}?`}`;
}

/** @throws Fault `usage` which names the flag and the value */
function toFollowArgs(values: ParsedValues<typeof SCHEMA>): FollowArgs {
  try {
    return checkFlags(values);
  } catch (error) {
    throw toUsageFault(error);
  }
}

function checkFlags(values: ParsedValues<typeof SCHEMA>): FollowArgs {
  const { persona, harness, json, rest, timeout, fifo } = values;
  const command = rest ?? [];
  if (harness === undefined) throw new Error(`--harness is missing: use ${joinWithOr(HARNESSES)}`);
  if (rest !== null && command.length === 0) throw new Error('the command after -- is missing');
  if (command[0] === '') throw new Error('the name of the command after -- is empty');
  if (harness === 'exec' && command.length === 0)
    throw new Error('--harness exec: the command is missing: give it after --');
  if (harness === 'fifo' && command.length > 0) throw new Error('--harness fifo: unexpected command after --');
  if (harness !== 'fifo' && fifo !== undefined) throw new Error('--fifo is used only with --harness fifo');
  if (harness === 'exec' && json)
    throw new Error('--json is not used with --harness exec: the command reads the line on stdin');
  if (command.length === 0 && values['kill-after'] !== undefined)
    throw new Error('--kill-after is used only with a command after --');
  for (const name of ['as', 'fifo'] as const) if (values[name] === '') throw new Error(`--${name} is empty`);
  // A line does not wake Codex; only the end of a command that it waits for does.
  const once = values.once || (harness === 'codex' && command.length === 0);
  if (timeout !== undefined && !once) throw new Error('--timeout is used only with --once');
  return {
    persona,
    harness,
    consumer: values.as ?? harness,
    from: values.from ?? 'oldest',
    once,
    timeoutMs: timeout === undefined ? null : 1000 * timeout,
    limit: values.limit,
    json,
    diagnostics: !values['no-diagnostics'],
    session: !values['no-session'],
    killAfterMs: 1000 * (values['kill-after'] ?? KILL_AFTER_S[harness === 'exec' ? 'exec' : 'turn']),
    fifo: fifo ?? null,
    command,
  };
}

function parseHarness(text: string): FollowHarness {
  const harness = HARNESSES.find((name) => name === text);
  if (harness === undefined) throw new Error(`--harness ${text}: must be ${joinWithOr(HARNESSES)}`);
  return harness;
}

function parseFrom(text: string): 'oldest' | 'now' {
  if (text !== 'oldest' && text !== 'now') throw new Error(`--from ${text}: must be oldest or now`);
  return text;
}

function parseSeconds(least: number): (text: string, flag: string) => number {
  return (text, flag) => parseNumber(flag, text, least, 1e6);
}

function parseLimit(text: string, flag: string): number {
  const value = parseNumber(flag, text, 1, 1000);
  if (Number.isInteger(value)) return value;
  throw new Error(`${flag} ${text}: must be a whole number`);
}

function parseNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`${flag} ${text}: must be a number from ${least} to ${most}`);
}

/**
 * Announces where a persona works, as `hivebar session set` does, while its events are followed there. A live session that was
 * announced from the same folder is left alone, because it may know more. A failure here does not stop following.
 */
export function announce(persona: string, state: string, env: Io['env'], log: Log): Disposable {
  const { cwd, parent, own, platform } = getSurroundings();
  const id = `follow-${own}`;
  const announced = tryWithSessions(state, log, (sessions) => {
    if (sessions.list(persona).some((session) => isLiveIn(session, cwd))) return false;
    const server = env.TMUX === undefined ? null : parseTmuxServer(env.TMUX);
    const pane = env.TMUX_PANE ? (server === null ? null : { ...server, pane: env.TMUX_PANE }) : null;
    const runner = { pid: parent, startKey: readStartKey(parent, platform) };
    sessions.set({ persona, id, cwd, pane, runner, resume: null }, realClock.now());
    return true;
  });
  return {
    [Symbol.dispose]() {
      if (announced === true) tryWithSessions(state, log, (sessions) => sessions.end(persona, id, realClock.now()));
    },
  };
}

function isLiveIn({ endedAt, runner, cwd: sessionFolder }: Session, cwd: string): boolean {
  return endedAt === null && sessionFolder === cwd && findRunnerLife(runner) === 'live';
}

function tryWithSessions<T>(state: string, log: Log, work: (sessions: SessionStore) => T): T | null {
  try {
    using db = openStore(join(state, DATABASE), { log });
    return work(openSessionStore(db));
  } catch (error) {
    log.warn(`the session could not be announced: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
