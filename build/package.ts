/** Compiles the program into dist/ as the published package holds it: `node build/package.ts [OUT]`. */
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { buildPage } from './page.ts';

const ROOT = join(import.meta.dirname, '..');
const PROGRAMS = ['hivebar', 'kijito-inbox-monitor'];

/**
 * Every compiled file stands beside `assets/` and `page/` in `out`, which is emptied first; a command's code is in a
 * file of its own and loaded with the command.
 */
export async function buildPackage(out: string): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS.map((name) => ({ in: join(ROOT, 'app', 'cli', `${name}.node.ts`), out: name })),
    outdir: out,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    packages: 'external',
    // Small files start faster; names stay, so that a stack trace can still be read.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  });
  for (const name of PROGRAMS) chmodSync(join(out, `${name}.js`), 0o755);
  cpSync(join(ROOT, 'assets'), join(out, 'assets'), { recursive: true, filter: isShipped });
  await buildPage(join(out, 'page'));
}

/** What icons are drawn from, and the sheet to look at them, stay at home. */
function isShipped(path: string): boolean {
  const [first = ''] = relative(join(ROOT, 'assets'), path).split(sep);
  return first !== 'svg' && first !== 'contact-sheet.png';
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(ROOT, 'dist'));
