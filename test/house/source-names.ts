import { type Node, type SourceFile, walk } from './source-file.ts';

/** Where a source may be named outside its folder, and why. */
export interface NameException {
  /** A file, or a folder that ends in `/`. */
  readonly path: string;
  /** The source that it may name. */
  readonly name: string;
  readonly why: string;
}

const REGISTRY = 'core/sources/registry.ts';

/** Identifiers and texts that name a source outside its folder and the registry, one line per file and source. */
export function foreignNames(
  files: readonly SourceFile[],
  names: readonly string[],
  exceptions: readonly NameException[],
): readonly string[] {
  return files.flatMap((file) =>
    names
      .filter((name) => file.path !== REGISTRY && !file.path.startsWith(`core/sources/${name}/`))
      .filter((name) => !exceptions.some((exception) => exception.name === name && covers(exception.path, file.path)))
      .flatMap((name) => {
        const [first] = findNames(file, name);
        return first === undefined ? [] : [`${file.path}:${file.lineAt(first.start)} names the source ${name}`];
      }),
  );
}

/** The exceptions that nothing needs any more, one line each. */
export function unusedExceptions(
  files: readonly SourceFile[],
  exceptions: readonly NameException[],
): readonly string[] {
  return exceptions
    .filter(({ path, name }) => !files.some((file) => covers(path, file.path) && findNames(file, name).length > 0))
    .map(({ path, name }) => `${path} does not name ${name}`);
}

const covers = (exception: string, path: string): boolean =>
  exception.endsWith('/') ? path.startsWith(exception) : path === exception;

function findNames({ program }: SourceFile, name: string): readonly Node[] {
  const found: Node[] = [];
  walk(program as unknown as Node, (node) => {
    if (formatNode(node).toLowerCase().includes(name)) found.push(node);
    return true;
  });
  return found;
}

/** The text of a name or of a string; empty for any other node. */
function formatNode(node: Node): string {
  switch (node.type) {
    case 'Identifier':
      return String(node.name);
    case 'Literal':
      return typeof node.value === 'string' ? node.value : '';
    case 'TemplateElement':
      return (node.value as { readonly raw: string }).raw;
    default:
      return '';
  }
}
