import { posix, win32 } from 'node:path';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The extensions that Windows can start itself or through cmd.exe. PATHEXT also lists documents, for example `.js`. */
const STARTABLE: readonly string[] = ['.com', '.exe', '.bat', '.cmd'];

/**
 * Returns the value of an environment variable. Windows ignores the case of the name. `process.env` does too, but a
 * copy of it holds `Path` and has nothing for `PATH`.
 */
export function readVariable(env: Variables, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32' || env[name] !== undefined) return env[name];
  const upperName = name.toUpperCase();
  const match = Object.entries(env).find(([key, value]) => value !== undefined && key.toUpperCase() === upperName);
  return match?.[1];
}

/**
 * Returns the absolute path of the program `name`, or null. This is the only PATH look-up in Hivebar. Empty and
 * relative folders are skipped, because they mean the current folder, where anybody may have put a file. On Windows a
 * file needs an extension that can be started, in the order of PATHEXT: npm puts a script for sh named `codex` beside
 * `codex.cmd`.
 *
 * @param beside further absolute folders that the short PATH of a login session lacks
 */
export function findProgramWith(
  isProgram: (file: string) => boolean,
  name: string,
  env: Variables,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  const path = platform === 'win32' ? win32 : posix;
  if (name === '' || name !== path.basename(name)) return null; // a path is no name
  const folders = (readVariable(env, 'PATH', platform) ?? '').split(path.delimiter).map(unquote);
  for (const folder of [...folders, ...beside]) {
    if (!path.isAbsolute(folder)) continue;
    const file = withExtensions(path.join(folder, name), env, platform).find(isProgram);
    if (file !== undefined) return file;
  }
  return null;

  function unquote(folder: string): string {
    return platform === 'win32' ? folder.replace(/^"(.*)"$/, '$1') : folder;
  }
}

/**
 * Returns the file that a program path means. On Windows the extension may be missing. If no file is found, the path is
 * returned.
 */
export function completeProgramPath(
  isProgram: (file: string) => boolean,
  file: string,
  env: Variables,
  platform: NodeJS.Platform,
): string {
  return withExtensions(file, env, platform).find(isProgram) ?? file;
}

function withExtensions(file: string, env: Variables, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32' || STARTABLE.includes(win32.extname(file).toLowerCase())) return [file];
  const listed = (readVariable(env, 'PATHEXT', platform) ?? '')
    .split(';')
    .map((extension) => extension.trim().toLowerCase())
    .filter((extension) => STARTABLE.includes(extension));
  return (listed.length > 0 ? listed : STARTABLE).map((extension) => file + extension);
}
