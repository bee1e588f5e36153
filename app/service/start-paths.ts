import { type Disk, getErrno } from '../../core/state/index.ts';

/** Matches a word in double quotes, of a unit, an autostart entry or a task, or the text of a property list. */
const WORD = /"((?:[^"\\]|\\.)*)"|<string>([^<]*)<\/string>/g;
const ABSOLUTE = /^(\/|[A-Za-z]:\\)/;
const ENV = '/usr/bin/env';

/** Returns the Node and the file that a unit of ours starts: the first two absolute paths in its text, in all of our forms. */
export function parseStartPaths(text: string, os: NodeJS.Platform): readonly string[] {
  // Every string of an autostart entry is escaped once more.
  const once = text.includes('[Desktop Entry]') ? text.replaceAll('\\\\', '\\') : text;
  const plain = os === 'win32' ? decodeXml(text) : once;
  const words = [...plain.matchAll(WORD)].map(([, quoted, element]) =>
    element === undefined ? unquote(quoted ?? '', os) : decodeXml(element),
  );
  return words.filter((word) => ABSOLUTE.test(word) && word !== ENV).slice(0, 2);
}

/** Returns which of these is missing, so that nothing starts; null when none is. */
export function findMissingStart(disk: Disk, text: string, os: NodeJS.Platform): string | null {
  return parseStartPaths(text, os).find((path) => !isThere(disk, path)) ?? null;
}

/** Follows links: a link without a target starts nothing. */
function isThere({ files }: Disk, path: string): boolean {
  try {
    return files.lstat(`${path}/.`) !== null;
  } catch (error) {
    return getErrno(error) !== 'ENOENT'; // mostly ENOTDIR: a file. What cannot be read may still exist
  }
}

function unquote(word: string, os: NodeJS.Platform): string {
  if (os === 'win32') return word;
  return word
    .replace(/\\(["`$\\])/g, '$1')
    .replaceAll('%%', '%')
    .replaceAll('$$', '$');
}

function decodeXml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
