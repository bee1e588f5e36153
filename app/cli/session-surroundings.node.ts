import { type Life, lifeOf, type Session } from '../open/index.ts';

/** Where a command runs, for what its line does not say. */
export function surroundings(): {
  readonly cwd: string;
  readonly own: number;
  readonly parent: number;
  readonly platform: NodeJS.Platform;
} {
  return { cwd: process.cwd(), own: process.pid, parent: process.ppid, platform: process.platform };
}

export function lifeHere(announced: Session['runner']): Life {
  return lifeOf(announced, process.platform);
}
