import type { AgentState, Count, Health, Instant, PersonaId, SourceId } from '../model/index.ts';
import type { DaemonView } from './daemon-view.ts';
import type { Until } from './fact.ts';
import type { MessagePreview } from './message-preview.ts';
import type { LocalView, OpenDecision } from './open-decisions.ts';

/** A value with the time it was seen and the time from which it is stale. */
export interface DatedValue<T> {
  readonly value: T;
  /** Null: never seen. */
  readonly asOf: Instant | null;
  readonly staleAfter: Instant | null;
}

export interface PersonaView {
  readonly id: PersonaId;
  readonly stem: string;
  readonly source: SourceId;
  readonly label: string;
  readonly health: Health;
  /** The last fault's message and next step while failing or down, else null. */
  readonly reason: string | null;
  /** When the current health began. */
  readonly since: Instant | null;
  readonly agentState: AgentState;
  readonly unread: DatedValue<Count>;
  readonly urgent: DatedValue<Count>;
  readonly cursor: number | null;
  readonly lastEventId: string | null;
  readonly lastMailAt: Instant | null;
  /** Why events wait for the sink; null: none wait. */
  readonly held: string | null;
  readonly muted: Until;
  /** The persona is left out of totals and causes, and of what a person sees. */
  readonly hidden: boolean;
  /** The newest messages that were delivered to its agent, newest first. */
  readonly latestMessages: readonly MessagePreview[];
  /** Null: its inbox is not on this machine. */
  readonly local: LocalView | null;
  /** Null: the persona is no persona daemon, or its daemon does not answer. */
  readonly daemon: DaemonView | null;
  /** Its messages can be marked as read from here. */
  readonly canMarkRead: boolean;
  readonly eventsFile: string | null;
}

/** One outage as a person sees it: everything that is down for the same reason. */
export interface CauseView {
  readonly key: string;
  readonly scope: 'persona' | 'source' | 'machine';
  readonly since: Instant;
  readonly message: string;
  readonly personas: readonly PersonaId[];
}

export interface HiveView {
  readonly source: SourceId;
  readonly address: string;
  readonly state: 'UP' | 'DOWN' | 'PENDING';
  readonly reason: string | null;
}

/** A project with a board of its own. */
export interface ProjectView {
  readonly source: SourceId;
  /** The persona that represents its board. */
  readonly board: PersonaId;
  /** Differs when the project has something else to show. */
  readonly rev: string;
}

/** The board at one moment. `rev` rises with every visible change, and only then. */
export interface Snapshot {
  readonly rev: number;
  /** By id, in plain code-unit order. */
  readonly personas: readonly PersonaView[];
  readonly causes: readonly CauseView[];
  readonly hives: readonly HiveView[];
  /** By source, in plain code-unit order. */
  readonly projects: readonly ProjectView[];
  /** The open decisions, oldest first, without those of hidden personas. */
  readonly decisions: readonly OpenDecision[];
  /** Totals over all personas that are not hidden. `unread` and `urgent` count messages once that two personas show. */
  readonly totals: {
    readonly unread: Count;
    readonly urgent: Count;
    readonly up: number;
    readonly down: number;
    readonly personas: number;
  };
  /** "Pause notifications". */
  readonly paused: Until;
  /** Quiet hours are enabled. */
  readonly quietHours: boolean;
  /** When the current quiet hour ends. */
  readonly quiet: Until;
  /** Start at login; null: unknown here. */
  readonly autostart: boolean | null;
  readonly tray: string;
  readonly notifications: string;
}
