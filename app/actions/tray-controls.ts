import type { Until } from '../../core/board/index.ts';
import type { DecisionReply, DecisionResult } from '../../core/inbox/decisions/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { SourceName } from '../../core/sources/derived.ts';
import type { MarkReadSelection } from '../../core/sources/index.ts';
import type { OpenResult } from '../open/index.ts';

/** What the actions act on: the running tray process, as `app/program` builds it. */
export interface TrayControls {
  /** Whether this persona is on the board. */
  knows(persona: PersonaId): boolean;
  /** Polls one persona now, or with null every inbox of every source. Returns false when there is no such persona. */
  poll(persona: PersonaId | null): boolean;
  /** Tells the tray process that another process may have written mail to the local hive. */
  hiveChanged(): void;
  /** Shows no banners until then, for one persona or (null) for all. `never` shows banners again. */
  mute(persona: PersonaId | null, until: Until): void;
  hide(persona: PersonaId, hidden: boolean): void;
  /** Marks messages as read and returns how many. @throws Fault `usage` where the source cannot. */
  markRead(persona: PersonaId, which: MarkReadSelection): number;
  /**
   * Answers a decision and delivers the answer to whoever asked. @throws Fault `usage` when the reply does not fit the decision
   */
  decide(decision: number, reply: DecisionReply): DecisionResult;
  /** Runs an action of a source. What it changes shows on the board later. @throws Fault */
  actOnSource(source: SourceName, action: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Opens the persona's session, or its page where there is no session. Returns what was opened. */
  openSession(persona: PersonaId, activationToken: string | null): Promise<OpenResult>;
  openPage(persona: PersonaId | null, activationToken: string | null): Promise<OpenResult>;
  /** Creates an address of the page that logs its browser in. It works once and for one minute. */
  pageLink(persona: PersonaId | null): string;
  copyFollowCommand(persona: PersonaId): Promise<void>;
  quietHours(on: boolean): void;
  startAtLogin(on: boolean): Promise<void>;
  /** Shows a test banner and returns what is known about it. */
  testNotification(): Promise<{
    readonly taken: boolean;
    /** The state of the channels, as on the page. */
    readonly by: string;
    /** The names of the channels that were tried. */
    readonly channels: readonly string[];
    /** Why other banners are not shown at the moment; null when they are. */
    readonly silent: 'paused' | 'quiet-hours' | null;
    /** Why the banner was not accepted. */
    readonly why?: string;
  }>;
  quit(): void;
}
