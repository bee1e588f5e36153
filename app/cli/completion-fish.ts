import type { CommandFlag, CommandWords } from './help-completions.ts';

const PERSONAS = "'(hivebar __complete personas 2>/dev/null)'";

/** Formats the completion script for fish. */
export function formatFishCompletion(commands: readonly CommandWords[]): string {
  return `${[
    '# fish completion for hivebar',
    'complete -c hivebar -f',
    'complete -c hivebar -n __fish_use_subcommand -l help',
    'complete -c hivebar -n __fish_use_subcommand -l version',
    ...commands.flatMap(formatCommandLines),
  ].join('\n')}\n`;
}

function formatCommandLines({ name, summary, verbs, flags, arguments: { is } }: CommandWords): readonly string[] {
  const commandCondition = `__fish_seen_subcommand_from ${name}`;
  const verb = `__fish_seen_subcommand_from ${verbs.join(' ')}`;
  const behind = verbs.length === 0 ? commandCondition : `${commandCondition}; and ${verb}`;
  return [
    `complete -c hivebar -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...(verbs.length === 0
      ? []
      : [`complete -c hivebar -n '${commandCondition}; and not ${verb}' -a '${verbs.join(' ')}'`]),
    ...flags.map(
      (flag) => `complete -c hivebar -n '${commandCondition}' -l ${flag.name.slice(2)}${formatCandidates(flag.value)}`,
    ),
    ...(is === 'persona' ? [`complete -c hivebar -n '${behind}' -a ${PERSONAS}`] : []),
  ];
}

function formatCandidates(value: CommandFlag['value']): string {
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

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
