import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { delimiter, isAbsolute, parse } from 'node:path';
import { findProgram, readVariable } from '../../ports/index.ts';
import type { GitCheck, Workplace } from './checks.ts';
import type { CheckAnswer } from './evaluate.ts';

/** Of the list of changes so much is read: enough to notice that it changed. */
const MOST_BYTES = 1_048_576;

/**
 * `git status --porcelain` of a folder, in at most `withinMs`: no shell, no prompt, no lock that would get in the way of
 * somebody's commit, no monitor that the repository's settings name. A repository without changes, a folder that is none,
 * and a machine without git are `clear`; git that ends in any other way or takes too long is `failed`.
 */
export function createGitCheck(withinMs: number): GitCheck {
  return (place) =>
    new Promise((resolve) => {
      try {
        runGit(place, withinMs, resolve);
      } catch (error) {
        // A folder's name that can be no argument.
        resolve({ is: 'failed', why: `git: ${error instanceof Error ? error.message : String(error)}` });
      }
    });
}

const NOT_A_REPOSITORY = 128;

function runGit({ cwd, env }: Workplace, withinMs: number, resolve: (answer: CheckAnswer) => void): void {
  const args = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-C', cwd, 'status', '--porcelain'];
  const git = findProgram('git', env, process.platform);
  if (git === null) {
    resolve({ is: 'clear' });
    return;
  }
  const child = spawn(git, args, {
    cwd: parse(cwd).root, // git itself goes to `cwd`, and says when it is not there
    env: toGitEnvironment(env),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const changesHash = createHash('sha256');
  let bytes = 0;
  let isOver = false;
  const answer = (otherwise: CheckAnswer): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    child.kill('SIGKILL');
    child.stdout.destroy();
    // Any change that it named is one, however it ended.
    resolve(bytes > 0 ? { is: 'open', detail: changesHash.digest('hex').slice(0, 32) } : otherwise);
  };
  const timer = setTimeout(() => answer({ is: 'failed', why: `git took over ${withinMs} ms` }), withinMs);
  child.stdout.on('data', (chunk: Buffer) => {
    if (isOver) return;
    changesHash.update(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) answer({ is: 'clear' });
  });
  child.on('error', (error) => {
    const isMissing = 'code' in error && error.code === 'ENOENT';
    answer(isMissing ? { is: 'clear' } : { is: 'failed', why: `git: ${error.message}` });
  });
  child.on('close', (code) => {
    const isQuiet = code === 0 || code === NOT_A_REPOSITORY;
    answer(isQuiet ? { is: 'clear' } : { is: 'failed', why: `git ended with ${code}` });
  });
}

/** Of the session's own, without what would point git at another repository than that of the folder. */
function toGitEnvironment(sessionEnv: Workplace['env']): NodeJS.ProcessEnv {
  // Without a second spelling of PATH, which a copied environment of Windows has.
  const env = Object.fromEntries(Object.entries(sessionEnv).filter(([name]) => !/^(?:GIT_.*|PATH)$/i.test(name)));
  const path = (readVariable(sessionEnv, 'PATH', process.platform) ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder));
  return { ...env, PATH: path.join(delimiter), GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}
