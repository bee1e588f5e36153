import { type Node, type SourceFile, walk } from './source-file.ts';

/** Syntax and habits that the house does without, one line each. */
export function misshapen(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const found: string[] = [];
    const say = (offset: number, fault: string): void => {
      found.push(`${file.path}:${file.lineAt(offset)} ${fault}`);
    };
    for (const { value, start } of file.comments) {
      if (/\b(TODO|FIXME|XXX|HACK)\b/.test(value)) say(start, 'leaves work for later');
      if (/@ts-(ignore|expect-error|nocheck)/.test(value)) say(start, 'silences the compiler');
    }
    walk(file.program as unknown as Node, (node, parent) => {
      const wrong = wrongWith(file, node, parent);
      if (wrong !== null) say(node.start, wrong);
      return true;
    });
    return found;
  });
}

function wrongWith(file: SourceFile, node: Node, parent: Node | null): string | null {
  switch (node.type) {
    case 'TSEnumDeclaration':
      return 'an enum cannot be erased';
    case 'TSModuleDeclaration':
      return node.declare === true || file.path.endsWith('.d.ts') ? null : 'a namespace cannot be erased';
    case 'TSParameterProperty':
      return 'a parameter property cannot be erased';
    case 'TSAnyKeyword':
      return 'any turns the compiler off';
    case 'ExportDefaultDeclaration':
      return /\.(d\.ts|mjs)$/.test(file.path) ? null : 'a default export has no name of its own';
    case 'CatchClause':
      return explainsItself(file, node) ? null : 'a catch that neither throws, nor uses its error, nor says why';
    case 'CallExpression':
      return isTest(file) && leavesOut(node) ? 'leaves a test out, or all others' : null;
    case 'Property':
      return isTest(file) && parent?.type === 'ObjectExpression' && isSkip(node) ? 'leaves a test out' : null;
    default:
      return null;
  }
}

/** A swallowed error needs one of: a throw, a use of what was caught, a comment with the reason. */
function explainsItself(file: SourceFile, clause: Node): boolean {
  if (file.comments.some(({ start, end }) => start > clause.start && end < clause.end)) return true;
  const param = clause.param as Node | null;
  let explained = false;
  walk(clause.body as Node, (node) => {
    if (node.type === 'ThrowStatement') explained = true;
    if (param !== null && node.type === 'Identifier' && node.name === param.name) explained = true;
    return true;
  });
  return explained;
}

const isTest = ({ path }: SourceFile): boolean => path.endsWith('.test.ts');

/** `test.only(...)`, `t.skip()`: a test that is missing goes through `needs` of the kit, which CI does not accept. */
function leavesOut(call: Node): boolean {
  const callee = call.callee as Node;
  if (callee.type !== 'MemberExpression' || callee.computed === true) return false;
  const object = (callee.object as Node).name;
  const property = String((callee.property as Node).name);
  return /^(test|it|describe|suite|t)$/.test(String(object)) && /^(only|skip|todo)$/.test(property);
}

/** For good, that is: one that depends on the machine is let through here, and fails the run in CI. */
function isSkip(property: Node): boolean {
  const { type, value } = property.value as Node;
  const always = type === 'TemplateLiteral' || (type === 'Literal' && value !== false);
  return always && /^(only|skip|todo)$/.test(String((property.key as Node).name));
}
