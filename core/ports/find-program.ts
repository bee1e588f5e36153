import { posix, win32 } from 'node:path';

export type Variables = Readonly<Record<string, string | undefined>>;

/** What Windows starts itself or through cmd.exe. PATHEXT names more, for example `.js`: those are documents. */
const STARTABLE: readonly string[] = ['.com', '.exe', '.bat', '.cmd'];

/**
 * The value of an environment variable. Windows ignores the case of the name: `process.env` does too, but its copy holds `Path` and
 * answers nothing for `PATH`.
 */
export function readVariable(env: Variables, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32' || env[name] !== undefined) return env[name];
  const upperName = name.toUpperCase();
  const match = Object.entries(env).find(([key, value]) => value !== undefined && key.toUpperCase() === upperName);
  return match?.[1];
}

/**
 * The absolute path of the program `name`, or null: the only look-up on PATH in Hivebar. Folders that are empty or relative are
 * skipped, because they mean the current folder, and anybody may have put a file there. On Windows a file counts only with an
 * extension that can be started, in the order of PATHEXT: beside `codex.cmd` npm leaves a `codex` that is a script for sh.
 *
 * @param beside further absolute folders, for what the short PATH of a login session leaves out
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

/** The file that a path to a program means: on Windows its extension may be left out. Where nothing is found, the path as it is. */
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
