import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { programEntry } from './program.ts';
import { until } from './until.ts';

/** One line of stdout or of an event file, as a consumer reads it. */
export interface EventLine {
  readonly event: string;
  readonly [key: string]: unknown;
}

export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CliOptions {
  /** The entry that is run, by the name it is installed under. Default `hivebar`. */
  readonly as?: 'hivebar' | 'kijito-inbox-monitor';
  /** Over the environment of the test, in which nothing of Hivebar is set. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program that becomes the one under test, so that the pid stays: `['setpriv', ...]`. */
  readonly wrap?: readonly string[];
  /** Off: nobody reads stdout before `read` is called, so that its pipe fills. */
  readonly reads?: boolean;
  /** A descriptor to use as stdout instead of a pipe. */
  readonly stdout?: number;
  readonly cwd?: string;
}

/** The real command line as a process of its own. Leaving its scope kills it, if it still runs. */
export interface Cli extends AsyncDisposable {
  readonly pid: number;
  /** Whole lines of stdout so far. */
  readonly lines: readonly string[];
  /** The same, parsed. @throws when a line is no event */
  readonly events: readonly EventLine[];
  readonly stderr: string;
  /** Ids of the `new` events so far, in their order; of one persona if it is named. */
  mail(persona?: string): readonly unknown[];
  /** The first event of this name that fits, now or later. */
  event(name: string, fits?: (event: EventLine) => boolean, withinMs?: number): Promise<EventLine>;
  /** Waits for these words on stderr. */
  says(words: RegExp, withinMs?: number): Promise<void>;
  /** Waits until `happened`, and fails at once when the process ends before. */
  until(goal: string, happened: () => boolean, withinMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Begins to read stdout, also when it has ended: what was left in the pipe. */
  read(): void;
  /** Closes the reading end of its stdout. */
  leave(): void;
  /** Resolves when it has ended and everything it wrote was read. */
  ended(withinMs?: number): Promise<ProcessExit>;
  /** SIGTERM, and what came of it. */
  stop(withinMs?: number): Promise<ProcessExit>;
}

const FOREIGN = /^(HIVEBAR_|KIJITOMON_|XDG_|NODE_|npm_|PI_|ENTWURF_)|_proxy$/i;

/** Starts `hivebar ARGS` (or `kijito-inbox-monitor ARGS`) on the Node that runs the tests. */
export function startCli(args: readonly string[], options: CliOptions = {}): Cli {
  const { as = 'hivebar', reads = true, wrap = [] } = options;
  const inherited = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const env = { ...Object.fromEntries(inherited), ...options.env };
  const [file = process.execPath, ...rest] = [...wrap, process.execPath, programEntry(as), ...args];
  const stdio: ['ignore', number | 'pipe', 'pipe'] = ['ignore', options.stdout ?? 'pipe', 'pipe'];
  const child = spawn(file, rest, {
    env,
    stdio,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }) as ChildProcessByStdio<null, Readable | null, Readable>;
  const { pid } = child;
  const lines: string[] = [];
  const events: EventLine[] = [];
  let torn = '';
  let stderr = '';
  let end: ProcessExit | null = null;
  let isClosed = false;
  const unread = (): void => {};
  const read = (): void => {
    child.stdout?.off('readable', unread);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const pieces = (torn + text).split('\n');
      torn = pieces.pop() ?? '';
      lines.push(...pieces);
    });
  };
  if (reads) read();
  else child.stdout?.on('readable', unread); // else Node throws away what is left when the process ends
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('error', (error) => {
    stderr += String(error);
    end = { code: null, signal: null };
    isClosed = true;
  });
  child.on('exit', (code, signal) => {
    end = { code, signal };
    if (!reads) isClosed = true; // what is left in the pipe keeps it open
  });
  child.on('close', () => {
    isClosed = true;
  });

  const shown = (): string =>
    `\nargs: ${args.join(' ')}\nended: ${JSON.stringify(end)}\nstdout:\n${lines
      .slice(-40)
      .map((line) => line.slice(0, 300))
      .join('\n')}\nstderr:\n${stderr.slice(-4000)}`;
  const parsed = (): readonly EventLine[] => {
    for (const line of lines.slice(events.length)) events.push(JSON.parse(line) as EventLine);
    return events;
  };

  const cli: Cli = {
    pid: pid ?? -1,
    lines,
    get events() {
      return parsed();
    },
    get stderr() {
      return stderr;
    },
    mail: (persona) =>
      parsed()
        .filter((event) => event.event === 'new' && (persona === undefined || event.persona === persona))
        .map(({ id }) => id),
    async event(name, fits = () => true, withinMs) {
      const found = (): EventLine | undefined => parsed().find((event) => event.event === name && fits(event));
      await cli.until(`the event ${name}`, () => found() !== undefined, withinMs);
      return found() as EventLine;
    },
    says: (words, withinMs) => cli.until(`${words} on stderr`, () => words.test(stderr), withinMs),
    until: (goal, happened, withinMs) =>
      until(
        () => `${goal}${shown()}`,
        () => {
          if (happened()) return true;
          if (isClosed) throw new Error(`it ended before ${goal}${shown()}`);
          return false;
        },
        withinMs,
      ),
    kill: (signal) => void child.kill(signal),
    read,
    leave: () => void child.stdout?.destroy(),
    async ended(withinMs) {
      await until(
        () => `its end${shown()}`,
        () => isClosed,
        withinMs,
      );
      return end ?? { code: null, signal: null };
    },
    stop(withinMs) {
      child.kill('SIGTERM');
      return cli.ended(withinMs);
    },
    async [Symbol.asyncDispose]() {
      if (end === null) {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
      child.stdout?.destroy();
      child.stderr.destroy();
    },
  };
  return cli;
}

/** One that ends by itself: a wrong command line, a self-test. */
export async function runCli(
  args: readonly string[],
  options: CliOptions = {},
): Promise<ProcessExit & { readonly stdout: string; readonly stderr: string }> {
  await using cli = startCli(args, options);
  const ended = await cli.ended(20_000);
  return { ...ended, stdout: cli.lines.map((line) => `${line}\n`).join(''), stderr: cli.stderr };
}
