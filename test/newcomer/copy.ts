import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectFiles, ROOT } from '../house/source-file.ts';

/** A copy of the project in which a test does what a newcomer does. Gone when the test leaves its scope. */
export interface Copy extends Disposable {
  readonly dir: string;
  /** Writes a new file. @throws when there is one of that name */
  add(path: string, text: string): void;
  /** Replaces `from` by `to` in a file. @throws unless `from` stands there exactly once */
  edit(path: string, from: string, to: string): void;
  /** The files that are new or changed, sorted, as git sees them. */
  touched(): readonly string[];
  /** What the compiler says of these folders and of what they import; empty when it is satisfied. */
  compile(...folders: readonly string[]): string;
  /** Runs test files of the copy; what they print when one fails, else empty. */
  test(...paths: readonly string[]): string;
  /** Runs a script of the copy; what it prints when it fails, else empty. */
  run(path: string): string;
  /** Starts with this in place of the program under test, for `wrap` of the kit: the program of the copy. */
  readonly program: readonly string[];
}

/** What the copy shares with the project: packages, and what set-up renders. Neither is tracked. */
const SHARED = ['node_modules', 'assets/icons'];
const TSCONFIG = 'tsconfig.copy.json';

export function copyProject(): Copy {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hivebar-newcomer-')));
  const dir = join(root, 'hivebar');
  const at = (path: string): string => join(dir, path);
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
  mkdirSync(dir);
  for (const path of projectFiles()) {
    if (!existsSync(join(ROOT, path))) continue; // removed, and not committed yet
    mkdirSync(dirname(at(path)), { recursive: true });
    copyFileSync(join(ROOT, path), at(path));
  }
  for (const path of SHARED)
    if (!existsSync(at(path)) && existsSync(join(ROOT, path))) symlinkSync(join(ROOT, path), at(path));
  git('init', '-q');
  writeFileSync(at('.git/info/exclude'), [...SHARED, TSCONFIG].map((path) => `/${path}\n`).join(''));
  git('add', '--all');

  const run = (args: readonly string[]): string => {
    // A test that runs tests would otherwise report to the outer run.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8', env });
    return status === 0 ? '' : `${stdout}${stderr}` || `ended with ${status}`;
  };
  return {
    dir,
    add(path, text) {
      if (existsSync(at(path))) throw new Error(`${path} is there already`);
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    edit(path, from, to) {
      const parts = readFileSync(at(path), 'utf8').split(from);
      if (parts.length !== 2) throw new Error(`${path} holds ${parts.length - 1} times: ${from}`);
      writeFileSync(at(path), parts.join(to));
    },
    touched() {
      const changed = git('diff', '--name-only').split('\n');
      const added = git('ls-files', '--others', '--exclude-standard').split('\n');
      return [...changed, ...added].filter((path) => path !== '').sort();
    },
    compile(...folders) {
      writeFileSync(at(TSCONFIG), JSON.stringify({ extends: './tsconfig.json', include: folders }));
      return run([at('node_modules/typescript/bin/tsc'), '-p', TSCONFIG]);
    },
    run: (path) => run([path]),
    // In one process, which reads the copy once for all of them.
    test: (...paths) => run(['--test', '--test-isolation=none', ...paths]),
    program: ['/bin/sh', '-c', `shift; exec "$0" '${at('app/cli/hivebar.node.ts')}' "$@"`],
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}
