import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Comment, type Program, parseSync, visitorKeys } from 'oxc-parser';

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '..', '..');

/** Any node of the syntax tree; what else it holds depends on its `type`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  /** As written: `./door.ts`, `node:fs`, `undici`. */
  readonly specifier: string;
  /** The file it names, from the project's folder, or null for a package or a part of Node. */
  readonly target: string | null;
  /** Erased before it runs. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** One file as the structure rules see it. */
export interface SourceFile {
  /** From the project's folder, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly imports: readonly Import[];
  lineAt(offset: number): number;
}

/**
 * @param path from the project's folder; need not exist, so that a rule can be shown a made-up sample
 * @throws when the text is no TypeScript
 */
export function sourceFile(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text);
  const error = parsed.errors[0];
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const imports: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, offset: number): void => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null;
    imports.push({ specifier, target, typeOnly, line: lineAt(offset) });
  };
  const { module } = parsed;
  for (const { moduleRequest, entries, start } of module.staticImports) {
    // `import {} from` and `import './x.ts'` run the file; with names, all of them must be types.
    add(moduleRequest.value, entries.length > 0 && entries.every(({ isType }) => isType), start);
  }
  for (const { entries, start } of module.staticExports) {
    const from = entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value]))[0];
    if (from !== undefined)
      add(
        from,
        entries.every(({ isType }) => isType),
        start,
      );
  }
  for (const { moduleRequest, start } of module.dynamicImports) {
    const literal = /^(['"`])([^$]*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end));
    add(literal?.[2] ?? '(computed)', false, start);
  }
  if (text.includes('import('))
    walk(parsed.program as unknown as Node, (node) => {
      if (node.type === 'TSImportType') add(String((node.source as { value: unknown }).value), true, node.start);
      return true;
    });
  // The parser makes the tree when it is first asked for: most rules need none.
  return {
    path,
    text,
    get program() {
      return parsed.program;
    },
    get comments() {
      return parsed.comments;
    },
    imports,
    lineAt,
  };
}

/** Visits every node in reading order; `enter` returns false to leave out what is below. */
export function walk(node: Node, enter: (node: Node, parent: Node | null, field: string) => boolean): void {
  visit(node, null, '');
  function visit(at: Node, parent: Node | null, field: string): void {
    if (!enter(at, parent, field)) return;
    for (const key of visitorKeys[at.type] ?? []) {
      const child = at[key];
      for (const item of Array.isArray(child) ? child : [child]) if (isNode(item)) visit(item, at, key);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** What the file declares: functions, types, variables, parameters and members of types. */
export function listNames(file: SourceFile): readonly { readonly name: string; readonly node: Node }[] {
  const found: { name: string; node: Node }[] = [];
  const add = (id: unknown, node: Node): void => {
    const name = getIdentifier(id);
    if (name !== null) found.push({ name, node });
  };
  walk(file.program as unknown as Node, (node) => {
    if (node.type === 'FunctionDeclaration' || NAMED_TYPES.includes(node.type)) add(node.id, node);
    if (node.type === 'VariableDeclarator') add(node.id, node);
    if (MEMBERS.includes(node.type)) add(node.key, node);
    for (const parameter of (node.params ?? []) as readonly Node[]) add(parameter.left ?? parameter, parameter);
    // A short `{ a }` repeats the name of a member, which is declared somewhere else.
    if (node.type === 'ObjectPattern')
      for (const property of node.properties as readonly Node[])
        if (property.shorthand === false) add((property.value as Node).left ?? property.value, property.value as Node);
    if (node.type === 'ArrayPattern')
      for (const element of node.elements as readonly (Node | null)[])
        if (element !== null) add(element.left ?? element, element);
    return true;
  });
  return found;
}

const NAMED_TYPES: readonly string[] = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'];
const MEMBERS: readonly string[] = [
  'TSMethodSignature',
  'TSPropertySignature',
  'MethodDefinition',
  'PropertyDefinition',
];

function getIdentifier(node: unknown): string | null {
  if (typeof node !== 'object' || node === null || !('type' in node) || !('name' in node)) return null;
  return node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? String(node.name) : null;
}

/** The words of a name in camelCase, kebab-case or CAPITALS. */
export function splitName(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/** Every file that is, or is about to be, in version control. */
export function projectFiles(): readonly string[] {
  return execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

/** The TypeScript of the program, without its tests: what the structure rules hold for. Read once per process. */
export function programFiles(): readonly SourceFile[] {
  sources.program ??= readSources((path) => /^(app|core|ui-static)\/.*\.ts$/.test(path) && !path.endsWith('.test.ts'));
  return sources.program;
}

/** All code of ours: the program, its tests, and what builds and checks it. Read once per process. */
export function codeFiles(): readonly SourceFile[] {
  sources.code ??= readSources((path) => /\.(?:ts|mjs)$/.test(path) && !path.startsWith('test/data/'));
  return sources.code;
}

const sources: { program?: readonly SourceFile[]; code?: readonly SourceFile[] } = {};

function readSources(fits: (path: string) => boolean): readonly SourceFile[] {
  return projectFiles()
    .filter(fits)
    .map((path) => sourceFile(path, readFileSync(join(ROOT, path), 'utf8')));
}
