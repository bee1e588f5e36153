import { join, resolve } from 'node:path';
import type { Io, TextCommand } from '../../core/command/index.ts';
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
import { listEventFilePersonas } from './event-file-personas.node.ts';
import { type FollowArgs, parseFollowArgs } from './follow-args.ts';
import { announce } from './follow-session.ts';
import { createLineOutput } from './line-output.node.ts';
import { findNearest } from './nearest.ts';
import { createStderrLog } from './stderr-log.ts';
import { createStopSignal } from './stop-signal.node.ts';
import { openCursor, type TailCursor } from './tail-cursor.ts';

/** Nobody reads the output. The next follower has to begin where this one ends. */
const EXIT_NOBODY = 4;
/** The command waited for one turn, and nothing came. */
const EXIT_NOTHING = 5;

const STDOUT = 1;
const READER_CHECK_MS = 2000;

export const command: TextCommand = {
  usage: 'follow PERSONA --harness claude|codex|fifo|exec [flags] [-- COMMAND...]',
  about: [
    'Wakes an agent for its events: each at least once and in order, over restarts, kills and the time between two turns.',
    'Mail wakes (not the own), and so does what is neither mail nor a sign of life. How far it has come is kept for each',
    'persona and consumer, and moves on only when events went over. It reads files only, so hivebar need not run.',
    '',
    '  --harness claude        prints lines, for the Monitor tool or a background command of Claude Code',
    '  --harness codex         prints one batch and ends, for a command that Codex waits for',
    '  --harness claude|codex -- COMMAND   runs it with a batch as the prompt on its stdin; exit 0: it has it',
    '  --harness fifo          writes lines into a named pipe, one to a reader who is there',
    '  --harness exec -- COMMAND   runs it for each event: KIJITOMON_* as watch --exec, HIVEBAR_TEXT, the line on stdin',
    '',
    '  --as NAME          the consumer, for a second one of the same kind (default: the name of the harness)',
    '  --from oldest|now  where a consumer begins that is new (default: with the oldest event that is kept)',
    '  --once             one batch, then the end',
    '  --timeout S        with --once: waits no longer; 0 does not wait',
    '  --limit N          events of a batch (default 20)',
    '  --json             the lines of the event file instead of text',
    '  --no-diagnostics   only mail wakes',
    '  --no-session       does not announce the session (done by claude while it prints, unless --once)',
    '  --fifo PATH        the pipe (default: below the state directory, said on stderr)',
    '  --kill-after S     a command is killed then, and tried again (default: exec 60, else 3600)',
    '',
    'Exit codes: 0 stopped, or --once with events; 1 failed; 2 wrong usage; 4 nobody reads what is printed; 5 --once',
    'without events.',
  ],
  examples: [
    { run: 'hivebar follow ada --harness claude', does: 'for the Monitor tool' },
    { run: 'hivebar follow ada --harness codex --timeout 240', does: 'waits for mail, four minutes at the most' },
    { run: 'hivebar follow ada --harness codex -- codex exec resume SESSION -', does: 'a turn for each batch' },
    { run: 'hivebar follow ada --harness exec -- ./on-mail', does: 'a command for each event' },
  ],
  async run(args, io) {
    const options = parseFollowArgs(args);
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
      log.warn('nobody reads what is printed: what was not written comes the next time');
      return EXIT_NOBODY;
    }
    if (end === 'failed') return 1;
    return end === 'ended' && once ? EXIT_NOTHING : 0;
  },
};

/** @throws Fault `lock-held` with the next step */
function lockPosition(disk: Disk, position: string, { persona, consumer }: FollowArgs): Disposable {
  try {
    return lockFile(disk, position);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'lock-held') throw error;
    const problem = `${displayName(persona)} is followed already as ${displayName(consumer)}`;
    throw new Fault('lock-held', `${problem}: stop that one, or be another consumer with --as NAME`, error.scope, {
      cause: error,
    });
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
  throw new Error(`a sequence without a beginning: ${path}`);
}

function createHand(options: FollowArgs, folder: string, io: Io, log: Log): FollowOutput {
  const { harness, command: argv, persona, consumer, json, killAfterMs, limit: atOnce } = options;
  const clock = realClock;
  if (harness === 'fifo') {
    const path = options.fifo === null ? join(folder, `${toStem(consumer)}.fifo`) : resolve(options.fifo);
    const fifo = openFifo(path, clock, io.env);
    log.info(`writes into ${path} when somebody reads it`);
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
