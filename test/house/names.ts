import { listNames, type Node, type SourceFile } from './source-file.ts';

/** Names of files that say how something came to be instead of what it is. */
const FILE_NAME = /(?:^|\/)(?:keep-|kept-|with-|told-)|-of(?:\.node)?\.ts$/;

/** Variables that name nothing. */
const PRONOUNS: ReadonlySet<string> = new Set([
  'of',
  'its',
  'one',
  'ones',
  'there',
  'here',
  'it',
  'they',
  'them',
  'theirs',
  'these',
  'those',
  'who',
  'what',
]);

const TYPES: readonly string[] = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'];

const METHODS: readonly string[] = ['MethodDefinition', 'TSMethodSignature'];

/** Each file of tests stands alone: two may have a type of the same name. */
const TEST = /^test\/|\.test\.ts$/;

/** Breaks of the naming rules, in the program and its tests: one line each, with the file and line to go to. */
export function findBadNames(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  const types = new Map<string, string[]>();
  for (const file of files) {
    if (FILE_NAME.test(file.path)) found.push(`${file.path} is no noun that a stranger would search for`);
    for (const { name, node } of listNames(file)) {
      const place = `${file.path}:${file.lineAt(node.start)}`;
      if (isFunction(node) && /[a-z0-9]Of$/.test(name)) found.push(`${place} ${name}: a function begins with a verb`);
      if (PRONOUNS.has(name) && isVariable(node)) found.push(`${place} ${name}: a pronoun is no name`);
      if (TYPES.includes(node.type) && !TEST.test(file.path)) types.set(name, [...(types.get(name) ?? []), place]);
    }
  }
  for (const [name, places] of types)
    if (places.length > 1) found.push(`${name} is declared ${places.length} times: ${places.join(', ')}`);
  return found;
}

function isFunction(node: Node): boolean {
  const { type } = (node.init ?? node) as Node;
  return (
    type === 'FunctionDeclaration' ||
    type === 'ArrowFunctionExpression' ||
    type === 'FunctionExpression' ||
    METHODS.includes(type)
  );
}

function isVariable(node: Node): boolean {
  return ['VariableDeclarator', 'Identifier', 'AssignmentPattern'].includes(node.type);
}
