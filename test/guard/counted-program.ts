import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileUse, measureLog, readFileUse, TRACED } from './trace.ts';

const PROBE = join(import.meta.dirname, 'module-probe.cjs');
const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');

/** The package as it is published, and a folder for what a run leaves. */
export interface PackagedProgram {
  readonly dist: string;
  readonly folder: string;
}

export interface LoadedCode {
  /** Files of code. */
  readonly modules: number;
  readonly bytes: number;
  /** Parts of Node. */
  readonly parts: number;
}

/** A program of the package under strace. */
export interface CountedProgram extends Disposable {
  readonly home: string;
  /** What it did with files since the start, or since the last call. */
  takeFileUse(): FileUse;
  /** SIGTERM, or the end of its own accord; what it loaded until then. */
  end(): Promise<LoadedCode>;
}

export interface TraceOptions {
  readonly home: string;
  /** For a program that ends by itself; without it, it is a program that runs until it is asked to stop. */
  readonly stdin?: string;
  /** Of its logs, where several programs share a home. */
  readonly name?: string;
}

/** Starts `dist/ENTRY ARGS`. All of them share what was compiled, as they do at a user's. */
export function startCounted(
  { dist, folder }: PackagedProgram,
  argv: readonly [entry: string, ...args: string[]],
  { home, stdin, name = 'program' }: TraceOptions,
): CountedProgram {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const [log, probeFile] = ['strace', 'probe'].map((kind) => `${home}.${name}.${kind}`) as [string, string];
  const [entry, ...args] = argv;
  const child = spawn(
    'strace',
    ['-f', '-y', '-s', '0', '-e', `trace=${TRACED}`, '-o', log, process.execPath, join(dist, entry), ...args],
    {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        HIVEBAR_HOME: join(home, 'hivebar'),
        XDG_CACHE_HOME: join(folder, 'cache'),
        NODE_OPTIONS: `--require=${PROBE}`,
        PROBE_FILE: probeFile,
      },
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  );
  child.stdin.on('error', () => {}); // a program that reads nothing may end first
  child.stdin.end(stdin);
  const ended = once(child, 'exit');
  /** Of the program itself: the first that made a call. */
  const readPid = (): number => Number(/^(\d+) /.exec(readFileSync(log, 'latin1'))?.[1]);
  let offset = 0;
  return {
    home,
    takeFileUse() {
      const from = offset;
      offset = measureLog(log);
      return readFileUse(log, [home, dist, MODULES], from);
    },
    async end() {
      if (stdin === undefined && child.exitCode === null) process.kill(readPid(), 'SIGTERM');
      await ended;
      const [line = ''] = readFileSync(probeFile, 'utf8').split('\n');
      return JSON.parse(line) as LoadedCode;
    },
    [Symbol.dispose]() {
      if (child.exitCode === null && child.signalCode === null) process.kill(readPid(), 'SIGKILL');
    },
  };
}
