import { type DaemonSurroundings, readMachineId, readOwnSurroundings } from '../../link/index.ts';

export interface DaemonHivePlaces {
  readonly around: DaemonSurroundings;
  /** The id by which the daemons know this machine. */
  readonly machineId: string;
}

/** Returns where the daemons of this user run, and what they call this machine. */
export function resolveDaemonHivePlaces(env: Readonly<Record<string, string | undefined>>): DaemonHivePlaces {
  return { around: readOwnSurroundings(env), machineId: readMachineId() };
}

/** True when a process with this id runs, also under another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
