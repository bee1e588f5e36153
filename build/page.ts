/** Bundles the status page for the package: `node build/page.ts [OUT]`, by default dist/page. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const from = join(import.meta.dirname, '..', 'ui-static');

/**
 * Writes index.html, icon.svg, style.css and page.js to `out`, and in files of their own what only one view loads: its script, what that
 * shares with page.js, and the style sheets that style.css does not import. Returns
 * what the file of the library holds.
 */
export async function buildPage(out: string): Promise<Metafile> {
  mkdirSync(out, { recursive: true });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(from, name), join(out, name));
  const imported = readFileSync(join(from, 'style.css'), 'utf8');
  const sheets = readdirSync(from).filter((name) => name.endsWith('.css') && !imported.includes(`"./${name}"`));
  await build({
    entryPoints: ['page.ts', ...sheets].map((name) => join(from, name)),
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
