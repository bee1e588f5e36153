/** Variables that a source may see beside those of its setting. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TZ'];
/** Without these Windows starts no program. */
const PASSED_ON_WINDOWS = [
  'SystemRoot',
  'SystemDrive',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
];

/**
 * The environment of a source: a list of what it may see, so that no token of Hivebar or of another source is in it.
 * @param own of its setting
 */
export function buildChildEnv(
  env: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const passed = platform === 'win32' ? [...PASSED, ...PASSED_ON_WINDOWS] : PASSED;
  const desktop = Object.keys(env).filter((name) => name.startsWith('XDG_'));
  const entries = [...passed, ...desktop].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(entries), ...own };
}

/** A program as a source runs it. */
export interface ProgramFile {
  readonly isFile: boolean;
  readonly uid: number;
  readonly mode: number;
  /** The folder that holds it. */
  readonly folder: { readonly uid: number; readonly mode: number };
}

const WORLD_WRITE = 0o002;
const STICKY = 0o1000;
const EXECUTE = 0o111;

/**
 * Says why a program is not run: somebody else could decide what it does.
 * @param uid of the user; null where files have no owner
 * @param isScript it is read by an interpreter, so it need not be executable
 */
export function findProgramDefect(file: ProgramFile | null, uid: number | null, isScript = false): string | null {
  if (file === null) return 'there is no such file';
  if (!file.isFile) return 'it is not a regular file';
  if (uid === null) return null;
  if (!isScript && (file.mode & EXECUTE) === 0) return 'it is not executable';
  if (file.uid !== uid && file.uid !== 0) return `it belongs to the user ${file.uid}`;
  if ((file.mode & WORLD_WRITE) !== 0) return 'everybody may write it';
  const { folder } = file;
  if ((folder.mode & WORLD_WRITE) !== 0 && (folder.mode & STICKY) === 0)
    return 'everybody may write the folder that holds it';
  return null;
}

/** Programs that run the file that is their first argument. */
const INTERPRETERS = /^(?:(?:ba|da|z|k)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|tclsh|lua[\d.]*|env)$/;

/** The script that a program runs; null when it is none, or reads it from elsewhere. */
export function findScript([program = '', ...args]: readonly string[]): string | null {
  const name = program.split(/[/\\]/).at(-1) ?? '';
  return INTERPRETERS.test(name) ? (args.find((arg) => !arg.startsWith('-')) ?? null) : null;
}

/** Lists the files that decide what a source does: its program, and its script when the program runs one. */
export function listProgramFiles(
  argv: readonly string[],
): readonly { readonly path: string; readonly isScript: boolean }[] {
  const script = findScript(argv);
  const own = { path: argv[0] ?? '', isScript: false };
  return script === null ? [own] : [own, { path: script, isScript: true }];
}
