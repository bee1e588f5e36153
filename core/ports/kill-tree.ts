import type { Variables } from './find-program.ts';
import { toSystem32Path } from './windows-command.ts';

/** A child that we started. */
export interface Child {
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}

export interface KillCalls {
  readonly platform: NodeJS.Platform;
  readonly env: Variables;
  /** Sends a signal to a process, or with a negative pid to a group. @throws when there is none */
  signal(pid: number, signal: NodeJS.Signals): void;
  /** Runs a program; `ended` learns whether it could do what it was asked. */
  run(file: string, args: readonly string[], ended: (isDone: boolean) => void): void;
}

/**
 * Ends a child with everything that it started: on POSIX its process group, which must be its own (`detached`); on Windows, which has
 * no groups that can be ended, the tree below its pid. There a child that has ended is left alone: its pid may be somebody else's.
 */
export function killTreeWith(calls: KillCalls, child: Child, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (calls.platform === 'win32') {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // Not the child first: without it nothing would lead to what it started.
    calls.run(toSystem32Path('taskkill.exe', calls.env), ['/T', '/F', '/PID', String(pid)], (isDone) => {
      if (!isDone) child.kill(signal);
    });
    return;
  }
  try {
    calls.signal(-pid, signal);
  } catch {
    child.kill(signal); // the group is gone already
  }
}
