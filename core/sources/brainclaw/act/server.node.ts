import { type ChildProcess, spawn } from 'node:child_process';
import { killTree, toInvocation } from '../../../ports/index.ts';

/** A program to run, with its whole environment. It inherits nothing else, and no shell is involved. */
export interface ServerCommand {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a server ended: by an exit code or a signal, and the end of what it wrote to stderr. */
export interface ServerEnd {
  readonly how: string;
  readonly stderr: string;
}

/** A program that is addressed line by line. */
export interface ServerProcess {
  readonly pid: number;
  /** Sends a line without its newline. A line is lost when the server no longer reads; then `ended` says why. */
  send(line: string): void;
  /** Resolves when the process and all its output have ended. */
  readonly ended: Promise<ServerEnd>;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** Closes its stdin. A server that reads to the end then exits by itself. */
  hangUp(): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** A server that prints a longer line is killed. */
export const MOST_LINE = 8 * 1024 * 1024;
const STDERR_TAIL_CHARS = 2000;

/**
 * Starts a server.
 * @param onLine receives each line of its stdout, without the newline
 * @throws Error what `spawn` reports when it cannot be started
 */
export async function startServer(command: ServerCommand, onLine: (line: string) => void): Promise<ServerProcess> {
  const { file, args, cwd, env } = command;
  const start = toInvocation(file, args, env, process.platform); // on Windows npm installs a batch file
  const child = spawn(start.file, [...start.args], {
    windowsVerbatimArguments: start.windowsVerbatimArguments,
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  child.once('spawn', resolve).once('error', reject);
  // On POSIX the server stays in our process group, and the program is the process that we started.
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
  child.stdin.on('error', () => {}); // it no longer reads: `ended` says why
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
