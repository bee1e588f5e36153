import { userInfo } from 'node:os';
import type { ActionClientOptions } from '../../core/sources/brainclaw/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import { readVersion } from '../version.node.ts';

/** Returns what an action client needs to know of this machine: where brainclaw is, and who acts. */
export function getActionClientOptions(
  env: ProgramEnv,
): Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'> {
  return {
    env,
    principal: userInfo().username,
    version: readVersion(),
    command: () => {
      const file = programOnPath('brainclaw', env, process.platform);
      return file === null ? null : [file, 'mcp'];
    },
  };
}
