import { line } from './program.ts';

/** Text of an XML element, in ASCII alone, so that no reader can be wrong about the encoding. */
export function xmlText(text: string): string {
  return line(text)
    .toWellFormed()
    .replace(/[^\x20-\x7e]|[&<>"]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** The same for a comment, which may hold no two hyphens. */
export function xmlComment(text: string): string {
  return `<!-- ${xmlText(text).replaceAll('--', '-&#45;')} -->`;
}
