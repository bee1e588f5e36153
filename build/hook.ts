import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { SOURCES } from '../core/sources/registry.ts';

const CLI = join(import.meta.dirname, '..', 'app', 'cli');
const CODE = 'hook-now';

/**
 * `hivebar hook` in files of CommonJS: `hook.cjs`, which finds the code and what was compiled of it, and the code. An agent waits for it at each step of its work, so it is written for its start: names are short, and a part of Node is
 * loaded when something of it is first called.
 *
 * @param first what `hook.cjs` does before anything else
 * @returns what the files hold
 */
export async function buildHook(common: BuildOptions, out: string, first: string): Promise<readonly Metafile[]> {
  const options = {
    ...common,
    metafile: true,
    outdir: out,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: {
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
      'import.meta.url': '__filename',
    },
    minify: true,
    supported: { 'dynamic-import': false }, // it would start the loader of ES modules: 4 ms
  } satisfies BuildOptions;
  const parts = PARTS.map((name) => ({ in: join(CLI, 'hook', `${name}.ts`), out: `hook-${name}` }));
  const code = { in: join(CLI, `${CODE}.node.ts`), out: CODE };
  const later = await build({
    ...options,
    entryPoints: [code, ...parts],
    plugins: [APART, WHEN_CALLED, NAMES_OF_SOURCES],
  });
  const hash = createHash('sha256');
  for (const name of [CODE, ...PARTS.map((part) => `hook-${part}`)])
    hash.update(await readFile(join(out, `${name}.cjs`)));
  const entry = await build({
    ...options,
    target: 'node18', // an old Node parses the whole file before it runs the first line, which says what is needed
    banner: { js: first },
    define: { ...options.define, HOOK_CODE: JSON.stringify(hash.digest('hex').slice(0, 16)) },
    entryPoints: [{ in: join(CLI, 'hook-packed.node.ts'), out: 'hook' }],
  });
  return [later.metafile, entry.metafile];
}

/** What few hooks need, in `app/cli/hook`: loaded by those alone, and each with all that it uses in its own file. */
const PARTS = ['announce', 'codex', 'doorbell', 'events', 'notification', 'permission', 'queues', 'waiter'];

/** A file that is imported when it is needed is a file of its own. */
const APART: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/[a-z-]+(\.node)?\.ts$/ }, ({ kind, path }) => {
      if (kind !== 'dynamic-import') return null;
      const [, name = ''] = /^\.\/([a-z-]+)/.exec(path) ?? [];
      if (name !== CODE && !PARTS.includes(name)) return { errors: [{ text: `${path} is no part of the hook` }] };
      return { path: `./${name === CODE ? CODE : `hook-${name}`}.cjs`, external: true };
    });
  },
};

/** A hook needs the names and prefixes of sources, and nothing else that the registry holds. */
const NAMES_OF_SOURCES: Plugin = {
  name: 'names of sources',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]core[\\/]sources[\\/]registry\.ts$/ }, () => {
      const rows = Object.entries(SOURCES).map(([key, { name, prefix }]) => [key, { name, prefix }]);
      return { contents: `export const SOURCES = ${JSON.stringify(Object.fromEntries(rows))};` };
    });
  },
};

/** `node:crypto` alone is 8 ms of a start of 40, and a hook that tells of its mail calls nothing of it. */
export const WHEN_CALLED: Plugin = {
  name: 'parts of Node when they are called',
  setup({ onResolve, onLoad }) {
    const namespace = 'when-called';
    onResolve({ filter: /^node:/ }, ({ path, namespace: from }) =>
      from === namespace ? { path, external: true } : { path, namespace, sideEffects: false },
    );
    onLoad({ filter: /./, namespace }, async ({ path }) => ({ contents: await wrapped(path) }));
  },
};

/** A module of the same exports, of which the bundle takes those that are used. */
async function wrapped(path: string): Promise<string> {
  const { default: part } = (await import(path)) as { default: object };
  const exported = Object.entries(Object.getOwnPropertyDescriptors(part)).map(([name, { value }]) =>
    typeof value === 'function'
      ? `export function ${name}(...all) { const it = part().${name}; return new.target ? new it(...all) : it(...all); }`
      : `export const ${name} = /* @__PURE__ */ (() => part().${name})();`,
  );
  return [`let loaded; const part = () => (loaded ??= require('${path}'));`, ...exported].join('\n');
}
