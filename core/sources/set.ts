import type { ChangeName, Extra, MailName } from '../model/index.ts';

/**
 * `set`: keyed things that appear, change and vanish; every poll returns all of them (garden, brainclaw). A poll changes nothing.
 * The watcher compares polls, assigns each thing its `seq`, which is the `id` of its events, and says what changed.
 */
export interface SetEvidence {
  readonly is: 'set';
  /** Names the set. When it differs from the epoch before, the things of the new set become known without any event. */
  readonly epoch: string;
  /** Things that appeared are delivered in this order, then the changes. A key occurs once. */
  readonly items: readonly SetItem[];
}

export interface SetItem {
  /** Identifies this thing in every poll. The watcher remembers it under this key for as long as it is in the set. */
  readonly key: string;
  /** Compared with the fingerprint that was delivered last. When it differs, the event in `changed` is sent. */
  readonly fingerprint: string;
  /** The event when the thing is seen for the first time. With `quiet` it is remembered and never causes an event. */
  readonly appeared: MailName | 'quiet';
  /** The event of a change to this fingerprint; null for no event. */
  readonly changed: ChangeName | null;
  /**
   * The event when the thing is no longer in the set; null for no event. It is remembered with `fingerprint`, and so is `extra`.
   */
  readonly vanished: ChangeName | null;
  /**
   * What a return after vanishing means. Absent: it is the thing that was delivered before, and its return causes no event.
   * `occasion`: the same holds while `fingerprint` is what it was when the thing vanished; with another one the thing is new.
   */
  readonly returns?: 'occasion';
  readonly from: string | null;
  /** UTC, as the source reports it. */
  readonly created: string | null;
  /** Cut and cleaned. Used only for the event of an appearance; null when it was not requested or does not exist. */
  readonly content: string | null;
  /** Further keys of its event lines, also of those about changes. Keys that every event has are ignored. */
  readonly extra: Extra;
}
