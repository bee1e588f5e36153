import type { Clock } from '../../ports/index.ts';
import type { ChildEnd, ChildPort, ProgramCommand, SourceChild } from './child.node.ts';
import { SourceFault, toSourceFault } from './faults.ts';
import {
  type DoneLine,
  type FaultLine,
  LINE_LIMITS,
  parseLine,
  type ReadyLine,
  type ResultLine,
  TOO_LONG,
} from './lines.ts';
import { createLineSplitter, type LineSplitter } from './split.ts';
import type { ActRequest, DataLine, SourceTitle, Transport, TransportListener, TransportOutcome } from './transport.ts';
import { waitFor } from './wait.ts';

export interface ExecOptions {
  readonly name: string;
  readonly command: ProgramCommand;
  readonly contentChars: number;
  readonly acts: boolean;
  readonly children: ChildPort;
  readonly clock: Clock;
  readonly listener: TransportListener;
}

/** The cursor of `hello` is that of the next poll. */
export interface ExecTransport extends Transport {
  act(request: ActRequest, signal: AbortSignal): Promise<void>;
}

const NEVER = new AbortController().signal;
const READY_MS = 5000;
const ACT_MS = 30_000;
/** A source that does not end its answer within this time after it was due is ended. */
const LATE_MS = 60_000;
/** How long it may take to end by itself, and then after SIGTERM. */
const END_MS = 2000;
/** The exit code that asks not to be started again. */
const EXIT_CONFIG = 78;
/** Hints in this time count as one. */
const HINT_MS = 50;
/** A chunk of hints that is larger than this is a storm, and the pipe rests. */
const STORM_BYTES = 4096;

/** What Hivebar waits for. `late`: the answer to a poll that is over is still to come. */
type Phase =
  | { readonly is: 'idle' }
  | { readonly is: 'starting'; readonly done: PromiseWithResolvers<ReadyLine> }
  | {
      readonly is: 'looking';
      readonly id: number;
      readonly lines: DataLine[];
      readonly done: PromiseWithResolvers<DoneLine>;
    }
  | { readonly is: 'late'; readonly id: number; readonly over: PromiseWithResolvers<void> };

const IDLE: Phase = { is: 'idle' };

