import type { Instant, PersonaId, Scope, SourceId } from '../../core/model/index.ts';

/** One outage from a person's point of view, whatever number of personas it affects. */
export interface Cause {
  /** `Fault.scope.key`. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** The source of the first persona that went down. */
  readonly source: SourceId;
  /** The persona that a click opens; null when the outage is about several. */
  readonly opens: PersonaId | null;
}

/**
 * An outage that was announced to a person, and whose end was not. It says nothing about what is down now or what was delivered
 * to an agent; those are separate facts.
 */
export interface AnnouncedOutage {
  readonly cause: Cause;
  readonly since: Instant;
  /** When the banner was last handed to the desktop. */
  readonly at: Instant;
  /** When it ended, if the end could not be announced at once because of a pause, quiet hours or a mute. Otherwise null. */
  readonly over: Instant | null;
  /** The personas that the banner counted. */
  readonly personas: readonly PersonaId[];
}

export type AnnouncedOutages = Readonly<Record<`outage:${string}`, AnnouncedOutage>>;

/**
 * Open decisions that were announced to a person, or that were left to the menu because of a pause, a mute or a hidden persona.
 */
export type AnnouncedDecisions = Readonly<Record<`decision:${number}`, true>>;

/** The part of the state that survives the process. */
export interface SavedAnnouncements {
  readonly outages: AnnouncedOutages;
  readonly decisions: AnnouncedDecisions;
}

/** Stores the announcements. */
export interface AnnouncementStore {
  load(): SavedAnnouncements;
  /** Replaces the stored announcements durably. @throws Fault `database` */
  save(announcements: SavedAnnouncements): void;
}
