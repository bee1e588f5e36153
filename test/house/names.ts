import { type Node, type SourceFile, walk } from './source-file.ts';

/** Words that no name of ours holds, with the word of docs/GLOSSARY.md for the idea. */
const REPLACED: Readonly<Record<string, string>> = {
  deeds: 'actions',
  hole: 'gap',
  holes: 'gaps',
  hurried: 'deadline',
  kept: 'saved, stored or held',
  letter: 'message',
  letters: 'messages',
  prism: 'daemon',
  reach: 'health',
  saying: 'batch',
  settle: 'acknowledge',
  standing: 'health label',
  told: 'delivered, announced or reported',
  vital: 'agent state',
};

/** Names of files that say how something came to be instead of what it is. */
const FILE_NAME = /(?:^|\/)(?:keep-|kept-|with-|told-)|-of(?:\.node)?\.ts$/;

/** Keys of records that are written or printed, and letters of an alphabet. */
const ALLOWED: ReadonlySet<string> = new Set([
  'LETTER',
  'SAME_LETTER',
  'isJoiningLetter',
  'kept',
  'letter',
  'letters',
  'setStanding',
  'standing',
]);

const TYPES: readonly string[] = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'];

/** Breaks of the naming rules, one line each, with the file and line to go to. */
export function findBadNames(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  const types = new Map<string, string[]>();
  for (const file of files) {
    if (FILE_NAME.test(file.path)) found.push(`${file.path} is no noun that a stranger would search for`);
    const base = file.path.replace(/^.*\//, '').replace(/\..*$/, '');
    for (const word of findReplaced(base)) found.push(`${file.path}: for ${word} write ${REPLACED[word]}`);
    walk(file.program as unknown as Node, (node, parent) => {
      const name = getDeclaredName(node, parent);
      if (name === null) return true;
      const place = `${file.path}:${file.lineAt(node.start)}`;
      if (node.type === 'FunctionDeclaration' && /[a-z0-9]Of$/.test(name))
        found.push(`${place} ${name}: a function begins with a verb`);
      if (!ALLOWED.has(name))
        for (const word of findReplaced(name)) found.push(`${place} ${name}: for ${word} write ${REPLACED[word]}`);
      if (TYPES.includes(node.type)) types.set(name, [...(types.get(name) ?? []), place]);
      return true;
    });
  }
  for (const [name, places] of types)
    if (places.length > 1) found.push(`${name} is declared ${places.length} times: ${places.join(', ')}`);
  return found;
}

function findReplaced(name: string): readonly string[] {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => Object.hasOwn(REPLACED, word));
}

/** The name that a node declares: of a function, a type, a variable, a parameter or a method. */
function getDeclaredName(node: Node, parent: Node | null): string | null {
  if (node.type === 'FunctionDeclaration' || TYPES.includes(node.type)) return getIdentifier(node.id);
  if (node.type === 'VariableDeclarator') return getIdentifier(node.id);
  if (node.type === 'TSMethodSignature' || node.type === 'TSPropertySignature') return getIdentifier(node.key);
  const isParameter = node.type === 'Identifier' && (parent?.params as readonly Node[] | undefined)?.includes(node);
  return isParameter === true ? getIdentifier(node) : null;
}

function getIdentifier(node: unknown): string | null {
  if (typeof node !== 'object' || node === null || !('type' in node) || node.type !== 'Identifier') return null;
  return 'name' in node ? String(node.name) : null;
}