/** A program that stays and is asked over its stdin (specs/sources/external-source, sections 1 and 2). */
export function createExecTransport(options: ExecOptions): ExecTransport {
  const { name, command, children, clock, listener } = options;
  let child: SourceChild | null = null;
  let title: SourceTitle | null = null;
  let splitter: LineSplitter = createLineSplitter();
  let phase: Phase = IDLE;
  let pollId = 0;
  let actId = 0;
  const acts = new Map<number, PromiseWithResolvers<ResultLine>>();
  const unknownOps = new Set<string>();
  /** Hivebar ended it. */
  let isOver = false;
  /** Bytes since the last poll began, or since it was answered. */
  let bytes = 0;
  let lastHint: string | null = null;
  let hintTimer: Disposable | null = null;
  let isHintWaiting = false;

  function send(line: object): void {
    child?.send(JSON.stringify(line));
  }

  /** Ends the child because of what it wrote. */
  function breakOff(why: string): void {
    fail(new SourceFault('source-schema', name, `schema: ${why}`));
    const broken = child;
    child = null;
    broken?.deafen();
    if (broken !== null) void endNow(broken);
  }

  /** Whoever waits gets the error. Without a waiting poll it is reported. */
  function fail(error: SourceFault): void {
    const before = phase;
    phase = IDLE;
    title = null;
    if (before.is === 'looking' || before.is === 'starting') before.done.reject(error);
    if (before.is === 'late') before.over.resolve();
    for (const act of acts.values()) act.reject(error);
    acts.clear();
    if (!isOver && (before.is === 'idle' || before.is === 'late')) listener.trouble(error);
  }

  function hearEnd(ended: SourceChild, { code, signal }: ChildEnd): void {
    if (child !== ended) return;
    child = null;
    ended.kill('SIGKILL'); // what it started
    const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
    if (code === EXIT_CONFIG)
      fail(new SourceFault('source-config', name, `its program ${how}, so it is not started again`, { isFinal: true }));
    else fail(new SourceFault('source-down', name, `its program ${how}`));
  }

  /** The first hint counts at once. Those that follow soon count as one more. */
  function hint(): void {
    if (hintTimer !== null) {
      isHintWaiting = true;
      return;
    }
    isHintWaiting = false;
    hintTimer = clock.after(HINT_MS, () => {
      hintTimer = null;
      if (isHintWaiting) listener.hint();
      isHintWaiting = false;
    });
    listener.hint();
  }

  function hearBytes(from: SourceChild | null, chunk: Buffer): void {
    if (from !== child) return;
    bytes += chunk.length;
    const lines = splitter.push(chunk);
    if (lines === null) {
      breakOff(TOO_LONG);
      return;
    }
    for (const line of lines) {
      if (child !== from) return;
      if (line === lastHint) hint();
      else hearLine(line);
    }
    if (child !== from) return;
    if (bytes > LINE_LIMITS.resultBytes) {
      const subject = phase.is === 'looking' ? 'its result is larger' : 'it writes more unasked';
      breakOff(`${subject} than ${LINE_LIMITS.resultBytes / 1024 / 1024} MiB`);
      return;
    }
    if (phase.is !== 'idle' || chunk.length < STORM_BYTES) return;
    from?.setReading(false);
    clock.after(HINT_MS, () => from?.setReading(true));
  }

  function hearLine(text: string): void {
    const reading = parseLine(text, options.contentChars);
    if (reading.is === 'broken') {
      breakOff(reading.why);
      return;
    }
    if (reading.is === 'refused') {
      listener.diagnose(reading.why);
      return;
    }
    if (reading.is === 'unknown') {
      if (unknownOps.size < 20 && !unknownOps.has(reading.op))
        listener.diagnose(`it uses an op that is not known: ${reading.op}`);
      unknownOps.add(reading.op);
      return;
    }
    const { line, defects } = reading;
    for (const defect of defects) listener.diagnose(defect);
    switch (line.op) {
      case 'ready':
        if (phase.is !== 'starting') {
          listener.diagnose('it says ready again');
          return;
        }
        hearReady(phase.done, line);
        return;
      case 'changed':
        lastHint = text;
        hint();
        return;
      case 'result':
        acts.get(line.id)?.resolve(line);
        acts.delete(line.id);
        return;
      case 'done':
        hearDone(line);
        return;
      case 'fault':
        if (line.persona === null) hearFault(line);
        else hearData(line);
        return;
      default:
        hearData(line);
    }
  }

  /** What follows in the same bytes is unasked already. */
  function hearReady(ready: PromiseWithResolvers<ReadyLine>, line: ReadyLine): void {
    phase = IDLE;
    ready.resolve(line);
  }

  function hearDone(line: DoneLine): void {
    if (phase.is === 'looking' && (line.id === null || line.id === phase.id)) {
      bytes = 0;
      const { done } = phase;
      phase = IDLE;
      done.resolve(line);
      return;
    }
    if (phase.is === 'late' && (line.id === null || line.id === phase.id)) {
      bytes = 0;
      const { over } = phase;
      phase = IDLE;
      over.resolve();
      return;
    }
    if (phase.is === 'looking') {
      phase.lines.length = 0; // they belong to an answer that nobody waits for
      return;
    }
    listener.diagnose(`it ends a poll that is not open: ${line.id}`);
  }

  function hearFault(line: FaultLine): void {
    const error = toSourceFault(name, line);
    if (phase.is === 'late') return;
    if (phase.is !== 'looking') {
      listener.trouble(error);
      return;
    }
    // It need not end its answer: the next poll may begin.
    const { done, id } = phase;
    phase = { is: 'late', id, over: Promise.withResolvers() };
    phase.over.resolve();
    done.reject(error);
  }

  function hearData(line: DataLine): void {
    if (phase.is === 'late' || (line.op === 'fault' && phase.is !== 'looking')) return;
    if (phase.is !== 'looking') {
      breakOff(`it writes a line with the op ${line.op} although nobody polls`);
      return;
    }
    if (phase.lines.length >= LINE_LIMITS.resultLines) {
      breakOff(`its result has more than ${LINE_LIMITS.resultLines} lines`);
      return;
    }
    phase.lines.push(line);
  }

  /** A source that never ends its answer is ended. */
  function waitForLate(id: number): void {
    const late = { is: 'late', id, over: Promise.withResolvers<void>() } as const;
    phase = late;
    const timer = clock.after(LATE_MS, () => {
      if (phase === late) breakOff(`it never ended its answer to the poll ${id}`);
    });
    void late.over.promise.then(() => timer[Symbol.dispose]());
  }

  async function endNow(running: SourceChild): Promise<void> {
    running.kill('SIGTERM');
    if (!(await hasEnded(running))) running.kill('SIGKILL');
  }

  function hasEnded(running: SourceChild): Promise<boolean> {
    return waitFor(running.ended, END_MS, clock, NEVER);
  }

  /** @throws SourceFault `source-down` when the time is over, or what the promise rejects with */
  async function within<T>(promise: Promise<T>, ms: number, failure: string, signal: AbortSignal): Promise<T> {
    promise.catch(() => {}); // it may reject after the time is over
    if (await waitFor(promise, ms, clock, signal)) return await promise;
    throw new SourceFault('source-down', name, `${failure} within ${ms / 1000} s`);
  }

  return {
    isCheap: false,
    get pid() {
      return child?.pid ?? null;
    },
    async start(cursor, signal) {
      if (child !== null && title !== null) return title;
      const defect = children.findDefect(command.argv, command.cwd);
      if (defect !== null) throw new SourceFault('source-config', name, defect, { isFinal: true });
      splitter = createLineSplitter();
      bytes = 0;
      lastHint = null;
      const starting = { is: 'starting', done: Promise.withResolvers<ReadyLine>() } as const;
      phase = starting;
      let started: SourceChild | null = null;
      try {
        started = await children.start(command, {
          output: (chunk) => hearBytes(started, chunk),
          stderr: listener.stderr,
        });
      } catch (error) {
        phase = IDLE;
        throw new SourceFault('source-down', name, `its program cannot be started: ${toText(error)}`, { cause: error });
      }
      child = started;
      const running = started;
      void running.ended.then((end) => hearEnd(running, end));
      send({ op: 'hello', protocol: 1, name, contentChars: options.contentChars, cursor, acts: options.acts });
      try {
        const { source, label, can } = await within(starting.done.promise, READY_MS, 'it was not ready', signal);
        title = { kind: source, label, can };
        return title;
      } catch (error) {
        if (child === running) child = null;
        running.deafen();
        void endNow(running);
        throw error;
      } finally {
        if (phase === starting) phase = IDLE;
      }
    },
    async poll(cursor, withinMs, signal) {
      if (phase.is === 'late') await within(phase.over.promise, withinMs, 'it did not end its last answer', signal);
      if (child === null) throw new SourceFault('source-down', name, `its program does not run`);
      pollId += 1;
      const looking = {
        is: 'looking',
        id: pollId,
        lines: [] as DataLine[],
        done: Promise.withResolvers<DoneLine>(),
      } as const;
      phase = looking;
      bytes = 0;
      child.setReading(true);
      send({ op: 'look', id: looking.id, cursor });
      try {
        const { cursor: next, full, more } = await within(looking.done.promise, withinMs, 'it did not answer', signal);
        const answer: TransportOutcome = { is: 'answered', lines: looking.lines, cursor: next, full, more };
        return answer;
      } finally {
        if (phase === looking) waitForLate(looking.id);
      }
    },
    async act(request, signal) {
      if (child === null || title === null) throw new SourceFault('source-down', name, `its program does not run`);
      actId += 1;
      const id = actId;
      const waiting = Promise.withResolvers<ResultLine>();
      acts.set(id, waiting);
      send({ op: 'act', id, ...request });
      try {
        const { ok, message } = await within(waiting.promise, ACT_MS, `it did not answer to ${request.act}`, signal);
        if (!ok)
          throw new SourceFault('source-down', name, `${request.act} was refused: ${message ?? 'no reason given'}`);
      } finally {
        acts.delete(id);
      }
    },
    async [Symbol.asyncDispose]() {
      hintTimer?.[Symbol.dispose]();
      const running = child;
      child = null;
      isOver = true;
      fail(new SourceFault('source-down', name, 'Hivebar ends it'));
      if (running === null) return;
      running.send('{"op":"bye"}');
      running.hangUp();
      if (!(await hasEnded(running))) await endNow(running);
      running.kill('SIGKILL'); // what it started
    },
  };
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
