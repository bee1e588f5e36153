/** Quotes a path as one word of a command that a person copies. */
export function quoteShellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
