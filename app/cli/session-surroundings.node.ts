import { findWorkFolder } from '../../core/state/index.ts';
import { checkLiveness, type ProcessLiveness, type Session } from '../open/index.ts';

/**
 * Returns where a command runs, for values that its command line leaves out. When the folder was removed, it is the user's
 * home.
 */
export function getSurroundings(): {
  readonly cwd: string;
  readonly own: number;
  readonly parent: number;
  readonly platform: NodeJS.Platform;
} {
  return {
    cwd: findWorkFolder(),
    own: process.pid,
    parent: process.ppid,
    platform: process.platform,
  };
}

export function findRunnerLife(announced: Session['runner']): ProcessLiveness {
  return checkLiveness(announced, process.platform);
}
