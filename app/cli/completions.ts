import {
  type Command,
  type CommandEntry,
  type CommandSchema,
  type Completion,
  defineCommand,
  listFlags,
} from '../../core/command/index.ts';
import type { Subject } from './complete.ts';

const SHELLS = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;

const SAY = 'SHELL is missing: use bash, zsh or fish';

export const command = defineCommand(
  {
    name: 'completions',
    about: [
      'Prints a script that completes commands, flags, settings, open decisions and the names of personas. These are the',
      'watched personas or, while hivebar is not running, the ones with an event file.',
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
  /** Whether flags can come first, too. */
  readonly isVerbOptional: boolean;
  readonly flags: readonly CommandFlag[];
  /** What is offered for the other words, by the verb before them; '' without a verb. */
  readonly arguments: Readonly<Record<string, CommandArgument>>;
}

interface CommandFlag {
  readonly name: string;
  /** The value that follows the flag; null when it takes none. */
  readonly value: ValueKind | null;
}

interface CommandArgument {
  readonly kind: ValueKind;
  /** Whether it is the only word that follows the verb at once, so that nothing is offered for the words behind it. */
  readonly isFirstOnly: boolean;
}

/** `text` is offered nothing. The program lists the words of a `list` while a person types. */
type ValueKind =
  | { readonly is: 'list'; readonly subject: Subject }
  | { readonly is: 'words'; readonly words: readonly string[] }
  | { readonly is: 'file' | 'text' };

/** Collects what a shell can complete for each command. */
async function loadCommandWords(commands: Readonly<Record<string, CommandEntry>>): Promise<readonly CommandWords[]> {
  return await Promise.all(
    Object.values(commands).map(async ({ summary, load }) => toCommandWords(summary, (await load()).command)),
  );
}

export function toCommandWords(summary: string, { schema }: Command): CommandWords {
  const { verbs = {} } = schema;
  const flags = Object.entries(listFlags(schema)).map(([flag, spec]) => ({
    name: `--${flag}`,
    value: spec.type === 'boolean' ? null : toKind(spec.completes ?? spec.choices),
  }));
  const words = Object.entries(verbs).flatMap(([verb, spec]) =>
    [verb, ...(spec.aliases ?? [])].map((name) => [name.split(' ')[0] ?? '', findArgument(spec)] as const),
  );
  const own = findArgument(schema);
  const found = [['', own] as const, ...words].flatMap(([verb, argument]) =>
    argument === null ? [] : [[verb, argument] as const],
  );
  return {
    name: schema.name,
    summary,
    verbs: [...new Set(words.map(([verb]) => verb))],
    isVerbOptional: schema.isVerbOptional === true,
    flags: [{ name: '--help', value: null }, ...flags],
    arguments: Object.fromEntries(found.toReversed()), // of two verbs that begin with one word the first counts
  };
}

/** Finds the first word of a verb for which a shell can offer something. */
function findArgument({ positionals = {} }: Pick<CommandSchema, 'positionals'>): CommandArgument | null {
  const [first, ...rest] = Object.values(positionals);
  const completes = first?.completes ?? first?.choices;
  if (completes === undefined) return null;
  return { kind: toKind(completes), isFirstOnly: rest.length > 0 && rest.every(({ many }) => many !== true) };
}

function toKind(completes: Completion | undefined): ValueKind {
  switch (completes) {
    case undefined:
      return { is: 'text' };
    case 'file':
      return { is: 'file' };
    case 'persona':
      return { is: 'list', subject: 'personas' };
    case 'decision':
      return { is: 'list', subject: 'decisions' };
    default:
      return { is: 'words', words: completes };
  }
}

/** Formats the completion script for bash 3.2 and later. */
function formatBashCompletion(commands: readonly CommandWords[]): string {
  return `# bash completion for hivebar
_hivebar() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words= flags= list= files= name quoted
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
  case "$cur" in
  -*) words="$words $flags" ;;
  *) if [ -z "$words$list" ]; then words=$flags; fi ;;
  esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
  if [ -n "$list" ]; then
    # A name is text of others: it is quoted, so that nothing in it is ever run.
    while IFS= read -r name; do
      name=\${name%%$'\t'*}
      printf -v quoted %q "$name"
      case "$name" in "$cur"*) COMPREPLY+=("$quoted"); continue ;; esac
      case "$quoted" in "$cur"*) COMPREPLY+=("$quoted") ;; esac
    done < <(hivebar __complete "$list" 2>/dev/null)
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

function formatBashValue(value: ValueKind): string {
  switch (value.is) {
    case 'words':
      return `words='${value.words.join(' ')}'`;
    case 'list':
      return `list=${value.subject}`;
    case 'file':
      return 'files=1';
    case 'text':
      return ':';
  }
}

function formatBashCommand({ name, verbs, flags, arguments: byVerb }: CommandWords): string {
  const known = `flags='${flags.map((flag) => flag.name).join(' ')}'`;
  if (verbs.length === 0) {
    const own = byVerb[''] === undefined ? [] : [formatBashArgument('', byVerb[''])];
    return `      ${name}) ${[known, ...own].join('; ')} ;;`;
  }
  const cases = Object.entries(byVerb).map(([verb, argument]) => `${verb}) ${formatBashArgument(verb, argument)} ;;`);
  const rest = cases.length === 0 ? ':' : `case "\${COMP_WORDS[2]}" in ${cases.join(' ')} esac`;
  return `      ${name}) ${known}; if [ "$COMP_CWORD" -eq 2 ]; then words='${verbs.join(' ')}'; else ${rest}; fi ;;`;
}

function formatBashArgument(verb: string, { kind, isFirstOnly }: CommandArgument): string {
  const value = formatBashValue(kind);
  return isFirstOnly ? `if [ "$COMP_CWORD" -eq ${verb === '' ? 2 : 3} ]; then ${value}; fi` : value;
}

/** Formats the completion script for zsh. The shell can read it directly or find it as `_hivebar` among its functions. */
function formatZshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef hivebar
_hivebar_list() {
  local -a names texts; local line
  for line in "\${(@f)$(hivebar __complete $1 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    names+=("\${line%%$'\t'*}"); texts+=("\${line/$'\t'/  -- }")
  done
  if [[ $1 = personas ]]; then compadd -- $names; else compadd -l -d texts -- $names; fi
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

function formatZshValue(value: ValueKind): string {
  switch (value.is) {
    case 'words':
      return `compadd -- ${value.words.join(' ')}`;
    case 'list':
      return `_hivebar_list ${value.subject}`;
    case 'file':
      return '_files';
    case 'text':
      return ':';
  }
}

function formatZshCommand({ name, verbs, isVerbOptional, flags, arguments: byVerb }: CommandWords): string {
  const flagWords = `compadd -- ${flags.map((flag) => flag.name).join(' ')}`;
  const own = byVerb[''] === undefined ? [] : [formatZshArgument('', byVerb[''])];
  if (verbs.length === 0) return `    ${name}) ${[flagWords, ...own].join('; ')} ;;`;
  const cases = Object.entries(byVerb).map(([verb, argument]) => `${verb}) ${formatZshArgument(verb, argument)} ;;`);
  const rest = cases.length === 0 ? '' : `; case "\${words[3]}" in ${cases.join(' ')} esac`;
  return `    ${name}) if (( CURRENT == 3 )); then compadd -- ${verbs.join(' ')}${isVerbOptional ? `; ${flagWords}` : ''}; else ${flagWords}${rest}; fi ;;`;
}

function formatZshArgument(verb: string, { kind, isFirstOnly }: CommandArgument): string {
  const value = formatZshValue(kind);
  return isFirstOnly ? `if (( CURRENT == ${verb === '' ? 3 : 4} )); then ${value}; fi` : value;
}

function quoteZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

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

function formatFishCommand({ name, summary, verbs, flags, arguments: byVerb }: CommandWords): readonly string[] {
  const commandCondition = `__fish_seen_subcommand_from ${name}`;
  const verb = `__fish_seen_subcommand_from ${verbs.join(' ')}`;
  return [
    `complete -c hivebar -n __fish_use_subcommand -a ${name} -d ${quoteFish(summary)}`,
    ...(verbs.length === 0
      ? []
      : [`complete -c hivebar -n '${commandCondition}; and not ${verb}' -a '${verbs.join(' ')}'`]),
    ...flags.map(
      (flag) => `complete -c hivebar -n '${commandCondition}' -l ${flag.name.slice(2)}${formatFishValue(flag.value)}`,
    ),
    ...Object.entries(byVerb).flatMap(([verb, { kind, isFirstOnly }]) => {
      const words = formatFishWords(kind);
      if (words === null) return [];
      const behind = verb === '' ? '' : `; and __fish_seen_subcommand_from ${verb}`;
      const place = isFirstOnly ? `; and test (count (commandline -opc)) -eq ${verb === '' ? 2 : 3}` : '';
      return [`complete -c hivebar -n '${commandCondition}${behind}${place}' -a ${words}`];
    }),
  ];
}

function formatFishValue(value: CommandFlag['value']): string {
  if (value === null) return '';
  if (value.is === 'file') return ' -r -F';
  const words = formatFishWords(value);
  return words === null ? ' -x' : ` -x -a ${words}`;
}

/** Null: nothing is offered. Behind a tab fish shows what a word means. */
function formatFishWords(value: ValueKind): string | null {
  switch (value.is) {
    case 'words':
      return `'${value.words.join(' ')}'`;
    case 'list':
      return `'(hivebar __complete ${value.subject} 2>/dev/null)'`;
    case 'file':
    case 'text':
      return null;
  }
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
