import { useCompileCache } from './compile-cache.node.ts';

/**
 * `hivebar hook` as the installed script runs it, `node hook.cjs hook --harness ...`: in the package a program of its own,
 * which loads what a hook needs and nothing else. This file is small because what enables the cache is not in it.
 */
try {
  useCompileCache();
} catch {
  // A user without a home has no cache, and a slower hook.
}
import('./hook-now.node.ts').catch((error: unknown) => {
  // A package that is not whole: to a harness no reason to hold its agent.
  process.stderr.write(`hivebar hook: ${error instanceof Error ? error.message.split('\n', 1) : String(error)}\n`);
});
