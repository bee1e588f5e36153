/** Names of events that tell of what came for a persona: a message, or work of a project (brainclaw contract 9). Each of them is mail. */
export type MailName = 'new' | 'handoff' | 'assigned' | 'action';

/** Names of events that tell of a change; none of them wakes an agent. */
export type ChangeName = 'delivered' | 'read' | 'gone' | 'cleared' | 'acked';

/** What only one source knows: further keys of its event lines. */
export type Extra = Readonly<Record<string, string | number | boolean | null>>;

/** One thing of a set, as it is remembered. Plain data, since a key may be any text at all. */
export interface KnownItem {
  readonly key: string;
  /** The `id` of its events; null: none of it is told, now and later. */
  readonly seq: number | null;
  /** As it was when it was told last. */
  readonly mark: string;
  /** How many of its changes were told. */
  readonly changes: number;
  /** The event when it is not there any more, and its further keys, as they were with `mark`. */
  readonly vanished: ChangeName | null;
  readonly extra: Extra;
}

/** What a set was when it was told last. */
export interface KnownSet {
  /** Names the set; another one is another set. */
  readonly epoch: string;
  /** The `seq` of the next thing that appears, from 1 on; it never goes back. */
  readonly next: number;
  /** Each key once. */
  readonly keys: readonly KnownItem[];
  /**
   * Things that were told, are not there any more, and keep their `seq` should they come back. The one that went last stands
   * last, and a key is never in `keys` too. Absent for none.
   */
  readonly gone?: readonly KnownItem[];
}
