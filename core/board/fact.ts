import type { Event } from '../events/index.ts';
import type { AgentState, Count, Fault, Health, Instant, PersonaId, SourceId } from '../model/index.ts';
import type { DaemonView } from './daemon-view.ts';
import type { LocalView, OpenDecision } from './open-decisions.ts';

/** Until when a persona, or everything, is silent. */
export type Until = { readonly is: 'never' } | { readonly is: 'at'; readonly at: Instant } | { readonly is: 'forever' };

/** What just became true: the only thing the board, the notifications and the history are made from. */
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
      /** The newest event of the persona from before, null for none. */
      readonly lastEventId: string | null;
      /** Its messages can be marked as read from here; absent: they cannot. */
      readonly canMarkRead?: boolean;
      /** What it counts is counted with another persona too, and is no part of sums; absent: it is not. */
      readonly isEcho?: boolean;
      /** A level is stale when it is older than this. */
      readonly staleAfterMs: number;
    }
  | { readonly is: 'left'; readonly at: Instant; readonly persona: PersonaId }
  /** A full look came back healthy. */
  | {
      readonly is: 'looked';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly health: Health;
      readonly unread: Count;
      readonly urgent: Count;
      readonly agentState: AgentState;
      /** The newest id, where it is below the cursor and unread mail is there: another log, which nobody is told of. */
      readonly endsBelow?: number;
      /** Mail up to this id was handed over; what is told afterwards moves it on. */
      readonly cursor: number | null;
    }
  /** Counts without a full look, from the pending list. */
  | {
      readonly is: 'counted';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly unread: Count;
      readonly urgent: Count;
    }
  | {
      readonly is: 'failed';
      readonly at: Instant;
      readonly persona: PersonaId;
      readonly health: Health;
      readonly fault: Fault;
    }
  /** The sink took these events of the persona, in this order. */
  | { readonly is: 'told'; readonly at: Instant; readonly persona: PersonaId; readonly events: readonly Event[] }
  /** What the persona was told of mail before this run, oldest first: shown, but no news. */
  | { readonly is: 'recalled'; readonly at: Instant; readonly persona: PersonaId; readonly events: readonly Event[] }
  /** The sink refused; the same events are offered again. */
  | { readonly is: 'held'; readonly at: Instant; readonly persona: PersonaId; readonly fault: Fault }
  /** The persona's event file lacks events because of this (they are safe); null: it has them all. */
  | { readonly is: 'published'; readonly at: Instant; readonly persona: PersonaId; readonly fault: Fault | null }
  /** A whole source cannot even say who is there (start-up or a rescan); null fault = it can again. */
  | {
      readonly is: 'source';
      readonly at: Instant;
      readonly source: SourceId;
      readonly address: string;
      readonly fault: Fault | null;
    }
  /** Something of this machine is in trouble that concerns no persona alone; `key` names it. Null: it is over. */
  | { readonly is: 'machine'; readonly at: Instant; readonly key: string; readonly fault: Fault | null }
  /** What is to be shown of a project, whose board this persona is, is another than before: `rev` differs. */
  | {
      readonly is: 'project';
      readonly at: Instant;
      readonly source: SourceId;
      readonly board: PersonaId;
      readonly rev: string;
    }
  /** Nobody watches this source any more; trouble it had is over before. Its personas leave each on its own. */
  | { readonly is: 'withdrawn'; readonly at: Instant; readonly source: SourceId }
  /** Notifications off for one persona, or for all (`persona` null = "Pause notifications"). */
  | { readonly is: 'muted'; readonly at: Instant; readonly persona: PersonaId | null; readonly until: Until }
  /** Watched and written to as ever, but left out of what a person looks at. */
  | { readonly is: 'hidden'; readonly at: Instant; readonly persona: PersonaId; readonly hidden: boolean }
  /** `on`: quiet hours are kept. One goes on until then; `never`: it is no quiet hour. */
  | { readonly is: 'quiet'; readonly at: Instant; readonly on: boolean; readonly until: Until }
  /** Whether Hivebar starts at login; null: it cannot be told here. */
  | { readonly is: 'autostart'; readonly at: Instant; readonly on: boolean | null }
  /**
   * Nobody watched for `ms`: the machine slept, the process was stopped, or the clock was set. Everything is polled now;
   * what is told before `until` came meanwhile, and until then a failure makes no outage.
   */
  | { readonly is: 'gap'; readonly at: Instant; readonly ms: number; readonly until: Instant }
  /** What the hive of this machine knows of its persona beside its mail. */
  | { readonly is: 'local'; readonly at: Instant; readonly persona: PersonaId; readonly local: LocalView }
  /** What the daemon of this persona says of itself; null: it does not answer. */
  | { readonly is: 'daemon'; readonly at: Instant; readonly persona: PersonaId; readonly daemon: DaemonView | null }
  /** All decisions that are open, oldest first. */
  | { readonly is: 'asked'; readonly at: Instant; readonly decisions: readonly OpenDecision[] }
  /** How a surface does: shown on the page and in `doctor`. */
  | {
      readonly is: 'surface';
      readonly at: Instant;
      readonly surface: 'tray' | 'notifications';
      readonly state: string;
    };
