#!/usr/bin/env node
import { useCompileCache } from './compile-cache.node.ts';
import { isQuick } from './quick-commands.ts';

/** The package has this file and the quick commands in one file, which is compiled before it could ask for a cache. */
const isPacked = import.meta.filename.endsWith('.cjs');

// There is no top-level await: the package builds this file as CommonJS, which starts faster.
start(process.argv.slice(2)).catch((error: unknown) => {
  // `start` lets no other error through, so this is a loading error: the package is incomplete.
  process.exitCode = 1;
  throw error;
});

/** Loads either the quick commands or all commands, never both. In the package, the quick commands are part of this file. */
async function start(args: readonly string[]): Promise<void> {
  const quick = isQuick(args);
  if (!quick) await import('../host/poke-signal.node.ts'); // before anything else: from here on a SIGUSR1 is safe
  if (!quick || !isPacked) useCompileCache();
  const { run } = quick ? await import('./quick.node.ts') : await importCommands(args);
  await run(args);
}

function importCommands([first]: readonly string[]): Promise<{ run(args: readonly string[]): Promise<void> }> {
  return first === 'mcp' ? import('./mcp-start.node.ts') : import('./full.node.ts');
}
