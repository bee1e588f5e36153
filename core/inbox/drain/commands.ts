/** Names that need no quotes in a command line that an agent copies. */
const BARE = /^(?!-)[A-Za-z0-9._@:+,=-]{1,100}$/;
// The expression is created at first use, because its Unicode classes take time to load.
const isQuotable = (name: string): boolean => /^(?!-)[\p{L}\p{N} !#$%()*.;?@[\]^_`{|}~/:+,='-]{1,100}$/u.test(name);

/** Formats `hivebar inbox show PERSONA ID`, ready to run in a shell. */
export function formatShowCommand(persona: string, id: number | 'ID'): string {
  return `hivebar inbox show ${quoteWord(persona)} ${id}`;
}

export function formatPendingCommand(persona: string): string {
  return `hivebar inbox list ${quoteWord(persona)} --pending`;
}

/**
 * Quotes a name so that no shell acts on it. A name that cannot be quoted is replaced by a placeholder, which the agent fills in.
 */
function quoteWord(name: string): string {
  if (BARE.test(name)) return name;
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  return isQuotable(name) && quoted.length <= 120 ? quoted : 'PERSONA';
}
