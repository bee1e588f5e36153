import type { Board } from '../../core/board/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { type Service, whileNeeded } from '../../core/services/index.ts';
import type { Outbox, OutboxRow } from '../../core/sinks/outbox/index.ts';
import type { CurrentStatus } from './current-status.ts';
import { createNewestFeed, type FindMessageMarks } from './newest.ts';
import { createChangeFeed } from './status-changes.ts';
import { redactLine } from './to-wire.ts';

/** The part of the outbox that a follower needs. */
export type EventLog = Pick<Outbox<never>, 'since' | 'after' | 'listNewest' | 'mailBefore' | 'newest' | 'onDelivered'>;

/** The far end of one connection. */
interface StreamOutlet {
  /**
   * Returns false when too much is buffered. Then nothing more is written until `drained` is called. `isOpen`: anyone may read this,
   * so it may be compressed.
   */
  write(text: string, isOpen: boolean): boolean;
  /** Ends the connection at once, even if data is still to be sent. */
  drop(): void;
}

interface StreamReader extends Disposable {
  drained(): void;
}

export interface Stream extends Disposable {
  /** Keeps connections alive, drops stuck readers and sends a status of which only the age changed. */
  readonly service: Service;
  /** The number of current readers. */
  readonly readers: number;
  /**
   * Finds where a reader starts: now, after the event it names, or with the oldest stored event (`''`).
   *
   * @throws Fault `database`. Nothing was answered yet, so the reader gets an error and can retry.
   */
  start(since: string | null): StreamStart;
  /** Starts to serve a reader. Dispose the result when the reader has gone. */
  join(outlet: StreamOutlet, start: StreamStart, wants: ReaderWants): StreamReader;
}

interface ReaderWants {
  readonly right: 'owner' | 'anyone';
  /** Whether it gets events, or only the status. */
  readonly events: boolean;
  /** Whether it gets the whole status each time, or only at first and then what changed. */
  readonly status: 'whole' | 'changes';
}

/** A position in the outbox, and what the reader is told about it. */
interface StreamStart {
  readonly seq: number;
  /** The event just before this position, null for none. */
  readonly at: string | null;
  /** The event that the reader named, when it is not stored any more. */
  readonly gap: string | null;
}

/** At most one `status` message is sent in this time, however fast the board changes. */
const STATUS_EVERY_MS = 250;
const KEEP_ALIVE_MS = 15_000;
/** A reader that reads nothing for this long is dropped. It can reconnect with its Last-Event-ID and loses nothing. */
const STUCK_MS = 30_000;
const BEAT_MS = 1000;
const BATCH = 256;

interface ReaderState extends ReaderWants {
  readonly outlet: StreamOutlet;
  /** The position up to which events were written. For an open reader that is all events. */
  seq: number;
  open: boolean;
  stuckSince: number;
  lastWrite: number;
  /** It needs the whole status next. */
  statusDue: boolean;
}

/**
 * Creates `/api/v1/stream`, a stream of server-sent events. `status` messages show the board; they are throttled, and a slow
 * reader skips to the newest. A reader of changes gets one whole `status`, then `change` messages, and the owner `newest` ones too. `event` messages are the lines of the event files, each once and in one order. Every reader has a
 * position in the outbox and is written to only as fast as it reads. A slow reader is served from the outbox and not from a
 * buffer, so memory is bounded and nothing is lost. Replay and live use the same code: a reader that fell behind continues from
 * its position.
 */
