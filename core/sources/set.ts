/**
 * `set`: keyed things that appear, change and vanish, all of them at once (garden, brainclaw). Looking twice gives the same.
 * The watch's diff gives each its `seq`, which is the `id` of its events, and says what became of it.
 */
export interface SetEvidence {
  readonly is: 'set';
  /** Names the set itself. Another one than before is another set: what it holds is adopted without a word. */
  readonly epoch: string;
  /** In the order in which they are to be told; a key occurs once. */
  readonly items: readonly SetItem[];
}

export interface SetItem {
  /** Stands for this thing for ever, in every look: the name under which it is remembered. */
  readonly key: string;
  /** Compared with the last look's; another one is a change, told as `changed` says. */
  readonly mark: string;
  /** When it is seen for the first time. `quiet`: it is remembered and nothing is told. */
  readonly appeared: 'new' | 'quiet';
  /** The event of a change to this mark; null: none. */
  readonly changed: ChangeName | null;
  /** The event when it is not in the set any more; null: none. */
  readonly vanished: ChangeName | null;
  readonly from: string | null;
  /** UTC, as the source says it. */
  readonly created: string | null;
  /** Cut and cleaned; null when it was not asked for, or is not there to be had. */
  readonly content: string | null;
  /** What only this source knows: further keys of its event lines. */
  readonly extra: Readonly<Record<string, string | number | boolean | null>>;
}

/** Names of events that tell of a change; none of them wakes an agent. */
export type ChangeName = 'delivered' | 'read' | 'gone' | 'cleared' | 'acked';
