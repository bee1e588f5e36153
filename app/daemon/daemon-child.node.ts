import { spawn } from 'node:child_process';
import type { DaemonConfig } from '../../core/link/index.ts';
import { type DaemonHandle, getOwnStart } from '../service/index.ts';
import type { DaemonExit } from './daemon-restart.ts';

/** A running daemon, whoever started it. */
export interface RunningDaemon extends DaemonHandle {
  readonly pid: number | null;
  readonly ended: Promise<DaemonExit>;
}

/**
 * Starts a daemon as a child process of this program. It has a process group of its own and no pipe to us, so it continues when
 * we are killed. It writes to its own log.
 */
export function startDaemon(
  { tenant, identity, project }: DaemonConfig,
  env: Readonly<Record<string, string | undefined>>,
): RunningDaemon {
  const { node, entry } = getOwnStart();
  const words = ['daemon', 'run', '--tenant', tenant, '--identity', identity, '--project', project];
  const child = spawn(node, [entry, ...words], { env: { ...env }, detached: true, stdio: 'ignore', windowsHide: true });
  child.unref();
  let isGone = false;
  const ended = new Promise<DaemonExit>((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return; // a signal that did not reach it
      isGone = true;
      resolve({ is: 'not-started', why: error.message });
    });
    child.once('exit', (code, signal) => {
      isGone = true;
      resolve(code === null ? { is: 'signal', signal: signal ?? 'unknown' } : { is: 'code', code });
    });
  });
  return { pid: child.pid ?? null, ended, isGone: () => isGone, signal: (name) => child.kill(name) };
}
