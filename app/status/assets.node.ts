import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { createPageRenderer } from './render-page.ts';
import type { Asset, PageAssets } from './status-options.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// In the package the built page is in dist/page/, beside the compiled files. In a checkout it is made from ui-static/.
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'ui-static')
  : join(import.meta.dirname, 'page');

/**
 * Reads the page into memory, once. In a checkout the types are stripped from its TypeScript and each file is served, so that
 * there is no build step to forget. In the package it is what `build/page.ts` bundled.
 */
export function loadPage(folder: string = FOLDER): PageAssets {
  // the indentation would be sent with every card
  const template = readFileSync(join(folder, 'index.html'), 'utf8').replaceAll(/\n\s+/g, '\n');
  const files = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, { type, body: readFileSync(path) });
    else if (/^[\w-]+\.ts$/.test(name)) files.set(name.replace(/\.ts$/, '.js'), loadScript(path));
  }
  const format = join(folder, '..', 'core', 'format');
  if (files.has('present.js') && existsSync(format)) {
    for (const name of readdirSync(format).filter((file) => /^[\w-]+(\.node)?\.ts$/.test(file)))
      files.set(name === 'index.ts' ? FORMAT : name.replace(/\.ts$/, '.js'), loadScript(join(format, name)));
  }
  const chart = files.has(CHART) ? null : loadChartLibrary();
  if (chart !== null) files.set(CHART, { type: TYPES['.js'] ?? '', body: chart });
  return { html: createPageRenderer(template), files };
}

/** The name under which the page loads `core/format`, which it shares with the program. */
const FORMAT = 'format.js';

/** Loads a script of the checkout without its types. Its imports use the names under which the files are served. */
function loadScript(path: string): Asset {
  const code = stripTypes(readFileSync(path, 'utf8'))
    .replaceAll("'../core/format/index.ts'", `'./${FORMAT}'`)
    .replace(/((?:from |import\()'\.\/[\w-]+(?:\.node)?)\.ts'/g, "$1.js'");
  return { type: TYPES['.js'] ?? '', body: Buffer.from(code) };
}

/** The name under which the page loads the chart library. The view of one inbox loads it, the overview does not. */
const CHART = 'uplot.js';

/**
 * Loads uPlot as a module, because its small build is published only as a script. Returns null in a checkout without it; then no
 * charts are drawn.
 */
function loadChartLibrary(): Buffer | null {
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve('uplot');
  } catch {
    return null; // it is a development dependency, and the rest of the page works without it
  }
  const script = readFileSync(join(dirname(main), 'uPlot.iife.min.js'), 'utf8');
  return Buffer.from(`${script}\nexport default uPlot;\n`);
}

/** Strips types without the warning that Node prints once on stderr. The user cannot act on that warning. */
function stripTypes(code: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
}
