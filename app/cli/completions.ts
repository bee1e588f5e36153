import {
  type Command,
  type CommandEntry,
  type Completion,
  defineCommand,
  listFlags,
} from '../../core/command/index.ts';

const SHELLS = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;

const SAY = 'SHELL is missing: use bash, zsh or fish';

export const command = defineCommand(
  {
    name: 'completions',
    about: [
      'Prints a script that completes commands, flags and the names of personas. These are the watched personas or, while',
      'hivebar is not running, the ones with an event file.',
    ],
    positionals: {
      shell: { value: 'bash|zsh|fish', completes: ['bash', 'zsh', 'fish'], missing: SAY, parse: parseShell },
    },
    examples: [
      { run: 'eval "$(hivebar completions bash)"', does: 'in ~/.bashrc' },
      { run: 'eval "$(hivebar completions zsh)"', does: 'in ~/.zshrc, behind compinit' },
      { run: 'hivebar completions fish > ~/.config/fish/completions/hivebar.fish', does: 'once' },
    ],
  },
  async ({ shell }, io, commands) => {
    io.out(SHELLS[shell](await loadCommandWords(commands)));
    return 0;
  },
);

function parseShell(text: string): keyof typeof SHELLS {
  if (!Object.hasOwn(SHELLS, text)) throw new Error(SAY);
  return text as keyof typeof SHELLS;
}

/** What a shell can complete for a command, according to its schema. */
interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** Words that can come first, such as `list` and `show`. */
  readonly verbs: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** The kind of the other arguments. */
  readonly arguments: ArgumentKind;
}

interface CommandFlag {
  readonly name: string;
  /** The value that follows the flag; null when it takes none. */
  readonly value: ArgumentKind | { readonly is: 'words'; readonly words: readonly string[] } | null;
}

interface ArgumentKind {
  readonly is: 'persona' | 'file' | 'text';
}

/** Collects what a shell can complete for each command. */
async function loadCommandWords(commands: Readonly<Record<string, CommandEntry>>): Promise<readonly CommandWords[]> {
  return await Promise.all(
    Object.values(commands).map(async ({ summary, load }) => toCommandWords(summary, (await load()).command)),
  );
}

export function toCommandWords(summary: string, { schema }: Command): CommandWords {
  const positionals = [schema, ...Object.values(schema.verbs ?? {})].flatMap((grammar) =>
    Object.values(grammar.positionals ?? {}),
  );
  const flags = Object.entries(listFlags(schema)).map(([flag, spec]) => ({
    name: `--${flag}`,
    value: spec.type === 'boolean' ? null : toKind(spec.completes ?? spec.choices),
  }));
  const verbs = Object.entries(schema.verbs ?? {}).flatMap(([verb, { aliases = [] }]) => [verb, ...aliases]);
  const listed = schema.verbs === undefined ? positionals.flatMap(({ completes }) => toWords(completes)) : verbs;
  return {
    name: schema.name,
    summary,
    verbs: [...new Set(listed.map((verb) => verb.split(' ')[0] ?? ''))],
    flags: [{ name: '--help', value: null }, ...flags],
    arguments: { is: positionals.some(({ completes }) => completes === 'persona') ? 'persona' : 'text' },
  };
}

function toKind(completes: Completion | undefined): CommandFlag['value'] {
  if (completes === undefined) return { is: 'text' };
  return typeof completes === 'string' ? { is: completes } : { is: 'words', words: completes };
}

function toWords(completes: Completion | undefined): readonly string[] {
  return completes === undefined || typeof completes === 'string' ? [] : completes;
}

