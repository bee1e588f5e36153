/** Compiles the program into dist/ as the published package holds it: `node build/package.ts [OUT]`. */
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, relative, sep } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { formatManPage } from './command-reference.ts';
import { buildHelpers } from './helpers.ts';
import { buildHook, WHEN_CALLED } from './hook.ts';
import { formatLicenses, LICENSES } from './licenses.ts';
import { buildPage } from './page.ts';

const ROOT = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const APP = join(ROOT, 'app');
const PROGRAMS = ['hivebar', 'kijito-inbox-monitor'];

/** Parts of Node with exports that load more when they are read. */
const LAZY_PARTS = ['node:crypto', 'node:fs', 'node:http', 'node:process'];

/**
 * Parts of Node, for files that are ES modules. There is no `require` in them, which libraries use. And an `import` reads every export
 * at once: of `node:fs` also `promises`, which loads readline, of `node:crypto` also all of the Web Cryptography API, and of `node:http`
 * also `WebSocket`, which loads Node's own undici, HTTP/2 and TLS.
 */
const PARTS_OF_NODE: Plugin = {
  name: 'parts of Node',
  setup({ onResolve, onLoad }) {
    const namespace = 'node';
    onResolve({ filter: /./ }, ({ path, kind }) => {
      const isLoadedLater =
        kind === 'require-call' ? isBuiltin(path) : kind === 'import-statement' && LAZY_PARTS.includes(path);
      return isLoadedLater ? { path: path.replace(/^node:/, ''), namespace } : null;
    });
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
    }));
  },
};

/**
 * What fastify loads or holds and Hivebar has no use for: the server speaks HTTP without TLS, no route has a schema that is compiled,
 * and no test runs in the package. Node's parts would take 4 MiB, and the libraries are a third of the code of the tray process.
 */
const UNUSED_BY_FASTIFY = [
  'node:https',
  'node:http2',
  'light-my-request',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
];

const FASTIFY_WITHOUT_TLS: Plugin = {
  name: 'fastify without TLS',
  setup({ onResolve, onLoad }) {
    const namespace = 'unused';
    onResolve({ filter: /./ }, ({ path, importer }) =>
      /[\\/]fastify[\\/](lib[\\/])?[\w-]+\.js$/.test(importer) && UNUSED_BY_FASTIFY.includes(path)
        ? { path, namespace }
        : null,
    );
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get() { throw new Error('${path} is not in the package'); } });`,
    }));
  },
};

/** Libraries are part of the package, apart from this one, which is compiled code for one platform. */
const EXTERNAL = ['koffi'];

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: EXTERNAL,
  metafile: true,
  // Small files start faster; names stay, so that a stack trace can still be read.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/** The oldest Node that the package runs on, as package.json says it. Older ones have another `node:sqlite`. */
const OLDEST_NODE = manifest.engines.node.replace('>=', '');

/** Before anything else, in words that any Node parses. A hook that fails is no reason to hold its agent. */
const checkNode = (name: string, exit: 0 | 1): string =>
  `(function(){var n=process.versions.node,h=n.split('.'),w='${OLDEST_NODE}'.split('.');if(+h[0]>+w[0]||(+h[0]===+w[0]&&+h[1]>=+w[1]))return;process.stderr.write('${name}: needs Node ${OLDEST_NODE} or newer, and this is Node '+n+' ('+process.execPath+'): install a newer Node and start it with that\\n');process.exit(${exit})})();`;

/** Parsers of HTTP as WebAssembly, of which a machine needs one: by their files in undici/lib, without `.js`. */
const PARSERS = ['llhttp/llhttp-wasm', 'llhttp/llhttp_simd-wasm', 'milo/no-simd', 'milo/simd'];

const toParserFile = (path: string): string => `undici-${basename(path)}`;

/** undici is loaded in the middle of a function, and so is CommonJS; what it loads later is in files of its own. */
const UNDICI = [
  { in: join(ROOT, 'core', 'net', 'undici-pool.cjs'), out: 'undici-pool' },
  ...PARSERS.map((path) => ({
    in: join(ROOT, 'node_modules', 'undici', 'lib', `${path}.js`),
    out: toParserFile(path),
  })),
];

const PARSERS_APART: Plugin = {
  name: 'parsers apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/(llhttp|milo)\// }, ({ path }) => {
      const found = PARSERS.find((parser) => path === `../${parser}.js`);
      return found === undefined ? null : { path: `./${toParserFile(found)}.cjs`, external: true };
    });
  },
};

/**
 * HTTP/2 is switched off in every client (`allowH2: false`). Node's part for it and for TLS takes 13 MiB as soon as it is loaded, and
 * undici would load it at start.
 */
const WITHOUT_HTTP2: Plugin = {
  name: 'without http2',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('HTTP/2 is switched off'); };",
    }));
  },
};

/**
 * Every compiled file stands beside `assets/` and `page/` in `out`, which is emptied first. A program is one file with
 * the quick commands inside, and CommonJS: each further file would be a millisecond of their start, the loader of ES
 * modules four. All else is in files that
 * share what they have in common, and each command loads only its own. A process runs code of the one or of the other,
 * so nothing that stands in both, a class or a variable, ever meets its copy.
 *
 * @returns what each file of JavaScript holds
 */
export async function buildPackage(out: string): Promise<readonly Metafile[]> {
  rmSync(out, { recursive: true, force: true });
  const cjs = { ...COMMON, outdir: out, outExtension: { '.js': '.cjs' }, format: 'cjs' } as const;
  const quick = await build({
    ...cjs,
    entryPoints: PROGRAMS.map(command),
    // An old Node parses the whole file before it runs the first line, which says what is needed.
    target: 'node18',
    banner: { js: checkNode('hivebar', 1) },
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    plugins: [APART, WHEN_CALLED],
  });
  const entryPoints = [
    command('full'),
    command('mcp-start'),
    { in: join(APP, 'host', 'poke-signal.node.ts'), out: 'early' },
  ];
  const full = await build({
    ...COMMON,
    entryPoints,
    outdir: out,
    splitting: true,
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' }, // as libraries know them
    plugins: [FASTIFY_WITHOUT_TLS, PARTS_OF_NODE],
  });
  const undici = await build({ ...cjs, entryPoints: UNDICI, plugins: [PARSERS_APART, WITHOUT_HTTP2] });
  const hook = await buildHook(COMMON, out, checkNode('hivebar hook', 0));
  for (const name of PROGRAMS) chmodSync(join(out, compiled(name)), 0o755);
  cpSync(join(ROOT, 'assets'), join(out, 'assets'), { recursive: true, filter: isShipped });
  await buildHelpers(join(out, 'helpers'));
  const page = await buildPage(join(out, 'page'));
  const bundles = [quick.metafile, full.metafile, undici.metafile, ...hook, page];
  writeFileSync(join(out, LICENSES), formatLicenses(bundles));
  writeFileSync(join(out, 'hivebar.1'), await formatManPage(manifest.version));
  return bundles;
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
    onResolve({ filter: /\/(full|mcp-start|early|hivebar)\.node\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: compiled(basename(path, '.node.ts')), external: true } : null,
    );
  },
};

/** Neither the drawings that icons are rendered from, nor the plugin, which agent programs take from the repository. */
const NOT_SHIPPED = ['svg', 'plugin'];

function isShipped(path: string): boolean {
  const [first = ''] = relative(join(ROOT, 'assets'), path).split(sep);
  return !NOT_SHIPPED.includes(first);
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(ROOT, 'dist'));
