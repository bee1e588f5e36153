/** The words of a search, as the index splits text: letters and digits, without case and accents. */

/** Words that stand side by side, as one part of a search gives them: `v2.4` is `v2 4`. The last word of a search may go on. */
interface Phrase {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** Part of a text, in UTF-16 units: from the first up to, not including, the second. */
export type Mark = [from: number, to: number];

const MOST_PHRASES = 16;
const MOST_WORDS = 32;
const MOST_QUERY_CHARS = 500;
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/** Parses what a person searches for: words, and words in quotes that stand side by side. Anything else separates words. */
export function parsePhrases(query: string): readonly Phrase[] {
  const parts = query.slice(0, MOST_QUERY_CHARS).matchAll(/"([^"]*)"|([^\s"]+)/gu);
  const phrases = [...parts].flatMap(([, quoted, plain]) => {
    const words = (quoted ?? plain ?? '').match(WORD)?.map(normalize) ?? [];
    const known = words.filter((word) => word !== '').slice(0, MOST_WORDS);
    return known.length === 0 ? [] : [{ words: known, isPrefix: quoted === undefined }];
  });
  return phrases.slice(0, MOST_PHRASES).map((phrase, i, { length }) => ({
    words: phrase.words,
    isPrefix: phrase.isPrefix && i === length - 1,
  }));
}

/** Formats a query of FTS5. It holds only letters and digits in quotes, so nothing in it can be an operator. */
export function formatMatch(phrases: readonly Phrase[]): string {
  return phrases.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? '*' : ''}`).join(' ');
}

/** Returns where the phrases stand in the text, in order and without overlaps. */
export function findMarks(text: string, phrases: readonly Phrase[]): readonly Mark[] {
  const words = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: normalize(word),
    from: index,
    to: index + word.length,
  }));
  const marks: Mark[] = [];
  for (let i = 0; i < words.length; ) {
    const found = phrases.find((phrase) => isAt(phrase, i));
    const last = words[i + (found?.words.length ?? 1) - 1];
    if (found !== undefined && last !== undefined) marks.push([words[i]?.from ?? 0, last.to]);
    i += found?.words.length ?? 1;
  }
  return marks;

  function isAt(phrase: Phrase, start: number): boolean {
    return phrase.words.every((word, n) => {
      const found = words[start + n]?.text;
      const isOpen = phrase.isPrefix && n === phrase.words.length - 1;
      return isOpen ? found?.startsWith(word) === true : found === word;
    });
  }
}

function normalize(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
