/** Bundles the status page for the package: `node build/page.ts [OUT]`, by default dist/page. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const from = join(import.meta.dirname, '..', 'ui-static');

/**
 * Writes index.html, icon.svg, style.css and page.js to `out`, and in files of their own what only the view of one inbox
 * loads: view.css, its script, what that shares with page.js, and uplot.js; and what only the boards of projects load. Returns
 * what the file of the library holds.
 */
export async function buildPage(out: string): Promise<Metafile> {
  mkdirSync(out, { recursive: true });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(from, name), join(out, name));
  await build({
    entryPoints: ['page.ts', 'style.css', 'view.css', 'projects.css'].map((name) => join(from, name)),
    outdir: out,
    splitting: true,
    chunkNames: '[name]-[hash]',
    external: ['./uplot.js'],
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17'],
    logLevel: 'warning',
  });
  const { metafile } = await build({
    stdin: { contents: "export { default } from 'uplot'", resolveDir: from },
    outfile: join(out, 'uplot.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    logLevel: 'warning',
    metafile: true,
    absWorkingDir: join(from, '..'),
  });
  return metafile;
}

if (import.meta.main) await buildPage(process.argv[2] ?? join(import.meta.dirname, '..', 'dist', 'page'));