export function createStream(options: {
  readonly board: Board;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly current: () => CurrentStatus;
  readonly findMarks: FindMessageMarks;
  readonly log: Log;
}): Stream {
  const { board, events, clock, current, findMarks, log } = options;
  const readers = new Set<ReaderState>();
  let statusAt = Number.NEGATIVE_INFINITY;
  let statusTag = '';
  let statusTimer: Disposable | null = null;
  const changes = createChangeFeed();
  const newest = createNewestFeed(findMarks, log);

  const write = (reader: ReaderState, text: string, isOpen = true): void => {
    reader.lastWrite = clock.monotonic();
    if (reader.outlet.write(text, isOpen)) return;
    reader.open = false;
    reader.stuckSince = reader.lastWrite;
  };
  const writeRows = (reader: ReaderState, rows: readonly OutboxRow[]): void => {
    const last = rows.at(-1);
    if (last === undefined) return;
    reader.seq = last.seq;
    write(reader, rows.map((row) => formatEventMessage(row, reader.right)).join(''), reader.right === 'anyone');
  };
  const catchUp = (reader: ReaderState): void => {
    while (reader.events && reader.open && readers.has(reader)) {
      const rows = events.after(null, reader.seq, BATCH);
      if (rows.length === 0) return;
      writeRows(reader, rows);
    }
  };
  /** Writes all events after the reader's position, then the status if it missed one. */
  const resumeReader = (reader: ReaderState): void => {
    try {
      catchUp(reader);
    } catch (error) {
      // it gets the rest when it reconnects with its Last-Event-ID; continuing here would leave a gap
      log.warn('a reader of the stream was dropped, since the outbox could not be read', { error: String(error) });
      readers.delete(reader);
      reader.outlet.drop();
      return;
    }
    if (!reader.open || !reader.statusDue) return;
    const status = current();
    if (reader.status === 'changes') sendChanges(status, false); // what it gets next is what changes after this status
    reader.statusDue = false;
    write(reader, formatStatusMessage(status.body));
    if (takesNewest(reader)) write(reader, formatMessage('newest', { newest: newest.all() }), false);
  };
  const sendEvents = (rows: readonly OutboxRow[]): void => {
    const last = rows.at(-1);
    if (last === undefined) return;
    const texts = { owner: '', anyone: '' };
    for (const reader of readers) {
      if (!reader.events || !reader.open) continue;
      const fresh = rows.filter((row) => row.seq > reader.seq);
      if (fresh.length < rows.length) {
        writeRows(reader, fresh);
        continue;
      }
      texts[reader.right] ||= rows.map((row) => formatEventMessage(row, reader.right)).join('');
      reader.seq = last.seq;
      write(reader, texts[reader.right], reader.right === 'anyone');
    }
  };
  const sendWhole = (): void => {
    const { body, etag } = current();
    statusTag = etag;
    const text = formatStatusMessage(body);
    for (const reader of readers) {
      if (reader.status !== 'whole') continue;
      reader.statusDue = !reader.open;
      if (reader.open) write(reader, text);
    }
  };
  /** Writes what changed since the last call. `isBeat`: also when only the numbers were read again. */
  const sendChanges = ({ wire }: CurrentStatus, isBeat: boolean): void => {
    const { change, isQuiet } = changes.advance(wire);
    const messages = [...readers].some(takesNewest) ? newest.advance(board.snapshot().personas, clock.now()) : null;
    const text = isQuiet && !isBeat ? null : formatMessage('change', change);
    const newestText = messages === null ? null : formatMessage('newest', { newest: messages });
    for (const reader of readers) {
      if (reader.status !== 'changes' || reader.statusDue) continue;
      if (!reader.open) {
        reader.statusDue = true;
        continue;
      }
      if (text !== null) write(reader, text);
      if (newestText !== null && takesNewest(reader)) write(reader, newestText, false);
    }
  };
  const wants = (status: ReaderWants['status']): boolean => [...readers].some((reader) => reader.status === status);
  const sendStatus = (): void => {
    statusTimer?.[Symbol.dispose]();
    statusTimer = null;
    statusAt = clock.monotonic();
    if (wants('whole')) sendWhole();
    if (wants('changes')) sendChanges(current(), false);
  };
  const scheduleStatus = (): void => {
    if (readers.size === 0 || statusTimer !== null) return;
    const wait = statusAt + STATUS_EVERY_MS - clock.monotonic();
    if (wait <= 0) sendStatus();
    else statusTimer = clock.after(wait, sendStatus);
  };
  const beat = (): void => {
    const now = clock.monotonic();
    for (const reader of readers) {
      if (!reader.open && now - reader.stuckSince >= STUCK_MS) reader.outlet.drop();
      else if (reader.open && now - reader.lastWrite >= KEEP_ALIVE_MS) write(reader, ': still here\n\n');
    }
    if (readers.size === 0 || now - statusAt < computeRefreshMs(board)) return;
    const isWholeDue = wants('whole') && current().etag !== statusTag;
    if (isWholeDue) sendWhole();
    if (wants('changes')) sendChanges(current(), true);
    if (isWholeDue || wants('changes')) statusAt = now;
  };

  const service = whileNeeded({
    name: 'event stream',
    ms: BEAT_MS,
    isNeeded: () => readers.size > 0,
    round: beat,
    clock,
  });
  const eventSubscription = events.onDelivered(sendEvents);
  const changeSubscription = board.changes(scheduleStatus);

  return {
    service,
    get readers() {
      return readers.size;
    },
    start: (since) => {
      if (since === '') return { seq: 0, at: null, gap: null };
      const replay = since === null ? null : events.since(null, since, 1);
      if (replay?.is !== 'rows') {
        const newest = events.newest();
        return { seq: newest?.seq ?? 0, at: newest?.eventId ?? null, gap: since };
      }
      const [next] = replay.rows;
      return { seq: next === undefined ? (events.newest()?.seq ?? 0) : next.seq - 1, at: since, gap: null };
    },
    join: (outlet, { seq, at, gap }, wants) => {
      const now = clock.monotonic();
      const times = { stuckSince: now, lastWrite: now };
      const reader: ReaderState = { ...wants, ...times, outlet, seq, open: true, statusDue: true };
      readers.add(reader);
      service.wake();
      write(reader, formatGreeting(at, gap));
      resumeReader(reader);
      return {
        drained: () => {
          reader.open = true;
          resumeReader(reader);
        },
        [Symbol.dispose]: () => void readers.delete(reader),
      };
    },
    [Symbol.dispose]: () => {
      eventSubscription[Symbol.dispose]();
      changeSubscription[Symbol.dispose]();
      statusTimer?.[Symbol.dispose]();
      for (const reader of readers) reader.outlet.drop();
      readers.clear();
    },
  };
}

