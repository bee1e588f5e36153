import type { CommandFlag, CommandWords } from './help-completions.ts';

/** Formats the completion script for zsh. The shell can read it directly or find it as `_hivebar` among its functions. */
export function formatZshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef hivebar
_hivebar_personas() {
  local -a names
  names=("\${(@f)$(hivebar __complete personas 2>/dev/null)}")
  compadd -- \${names:#}
}
_hivebar() {
  local -a commands
  if (( CURRENT == 2 )); then
    commands=(
${commands.map(({ name, summary }) => `      ${quote(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
    )
    _describe command commands
    compadd -- --help --version
    return
  fi
  case "\${words[2]}:\${words[CURRENT-1]}" in
${commands.flatMap(({ name, flags }) => flags.flatMap((flag) => formatFlagCase(name, flag))).join('\n')}
  *)
    case "\${words[2]}" in
${commands.map(formatCommandCase).join('\n')}
    esac ;;
  esac
}
if [ "\${funcstack[1]}" = _hivebar ]; then _hivebar "$@"; else compdef _hivebar hivebar; fi
`;
}

function formatFlagCase(command: string, { name, value }: CommandFlag): readonly string[] {
  if (value === null) return [];
  return [`  ${command}:${name}) ${formatCandidates(value)} ;;`];
}

function formatCandidates(value: NonNullable<CommandFlag['value']>): string {
  switch (value.is) {
    case 'words':
      return `compadd -- ${value.words.join(' ')}`;
    case 'persona':
      return '_hivebar_personas';
    case 'file':
      return '_files';
    case 'text':
      return ':';
  }
}

function formatCommandCase({ name, verbs, flags, arguments: { is } }: CommandWords): string {
  const rest = [
    `compadd -- ${flags.map((flag) => flag.name).join(' ')}`,
    ...(is === 'persona' ? ['_hivebar_personas'] : []),
  ];
  if (verbs.length === 0) return `    ${name}) ${rest.join('; ')} ;;`;
  return `    ${name}) if (( CURRENT == 3 )); then compadd -- ${verbs.join(' ')}; else ${rest.join('; ')}; fi ;;`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
