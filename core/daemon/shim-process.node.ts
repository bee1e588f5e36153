import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { type Clock, killTree, realFiles, resolveProgram, toInvocation } from '../ports/index.ts';
import { readText } from '../state/index.ts';
import { createLineSplitter, type ShimProcess, type StartShim } from './shim.ts';

/** Time between the request to end and the kill; both must fit into the 5 s of a shutdown. */
const GRACE_MS = 1500;

/**
 * Starts a shim from its command in the folder of its project: no shell, a process group of its own, lines on stdin and stdout.
 * Its stderr is discarded: it could contain text of messages, which no log of ours may hold.
 */
export function createShimStarter(
  [name = '', ...words]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  cwd: string,
): StartShim {
  return (listener): ShimProcess => {
    let child: ChildProcess | null = null;
    let hasEnded = false;
    let resolveExit = (): void => {};
    const exited = new Promise<void>((resolve) => {
      resolveExit = resolve;
    });
    const ended = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (child !== null) killTree(child, 'SIGKILL'); // also ends what it started and left running
      child?.stdin?.destroy();
      child?.stdout?.destroy();
      resolveExit();
      listener.ended();
    };
    try {
      const program = resolveProgram(name, env, process.platform) ?? name;
      const { file, args, windowsVerbatimArguments } = toInvocation(program, words, env, process.platform);
      child = spawn(file, [...args], {
        windowsVerbatimArguments,
        cwd,
        env: { ...env },
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
    } catch {
      // The command is empty, or cannot be an argument: treat it like a program that does not exist.
      clock.after(0, ended);
      return { pid: null, write: () => {}, end: () => Promise.resolve() };
    }
    const started = child;
    const split = createLineSplitter();
    started.on('error', ended);
    started.on('exit', ended);
    started.stdin?.on('error', () => {}); // it reads no more: its exit or the next probe shows that
    started.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      for (const line of split(piece)) if (!hasEnded) listener.line(line);
    });
    return {
      pid: started.pid ?? null,
      write: (line) => void (hasEnded || started.stdin?.write(line)),
      async end() {
        if (hasEnded) return;
        // Windows has no such signal; the end of its input is the request.
        if (process.platform !== 'win32') killTree(started, 'SIGTERM');
        started.stdin?.end();
        using stack = new DisposableStack();
        stack.use(clock.after(GRACE_MS, () => killTree(started, 'SIGKILL')));
        await exited;
      },
    };
  };
}

const PRIVATE = 0o600;

/**
 * Notes which shim runs, so that the next daemon finds it if this one is killed; null: none runs. A failed write does no harm.
 */
export function writeShimPid(path: string, pid: number | null): void {
  try {
    if (pid === null) unlinkSync(path);
    else writeFileSync(path, `${pid} ${readStartTime(pid) ?? ''}\n`, { mode: PRIVATE });
  } catch {
    // The file is missing, or the disk is full. Then a shim that ignores the end of its stdin outlives a kill of its daemon.
  }
}

/**
 * Ends the shim of a daemon that was killed, with its process group. A shim that did not end with its stdin would run beside the
 * next one. Only the very process that was noted is ended, which can be checked on Linux only. True: it was running.
 */
export function endOrphanedShim(path: string): boolean {
  try {
    const [, pid, start] = /^(\d+) (\d+)\n$/.exec(readText(realFiles, path, 64) ?? '') ?? [];
    // A negative pid of 1 would signal every process.
    if (pid === undefined || Number(pid) <= 1 || start !== readStartTime(Number(pid))) return false;
    process.kill(-Number(pid), 'SIGKILL');
    return true;
  } catch {
    return false; // nothing was noted, or the shim is gone
  }
}

/** The start time of a process, in ticks since boot. Two processes with the same pid have different start times. */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null; // the process is gone, or the system has no such folder
  }
}
