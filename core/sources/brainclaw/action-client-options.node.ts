import { userInfo } from 'node:os';
import { findProgram } from '../../ports/index.ts';
import type { ActionClientOptions } from './act/index.ts';
import { BRAINCLAW } from './settings.ts';

/** Returns what an action client needs to know of this machine: where brainclaw is, and who acts. */
export function getActionClientOptions(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'> {
  return {
    env,
    principal: userInfo().username,
    version,
    command: () => {
      const file = findProgram(BRAINCLAW, env, process.platform);
      return file === null ? null : [file, 'mcp'];
    },
  };
}
