import { createHash } from 'node:crypto';
import { cut } from '../source-tools.ts';

const LABEL_CHARS = 80;
const SLUG_CHARS = 40;

/** Text of a stranger in one line, without characters that a terminal or a menu acts on. */
export function cleanText(text: string, chars: number): string {
  return cut(
    text
      .toWellFormed()
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
    chars,
  );
}

export const cleanLabel = (text: string): string => cleanText(text, LABEL_CHARS);

/** The last folder of a path. */
export function toFolder(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? '/';
}

/** A name as a part of a persona id. Where that changes it, a hash tells it from others. */
export function toSlug(name: string): string {
  const plain = name.replaceAll(/[^\dA-Za-z_-]+/g, '-').slice(0, SLUG_CHARS);
  return plain === name ? name : `${plain}-${toHash(name).slice(0, 6)}`;
}

/** Twelve characters that differ where the text does. */
export const toHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
