import type { Letter } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { rowName, rowText } from './text.ts';
import { writtenAt } from './written.ts';

const SENDER_MOST = 24;
const LINE_MOST = 60;

/** A message as a row of the menu tells it. */
export interface PlainLetter {
  readonly from: string;
  /** Null: it does not say when it was written. */
  readonly at: Instant | null;
  /** Empty where content is left out. */
  readonly text: string;
}

/** A letter never changes and is drawn many times: it is read once, and forgotten with it. */
const read = new WeakMap<Letter, PlainLetter>();

export function plainOf(letter: Letter): PlainLetter {
  const known = read.get(letter);
  if (known !== undefined) return known;
  const plain = {
    from: rowName(letter.from, SENDER_MOST) || '?',
    at: writtenAt(letter.created),
    text: rowText(letter.text ?? '', LINE_MOST),
  };
  read.set(letter, plain);
  return plain;
}
