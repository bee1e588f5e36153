import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { completeProgramPath, findProgramWith, type Variables } from './find-program.ts';

/** The absolute path of the program `name` on this machine, or null: see `findProgramWith`. */
export function findProgram(
  name: string,
  env: Variables,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  return findProgramWith(isProgram, name, env, platform, beside);
}

/** The file of a program that somebody gave: a path as it is, a name from PATH. Null: there is no such name on PATH. */
export function resolveProgram(program: string, env: Variables, platform: NodeJS.Platform): string | null {
  if (!/[\\/]/.test(program)) return findProgram(program, env, platform);
  return completeProgramPath(isProgram, program, env, platform);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    // What the Microsoft Store puts on PATH is a link that only the system can follow.
    return process.platform === 'win32' ? !lstatSync(file).isDirectory() : statSync(file).isFile();
  } catch {
    return false; // not there, or not for us: the answer, not a failure
  }
}
