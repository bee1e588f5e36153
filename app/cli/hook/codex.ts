import type { Io } from '../../../core/command/index.ts';
import { isInCodexServer, removeForeign } from '../codex.node.ts';

/** Returns the environment that a hook of Codex may trust. It is in its own file, because no other hook loads it. */
export const toOwnEnv = (env: Io['env']): Io['env'] => removeForeign(env, isInCodexServer);
