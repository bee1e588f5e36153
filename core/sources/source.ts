import type { AgentState, Count, Instant, KnownSet, PersonaId, SourceId, Span } from '../model/index.ts';
import type { SetEvidence } from './set.ts';

/** One inbox as its source announces it. */
export interface Persona {
  /** Unique in Hivebar: the bare name for the primary hive, else prefixed with the source. */
  readonly id: PersonaId;
  /** The name as the source spells it; goes back to the source unchanged. */
  readonly address: string;
  /** What a person reads. */
  readonly label: string;
  /** What it counts lies in another persona's inbox here, and is counted with that. Absent: it does not. */
  readonly isEcho?: boolean;
}

/**
 * How far a watch has handed over. A log's is a cursor: every row up to and with `id` was handed over. `done`: of what lies
 * above it, as `merged` gives spans, every row of these too; absent for none. A set's is what was told of it.
 */
export type Checkpoint =
  | { readonly is: 'unset' }
  | { readonly is: 'at'; readonly id: number; readonly done?: readonly Span[] }
  | ({ readonly is: 'known' } & KnownSet);

/** What a look says of the messages themselves. */
export type Evidence = LogEvidence | SetEvidence | LevelEvidence;

/** Nothing but how many there are: no message is ever told, and no position is kept (daemon). */
export interface LevelEvidence {
  readonly is: 'level';
}

/** One message, trimmed at the edge: `content` is already cut and cleaned, null when content was not asked for. */
export interface Message {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string | null;
  readonly read: boolean;
  /** Hivebar itself says this to the agent: only the hive of this machine can prove that. Absent otherwise. */
  readonly origin?: 'hivebar';
}

/**
 * `log`: rows with rising ids, ascending, each id once; `max` is the largest id the inbox has, 0 when empty. Holds every
 * row above the mark it was asked from, except what the mark says is done and what lies in the hole; it may hold older
 * ones. Asked from an unset mark it holds the newest rows, as many as the source gives at once.
 */
export interface LogEvidence {
  readonly is: 'log';
  readonly messages: readonly Message[];
  readonly max: number;
  /** Absent: nothing is missing. */
  readonly gap?: Gap;
  /** What the newest rows leave out, as the source says. Absent: it says nothing of it. */
  readonly hidden?: HiddenMessages;
}

/** Somewhere above the mark there are, or may be, rows that could not be had (Kijito contract, traps 14 to 21). */
export interface Gap {
  /** Why, for a person. */
  readonly why: string;
  /** Of what lies above the mark, every row of these spans is in the look, as `merged` gives them. */
  readonly spans: readonly Span[];
  /** Rows that the newest page left out, where it says how many. */
  readonly omitted: number | null;
  /** The oldest of the newest rows; null: there were none. */
  readonly floor: number | null;
  /** Rows above the mark that were had beyond the newest page. */
  readonly walked: number;
}

export interface HiddenMessages {
  /** Unread rows that are not among the newest. */
  readonly unread: number;
  /** The oldest of the newest rows; null: there are none. */
  readonly floor: number | null;
}

/** One peek. It never consumes: looking twice gives the same. */
export interface PollResult {
  readonly at: Instant;
  readonly unread: Count;
  readonly urgent: Count;
  readonly agentState: AgentState;
  readonly evidence: Evidence;
}

export interface UnreadCounts {
  readonly unread: Count;
  readonly urgent: Count;
}

/** Counts of a whole source in one answer. A persona that is absent has none unread. */
export interface PendingCounts {
  readonly at: Instant;
  readonly byAddress: ReadonlyMap<string, UnreadCounts>; // by address
  /** Opaque; given back to `hold`. Null when the server does not long-poll. */
  readonly cursor: string | null;
}

export interface PendingCountsReader {
  /** @throws Fault `not-found` when the source has no such endpoint. */
  once(signal: AbortSignal): Promise<PendingCounts>;
  /** Waits up to `ms` for a change after `cursor`. */
  hold?(cursor: string, ms: number, signal: AbortSignal): Promise<PendingCounts>;
  /** Nothing but the list tells of a change, and counts that are as before may hide one: a message read, another one come. */
  readonly hidesChanges?: boolean;
}

/** Messages of one inbox: these, every one, or every one up to an id. */
export type MarkReadSelection = readonly number[] | 'all' | { readonly upTo: number };

/** What a directory says of one of its members. */
export interface DirectoryMember {
  /** Memories it owns; null: the directory does not say. */
  readonly memories: number | null;
  /** Nobody works under this name any more, or the name is reserved. */
  readonly retired: boolean;
  /** What is sent to it is collected in another way, so that it lies unread here by design. */
  readonly writeOnly: boolean;
  /** Messages it ever got, and how many of them nobody read; null: not said. */
  readonly mail: { readonly total: number; readonly unread: number } | null;
}

/** A directory as it was answered. */
export interface PersonaDirectory {
  /** When the question was asked, monotonic. */
  readonly requestedAt: number;
  /** By address, in the source's own spelling. */
  readonly byAddress: ReadonlyMap<string, DirectoryMember>;
}

/** An adapter to one inbox system. */
export interface Source extends AsyncDisposable {
  readonly id: SourceId;
  /** What goes into the event key `source`. */
  readonly kind: string;
  /** Every persona with an inbox here. @throws Fault, never an empty list for "don't know". */
  personas(signal: AbortSignal): Promise<readonly Persona[]>;
  /**
   * At once where the inbox is in this process: of a thousand looks then each is done before the next begins, and leaves
   * nothing to keep meanwhile.
   *
   * @throws Fault, or rejects with it; never an empty answer for "don't know".
   */
  poll(persona: Persona, from: Checkpoint, signal: AbortSignal): PollResult | Promise<PollResult>;
  /** What the last answer to `personas` says of each; null before the first. It asks nothing. Presence is the capability. */
  directory?(): PersonaDirectory | null;
  /** Presence is the capability. */
  readonly pending?: PendingCountsReader;
  /**
   * Marks messages as read: the one act of a source, done only because a person asked for it.
   * Returns how many were marked. Presence is the capability.
   */
  markRead?(persona: Persona, which: MarkReadSelection): number;
  /**
   * Drops every connection: after a sleep they may be dead, and nothing says so. What is under way on them fails, so it is
   * aborted before. Presence is the capability.
   */
  reset?(): void;
  /**
   * As of the last look at it: it is not in the source any more, and is let go once what became of its mail is told.
   * Presence is the capability: members of other sources are only added.
   */
  isGone?(persona: Persona): boolean;
  /** Calls `wake` when something may have changed, without waiting for a tick. Presence is the capability. */
  hints?(wake: (address: string) => void): Disposable;
}
