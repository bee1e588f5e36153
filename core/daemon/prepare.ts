import { posix, win32 } from 'node:path';
import { readVariable } from '../ports/index.ts';

type PreparationEnv = Readonly<Record<string, string | undefined>>;

/** A command that fetches the dependencies of a project; `program` is looked up on PATH. */
export interface Preparation {
  readonly program: string;
  readonly args: readonly string[];
}

/** Which file means which command. In each family the first file that exists counts. */
const FAMILIES: readonly (readonly (readonly [file: string, ...command: readonly [string, ...string[]]])[])[] = [
  [
    ['pnpm-lock.yaml', 'pnpm', 'install', '--frozen-lockfile'],
    ['yarn.lock', 'yarn', 'install', '--frozen-lockfile'],
    ['bun.lock', 'bun', 'install', '--frozen-lockfile'],
    ['package-lock.json', 'npm', 'ci'],
    ['package.json', 'npm', 'install'],
  ],
  [
    ['uv.lock', 'uv', 'sync'],
    ['poetry.lock', 'poetry', 'install'],
    ['requirements.txt', 'pip', 'install', '--requirement', 'requirements.txt'],
  ],
  [['go.mod', 'go', 'mod', 'download']],
  [['Cargo.toml', 'cargo', 'fetch']],
];

/** The commands that `--install-deps` runs for a project with these files (persona daemon, SPEC-021's flags). */
export function listPreparations(files: readonly string[]): readonly Preparation[] {
  const existing = new Set(files);
  return FAMILIES.flatMap((family) => {
    const match = family.find(([file]) => existing.has(file));
    if (match === undefined) return [];
    const [, program, ...args] = match;
    return [{ program, args }];
  });
}

/** The environment after activating the virtual environment `venv`, as its own `activate` changes it. */
export function toVenvEnv(env: PreparationEnv, venv: string, platform: NodeJS.Platform): PreparationEnv {
  const path = platform === 'win32' ? win32 : posix;
  const bin = path.join(venv, platform === 'win32' ? 'Scripts' : 'bin');
  const before = readVariable(env, 'PATH', platform);
  // On Windows a copied environment may spell it `Path`; a second spelling would be a second value.
  const replaced = new Set(['PYTHONHOME', 'PATH']);
  const rest = Object.entries(env).filter(([name]) => !replaced.has(platform === 'win32' ? name.toUpperCase() : name));
  return {
    ...Object.fromEntries(rest),
    VIRTUAL_ENV: venv,
    PATH: [bin, ...(before ? [before] : [])].join(path.delimiter),
  };
}
