import { type ChildProcess, spawn } from 'node:child_process';
import { killTree, toInvocation } from '../../../ports/index.ts';

/** What to run, with its whole environment: nothing is inherited beside it, and there is no shell. */
export interface ServerCommand {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a server ended: with an exit code or by a signal, and the end of what it wrote to stderr. */
export interface ServerEnd {
  readonly how: string;
  readonly stderr: string;
}

/** A program that is spoken to in lines. */
export interface ServerProcess {
  readonly pid: number;
  /** A line without its newline. One that it does not read any more is lost: its end tells. */
  send(line: string): void;
  /** When it and all that it printed are over. */
  readonly ended: Promise<ServerEnd>;
  /** When the process is over. */
  readonly exited: Promise<void>;
  /** Nothing more is said to it: a server that reads on ends by itself. */
  hangUp(): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** A server that prints a longer line is killed. */
export const MOST_LINE = 8 * 1024 * 1024;
const STDERR_TAIL_CHARS = 2000;

/**
 * @param onLine each line of its stdout, without the newline
 * @throws Error what `spawn` says when it cannot be started
 */
export async function startServer(command: ServerCommand, onLine: (line: string) => void): Promise<ServerProcess> {
  const { file, args, cwd, env } = command;
  const start = toInvocation(file, args, env, process.platform); // on Windows npm leaves a batch file
  const child = spawn(start.file, [...start.args], {
    windowsVerbatimArguments: start.windowsVerbatimArguments,
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  child.once('spawn', resolve).once('error', reject);
  // It stays in our process group on POSIX, where the program is the process that we started.
  const end = (signal: NodeJS.Signals): void =>
    void (process.platform === 'win32' ? killTree(child, signal) : child.kill(signal));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_CHARS);
  });
  let overlong = false;
  readLines(child.stdout, onLine, () => {
    overlong = true;
    end('SIGKILL');
  });
  child.stdin.on('error', () => {}); // it does not read any more: `ended` tells why
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const ended = new Promise<ServerEnd>((done) =>
    child.once('close', (code, signal) => {
      const how = overlong ? `it printed a line of more than ${MOST_LINE} bytes` : formatEnding(code, signal);
      done({ how, stderr: stderr.trim() });
    }),
  );
  await started;
  return {
    pid: getPid(child),
    send: (line) => void child.stdin.write(`${line}\n`),
    ended,
    exited,
    hangUp: () => void child.stdin.end(),
    kill: end,
  };
}

function readLines(stdout: NodeJS.ReadableStream, onLine: (line: string) => void, onOverlong: () => void): void {
  let open: string[] = [];
  let length = 0;
  stdout.setEncoding('utf8');
  stdout.on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\n');
    open.push(first);
    length += first.length;
    const last = rest.pop();
    if (last !== undefined) {
      for (const line of [open.join(''), ...rest]) onLine(line);
      open = [last];
      length = last.length;
    }
    if (length > MOST_LINE) {
      open = [];
      length = 0;
      onOverlong();
    }
  });
}

const formatEnding = (code: number | null, signal: string | null): string =>
  code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`;

function getPid({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('a process that was started has no pid');
  return pid;
}
