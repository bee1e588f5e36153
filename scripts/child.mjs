import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './paths.mjs';

/** The environment of everything the scripts start: the project's own tools and Node come first. */
export function environment(extra = {}) {
  const bin = join(root, 'node_modules', '.bin');
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`, ...extra };
}

/**
 * Runs a program in this one's place: its streams, its signals, its exit code.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string }} options
 * @returns {Promise<number>} 128 + number for a signal, as a shell says it
 */
export function become(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit', env: environment(), ...options });
    const forward = (signal) => child.kill(signal);
    // From a terminal the whole group gets it already; a second one would read as "stop at once".
    const interrupt = () => process.stdin.isTTY || child.kill('SIGINT');
    const signals = process.platform === 'win32' ? ['SIGTERM'] : ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];
    for (const signal of signals) process.on(signal, forward);
    process.on('SIGINT', interrupt);
    const stop = () => {
      for (const signal of signals) process.removeListener(signal, forward);
      process.removeListener('SIGINT', interrupt);
    };
    child.once('error', (error) => {
      stop();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      stop();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
