import { spawn } from 'node:child_process';
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { killTree, startTimer } from '../../ports/index.ts';
import { getErrno } from '../../state/index.ts';
import { findProgramDefect, listProgramFiles, type ProgramFile } from './command.ts';

/** A program with its whole environment. It inherits nothing else, and no shell is involved. */
export interface ProgramCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running program of a source, in a process group of its own. */
export interface SourceChild {
  readonly pid: number;
  /** Sends a line without its end. A line is lost when the program no longer reads; then `ended` says why. */
  send(line: string): void;
  /** Stops or goes on reading its output. */
  setReading(isOn: boolean): void;
  /** Closes its stdin, at which it ends by itself. */
  hangUp(): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Nothing more is read of what it writes. */
  deafen(): void;
  /** Resolves when the program ended, and what it wrote was read. */
  readonly ended: Promise<ChildEnd>;
}

export interface ChildListener {
  output(bytes: Buffer): void;
  /** One line of its stderr. */
  stderr(line: string): void;
}

/** What the transports ask of the system. */
export interface ChildPort {
  readonly platform: NodeJS.Platform;
  /** @throws Error what the system says when the program cannot be started */
  start(command: ProgramCommand, listener: ChildListener): Promise<SourceChild>;
  /** Says why the files that decide what a source does are not run; null when they may be. */
  findDefect(argv: readonly string[], cwd: string): string | null;
  isFile(path: string): boolean;
  /** The memory of a program and of everything that it started, in bytes; null when the system does not say. */
  readMemory(pid: number): number | null;
}

/** How long what a program wrote at its end is waited for; something that it started may hold the pipe open. */
const DRAIN_MS = 500;
const MOST_LINE_CHARS = 1000;

export const realChildren: ChildPort = { platform: process.platform, start, findDefect, isFile, readMemory };

async function start({ argv, cwd, env }: ProgramCommand, listener: ChildListener): Promise<SourceChild> {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio: 'pipe', windowsHide: true });
  const { promise: started, resolve: onSpawn, reject } = Promise.withResolvers<void>();
  child.once('spawn', onSpawn).once('error', reject);
  child.stdin.on('error', () => {}); // it no longer reads: `ended` says why
  child.stdout.on('data', (bytes: Buffer) => listener.output(bytes));
  readErrors(child.stderr, listener);
  const ended = new Promise<ChildEnd>((done) => {
    child.once('exit', (code, signal) => {
      const end = (): void => done({ code, signal });
      child.once('close', end);
      startTimer(DRAIN_MS, end);
    });
  });
  await started;
  const { pid } = child;
  if (pid === undefined) throw new Error('a process that was started has no pid');
  return {
    pid,
    send: (line) => void child.stdin.write(`${line}\n`),
    setReading: (isOn) => void (isOn ? child.stdout.resume() : child.stdout.pause()),
    hangUp: () => void child.stdin.end(),
    kill: (signal) => killTree(child, signal),
    deafen() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    ended,
  };
}

/** Reads stderr line by line. Of a long line only the beginning is kept. */
function readErrors(stderr: NodeJS.ReadableStream, listener: ChildListener): void {
  let rest = '';
  stderr.setEncoding('utf8');
  stderr.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, MOST_LINE_CHARS);
    for (const line of lines) if (line.trim() !== '') listener.stderr(line.slice(0, MOST_LINE_CHARS));
  });
  stderr.on('end', () => {
    if (rest.trim() !== '') listener.stderr(rest);
  });
}

function findDefect(argv: readonly string[], cwd: string): string | null {
  const uid = process.getuid?.() ?? null;
  for (const { path, isScript } of listProgramFiles(argv)) {
    const full = isAbsolute(path) ? path : resolve(cwd, path);
    const file = readProgramFile(full);
    if (file === null && isScript) continue; // it may be anything; the program says what is wrong
    const defect = findProgramDefect(file, uid, isScript);
    if (defect !== null) return `${full} is not run: ${defect}`;
  }
  return null;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function readProgramFile(path: string): ProgramFile | null {
  try {
    const real = realpathSync(path);
    const { uid, mode } = lstatSync(real);
    return { isFile: statSync(real).isFile(), uid, mode, folder: statSync(dirname(real)) };
  } catch {
    return null; // whatever the reason is, there is no program
  }
}

const PAGE_BYTES = 4096;

/** Only Linux says what a process started without a program that has to be run for it. */
function readMemory(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  let sum = 0;
  const seen = new Set<number>();
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    try {
      sum += Number(readFileSync(`/proc/${next}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
      const children = readFileSync(`/proc/${next}/task/${next}/children`, 'utf8').trim();
      if (children !== '') waiting.push(...children.split(' ').map(Number));
    } catch (error) {
      if (getErrno(error) !== 'ENOENT' && getErrno(error) !== 'ESRCH') throw error; // it ended meanwhile
    }
  }
  return sum;
}
