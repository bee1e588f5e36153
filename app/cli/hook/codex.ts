import { removeForeign } from '../codex-env.ts';
import { isInCodexServer } from '../codex-server.node.ts';
import type { Io } from '../command.ts';

/** What a hook of Codex may believe of its environment. In a file of its own: no other hook loads it. */
export const toOwnEnv = (env: Io['env']): Io['env'] => removeForeign(env, isInCodexServer);