/**
 * Returns how often the status is sent when only its age changed: well before the first number would look stale, but at most once
 * per second.
 */
function computeRefreshMs(board: Board): number {
  let least = 30_000;
  for (const { asOf, staleAfter } of board.snapshot().personas) {
    if (asOf !== null && staleAfter !== null) least = Math.min(least, staleAfter - asOf);
  }
  return Math.max(BEAT_MS, least / 3);
}

/** The newest messages have senders and text. */
function takesNewest({ status, right }: ReaderWants): boolean {
  return status === 'changes' && right === 'owner';
}

function formatStatusMessage(body: string): string {
  return `event: status\ndata: ${body}\n\n`;
}

function formatMessage(event: 'change' | 'newest', data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function formatEventMessage({ eventId, line }: OutboxRow, right: 'owner' | 'anyone'): string {
  return `${formatIdLine(eventId)}event: event\ndata: ${redactLine(line, right)}\n\n`;
}

/**
 * Other programs choose a persona's name. With a line break or NUL in it, the id cannot be a field here and is only in the data.
 */
function formatIdLine(eventId: string): string {
  return /[\r\n\0]/.test(eventId) ? '' : `id: ${eventId}\n`;
}

/**
 * Tells the reader its position, so that it can return to it if it is cut off before its first event. `gap` is an event that the
 * reader named and that is unknown or too old, so the events after it are not available here.
 */
function formatGreeting(at: string | null, gap: string | null): string {
  const hello = `${at === null ? '' : formatIdLine(at)}event: hello\ndata: ${JSON.stringify({ since: at })}\n\n`;
  return `retry: 2000\n\n${gap === null ? '' : `event: gap\ndata: ${JSON.stringify({ since: gap })}\n\n`}${hello}`;
}
