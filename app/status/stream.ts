import type { Board } from '../../core/board/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import type { Outbox, OutboxRow } from '../../core/sinks/outbox/index.ts';
import type { CurrentStatus } from './current.ts';
import { redactLine } from './redact.ts';

/** The outbox, as far as a follower needs it. */
export type EventLog = Pick<Outbox<never>, 'since' | 'after' | 'latest' | 'newest' | 'onDelivered'>;

/** The far end of one connection. */
export interface StreamOutlet {
  /** False: it holds more than it should; nothing more is written until `drained` is called. */
  write(text: string): boolean;
  /** Ends the connection at once, whatever is still to be sent. */
  drop(): void;
}

export interface StreamReader extends Disposable {
  drained(): void;
}

export interface Stream extends Disposable {
  /** How many read now. */
  readonly readers: number;
  /**
   * Where a reader begins: now, after the event it names, or with the oldest that is kept (`''`).
   *
   * @throws Fault `database`; nothing was answered yet, so the reader is told and comes again.
   */
  start(since: string | null): StreamStart;
  /** Starts to serve a reader. Dispose when it has gone. */
  join(outlet: StreamOutlet, start: StreamStart, right: 'owner' | 'anyone'): StreamReader;
}

/** A place in the outbox, and what the reader is told of it. */
export interface StreamStart {
  readonly seq: number;
  /** The event it stands behind, null for none. */
  readonly at: string | null;
  /** The event it named, when that is not known any more. */
  readonly gap: string | null;
}

/** At most one `status` message in this time, however fast the board changes. */
const STATUS_EVERY_MS = 250;
const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing for so long is dropped; it comes back with its Last-Event-ID and has lost nothing. */
const STUCK_MS = 30_000;
const BEAT_MS = 1000;
const BATCH = 256;

interface ReaderState {
  readonly outlet: StreamOutlet;
  readonly right: 'owner' | 'anyone';
  /** Everything up to here was written to it. While it is open, that is everything there is. */
  seq: number;
  open: boolean;
  stuckSince: number;
  lastWrite: number;
  statusDue: boolean;
}

/**
 * `/api/v1/stream`: server-sent events. `status` messages show the board, throttled; a slow reader skips to the newest.
 * `event` messages are the lines of the event files, each once and in one order. Every reader has a position in the outbox
 * and is written to only as fast as it takes: behind it lies the outbox, not a buffer of ours, so memory is bounded and
 * nothing is lost. Replay and live are one: who is open has everything, who was not reads on from where it stood.
 */
