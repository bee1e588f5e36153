import { findCurrentFolder, findOwnHome } from '../../core/state/index.ts';
import { checkLiveness, type ProcessLiveness, type Session } from '../open/index.ts';

/** Where a command runs, for what its line does not say: the home of its user once the folder was removed. */
export function getSurroundings(): {
  readonly cwd: string;
  readonly own: number;
  readonly parent: number;
  readonly platform: NodeJS.Platform;
} {
  return {
    cwd: findCurrentFolder() ?? findOwnHome(),
    own: process.pid,
    parent: process.ppid,
    platform: process.platform,
  };
}

export function findRunnerLife(announced: Session['runner']): ProcessLiveness {
  return checkLiveness(announced, process.platform);
}
