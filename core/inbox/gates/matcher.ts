/** Which tool calls a gate applies to; a field that is null matches all. */
export interface Matcher {
  /** Names of tools, separated by `|`, with `*` for any characters: `Bash`, `Edit|Write`, `mcp__*`. */
  readonly tool: string | null;
  /** A part of the command that the tool is to run, with `*` for any characters: `git push`, `rm * /`. */
  readonly command: string | null;
}

/** A tool call that an agent is about to make. */
export interface AgentToolCall {
  readonly name: string;
  /** The command, for tools that run commands. */
  readonly command: string | null;
}

const MOST_PATTERN = 200;

/** Null if the matcher is valid, else why not. */
export function explainInvalidMatcher({ tool, command }: Matcher): string | null {
  for (const [field, pattern] of [
    ['tool', tool],
    ['command', command],
  ] as const) {
    if (pattern === null) continue;
    if (pattern.trim() === '') return `the ${field} is empty: leave it out for every ${field}`;
    if (pattern.length > MOST_PATTERN) return `the ${field} has ${pattern.length} characters, over ${MOST_PATTERN}`;
    if (/\p{Cc}/u.test(pattern)) return `the ${field} has control characters`;
  }
  if (tool?.split('|').some((name) => name.trim() === '')) return `the tool ${JSON.stringify(tool)} has an empty name`;
  return null;
}

/** Whether a call matches. White space in commands is compared as single blanks, so that two blanks do not evade the gate. */
export function isMatchingCall({ tool, command }: Matcher, call: AgentToolCall): boolean {
  if (tool !== null && !tool.split('|').some((name) => isLike(call.name, name.trim()))) return false;
  return (
    command === null || (call.command !== null && isLike(normalizeSpace(call.command), `*${normalizeSpace(command)}*`))
  );
}

const normalizeSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Whether the whole text matches the pattern. It is scanned once, and no regular expression is built, so no pattern can be slow.
 */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const position = text.indexOf(part, at);
    if (position === -1) return false;
    at = position + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/**
 * Whether a call only shows or settles gates and decisions. Denying it would lock the agent out for good. It must be one command
 * of one program, by its plain name, with nothing that a shell would expand, join or redirect.
 */
export function isGateCommand({ command }: AgentToolCall): boolean {
  if (command === null) return false;
  const words = parseWords(command);
  if (words === null) return false;
  const [program, verb] = words;
  return program === 'hivebar' && (verb === 'gate' || verb === 'decision');
}

const WORD = /\s*(?:((?:'[^']*'|"[^"$`\\!]*"|[A-Za-z0-9_@%+=:,./-])+)|$)/y;

/** The words of a command line. Null: a shell would do more than run one program. */
function parseWords(command: string): readonly string[] | null {
  const words: string[] = [];
  const text = command.trim();
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const from = WORD.lastIndex;
    const [whole, word] = WORD.exec(text) ?? [];
    if (whole === undefined || word === undefined || (from > 0 && !/^\s/.test(whole)) || whole.includes('\n'))
      return null;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return words;
}
