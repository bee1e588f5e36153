import type { ChangeName, Extra, MailName } from '../model/index.ts';

/**
 * `set`: keyed things that appear, change and vanish, all of them at once (garden, brainclaw). Looking twice gives the same.
 * The watch's diff gives each its `seq`, which is the `id` of its events, and says what became of it.
 */
export interface SetEvidence {
  readonly is: 'set';
  /** Names the set itself. Another one than before is another set: what it holds is adopted without a word. */
  readonly epoch: string;
  /** New ones are told in this order, then changes; a key occurs once. */
  readonly items: readonly SetItem[];
}

export interface SetItem {
  /** Stands for this thing in every look: the name under which it is remembered for as long as it is there. */
  readonly key: string;
  /** Compared with what was told last; another one is a change, told as `changed` says. */
  readonly fingerprint: string;
  /** The event when it is seen for the first time. `quiet`: it is remembered, and nothing is ever told of it. */
  readonly appeared: MailName | 'quiet';
  /** The event of a change to this mark; null: none. */
  readonly changed: ChangeName | null;
  /** The event when it is not in the set any more; null: none. It is remembered with `mark`, and so is `extra`. */
  readonly vanished: ChangeName | null;
  /**
   * What it means when it comes back after it vanished. Absent: it is the thing that was told, and nothing is told of its
   * return. `occasion`: that too while `mark` is what it was when it vanished; with any other it is new.
   */
  readonly returns?: 'occasion';
  readonly from: string | null;
  /** UTC, as the source says it. */
  readonly created: string | null;
  /** Cut and cleaned. Only looked at when it is told as what appeared; null when it was not asked for, or is not there to be had. */
  readonly content: string | null;
  /** Further keys of its event lines, those of changes too. A key that every event has is none. */
  readonly extra: Extra;
}
