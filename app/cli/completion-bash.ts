import type { CommandWords, Flag } from './words-of.ts';

/** The completion script for bash, from 3.2 on. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion for hivebar
_hivebar() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words= personas= files= name quoted
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case "\${COMP_WORDS[1]}:\${COMP_WORDS[COMP_CWORD - 1]}" in
${commands.flatMap(({ name, flags }) => flags.flatMap((flag) => afterFlag(name, flag))).join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${commands.map(behind).join('\n')}
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

function afterFlag(command: string, { name, value }: Flag): readonly string[] {
  if (value === null) return [];
  return [`    ${command}:${name}) ${offer(value)} ;;`];
}

function offer(value: NonNullable<Flag['value']>): string {
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

function behind({ name, verbs, flags, arguments: { is } }: CommandWords): string {
  const rest = [`words='${flags.map((flag) => flag.name).join(' ')}'`, ...(is === 'persona' ? ['personas=1'] : [])];
  if (verbs.length === 0) return `      ${name}) ${rest.join(' ')} ;;`;
  return `      ${name}) if [ "$COMP_CWORD" -eq 2 ]; then words='${verbs.join(' ')}'; else ${rest.join(' ')}; fi ;;`;
}
