import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { OpenUrl } from './openers.ts';
import { type Env, isProgram, programOnPath } from './programs.node.ts';

export interface OpenNeeds {
  readonly platform: NodeJS.Platform;
  readonly env: Env;
  readonly clock: Clock;
}

/** A program that fails does so within this time; xdg-open may run for as long as the browser it started. */
const FAILS_WITHIN_MS = 3000;

/**
 * Hands a URL to the desktop's own opener, as one argument of a program with an absolute path: no shell, and nothing from
 * the current folder. The program is let go and may outlive us.
 */
export function urlOpener({ platform, env, clock }: OpenNeeds): OpenUrl {
  return async (url, activationToken) => {
    const [file, ...args] = openCommand(url, platform, env);
    const activation: Env =
      activationToken === null ? {} : { XDG_ACTIVATION_TOKEN: activationToken, DESKTOP_STARTUP_ID: activationToken };
    await letGo(file, args, { ...env, ...activation }, clock);
  };
}

/** The program, by its absolute path, and its arguments. @throws Fault `exec-failed` when there is none */
export function openCommand(url: string, platform: NodeJS.Platform, env: Env): readonly [string, ...string[]] {
  switch (platform) {
    case 'darwin':
      return ['/usr/bin/open', url];
    case 'win32': {
      // `start` is a word of the shell; this is what it does with a URL.
      const dll = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return [dll, 'url.dll,FileProtocolHandler', url];
    }
    default: {
      const file = programOnPath('xdg-open', env, platform);
      if (file === null) throw failed('xdg-open is not on PATH (Debian: apt-get install xdg-utils)');
      return [file, url];
    }
  }
}

function letGo(file: string, args: readonly string[], env: Env, clock: Clock): Promise<void> {
  if (!isProgram(file)) return Promise.reject(failed(`${file} is not there`));
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { env: { ...env }, stdio: 'ignore', detached: true, windowsHide: true });
    child.unref();
    const limit = clock.after(FAILS_WITHIN_MS, resolve);
    child.on('error', (error) => {
      limit[Symbol.dispose]();
      reject(failed(`${file} could not be started: ${error.message}`, error));
    });
    child.on('exit', (code) => {
      limit[Symbol.dispose]();
      if (code === 0) resolve();
      else reject(failed(`${file} ended with ${code}`));
    });
  });
}

function failed(message: string, cause?: unknown): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'open' }, { cause });
}
