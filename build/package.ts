/** Compiles the program into dist/ as the published package holds it: `node build/package.ts [OUT]`. */
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { formatManPage } from './command-reference.ts';
import { buildHook } from './hook.ts';
import { buildPage } from './page.ts';

const ROOT = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const APP = join(ROOT, 'app');
const PROGRAMS = ['hivebar', 'kijito-inbox-monitor'];

/** What schemas are built with is part of the package, so that only those who build it install the library. */
const SCHEMAS: Plugin = {
  name: 'schemas',
  setup({ onResolve }) {
    onResolve({ filter: /^typebox$/ }, () => ({ path: fileURLToPath(import.meta.resolve('typebox')) }));
  },
};

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  // Small files start faster; names stay, so that a stack trace can still be read.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
  plugins: [SCHEMAS],
};

/** The oldest Node that the package runs on, as package.json says it. Older ones have another `node:sqlite`. */
const OLDEST_NODE = manifest.engines.node.replace('>=', '');

/** Before anything else, in words that any Node parses. A hook that fails is no reason to hold its agent. */
const checkNode = (name: string, exit: 0 | 1): string =>
  `(function(){var n=process.versions.node,h=n.split('.'),w='${OLDEST_NODE}'.split('.');if(+h[0]>+w[0]||(+h[0]===+w[0]&&+h[1]>=+w[1]))return;process.stderr.write('${name}: needs Node ${OLDEST_NODE} or newer, and this is Node '+n+' ('+process.execPath+'): install a newer Node and start it with that\\n');process.exit(${exit})})();`;

/**
 * Every compiled file stands beside `assets/` and `page/` in `out`, which is emptied first. A program is one file with
 * the quick commands inside, and CommonJS: each further file would be a millisecond of their start, the loader of ES
 * modules four. All else is in files that
 * share what they have in common, and each command loads only its own. A process runs code of the one or of the other,
 * so nothing that stands in both, a class or a variable, ever meets its copy.
 */
export async function buildPackage(out: string): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  await build({
    ...COMMON,
    entryPoints: PROGRAMS.map(command),
    outdir: out,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // An old Node parses the whole file before it runs the first line, which says what is needed.
    target: 'node18',
    banner: { js: checkNode('hivebar', 1) },
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    plugins: [SCHEMAS, APART],
  });
  const entryPoints = [command('full'), { in: join(APP, 'host', 'poke-signal.node.ts'), out: 'early' }];
  await build({ ...COMMON, entryPoints, outdir: out, splitting: true });
  await buildHook(COMMON, out, checkNode('hivebar hook', 0));
  for (const name of PROGRAMS) chmodSync(join(out, compiled(name)), 0o755);
  cpSync(join(ROOT, 'assets'), join(out, 'assets'), { recursive: true, filter: isShipped });
  await buildPage(join(out, 'page'));
  writeFileSync(join(out, 'hivebar.1'), await formatManPage(manifest.version));
}

function command(name: string): { readonly in: string; readonly out: string } {
  return { in: join(APP, 'cli', `${name}.node.ts`), out: name };
}

function compiled(name: string): string {
  return `./${name}.${PROGRAMS.includes(name) ? 'cjs' : 'js'}`;
}

/** What a program loads and does not hold, by the files that the build makes of them. */
const APART: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/(full|early|hivebar)\.node\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: compiled(basename(path, '.node.ts')), external: true } : null,
    );
  },
};

/** The drawings that icons are rendered from are not shipped. */
function isShipped(path: string): boolean {
  const [first = ''] = relative(join(ROOT, 'assets'), path).split(sep);
  return first !== 'svg';
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(ROOT, 'dist'));
