#!/usr/bin/env node
import { useCompileCache } from './compile-cache.node.ts';
import { isQuick } from './quick-names.ts';

// No await at the top level: the package holds this file as CommonJS, which starts faster.
start(process.argv.slice(2)).catch((error: unknown) => {
  // Nothing below lets an error through, so this is one of loading: a package that is not whole.
  process.exitCode = 1;
  throw error;
});

/** Loads the one half or the other, never both: the quick commands stand in this very file once it is packed. */
async function start(args: readonly string[]): Promise<void> {
  const quick = isQuick(args);
  if (!quick) await import('../host/poke-signal.node.ts'); // before anything else: from here on a SIGUSR1 is safe
  useCompileCache();
  const { run } = quick ? await import('./quick.node.ts') : await import('./full.node.ts');
  await run(args);
}
