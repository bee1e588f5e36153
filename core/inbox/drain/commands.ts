/** Names that may stand in a command line that an agent runs as it reads it. */
const BARE = /^(?!-)[A-Za-z0-9._@:+,=-]{1,100}$/;
// Made when it is first used: what it names of Unicode takes its time to be read.
const isQuotable = (name: string): boolean => /^(?!-)[\p{L}\p{N} !#$%()*.;?@[\]^_`{|}~/:+,='-]{1,100}$/u.test(name);

/** `hivebar inbox show PERSONA ID`, ready to be run in a shell. */
export function formatShowCommand(persona: string, id: number | 'ID'): string {
  return `hivebar inbox show ${quoteWord(persona)} ${id}`;
}

export function formatPendingCommand(persona: string): string {
  return `hivebar inbox list ${quoteWord(persona)} --pending`;
}

/** A name that no shell acts on. One that cannot be typed like that is left for the agent to put in. */
function quoteWord(name: string): string {
  if (BARE.test(name)) return name;
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  return isQuotable(name) && quoted.length <= 120 ? quoted : 'PERSONA';
}
