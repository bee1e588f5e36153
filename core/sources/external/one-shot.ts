import type { Clock } from '../../ports/index.ts';
import type { ChildPort, ProgramCommand, SourceChild } from './child.node.ts';
import { SourceFault, toSourceFault } from './faults.ts';
import { type DoneLine, LINE_LIMITS, parseLine, type SourceLine, TOO_LONG } from './lines.ts';
import { createLineSplitter } from './split.ts';
import type { DataLine, SourceTitle, Transport, TransportListener, TransportOutcome } from './transport.ts';
import { waitFor } from './wait.ts';

interface OneShotOptions {
  readonly name: string;
  readonly command: ProgramCommand;
  readonly contentChars: number;
  readonly children: ChildPort;
  readonly clock: Clock;
  readonly listener: TransportListener;
}

/** Where a program finds the cursor of its last result. */
export const CURSOR_VARIABLE = 'HIVEBAR_CURSOR';

const END_MS = 2000;
const EXIT = { up: 0, upWithDiagnostic: 1, down: 2, unknown: 3, config: 78 } as const;

/** A program that is run for each poll, and writes its lines without being asked. */
export function createOneShotTransport(options: OneShotOptions): Transport {
  const { name, command, children, clock, listener } = options;
  let running: SourceChild | null = null;

  async function poll(cursor: string | null, withinMs: number, signal: AbortSignal): Promise<TransportOutcome> {
    const defect = children.findDefect(command.argv, command.cwd);
    if (defect !== null) throw new SourceFault('source-config', name, defect, { isFinal: true });
    const result = createResult(name, options.contentChars, listener.diagnose);
    let firstLine: string | null = null;
    let child: SourceChild;
    try {
      const env = cursor === null ? command.env : { ...command.env, [CURSOR_VARIABLE]: cursor };
      child = await children.start(
        { ...command, env },
        {
          output: (bytes) => {
            if (!result.push(bytes)) stop(child);
          },
          stderr: (line) => {
            firstLine ??= line;
            listener.stderr(line);
          },
        },
      );
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new SourceFault('source-down', name, `its program cannot be started: ${why}`, { cause: error });
    }
    running = child;
    child.hangUp();
    const end = (await waitFor(child.ended, withinMs, clock, signal)) ? await child.ended : null;
    running = null;
    stop(child); // also what it started
    if (end === null) throw new SourceFault('source-down', name, `its program did not end within ${withinMs / 1000} s`);
    const because = firstLine === null ? '' : `: ${firstLine}`;
    switch (end.code) {
      case EXIT.up:
      case EXIT.upWithDiagnostic: {
        if (end.code === EXIT.upWithDiagnostic) listener.diagnose(firstLine ?? 'its program ended with exit code 1');
        return result.end();
      }
      case EXIT.unknown:
        return { is: 'kept' };
      case EXIT.down:
        throw result.fault ?? new SourceFault('source-down', name, `its program says that it is down${because}`);
      case EXIT.config:
        throw new SourceFault('source-config', name, `its program ended with exit code 78${because}`, {
          isFinal: true,
        });
      default: {
        const how = end.code === null ? `was ended by ${end.signal}` : `ended with exit code ${end.code}`;
        throw result.broken ?? new SourceFault('source-down', name, `its program ${how}${because}`);
      }
    }
  }

  function stop(child: SourceChild): void {
    child.kill('SIGTERM');
    clock.after(END_MS, () => child.kill('SIGKILL'));
  }

  return {
    isCheap: false,
    get pid() {
      return running?.pid ?? null;
    },
    start: async () => null,
    async poll(cursor, withinMs, signal) {
      return await poll(cursor, withinMs, signal);
    },
    async [Symbol.asyncDispose]() {
      running?.kill('SIGKILL');
    },
  };
}

/** Gathers the lines of one result that nobody asked for line by line. */
export interface ResultReader {
  /** False: it broke a rule, and nothing more is read. */
  push(bytes: Buffer): boolean;
  add(line: string): void;
  /** @throws SourceFault when a line was broken, or the source reported a fault */
  end(): TransportOutcome & { readonly is: 'answered' };
  readonly fault: SourceFault | null;
  readonly broken: SourceFault | null;
}

export function createResult(name: string, contentChars: number, diagnose: (text: string) => void): ResultReader {
  const splitter = createLineSplitter();
  const lines: DataLine[] = [];
  let done: DoneLine | null = null;
  let bytes = 0;
  let title: SourceTitle | null = null;
  let fault: SourceFault | null = null;
  let broken: SourceFault | null = null;

  function breakOff(why: string): void {
    broken ??= new SourceFault('source-schema', name, `schema: ${why}`);
  }

  function add(text: string): void {
    const reading = parseLine(text, contentChars);
    if (reading.is === 'broken') breakOff(reading.why);
    else if (reading.is === 'refused') diagnose(reading.why);
    else if (reading.is === 'unknown') diagnose(`it uses an op that is not known: ${reading.op}`);
    else {
      for (const defect of reading.defects) diagnose(defect);
      addLine(reading.line);
    }
  }

  function addLine(line: SourceLine): void {
    if (line.op === 'ready') title = { kind: line.source, label: line.label, can: line.can };
    else if (line.op === 'done') done = line;
    else if (line.op === 'fault' && line.persona === null) fault = toSourceFault(name, line);
    else if (line.op === 'persona' || line.op === 'item' || line.op === 'fault') lines.push(line);
    if (lines.length > LINE_LIMITS.resultLines) breakOff(`its result has more than ${LINE_LIMITS.resultLines} lines`);
  }

  return {
    push(chunk) {
      if (broken !== null) return false;
      bytes += chunk.length;
      const texts = splitter.push(chunk);
      if (texts === null) breakOff(TOO_LONG);
      else if (bytes > LINE_LIMITS.resultBytes)
        breakOff(`its result is larger than ${LINE_LIMITS.resultBytes / 1024 / 1024} MiB`);
      for (const text of texts ?? []) if (broken === null) add(text);
      return broken === null;
    },
    add,
    end() {
      const rest = splitter.flush();
      if (rest !== null) add(rest);
      if (broken !== null) throw broken;
      if (fault !== null) throw fault;
      const { cursor, full, more } = done ?? { cursor: null, full: true, more: false };
      return { is: 'answered', title: title ?? { kind: name, label: name, can: [] }, lines, cursor, full, more };
    },
    get fault() {
      return fault;
    },
    get broken() {
      return broken;
    },
  };
}
