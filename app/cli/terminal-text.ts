/** Matches text in which each character is one column wide. */
const PLAIN = /^[ -~]*$/;

/** Characters that take two columns of a terminal, beside emoji: letters of East Asia and their full-width forms. */
const WIDE = [
  ...['\\u1100-\\u115f', '\\u2e80-\\u303e', '\\u3041-\\ua4cf', '\\ua960-\\ua97f', '\\uac00-\\ud7a3', '\\uf900-\\ufaff'],
  ...['\\ufe10-\\ufe19', '\\ufe30-\\ufe6f', '\\uff01-\\uff60', '\\uffe0-\\uffe6'],
  ...['\\u{16fe0}-\\u{18cff}', '\\u{1b000}-\\u{1b2ff}', '\\u{20000}-\\u{3fffd}'],
].join('');

interface Cluster {
  readonly text: string;
  readonly width: number;
}

let split: ((text: string) => Iterable<Cluster>) | null = null;

/** Splits text into what a terminal shows as one character. Most texts never need the tables that this loads. */
function splitClusters(text: string): Iterable<Cluster> {
  split ??= createSplit();
  return split(text);
}

function createSplit(): (text: string) => Iterable<Cluster> {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const wide = new RegExp(`[${WIDE}]|\\p{Emoji_Presentation}|\\ufe0f`, 'u');
  const none = /^[\p{M}\p{Cf}]+$/u;
  return (text) =>
    Array.from(segmenter.segment(text), ({ segment }) => ({
      text: segment,
      width: none.test(segment) ? 0 : wide.test(segment) ? 2 : 1,
    }));
}

/** Counts the columns of a terminal that a line without control characters takes. */
export function measureWidth(line: string): number {
  if (PLAIN.test(line)) return line.length;
  let width = 0;
  for (const cluster of splitClusters(line)) width += cluster.width;
  return width;
}

/** Cuts a line without control characters to this many columns; a cut line ends with `…`. */
export function cutToWidth(line: string, columns: number): string {
  if (columns <= 0) return '';
  if (measureWidth(line) <= columns) return line;
  if (PLAIN.test(line)) return `${line.slice(0, columns - 1)}…`;
  let left = columns - 1;
  let cut = '';
  for (const { text, width } of splitClusters(line)) {
    left -= width;
    if (left < 0) break;
    cut += text;
  }
  return `${cut}…`;
}

/** Fills a line with blanks up to this many columns. */
export function padToWidth(line: string, columns: number): string {
  return `${line}${' '.repeat(Math.max(0, columns - measureWidth(line)))}`;
}
