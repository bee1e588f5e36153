import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { completeProgramPath, findProgramWith, type Variables } from './find-program.ts';

/** Returns the absolute path of the program `name` on this machine, or null: see `findProgramWith`. */
export function findProgram(
  name: string,
  env: Variables,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  return findProgramWith(isProgram, name, env, platform, beside);
}

/** Resolves a program that somebody named: a path stays, a name is looked up on PATH. Null: the name is not on PATH. */
export function resolveProgram(program: string, env: Variables, platform: NodeJS.Platform): string | null {
  if (!/[\\/]/.test(program)) return findProgram(program, env, platform);
  return completeProgramPath(isProgram, program, env, platform);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    // The Microsoft Store puts links on PATH that only the system can follow.
    return process.platform === 'win32' ? !lstatSync(file).isDirectory() : statSync(file).isFile();
  } catch {
    return false; // missing, or not accessible: that is an answer, not a failure
  }
}
