/** A command that a person can copy into a shell, from any folder. */
export function formatShellLine(folder: string, words: readonly string[]): string {
  return `cd ${quoteWord(folder)} && ${words.map(quoteWord).join(' ')}`;
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
