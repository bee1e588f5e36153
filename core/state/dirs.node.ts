import { homedir } from 'node:os';
import { type Dirs, dirsOf } from './dirs.ts';

/** The directories of this process. Nothing is created; see `ensurePrivateDir`. */
export function ownDirs(env: NodeJS.ProcessEnv = process.env): Dirs {
  const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
  return dirsOf({ platform, env, home: homedir(), cwd: process.cwd() });
}
