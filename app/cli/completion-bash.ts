import type { CommandFlag, CommandWords } from './help-completions.ts';

/** Formats the completion script for bash 3.2 and later. */
export function formatBashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion for hivebar
_hivebar() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words= personas= files= name quoted
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case "\${COMP_WORDS[1]}:\${COMP_WORDS[COMP_CWORD - 1]}" in
${commands.flatMap(({ name, flags }) => flags.flatMap((flag) => formatFlagCase(name, flag))).join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${commands.map(formatCommandCase).join('\n')}
      esac ;;
    esac
  fi
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
  if [ -n "$personas" ]; then
    # A name is text of others: it is quoted, so that nothing in it is ever run.
    while IFS= read -r name; do
      printf -v quoted %q "$name"
      case "$name" in "$cur"*) COMPREPLY+=("$quoted"); continue ;; esac
      case "$quoted" in "$cur"*) COMPREPLY+=("$quoted") ;; esac
    done < <(hivebar __complete personas 2>/dev/null)
  fi
  if [ -z "$files" ]; then compopt +o default 2>/dev/null; fi
}
complete -o default -F _hivebar hivebar
`;
}

function formatFlagCase(command: string, { name, value }: CommandFlag): readonly string[] {
  if (value === null) return [];
  return [`    ${command}:${name}) ${formatCandidates(value)} ;;`];
}

function formatCandidates(value: NonNullable<CommandFlag['value']>): string {
  switch (value.is) {
    case 'words':
      return `words='${value.words.join(' ')}'`;
    case 'persona':
      return 'personas=1';
    case 'file':
      return 'files=1';
    case 'text':
      return ':';
  }
}

function formatCommandCase({ name, verbs, flags, arguments: { is } }: CommandWords): string {
  const rest = [`words='${flags.map((flag) => flag.name).join(' ')}'`, ...(is === 'persona' ? ['personas=1'] : [])];
  if (verbs.length === 0) return `      ${name}) ${rest.join(' ')} ;;`;
  return `      ${name}) if [ "$COMP_CWORD" -eq 2 ]; then words='${verbs.join(' ')}'; else ${rest.join(' ')}; fi ;;`;
}
