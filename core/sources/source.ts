import type {
  AgentState,
  ChangeName,
  Count,
  Extra,
  Instant,
  KnownSet,
  MailName,
  PersonaId,
  SourceId,
  Span,
} from '../model/index.ts';

/** One inbox as its source lists it. */
export interface Persona {
  /** Unique in Hivebar: the bare name for the primary hive, else prefixed with the source. */
  readonly id: PersonaId;
  /** The name as the source spells it. It is sent back to the source unchanged. */
  readonly address: string;
  /** The name that a person reads. */
  readonly label: string;
  /** True when the same mail lies in another persona's inbox in Hivebar, and is counted there. Absent: false. */
  readonly isEcho?: boolean;
}

/**
 * How far a watcher has delivered. For a log it is a cursor: every message up to and including `id` was delivered.
 * `done` names the id ranges above the cursor whose messages were delivered too, in the form that `mergeSpans` returns; absent
 * for none.
 * For a set it is what is known of its things.
 */
export type Checkpoint =
  | { readonly is: 'unset' }
  | { readonly is: 'at'; readonly id: number; readonly done?: readonly Span[] }
  | ({ readonly is: 'known' } & KnownSet);

/** What a poll result says about the messages themselves. */
export type Evidence = LogEvidence | SetEvidence | LevelEvidence;

/** Counts only: no message is ever delivered, and no position is stored (daemon). */
export interface LevelEvidence {
  readonly is: 'level';
}

/** One message as its source hands it on: `content` is already cut and cleaned, and null when content was not requested. */
export interface Message {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string | null;
  readonly read: boolean;
  /** Hivebar itself says this to the agent, which only the local hive can prove. Absent otherwise. */
  readonly origin?: 'hivebar';
  /** The persona wrote it itself. Absent: `from` and the address of the persona decide that. */
  readonly isOwn?: boolean;
  /** Further keys of its event line. Absent for none. */
  readonly extra?: Extra;
}

/**
 * `log`: messages with rising ids, ascending, each id once. `max` is the largest id in the inbox, 0 when it is empty.
 * It holds every message above the checkpoint it was polled from, except what is `done` in the checkpoint and what lies in the
 * gap. It may hold older messages too.
 * Polled from an unset checkpoint, it holds the newest messages, as many as the source returns at once.
 */
export interface LogEvidence {
  readonly is: 'log';
  readonly messages: readonly Message[];
  readonly max: number;
  /** Absent: nothing is missing. */
  readonly gap?: Gap;
  /** What is not among the newest messages, if the source reports it. Absent: the source does not report it. */
  readonly hidden?: HiddenMessages;
  /**
   * The store may give other ids to the same messages, as when it is built again. Then a `max` below the checkpoint says
   * `seed_ahead`, and the watcher continues after `max` without delivering what is there. Absent: ids below the checkpoint are those
   * of other messages.
   */
  readonly isRenumbered?: true;
}

/** Messages above the cursor that exist or may exist and could not be fetched (Kijito contract, traps 14 to 21). */
export interface Gap {
  /** The reason, for a person. */
  readonly why: string;
  /** Id ranges above the cursor that this poll result covers completely, in the form that `mergeSpans` returns. */
  readonly spans: readonly Span[];
  /** How many messages the newest page left out; null when it does not say. */
  readonly omitted: number | null;
  /** The smallest id among the newest messages; null when there were none. */
  readonly floor: number | null;
  /** How many messages above the cursor were fetched beyond the newest page. */
  readonly walked: number;
}

export interface HiddenMessages {
  /** Unread messages that are not among the newest. */
  readonly unread: number;
  /** The smallest id among the newest messages; null when there are none. */
  readonly floor: number | null;
}

/** The answer to one poll. A poll consumes nothing, so a second one returns the same. */
export interface PollResult {
  readonly at: Instant;
  readonly unread: Count;
  readonly urgent: Count;
  readonly agentState: AgentState;
  readonly evidence: Evidence;
  /** Called when every event of this result is with the sink, and what is known after it is saved. Absent: nobody asks. */
  readonly delivered?: () => void;
}

export interface UnreadCounts {
  readonly unread: Count;
  readonly urgent: Count;
}

/** Counts of a whole source in one answer. A persona that is absent has no unread messages. */
export interface PendingCounts {
  readonly at: Instant;
  /** By address. The same map as in the answer before says that every count is as it was, without a look at each. */
  readonly byAddress: ReadonlyMap<string, UnreadCounts>;
  /** Opaque; passed back to `hold`. Null when the server does not long-poll. */
  readonly cursor: string | null;
}

