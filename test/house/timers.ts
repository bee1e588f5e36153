import { type Node, type SourceFile, walk } from './source-file.ts';

/** The room that owns the timers of background work. */
const OWNER = 'core/services/';

/** Calls that run a callback later. */
const SETS_TIMER: ReadonlySet<string> = new Set(['after', 'schedule', 'setTimeout']);

const isFunction = (node: Node): boolean =>
  ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
const isLoop = (node: Node): boolean =>
  ['WhileStatement', 'DoWhileStatement', 'ForStatement', 'ForOfStatement'].includes(node.type);

/**
 * Finds the timers that renew themselves, one line each: `setInterval`, a timer whose callback leads back to the
 * function that sets it, and a loop that sleeps. A sleep of 0 ms only lets others run.
 */
export function findOwnTimers(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ path }) => !path.startsWith(OWNER)).flatMap(findInFile);
}

/** A function of the file, by its name, with the names that its body mentions. */
type Mentions = ReadonlyMap<string, ReadonlySet<string>>;

function findInFile(file: SourceFile): readonly string[] {
  const mentions = collectMentions(file);
  const found: string[] = [];
  visit(file.program as unknown as Node, [], false);
  return found;

  function visit(node: Node, names: readonly string[], isLooping: boolean): void {
    walk(node, (at, parent) => {
      if (at === node) return true;
      if (isFunction(at)) {
        const name = getFunctionName(at, parent);
        visit(at, name === null ? names : [...names, name], false);
        return false;
      }
      if (isLoop(at) && !isLooping) {
        visit(at, names, true);
        return false;
      }
      if (at.type !== 'CallExpression') return true;
      const given = at.arguments as readonly Node[];
      const called = getCalledName(at);
      if (called === 'setInterval') report('repeats by setInterval', names);
      else if (isLooping && called === 'sleep' && !isZero(given[0])) report('sleeps in a loop', names);
      else if (SETS_TIMER.has(called) && given.some((part) => leadsBack(part, names)))
        report('sets itself again', names);
      return true;
    });
  }

  function report(fault: string, names: readonly string[]): void {
    found.push(`${file.path} ${names.at(-1)?.replace('.', '') ?? '(top)'} ${fault}`);
  }

  /** Returns whether the callback leads to the innermost function that sets the timer. */
  function leadsBack(callback: Node, names: readonly string[]): boolean {
    const target = names.at(-1);
    if (target === undefined) return false;
    const seen = new Set<string>();
    const next = [...listNames(callback)];
    for (let name = next.pop(); name !== undefined; name = next.pop()) {
      if (name === target) return true;
      if (seen.has(name)) continue;
      seen.add(name);
      next.push(...(mentions.get(name) ?? []));
    }
    return false;
  }
}

function collectMentions(file: SourceFile): Mentions {
  const mentions = new Map<string, Set<string>>();
  walk(file.program as unknown as Node, (at, parent) => {
    const name = isFunction(at) ? getFunctionName(at, parent) : null;
    if (name !== null) mentions.set(name, new Set([...(mentions.get(name) ?? []), ...listNames(at.body as Node)]));
    return true;
  });
  return mentions;
}

/** The names of own functions that a piece of code mentions. Names of other objects' members do not count. */
function listNames(piece: Node): ReadonlySet<string> {
  const names = new Set<string>();
  walk(piece, (at, parent, field) => {
    const isOwnMember = at.type === 'MemberExpression' && (at.object as Node).type === 'ThisExpression';
    if (isOwnMember) names.add(getName(at.property as Node)).add(`.${getName(at.property as Node)}`);
    const isLabel =
      (parent?.type === 'MemberExpression' && field === 'property') || (parent?.type === 'Property' && field === 'key');
    if (at.type === 'Identifier' && !isLabel) names.add(getName(at));
    return true;
  });
  return names;
}

function getFunctionName(at: Node, parent: Node | null): string | null {
  if (at.type === 'FunctionDeclaration') return getName(at.id as Node);
  if (parent?.type === 'VariableDeclarator') return getName(parent.id as Node);
  if (parent?.type === 'MethodDefinition' || parent?.type === 'PropertyDefinition') return getName(parent.key as Node);
  if (parent?.type === 'Property') return `.${getName(parent.key as Node)}`; // no variable is called so
  return null;
}

function getName(node: Node): string {
  return `${node.type === 'PrivateIdentifier' ? '#' : ''}${String(node.name)}`;
}

function getCalledName(call: Node): string {
  const callee = call.callee as Node;
  return callee.type === 'MemberExpression' ? getName(callee.property as Node) : getName(callee);
}

function isZero(node: Node | undefined): boolean {
  return node?.type === 'Literal' && node.value === 0;
}
