import type { CommandWords, Flag } from './words-of.ts';

const PERSONAS = "'(hivebar __complete personas 2>/dev/null)'";

/** The completion script for fish. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  return `${[
    '# fish completion for hivebar',
    'complete -c hivebar -f',
    'complete -c hivebar -n __fish_use_subcommand -l help',
    'complete -c hivebar -n __fish_use_subcommand -l version',
    ...commands.flatMap(linesOf),
  ].join('\n')}\n`;
}

function linesOf({ name, summary, verbs, flags, arguments: { is } }: CommandWords): readonly string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  const verb = `__fish_seen_subcommand_from ${verbs.join(' ')}`;
  const behind = verbs.length === 0 ? seen : `${seen}; and ${verb}`;
  return [
    `complete -c hivebar -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...(verbs.length === 0 ? [] : [`complete -c hivebar -n '${seen}; and not ${verb}' -a '${verbs.join(' ')}'`]),
    ...flags.map((flag) => `complete -c hivebar -n '${seen}' -l ${flag.name.slice(2)}${offer(flag.value)}`),
    ...(is === 'persona' ? [`complete -c hivebar -n '${behind}' -a ${PERSONAS}`] : []),
  ];
}

function offer(value: Flag['value']): string {
  switch (value?.is) {
    case undefined:
      return '';
    case 'words':
      return ` -x -a '${value.words.join(' ')}'`;
    case 'persona':
      return ` -x -a ${PERSONAS}`;
    case 'file':
      return ' -r -F';
    case 'text':
      return ' -x';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
