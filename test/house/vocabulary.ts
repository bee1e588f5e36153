import { listNames, type Node, type SourceFile, splitName } from './source-file.ts';

/** Words that no name holds, with the words of docs/GLOSSARY.md for the ideas. */
const REPLACED: Readonly<Record<string, string>> = {
  deed: 'action',
  deeds: 'actions',
  driver: 'channel, or backend of the desktop channel',
  drivers: 'channels, or backends of the desktop channel',
  hole: 'gap',
  holes: 'gaps',
  hurried: 'deadline',
  kept: 'saved, stored or held',
  letter: 'message',
  letters: 'messages',
  look: 'poll, or poll result',
  looked: 'polled',
  looks: 'polls',
  offer: 'batch',
  offered: 'batch',
  offers: 'batches',
  picture: 'snapshot of the board, or screenshot',
  pictures: 'snapshots of the board, or screenshots',
  prism: 'daemon',
  reach: 'health',
  said: 'batch, output or answer',
  saying: 'batch',
  sayings: 'batches',
  settle: 'acknowledge, or wait for',
  settled: 'acknowledged, or ended',
  settles: 'acknowledges',
  standing: 'health, or state',
  taken: 'ack, or accepted',
  told: 'delivered, announced or reported',
  vital: 'agent state',
  vitals: 'agent states',
};

/** Whole names that were types of a message, and are too short to say which. */
const SHORT_TYPES: ReadonlySet<string> = new Set(['Row', 'Letter', 'Latest', 'WireRow', 'NewEvent']);

/** Rooms that know checkpoints; elsewhere a mark is the record that a gate is satisfied. */
const WITH_CHECKPOINTS = /^core\/(?:watch|watcher|sinks|sources)\//;

interface Exception {
  readonly names: readonly string[];
  /** Where; everywhere when it is missing. */
  readonly path?: RegExp;
  readonly reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    names: ['LETTER', 'SAME_LETTER', 'isJoiningLetter', 'letter', 'letters'],
    path: /^(?:app\/status\/history-routes|core\/format\/display-name|core\/inbox\/drain\/render|ui-static\/spark)\./,
    reason: 'a letter of an alphabet',
  },
  { names: ['kept'], path: /^(?:core\/sinks\/outbox|test)\//, reason: 'a column of the table `watches`' },
  { names: ['standing'], path: /^app\/(?:hook|cli)\//, reason: 'a key that `hivebar hook status --json` prints' },
  { names: ['taken'], path: /^app\//, reason: 'a key of the answer of the action `notify-test`' },
  {
    names: ['boundary', 'duplicate_boundary'],
    path: /^(?:app\/cli|core\/link)\//,
    reason: 'keys of the control protocol',
  },
  { names: ['look'], path: /^app\/status\/render-page\.ts$/, reason: 'a slot of the page template' },
  {
    names: ['driver', 'DRIVER', 'TrayDriver', 'tray-driver'],
    path: /^app\/(?:tray|cli)\//,
    reason: 'the flag `--tray-driver`; a driver of the tray is no way to notify',
  },
  { names: ['parseWatch', 'runWatch'], reason: 'the command `hivebar watch`' },
  { names: ['looksLikeClosing'], reason: 'the English verb `looks like`' },
  { names: ['status-watch'], path: /^app\/cli\//, reason: 'the flag `hivebar status --watch`' },
];

/** Names that hold a word which docs/GLOSSARY.md replaces, one line each, with the file and line to go to. */
export function findReplacedWords(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    const base = file.path.replace(/^.*\//, '').replace(/\..*$/, '');
    for (const advice of judgeName(file.path, base, null)) found.push(`${file.path}: ${advice}`);
    for (const { name, node } of listNames(file))
      for (const advice of judgeName(file.path, name, node))
        found.push(`${file.path}:${file.lineAt(node.start)} ${name}: ${advice}`);
  }
  return found;
}

function judgeName(path: string, name: string, node: Node | null): readonly string[] {
  if (EXCEPTIONS.some(({ names, path: place }) => names.includes(name) && place?.test(path) !== false)) return [];
  const words = splitName(name);
  const found = words.flatMap((word) => (Object.hasOwn(REPLACED, word) ? [`for ${word} write ${REPLACED[word]}`] : []));
  if (SHORT_TYPES.has(name) && isType(node)) found.push('for a message write Message, with its layer in front');
  const last = words.at(-1);
  for (const [index, word] of words.entries())
    if (/^boundar(?:y|ies)$/.test(word) && words[index - 1] !== 'turn') found.push(`for ${word} write turn boundary`);
  if (last === 'watch' && (words.length > 1 || (node !== null && isValue(node)))) found.push('for watch write watcher');
  if (/^marks?$/.test(last ?? '') && WITH_CHECKPOINTS.test(path) && (node === null || !isCallable(node)))
    found.push('for mark write checkpoint');
  if (words[0] === 'keep' && words.length > 1 && node?.type === 'FunctionDeclaration')
    found.push('for a function keepX write store, or a service');
  return found;
}

function isType(node: Node | null): boolean {
  return node !== null && ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'].includes(node.type);
}

/** A variable that holds no function. */
function isValue(node: Node): boolean {
  return node.type === 'VariableDeclarator' && !isCallable(node);
}

function isCallable(node: Node): boolean {
  const { type } = (node.init ?? node) as Node;
  return ['FunctionDeclaration', 'ArrowFunctionExpression', 'FunctionExpression', 'TSMethodSignature'].includes(type);
}

const ARTICLE = '(?:a|an|the|each|every|one|this|that|another|last|next)';

/** The same words in a page, where most of them are also English verbs: only as nouns. */
const PROSE: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`\\b${ARTICLE} looks?\\b(?! (?:alike|for|like|up))`, 'i'), 'poll'],
  [new RegExp(`\\b${ARTICLE} holes?\\b`, 'i'), 'gap'],
  [new RegExp(`\\b${ARTICLE} watch(?:es)?\\b`, 'i'), 'watcher, or headless watch'],
  [new RegExp(`\\b${ARTICLE} (?:offer|saying)s?\\b`, 'i'), 'batch'],
  [new RegExp(`\\b${ARTICLE} deeds?\\b`, 'i'), 'action'],
  [new RegExp(`\\b${ARTICLE} vitals?\\b`, 'i'), 'agent state'],
  [new RegExp(`\\b${ARTICLE} (?:reach|standing)\\b(?! state)`, 'i'), 'health'],
  [/(?<!turn |turn-|sandbox-|`)\bboundar(?:y|ies)\b/i, 'turn boundary'], // `boundary` is a key of the control protocol
  [/\bdrivers? of (?:the )?(?:notif|desktop)/i, 'channel, or backend of the desktop channel'],
  [/`(?:NewEvent|WireRow|Letter|Latest)`/, 'the name of the type of message'],
];

/** Replaced words in a page of documentation; what is in code marks is the name of something else. */
export function findReplacedProse(path: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    return PROSE.flatMap(([pattern, write]) => {
      const match = pattern.exec(line);
      return match === null ? [] : [`${path}:${index + 1} for "${match[0]}" write ${write}`];
    });
  });
}
