import * as fs from 'node:fs';
import { createStamper, type Event } from '../events/index.ts';
import { Fault, type Scope } from '../model/index.ts';
import type { Clock, Clocks, Log } from '../ports/index.ts';
import { createTroubleLog } from '../services/index.ts';
import { getErrno, toIoFault } from '../state/index.ts';
import { createSerial } from './exec.ts';
import { type Ack, EMPTY_TAIL, type Sink } from './sink.ts';

export interface StdoutSinkOptions {
  readonly clock: Clock;
  readonly clocks: Clocks;
  readonly log: Log;
  /** The descriptor to write to; 1 by default. */
  readonly fd?: number;
}

const SCOPE: Scope = { is: 'machine', key: 'stdout' };
const WAIT_MS = 10;
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ENXIO', 'ECONNRESET', 'EIO', 'EBADF']);

/**
 * Writes events as lines to stdout, each at once (Kijito spec 6.1). If the reader does not read, `take` waits without
 * blocking the process until it is aborted. If the reader is gone, it fails with Fault `reader-gone` (D17). One sink
 * serves all watchers of a process, so their lines never mix.
 */
export function createStdoutSink({ clock, clocks, log, fd = 1 }: StdoutSinkOptions): Sink<unknown> {
  const serial = createSerial();
  const trouble = createTroubleLog(log);
  let ready = false;
  /** A line that an abort cut. It is completed before anything else is written. */
  let torn: { readonly eventId: string; rest: Uint8Array } | null = null;

  /** Returns the bytes that were not written before the abort; empty when all were written. */
  async function write(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (!ready) makeNonBlocking(fd);
    ready = true;
    let rest = bytes;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(fs.writeSync(fd, rest));
      } catch (error) {
        if (getErrno(error) !== 'EAGAIN') throw error;
        if (signal.aborted) break;
        await clock.sleep(WAIT_MS, signal);
      }
    }
    return rest;
  }

  /** Returns true when the whole line of the event is written. */
  async function put(event: Event, text: string, signal: AbortSignal): Promise<boolean> {
    if (torn !== null) {
      torn.rest = await write(torn.rest, signal);
      if (torn.rest.length > 0) return false;
      const completed = torn.eventId === event.event_id;
      torn = null;
      if (completed) return true;
    }
    const line = Buffer.from(`${text}\n`, 'utf8');
    const rest = await write(line, signal);
    if (rest.length > 0 && rest.length < line.length) torn = { eventId: event.event_id, rest };
    return rest.length === 0;
  }

  async function takeAll(events: readonly Event[], signal: AbortSignal): Promise<Ack> {
    const formatStamped = createStamper(clocks.read());
    let count = 0;
    try {
      for (const event of events) {
        if (!(await put(event, formatStamped(event), signal))) {
          return { is: 'stopped', count, fault: new Fault('timeout', 'stdout: its reader has stopped reading', SCOPE) };
        }
        count += 1;
      }
    } catch (error) {
      const fault = toStdoutFault(error);
      trouble.raise(fault.explain());
      return { is: 'stopped', count, fault };
    }
    if (count > 0) trouble.clear('stdout accepts events again');
    return { is: 'all' };
  }

  return {
    savesState: false,
    open: async () => EMPTY_TAIL,
    take: (events, _saved, signal) => serial(() => takeAll(events, signal)),
    async [Symbol.asyncDispose]() {}, // stdout is not ours to close
  };
}

function toStdoutFault(error: unknown): Fault {
  if (READER_GONE.has(getErrno(error))) {
    return new Fault('reader-gone', `stdout: its reader is gone (${getErrno(error)})`, SCOPE, { cause: error });
  }
  const { code, message } = toIoFault(error, 'stdout', 'unwritable');
  return new Fault(code, message, SCOPE, { cause: error });
}

/**
 * Makes a write to a full pipe or socket fail with EAGAIN instead of blocking the process. Node does this to its own
 * stdout at first use and undoes it at exit, because the parent process shares the flag.
 */
function makeNonBlocking(fd: number): void {
  const stat = fs.fstatSync(fd);
  if (fd !== 1 || !(stat.isFIFO() || stat.isSocket())) return;
  process.stdout.on('error', () => {}); // nothing is written through the stream; the writes in this file report its errors
}
