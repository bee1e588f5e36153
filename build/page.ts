/** Bundles the status page for the package: `node build/page.ts [OUT]`, by default dist/page. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const from = join(import.meta.dirname, '..', 'ui-static');

/** Writes index.html, icon.svg, style.css and page.js to `out`. */
export async function buildPage(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(from, name), join(out, name));
  await build({
    entryPoints: [join(from, 'page.ts'), join(from, 'style.css')],
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17'],
    logLevel: 'warning',
  });
}

if (import.meta.main) await buildPage(process.argv[2] ?? join(import.meta.dirname, '..', 'dist', 'page'));
