import type { Variables } from './find-program.ts';
import { toSystem32Path } from './windows-command.ts';

/** A child process that Hivebar started. */
export interface Child {
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}

export interface KillCalls {
  readonly platform: NodeJS.Platform;
  readonly env: Variables;
  /**
   * Sends a signal to a process, or with a negative pid to a group.
   * @throws when there is none
   */
  signal(pid: number, signal: NodeJS.Signals): void;
  /** Runs a program; `ended` gets whether it succeeded. */
  run(file: string, args: readonly string[], ended: (isDone: boolean) => void): void;
}

/**
 * Ends a child and everything that it started. On POSIX it ends the process group, which must be the child's own
 * (`detached`). Windows has no such groups, so it ends the tree below the pid. A child that has already ended is left
 * alone there, because its pid may belong to another process.
 */
export function killTreeWith(calls: KillCalls, child: Child, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (calls.platform === 'win32') {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // The child is not killed first, because without it nothing would lead to its own children.
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
