import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { delimiter, isAbsolute, parse } from 'node:path';
import { findProgram, readVariable } from '../../ports/index.ts';
import type { CheckAnswer, GitCheck, Workplace } from './evaluate.ts';

/** How much of the list of changes is read: enough to notice that it changed. */
const MOST_BYTES = 1_048_576;

/**
 * Creates a check that runs `git status --porcelain` in a folder, for at most `withinMs`. It uses no shell, no prompt, no lock
 * that could disturb a commit, and no monitor from the repository's settings. A clean repository, a folder without one, and a
 * machine without git are `clear`. Any other end of git, or a timeout, is `failed`.
 */
export function createGitCheck(withinMs: number): GitCheck {
  return (place) =>
    new Promise((resolve) => {
      try {
        runGit(place, withinMs, resolve);
      } catch (error) {
        // The folder's name cannot be an argument.
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
    cwd: parse(cwd).root, // git itself changes to `cwd`, and reports if it does not exist
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
    // A listed change counts, however git ended.
    resolve(bytes > 0 ? { is: 'open', detail: changesHash.digest('hex').slice(0, 32) } : otherwise);
  };
  const timer = setTimeout(() => answer({ is: 'failed', why: `git timed out after ${withinMs} ms` }), withinMs);
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

/** The session's environment, without variables that would point git at another repository than that of the folder. */
function toGitEnvironment(sessionEnv: Workplace['env']): NodeJS.ProcessEnv {
  // Without a second spelling of PATH, which a copied environment of Windows may have.
  const env = Object.fromEntries(Object.entries(sessionEnv).filter(([name]) => !/^(?:GIT_.*|PATH)$/i.test(name)));
  const path = (readVariable(sessionEnv, 'PATH', process.platform) ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder));
  return { ...env, PATH: path.join(delimiter), GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}
