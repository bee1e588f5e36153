import type { AgentState, Count, Health, Instant, PersonaId, SourceId } from '../model/index.ts';
import type { DaemonView } from './daemon-view.ts';
import type { Until } from './fact.ts';
import type { MessagePreview } from './message-preview.ts';
import type { LocalView, OpenDecision } from './open-decisions.ts';

/** A value that says when it was seen and from when on it is old. */
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
  /** When the present standing began. */
  readonly since: Instant | null;
  readonly agentState: AgentState;
  readonly unread: DatedValue<Count>;
  readonly urgent: DatedValue<Count>;
  readonly cursor: number | null;
  readonly lastEventId: string | null;
  readonly lastMailAt: Instant | null;
  /** Events wait for the sink to take them. */
  readonly held: string | null;
  readonly muted: Until;
  /** Left out of totals and causes, and of what a person looks at. */
  readonly hidden: boolean;
  /** The newest messages its agent was told of, newest first. */
  readonly latestMessages: readonly MessagePreview[];
  /** Null: its inbox is not of this machine. */
  readonly local: LocalView | null;
  /** Null: it is no persona daemon, or one that does not answer. */
  readonly daemon: DaemonView | null;
  /** Its messages can be marked as read from here. */
  readonly canMarkRead: boolean;
  readonly eventsFile: string | null;
}

/** One outage as a person thinks of it: everything that is down for the same reason. */
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
  /** The persona that stands for its board. */
  readonly board: PersonaId;
  /** Differs when what is to be shown of it differs. */
  readonly rev: string;
}

/** The board at one moment. `rev` rises with every change of what it shows, and only then. */
export interface Snapshot {
  readonly rev: number;
  /** By id, in plain code-unit order. */
  readonly personas: readonly PersonaView[];
  readonly causes: readonly CauseView[];
  readonly hives: readonly HiveView[];
  /** By source, in plain code-unit order. */
  readonly projects: readonly ProjectView[];
  /** What agents ask of people and nobody answered yet, oldest first; not those of hidden personas. */
  readonly decisions: readonly OpenDecision[];
  /** Of all that are not hidden. `unread` and `urgent` count what two personas show once. */
  readonly totals: {
    readonly unread: Count;
    readonly urgent: Count;
    readonly up: number;
    readonly down: number;
    readonly personas: number;
  };
  /** "Pause notifications". */
  readonly paused: Until;
  /** Quiet hours are kept. */
  readonly quietHours: boolean;
  /** It is a quiet hour until then. */
  readonly quiet: Until;
  /** Start at login; null: it cannot be told here. */
  readonly autostart: boolean | null;
  readonly tray: string;
  readonly notifications: string;
}
