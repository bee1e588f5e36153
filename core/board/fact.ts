import type { Event } from '../events/index.ts';
import type {
  AgentReporter,
  AgentState,
  Count,
  Fault,
  Health,
  Instant,
  PersonaCounts,
  PersonaId,
  SourceId,
} from '../model/index.ts';
import type { OpenDecision, OpenPermission, QuietTimes, ReportedValues, Until } from './snapshot.ts';

/** One thing that became true. Board, notifications and history are made only from facts. */
export type Fact =
  | {
      readonly is: 'joined';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly source: SourceId;
      readonly address: string;
      readonly label: string;
      readonly stem: string;
      /** Absolute path of the file an agent follows. */
      readonly eventsFile: string | null;
      /** The newest event of the persona from before this run; null for none. */
      readonly lastEventId: string | null;
      /** Its messages can be marked as read from here; absent: they cannot. */
      readonly canMarkRead?: boolean;
      /** A person can reply to its agent from here; absent: they cannot. */
      readonly canReply?: boolean;
      /** Another persona counts the same messages, so they are left out of sums; absent: no other persona does. */
      readonly isEcho?: boolean;
      /** A level that is older than this many milliseconds is stale. */
      readonly staleAfterMs: number;
    }
  | { readonly is: 'left'; readonly at: Instant; readonly persona: PersonaId }
  /** A full poll returned and was healthy. */
  | {
      readonly is: 'polled';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly health: Health;
      readonly unread: Count;
      readonly urgent: Count;
      readonly agentState: AgentState;
      /** The newest id, if it is below the cursor while mail is unread. That means another log, which is not delivered. */
      readonly endsBelow?: number;
      /** Mail up to this id was delivered. Later deliveries move it on. */
      readonly cursor: number | null;
    }
  /** Counts without a full poll: what one answer of a pending list says of the personas that it leads to no poll of. */
  | { readonly is: 'counted'; readonly at: Instant; readonly counts: readonly PersonaCounts[] }
  | {
      readonly is: 'failed';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly health: Health;
      readonly fault: Fault;
    }
  /** The sink acknowledged these events of the persona, in this order. */
  | { readonly is: 'delivered'; readonly at: Instant; readonly persona: PersonaId; readonly events: readonly Event[] }
  /** Mail that was delivered to the persona before this run, oldest first. It is shown, but is not new. */
  | { readonly is: 'recalled'; readonly at: Instant; readonly persona: PersonaId; readonly events: readonly Event[] }
  /** The state of the persona before this run, and when it began. It goes on when the first poll of this run finds the same. */
  | {
      readonly is: 'remembered';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly state: 'up' | 'down';
      readonly since: Instant;
    }
  /** The sink refused events; they are offered again. */
  | { readonly is: 'held'; readonly at: Instant; readonly persona: PersonaId; readonly fault: Fault }
  /** The event file of the persona lacks events because of this fault (they are safe); null: it has them all. */
  | { readonly is: 'published'; readonly at: Instant; readonly persona: PersonaId; readonly fault: Fault | null }
  /** A source cannot list its personas (at start or in a rescan); null fault: it can again. */
  | {
      readonly is: 'source';
      readonly at: Instant;
      readonly source: SourceId;
      readonly address: string;
      readonly fault: Fault | null;
    }
  /** A problem of this machine that concerns no single persona; `key` names it. Null: it is over. */
  | { readonly is: 'machine'; readonly at: Instant; readonly key: string; readonly fault: Fault | null }
  /** The project behind this board persona has something else to show than before: `rev` differs. */
  | {
      readonly is: 'project';
      readonly at: Instant;
      readonly source: SourceId;
      readonly board: PersonaId;
      readonly rev: string;
    }
  /** Nobody watches this source any more. Its faults end before, and each of its personas leaves by itself. */
  | { readonly is: 'withdrawn'; readonly at: Instant; readonly source: SourceId }
  /** Notifications are off for one persona, or for all (`persona` null = "Pause notifications"). */
  | { readonly is: 'muted'; readonly at: Instant; readonly persona: PersonaId | null; readonly until: Until }
  /** The persona is watched as before, but left out of what a person sees. */
  | { readonly is: 'hidden'; readonly at: Instant; readonly persona: PersonaId; readonly hidden: boolean }
  /** `on`: quiet hours are enabled. `until`: when the current quiet hour ends; `never`: there is none now. */
  | {
      readonly is: 'quiet';
      readonly at: Instant;
      readonly on: boolean;
      readonly until: Until;
      /** The times of day of quiet hours. Left out, they stay as they are. */
      readonly hours?: QuietTimes;
    }
  /** Whether Hivebar starts at login; null: unknown here. */
  | { readonly is: 'autostart'; readonly at: Instant; readonly on: boolean | null }
  /**
   * Nobody watched for `ms`: the machine slept, the process was stopped, or the clock was set. Everything is polled
   * now. Events delivered before `until` came in meanwhile, and until then a failure makes no outage.
   */
  | { readonly is: 'gap'; readonly at: Instant; readonly ms: number; readonly until: Instant }
  /** What one service knows of the persona beside its mail. Values that are left out stay as they are. */
  | {
      readonly is: 'reported';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly values: Partial<ReportedValues>;
    }
  /**
   * Somebody beside the persona's own poll reports what its agent does, in place of what the same reporter said before. Null: it
   * reports nothing any more. It may come before the persona joins, and counts again when the persona comes back.
   */
  | {
      readonly is: 'agent';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly reporter: Exclude<AgentReporter, 'poll'>;
      readonly state: AgentState | null;
    }
  /** All open decisions, oldest first. */
  | { readonly is: 'decisions'; readonly at: Instant; readonly decisions: readonly OpenDecision[] }
  /** All permission prompts that can be answered here, oldest first. */
  | { readonly is: 'permissions'; readonly at: Instant; readonly permissions: readonly OpenPermission[] }
  /** The state of a surface, shown on the page and in `doctor`. */
  | {
      readonly is: 'surface';
      readonly at: Instant;
      readonly surface: 'tray' | 'notifications';
      readonly state: string;
    };
