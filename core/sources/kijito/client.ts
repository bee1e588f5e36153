import type { Count, Span } from '../../model/index.ts';
import type { DirectoryMember, Gap, HiddenMessages, MarkReadSelection, Message, PendingCounts } from '../source.ts';

/** The messages that one inbox holds above a cursor. */
export interface HiveWindow {
  /**
   * Every message above the requested cursor, except those that are done and those in the gap; ascending, each id once.
   * Without a cursor, the newest messages, as many as the hive returns at once.
   */
  readonly messages: readonly Message[];
  /** The largest id in the inbox, 0 when it is empty. */
  readonly max: number;
  readonly unread: Count;
  readonly urgent: Count;
  /** Absent: nothing is missing. */
  readonly gap?: Gap;
  /** Absent: the hive does not report it. */
  readonly hidden?: HiddenMessages;
}

/**
 * A hive, over HTTP or in the same process. Reading consumes nothing: only `markRead` marks mail as read.
 * Every method throws a Fault for "don't know", and `signal.reason` when it is aborted.
 */
export interface HiveClient extends AsyncDisposable {
  /** The names as the hive spells them; never empty. Absent when there is no directory. */
  personas?(signal: AbortSignal): Promise<readonly string[]>;
  /** The same names, with what the hive says about each. Absent when the hive cannot do this. */
  directory?(signal: AbortSignal): Promise<ReadonlyMap<string, DirectoryMember>>;
  /**
   * `after` null: there is no cursor yet. `done`: id ranges above the cursor that need not be fetched, as `mergeSpans` returns
   * them.
   */
  window(
    address: string,
    after: number | null,
    signal: AbortSignal,
    done?: readonly Span[],
  ): HiveWindow | Promise<HiveWindow>;
  /**
   * `hold` null: returns at once. Otherwise waits up to `ms` for a change after `cursor`. Absent when there is no pending list.
   * @throws Fault `not-found` when the server does not have it
   */
  pending?(hold: { readonly cursor: string; readonly ms: number } | null, signal: AbortSignal): Promise<PendingCounts>;
  /** Marks messages as read and returns how many were marked. Absent when the hive cannot do this. */
  markRead?(address: string, which: MarkReadSelection): number;
  /** Whether this inbox is no longer in the hive. Absent when the hive cannot do this. */
  isGone?(address: string): boolean;
  /** Drops every connection. Absent when the hive cannot do this. */
  reset?(): void;
  /** Calls `wake` with the address of an inbox that may have changed. Absent when the hive cannot do this. */
  hints?(wake: (address: string) => void): Disposable;
}
