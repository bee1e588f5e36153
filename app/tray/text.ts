/** Control characters, line ends, and what turns the direction of text around or hides in it. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

/** Text of others made fit for one menu row: one line, nothing invisible, at most `most` characters with a `…` when cut. */
export function rowText(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