export interface PendingCountsReader {
  /** @throws Fault `not-found` when the source has no such endpoint. */
  once(signal: AbortSignal): Promise<PendingCounts>;
  /** Waits up to `ms` for a change after `cursor`. */
  hold?(cursor: string, ms: number, signal: AbortSignal): Promise<PendingCounts>;
  /** True when only this list reports changes, and equal counts may hide one: one message was read and another arrived. */
  readonly hidesChanges?: boolean;
}

/** Messages of one inbox: these ids, all of them, or all up to an id. */
export type MarkReadSelection = readonly number[] | 'all' | { readonly upTo: number };

/** What a person says to the agent of an inbox, or answers to a message in it. */
export interface Reply {
  /** As the person typed it. */
  readonly text: string;
  /** The message that it answers, by the name that its own system gave to it; null: none. */
  readonly message: string | null;
  /** Null: the source chooses one, where its mail has subjects. */
  readonly subject: string | null;
}

/** How far a reply came. */
export interface ReplyResult {
  /**
   * `accepted`: the system of the inbox confirmed it. `stored`: it lies where the agent may fetch it. `handed-over`: nothing confirms
   * that anybody has it.
   */
  readonly is: 'accepted' | 'stored' | 'handed-over';
  /** What is known of it and what is not, in a line for a person. */
  readonly says: string;
}

/** What a directory says about one of its members. */
export interface DirectoryMember {
  /** How many memories it owns; null when the directory does not say. */
  readonly memories: number | null;
  /** Nobody works under this name any more, or the name is reserved. */
  readonly retired: boolean;
  /** Its mail is collected in another way, so it stays unread here by design. */
  readonly writeOnly: boolean;
  /** How many messages it ever received, and how many of them are unread; null when the directory does not say. */
  readonly mail: { readonly total: number; readonly unread: number } | null;
}

/** One answer of a directory. */
export interface PersonaDirectory {
  /** When the request was made, on the monotonic clock. */
  readonly requestedAt: number;
  /** By address, in the source's own spelling. */
  readonly byAddress: ReadonlyMap<string, DirectoryMember>;
}

/** An adapter to one inbox system. */
export interface Source extends AsyncDisposable {
  readonly id: SourceId;
  /** The value of the event key `source`. */
  readonly kind: string;
  /** Every persona with an inbox in this source. @throws Fault, and never returns an empty list for "don't know" */
  personas(signal: AbortSignal): Promise<readonly Persona[]>;
  /**
   * Returns at once when the inbox is in this process. Then each of a thousand polls ends before the next begins, and nothing has
   * to be kept in between.
   *
   * @throws Fault, or rejects with it; never returns an empty result for "don't know"
   */
  poll(persona: Persona, from: Checkpoint, signal: AbortSignal): PollResult | Promise<PollResult>;
  /**
   * What the last answer to `personas` says about each persona; null before the first. Makes no request.
   * Absent when the source has no directory.
   */
  directory?(): PersonaDirectory | null;
  /** Absent when the source has no pending list. */
  readonly pending?: PendingCountsReader;
  /**
   * Marks messages as read. It runs only because a person requested it.
   * Returns how many messages were marked. Absent when the source cannot do this.
   */
  markRead?(persona: Persona, which: MarkReadSelection): number;
  /**
   * Sends what a person typed, as that person, once. It runs only because this person requested it, never for an agent. Absent when
   * the source cannot do this, or its settings do not allow it.
   *
   * @throws Fault `usage` for a reply that makes no sense; or why it was not sent
   */
  reply?(persona: Persona, reply: Reply, signal: AbortSignal): Promise<ReplyResult>;
  /**
   * Drops every connection: after a sleep they may be dead without any notice. Requests on them fail, so the caller aborts those
   * first.
   * Absent when the source cannot do this.
   */
  reset?(): void;
  /**
   * True when the last poll did not find the persona in the source any more. It is dropped once the changes of its mail are
   * delivered.
   * Absent when the source cannot tell; then personas are only ever added.
   */
  isGone?(persona: Persona): boolean;
  /** Calls `wake` when something may have changed, so that nobody waits for a tick. Absent when the source cannot do this. */
  hints?(wake: (address: string) => void): Disposable;
}

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
  /** Whether the persona wrote it itself, where its address does not say so. Absent: its name in `from` says it. */
  readonly isOwn?: boolean;
  /** Further keys of its event lines, also of those about changes. Keys that every event has are ignored. */
  readonly extra: Extra;
}
