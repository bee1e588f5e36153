import type { SourceFile } from './source-file.ts';

/**
 * What running `entry` may load, whether at once or later: each package and part of Node, with the chain of files that
 * leads to it. Imports of types are erased and load nothing.
 * @throws when `entry` or a file on the way is not among `files`: a graph with a hole proves nothing
 */
export function loads(files: readonly SourceFile[], entry: string): ReadonlyMap<string, string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Map<string, string>();
  const seen = new Set<string>();
  visit(entry, []);
  return reached;

  function visit(path: string, chain: readonly string[]): void {
    if (seen.has(path) || path.endsWith('.json')) return; // data loads nothing
    seen.add(path);
    const file = byPath.get(path);
    if (file === undefined) throw new Error(`no such file: ${[...chain, path].join(' -> ')}`);
    const longer = [...chain, path];
    for (const { specifier, target, typeOnly } of file.imports) {
      if (typeOnly) continue;
      if (target !== null) visit(target, longer);
      else if (!reached.has(specifier)) reached.set(specifier, [...longer, specifier].join(' -> '));
    }
  }
}

/** The chains that lead from `entry` to any of `packages`, or to a part of one (`@fastify/static`, `conf/x`). */
export function forbiddenLoads(
  files: readonly SourceFile[],
  entry: string,
  packages: readonly string[],
): readonly string[] {
  const hits = (specifier: string): boolean =>
    packages.some(
      (name) => specifier === name || specifier.startsWith(`${name}/`) || specifier.startsWith(`@${name}/`),
    );
  return [...loads(files, entry)].filter(([specifier]) => hits(specifier)).map(([, chain]) => chain);
}
