import type { Instant, PersonaId, Scope, SourceId } from '../../core/model/index.ts';

/** One outage as a person thinks of it, whoever it takes down. */
export interface Cause {
  /** `Fault.scope.key`. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** The source of the first one it took down. */
  readonly source: SourceId;
  /** The one persona a click is about, null when it is about several. */
  readonly opens: PersonaId | null;
}

/**
 * An outage that a person was shown and whose end they were not shown yet. It says nothing about what is down now, nor
 * about what an agent was told: those are other facts, kept elsewhere.
 */
export interface AnnouncedOutage {
  readonly cause: Cause;
  readonly since: Instant;
  /** When the banner was last handed to the desktop. */
  readonly at: Instant;
  /** When it ended, where that could not be told at once: in a pause, in quiet hours, for a muted persona. Else null. */
  readonly over: Instant | null;
  /** Whom the banner counted. */
  readonly personas: readonly PersonaId[];
}

export type AnnouncedOutages = Readonly<Record<`outage:${string}`, AnnouncedOutage>>;

/** Open decisions that a person was shown, or that a pause, a mute or a hidden persona left to the menu. */
export type AnnouncedDecisions = Readonly<Record<`decision:${number}`, true>>;

/** What outlives the process. */
export interface SavedAnnouncements {
  readonly outages: AnnouncedOutages;
  readonly decisions: AnnouncedDecisions;
}

/** Where it is kept. */
export interface AnnouncementStore {
  load(): SavedAnnouncements;
  /** Replaces what is kept, durably. @throws Fault `database` */
  save(announcements: SavedAnnouncements): void;
}
