import { win32 } from 'node:path';
import type { Clock } from '../../core/ports/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import { createOpenFault, launch, toActivationEnv } from './launch.node.ts';
import type { OpenUrl } from './opener.ts';

export interface UrlOpenerNeeds {
  readonly platform: NodeJS.Platform;
  readonly env: ProgramEnv;
  readonly clock: Clock;
}

/** xdg-open may run for as long as the browser that it started. */
const FAILS_WITHIN_MS = 3000;

/**
 * Passes a URL to the desktop's own opener, as one argument of a program with an absolute path. No shell is used, and nothing
 * from the current folder. The program is detached and may outlive us.
 */
export function createUrlOpener({ platform, env, clock }: UrlOpenerNeeds): OpenUrl {
  return async (url, activationToken) => {
    const [file, ...args] = findOpenCommand(url, platform, env);
    const childEnv = { ...env, ...toActivationEnv(activationToken) };
    await launch({ file, args, cwd: null, env: childEnv, failsWithinMs: FAILS_WITHIN_MS }, clock);
  };
}

/** Returns the program, by its absolute path, and its arguments. @throws Fault `exec-failed` when there is none */
export function findOpenCommand(
  url: string,
  platform: NodeJS.Platform,
  env: ProgramEnv,
): readonly [string, ...string[]] {
  switch (platform) {
    case 'darwin':
      return ['/usr/bin/open', url];
    case 'win32': {
      // `start` is a command of the shell; this is what it does with a URL.
      const dll = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return [dll, 'url.dll,FileProtocolHandler', url];
    }
    default: {
      const file = programOnPath('xdg-open', env, platform);
      if (file === null) throw createOpenFault('xdg-open is not on PATH (Debian: apt-get install xdg-utils)');
      return [file, url];
    }
  }
}