export function createStream(options: {
  readonly board: Board;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly current: () => CurrentStatus;
  readonly log: Log;
}): Stream {
  const { board, events, clock, current, log } = options;
  const readers = new Set<ReaderState>();
  let statusAt = Number.NEGATIVE_INFINITY;
  let statusTag = '';
  let statusTimer: Disposable | null = null;
  let beatTimer: Disposable | null = null;

  const write = (reader: ReaderState, text: string): void => {
    reader.lastWrite = clock.monotonic();
    if (reader.outlet.write(text)) return;
    reader.open = false;
    reader.stuckSince = reader.lastWrite;
  };
  const writeRows = (reader: ReaderState, rows: readonly OutboxRow[]): void => {
    const last = rows.at(-1);
    if (last === undefined) return;
    reader.seq = last.seq;
    write(reader, rows.map((row) => formatEventMessage(row, reader.right)).join(''));
  };
  const catchUp = (reader: ReaderState): void => {
    while (reader.open && readers.has(reader)) {
      const rows = events.after(null, reader.seq, BATCH);
      if (rows.length === 0) return;
      writeRows(reader, rows);
    }
  };
  /** What a reader is owed: all events after its position, then the status if it missed one. */
  const resumeReader = (reader: ReaderState): void => {
    try {
      catchUp(reader);
    } catch (error) {
      // what it has not got it gets when it comes back with its Last-Event-ID; to go on here would leave a hole
      log.warn('a reader of the stream was dropped, since the outbox could not be read', { error: String(error) });
      readers.delete(reader);
      reader.outlet.drop();
      return;
    }
    if (!reader.open || !reader.statusDue) return;
    reader.statusDue = false;
    write(reader, formatStatusMessage(current().body));
  };
  const sendEvents = (rows: readonly OutboxRow[]): void => {
    const last = rows.at(-1);
    if (last === undefined) return;
    const texts = { owner: '', anyone: '' };
    for (const reader of readers) {
      if (!reader.open) continue;
      const fresh = rows.filter((row) => row.seq > reader.seq);
      if (fresh.length < rows.length) {
        writeRows(reader, fresh);
        continue;
      }
      texts[reader.right] ||= rows.map((row) => formatEventMessage(row, reader.right)).join('');
      reader.seq = last.seq;
      write(reader, texts[reader.right]);
    }
  };
  const sendStatus = (): void => {
    statusTimer?.[Symbol.dispose]();
    statusTimer = null;
    const { body, etag } = current();
    statusAt = clock.monotonic();
    statusTag = etag;
    const text = formatStatusMessage(body);
    for (const reader of readers) {
      reader.statusDue = !reader.open;
      if (reader.open) write(reader, text);
    }
  };
  const scheduleStatus = (): void => {
    if (readers.size === 0 || statusTimer !== null) return;
    const wait = statusAt + STATUS_EVERY_MS - clock.monotonic();
    if (wait <= 0) sendStatus();
    else statusTimer = clock.after(wait, sendStatus);
  };
  const beat = (): void => {
    beatTimer = readers.size === 0 ? null : clock.after(BEAT_MS, beat);
    const now = clock.monotonic();
    for (const reader of readers) {
      if (!reader.open && now - reader.stuckSince >= STUCK_MS) reader.outlet.drop();
      else if (reader.open && now - reader.lastWrite >= KEEP_ALIVE_MS) write(reader, ': still here\n\n');
    }
    if (readers.size > 0 && now - statusAt >= computeRefreshMs(board) && current().etag !== statusTag) sendStatus();
  };

  const eventSubscription = events.onDelivered(sendEvents);
  const changeSubscription = board.changes(scheduleStatus);

  return {
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
    join: (outlet, { seq, at, gap }, right) => {
      const now = clock.monotonic();
      const reader: ReaderState = { outlet, right, seq, open: true, stuckSince: now, lastWrite: now, statusDue: true };
      readers.add(reader);
      beatTimer ??= clock.after(BEAT_MS, beat);
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
      beatTimer?.[Symbol.dispose]();
      for (const reader of readers) reader.outlet.drop();
      readers.clear();
    },
  };
}

/** How often freshness alone is sent: well before the first number would look old, but no oftener than once a second. */
function computeRefreshMs(board: Board): number {
  let least = 30_000;
  for (const { unread } of board.snapshot().personas) {
    if (unread.asOf !== null && unread.staleAfter !== null) least = Math.min(least, unread.staleAfter - unread.asOf);
  }
  return Math.max(BEAT_MS, least / 3);
}

function formatStatusMessage(body: string): string {
  return `event: status\ndata: ${body}\n\n`;
}

function formatEventMessage({ eventId, line }: OutboxRow, right: 'owner' | 'anyone'): string {
  return `${formatIdLine(eventId)}event: event\ndata: ${redactLine(line, right)}\n\n`;
}

/** A persona's name is another's text: with a line break or NUL in it an id can be no field here, and is only in the data. */
function formatIdLine(eventId: string): string {
  return /[\r\n\0]/.test(eventId) ? '' : `id: ${eventId}\n`;
}

/**
 * Says where the reader stands, so that one who is cut off before its first event comes back to the same place. `gap`:
 * the event it named is unknown or too old, and what lay between is not to be had here.
 */
function formatGreeting(at: string | null, gap: string | null): string {
  const hello = `${at === null ? '' : formatIdLine(at)}event: hello\ndata: ${JSON.stringify({ since: at })}\n\n`;
  return `retry: 2000\n\n${gap === null ? '' : `event: gap\ndata: ${JSON.stringify({ since: gap })}\n\n`}${hello}`;
}
