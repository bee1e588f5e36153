/** A command as a person copies it into a shell, from any folder. */
export function shellLine(folder: string, words: readonly string[]): string {
  return `cd ${quoted(folder)} && ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
