import { type Node, type SourceFile, walk } from './source-file.ts';

/** Parts of Node that reach the system, by their names without `node:`. */
const SYSTEM = new Set(
  (
    'child_process cluster console dgram dns dns/promises fs fs/promises http http2 https inspector net os perf_hooks ' +
    'process readline readline/promises sqlite timers timers/promises tls tty worker_threads'
  ).split(' '),
);

/** Packages that reach it as soon as they are used. */
const PACKAGES = new Set(['@jellybrick/dbus-next', 'conf', 'koffi', 'node-notifier', 'systray2', 'undici', 'ws']);

const GLOBALS = new Set(
  (
    'Date EventSource WebSocket clearImmediate clearInterval clearTimeout console fetch globalThis performance process ' +
    'setImmediate setInterval setTimeout'
  ).split(' '),
);

/** The one kind of file that may reach the system; the page is a shell as a whole. */
const isShell = (path: string): boolean => path.endsWith('.node.ts') || path.startsWith('ui-static/');

/** Syntax of types that still holds code which runs. */
const RUNS = /^TS(As|Satisfies|NonNull|Instantiation)Expression$|^TS(Enum|Module|ExportAssignment|ParameterProperty)/;

/** System calls outside `*.node.ts`, one line each. */
export function impurities(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ path }) => !isShell(path)).flatMap((file) => [...listImports(file), ...listGlobals(file)]);
}

function listImports({ path, imports }: SourceFile): readonly string[] {
  return imports
    .filter(({ typeOnly, specifier }) => !typeOnly && reachesSystem(specifier))
    .map(({ specifier, line }) => `${path}:${line} imports ${specifier}`);
}

function reachesSystem(specifier: string): boolean {
  if (specifier.startsWith('node:')) return SYSTEM.has(specifier.slice('node:'.length));
  if (SYSTEM.has(specifier)) return true;
  return [...PACKAGES].some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

function listGlobals(file: SourceFile): readonly string[] {
  const found: string[] = [];
  walk(file.program as unknown as Node, (node, parent, field) => {
    if (node.type === 'ImportDeclaration') return false;
    if (node.type.startsWith('TS') && !RUNS.test(node.type)) return false;
    if (node.type === 'Identifier' && GLOBALS.has(String(node.name)) && !isLabel(parent, field) && !isDateUtc(parent)) {
      found.push(`${file.path}:${file.lineAt(node.start)} touches ${node.name}`);
    }
    if (isMathRandom(node)) found.push(`${file.path}:${file.lineAt(node.start)} touches Math.random`);
    return true;
  });
  return found;
}

/** The name of a member, as in `clock.setTimeout` or `{ fetch: ... }`: nobody's global. */
function isLabel(parent: Node | null, field: string): boolean {
  if (parent === null || parent.computed === true) return false;
  return (parent.type === 'MemberExpression' && field === 'property') || field === 'key';
}

/** `Date.UTC` is arithmetic: it knows no clock and no time zone. */
function isDateUtc(parent: Node | null): boolean {
  if (parent?.type !== 'MemberExpression' || parent.computed === true) return false;
  return (parent.object as Node).name === 'Date' && (parent.property as Node).name === 'UTC';
}

function isMathRandom(node: Node): boolean {
  const name = (value: unknown): unknown => (value as Node).name;
  return node.type === 'MemberExpression' && name(node.object) === 'Math' && name(node.property) === 'random';
}
