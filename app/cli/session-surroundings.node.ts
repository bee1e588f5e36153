import { currentFolder, ownHome } from '../../core/state/index.ts';
import { type Life, lifeOf, type Session } from '../open/index.ts';

/** Where a command runs, for what its line does not say: the home of its user once the folder was removed. */
export function surroundings(): {
  readonly cwd: string;
  readonly own: number;
  readonly parent: number;
  readonly platform: NodeJS.Platform;
} {
  return { cwd: currentFolder() ?? ownHome(), own: process.pid, parent: process.ppid, platform: process.platform };
}

export function lifeHere(announced: Session['runner']): Life {
  return lifeOf(announced, process.platform);
}
