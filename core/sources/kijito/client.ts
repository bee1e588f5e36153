import type { Count, Span } from '../../model/index.ts';
import type { DirectoryMember, Gap, HiddenMessages, MarkReadSelection, Message, PendingCounts } from '../source.ts';

/** What one inbox holds above a cursor. */
export interface HiveWindow {
  /**
   * Every row above the cursor it was asked for, except those that are done and those in the hole; ascending, each id
   * once. Without a cursor the newest, as many as the hive gives at once.
   */
  readonly messages: readonly Message[];
  /** The largest id the inbox has, 0 when empty. */
  readonly max: number;
  readonly unread: Count;
  readonly urgent: Count;
  /** Absent: nothing is missing. */
  readonly gap?: Gap;
  /** Absent: the hive says nothing of it. */
  readonly hidden?: HiddenMessages;
}

/**
 * A hive, over HTTP or in the same process. It only ever peeks: nothing but `markRead` marks mail as read.
 * Every method throws a Fault for "don't know", and `signal.reason` when it is aborted.
 */
export interface HiveClient extends AsyncDisposable {
  /** Names as the hive spells them; never empty. Absent where there is no directory to ask. */
  personas?(signal: AbortSignal): Promise<readonly string[]>;
  /** The same, with what the hive says of each. Presence is the capability. */
  directory?(signal: AbortSignal): Promise<ReadonlyMap<string, DirectoryMember>>;
  /** `after` null: there is no cursor yet. `done`: what lies above it and need not be fetched, as `merged` gives spans. */
  window(
    address: string,
    after: number | null,
    signal: AbortSignal,
    done?: readonly Span[],
  ): HiveWindow | Promise<HiveWindow>;
  /**
   * `hold` null: at once. Else waits up to `ms` for a change after `cursor`. Absent where there is no such list.
   * @throws Fault `not-found` when the server does not have it
   */
  pending?(hold: { readonly cursor: string; readonly ms: number } | null, signal: AbortSignal): Promise<PendingCounts>;
  /** Marks messages as read and returns how many that were. Presence is the capability. */
  markRead?(address: string, which: MarkReadSelection): number;
  /** Whether this inbox is not in the hive any more. Presence is the capability. */
  isGone?(address: string): boolean;
  /** Drops every connection. Presence is the capability. */
  reset?(): void;
  /** Calls `wake` with the address of an inbox that may have changed. Presence is the capability. */
  hints?(wake: (address: string) => void): Disposable;
}