/** Formats the completion script for bash 3.2 and later. */
function formatBashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion for hivebar
_hivebar() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words= personas= files= name quoted
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case "\${COMP_WORDS[1]}:\${COMP_WORDS[COMP_CWORD - 1]}" in
${commands.flatMap(({ name, flags }) => flags.flatMap((flag) => formatBashFlag(name, flag))).join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${commands.map(formatBashCommand).join('\n')}
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

function formatBashFlag(command: string, { name, value }: CommandFlag): readonly string[] {
  if (value === null) return [];
  return [`    ${command}:${name}) ${formatBashValue(value)} ;;`];
}

function formatBashValue(value: NonNullable<CommandFlag['value']>): string {
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

function formatBashCommand({ name, verbs, flags, arguments: { is } }: CommandWords): string {
  const rest = [`words='${flags.map((flag) => flag.name).join(' ')}'`, ...(is === 'persona' ? ['personas=1'] : [])];
  if (verbs.length === 0) return `      ${name}) ${rest.join(' ')} ;;`;
  return `      ${name}) if [ "$COMP_CWORD" -eq 2 ]; then words='${verbs.join(' ')}'; else ${rest.join(' ')}; fi ;;`;
}

/** Formats the completion script for zsh. The shell can read it directly or find it as `_hivebar` among its functions. */
function formatZshCompletion(commands: readonly CommandWords[]): string {
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
${commands.map(({ name, summary }) => `      ${quoteZsh(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
    )
    _describe command commands
    compadd -- --help --version
    return
  fi
  case "\${words[2]}:\${words[CURRENT-1]}" in
${commands.flatMap(({ name, flags }) => flags.flatMap((flag) => formatZshFlag(name, flag))).join('\n')}
  *)
    case "\${words[2]}" in
${commands.map(formatZshCommand).join('\n')}
    esac ;;
  esac
}
if [ "\${funcstack[1]}" = _hivebar ]; then _hivebar "$@"; else compdef _hivebar hivebar; fi
`;
}

function formatZshFlag(command: string, { name, value }: CommandFlag): readonly string[] {
  if (value === null) return [];
  return [`  ${command}:${name}) ${formatZshValue(value)} ;;`];
}

function formatZshValue(value: NonNullable<CommandFlag['value']>): string {
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

function formatZshCommand({ name, verbs, flags, arguments: { is } }: CommandWords): string {
  const rest = [
    `compadd -- ${flags.map((flag) => flag.name).join(' ')}`,
    ...(is === 'persona' ? ['_hivebar_personas'] : []),
  ];
  if (verbs.length === 0) return `    ${name}) ${rest.join('; ')} ;;`;
  return `    ${name}) if (( CURRENT == 3 )); then compadd -- ${verbs.join(' ')}; else ${rest.join('; ')}; fi ;;`;
}

function quoteZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const PERSONAS = "'(hivebar __complete personas 2>/dev/null)'";

/** Formats the completion script for fish. */
function formatFishCompletion(commands: readonly CommandWords[]): string {
  return `${[
    '# fish completion for hivebar',
    'complete -c hivebar -f',
    'complete -c hivebar -n __fish_use_subcommand -l help',
    'complete -c hivebar -n __fish_use_subcommand -l version',
    ...commands.flatMap(formatFishCommand),
  ].join('\n')}\n`;
}

function formatFishCommand({ name, summary, verbs, flags, arguments: { is } }: CommandWords): readonly string[] {
  const commandCondition = `__fish_seen_subcommand_from ${name}`;
  const verb = `__fish_seen_subcommand_from ${verbs.join(' ')}`;
  const behind = verbs.length === 0 ? commandCondition : `${commandCondition}; and ${verb}`;
  return [
    `complete -c hivebar -n __fish_use_subcommand -a ${name} -d ${quoteFish(summary)}`,
    ...(verbs.length === 0
      ? []
      : [`complete -c hivebar -n '${commandCondition}; and not ${verb}' -a '${verbs.join(' ')}'`]),
    ...flags.map(
      (flag) => `complete -c hivebar -n '${commandCondition}' -l ${flag.name.slice(2)}${formatFishValue(flag.value)}`,
    ),
    ...(is === 'persona' ? [`complete -c hivebar -n '${behind}' -a ${PERSONAS}`] : []),
  ];
}

function formatFishValue(value: CommandFlag['value']): string {
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

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
