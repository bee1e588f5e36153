/** The events that report something new for a persona: a message, or work of a project (brainclaw contract 9). All are mail. */
export type MailName = 'new' | 'handoff' | 'assigned' | 'action';

/** The events that report a change. None of them wakes an agent. */
export type ChangeName = 'delivered' | 'read' | 'gone' | 'cleared' | 'acked';

/** Further keys of event lines that only one source knows. */
export type Extra = Readonly<Record<string, string | number | boolean | null>>;

/** One known item of a set. It is plain data, since a key may be any text. */
export interface KnownItem {
  readonly key: string;
  /** The `id` of its events; null: the item never makes events. */
  readonly seq: number | null;
  /** The fingerprint of the item when it was last delivered. */
  readonly fingerprint: string;
  /** How many of its changes were delivered. */
  readonly changes: number;
  /** The event to deliver when the item vanishes, and its further keys, both as of `fingerprint`. */
  readonly vanished: ChangeName | null;
  readonly extra: Extra;
}

/** The known items of a set, as last delivered. */
export interface KnownSet {
  /** Names the set. A different epoch is a different set. */
  readonly epoch: string;
  /** The `seq` of the next new item, from 1 on. It never goes back. */
  readonly next: number;
  /** The items; each key occurs once. */
  readonly keys: readonly KnownItem[];
  /**
   * Delivered items that vanished. They keep their `seq` in case they come back. The last one that vanished stands
   * last, and no key is also in `keys`. Absent for none.
   */
  readonly gone?: readonly KnownItem[];
}
