import { useCompileCache } from './compile-cache.node.ts';

/**
 * `hivebar hook` of a checkout, as the installed script runs it: `node hook.node.ts hook --harness ...`. The package uses
 * `hook-packed.node.ts` instead.
 */
useCompileCache();
import('./hook-now.node.ts').catch((error: unknown) => {
  // The package is incomplete. That is no reason for a harness to hold its agent.
  process.stderr.write(`hivebar hook: ${error instanceof Error ? error.message.split('\n', 1) : String(error)}\n`);
});
