import { userInfo } from 'node:os';
import type { ActionClientOptions } from '../../core/sources/brainclaw/index.ts';
import { type Env, programOnPath } from '../programs.node.ts';
import { version } from '../version.node.ts';

/** What an action client needs of this machine: where brainclaw is, and who acts. */
export function brainclawHere(env: Env): Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'> {
  return {
    env,
    principal: userInfo().username,
    version: version(),
    command: () => {
      const file = programOnPath('brainclaw', env, process.platform);
      return file === null ? null : [file, 'mcp'];
    },
  };
}
