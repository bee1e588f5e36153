/** Which calls of tools a gate concerns; what is null concerns every one. */
export interface Matcher {
  /** Names of tools, separated by `|`, with `*` for any characters: `Bash`, `Edit|Write`, `mcp__*`. */
  readonly tool: string | null;
  /** A part of the command that the tool is to run, with `*` for any characters: `git push`, `rm * /`. */
  readonly command: string | null;
}

/** A call that an agent is about to make. */
export interface AgentToolCall {
  readonly name: string;
  /** What it is to run, for tools that run commands. */
  readonly command: string | null;
}

const MOST_PATTERN = 200;

/** Null when it can be a matcher, else why not. */
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

/** A command is looked at with its white space as single blanks, so that two blanks do not pass it by. */
export function isMatchingCall({ tool, command }: Matcher, call: AgentToolCall): boolean {
  if (tool !== null && !tool.split('|').some((name) => isLike(call.name, name.trim()))) return false;
  return (
    command === null || (call.command !== null && isLike(normalizeSpace(call.command), `*${normalizeSpace(command)}*`))
  );
}

const normalizeSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether the whole text is like the pattern. Walks both once; no expression is built, so none can be made slow. */
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
 * Whether a call is one that looks at gates and decisions or settles them, and nothing else: to deny it would lock the agent
 * out for good. One command of one program, by its name alone; nothing that a shell would expand, join or redirect.
 */
export function isGateCommand({ command }: AgentToolCall): boolean {
  if (command === null) return false;
  const words = parseWords(command);
  if (words === null) return false;
  const [program, verb] = words;
  return program === 'hivebar' && (verb === 'gate' || verb === 'decision');
}

const WORD = /\s*(?:((?:'[^']*'|"[^"$`\\!]*"|[A-Za-z0-9_@%+=:,./-])+)|$)/y;

/** The words of a command line. Null: a shell would do more with it than to run one program. */
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
