import type { Until } from '../../core/board/index.ts';
import type { DecisionReply, DecisionResult } from '../../core/inbox/decisions/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { ProjectActionRequest, ProjectActionResult } from '../../core/sources/brainclaw/index.ts';
import type { MarkReadSelection } from '../../core/sources/index.ts';
import type { OpenResult } from '../open/index.ts';

/** What the actions act on: the running tray process, as compose builds it. */
export interface TrayControls {
  /** Whether this persona is on the board. */
  knows(persona: PersonaId): boolean;
  /** Looks now: at one persona, or at every inbox of every source. False when there is no such persona. */
  poll(persona: PersonaId | null): boolean;
  /** Mail may have been written to the local hive by another process. */
  hiveChanged(): void;
  /** No banners until then, of one persona or (null) of all; `never` = banners again. */
  mute(persona: PersonaId | null, until: Until): void;
  hide(persona: PersonaId, hidden: boolean): void;
  /** Marks messages as read; how many that were. @throws Fault `usage` where the source cannot. */
  markRead(persona: PersonaId, which: MarkReadSelection): number;
  /** Answers a decision, told to who asked. @throws Fault `usage` when the reply does not fit it */
  decide(decision: number, reply: DecisionReply): DecisionResult;
  /** Has brainclaw act on an item of a project, by its id. What comes of it shows on the board later. @throws Fault */
  actOnProject(project: string, wish: ProjectActionRequest, signal: AbortSignal): Promise<ProjectActionResult>;
  /** The persona's session, else its page. */
  /** What was opened: the session, or where there is none its page. */
  openSession(persona: PersonaId, activationToken: string | null): Promise<OpenResult>;
  openPage(persona: PersonaId | null, activationToken: string | null): Promise<OpenResult>;
  /** An address of the page that logs its browser in: good once, and for a minute. */
  pageLink(persona: PersonaId | null): string;
  copyFollowCommand(persona: PersonaId): Promise<void>;
  quietHours(on: boolean): void;
  startAtLogin(on: boolean): Promise<void>;
  /** Shows a banner, and says what is known of it. */
  testNotification(): Promise<{
    readonly taken: boolean;
    /** Who shows the banners. */
    readonly by: string;
    /** Why others are not shown just now, if so. */
    readonly silent: 'paused' | 'quiet-hours' | null;
    /** Why it was not taken. */
    readonly why?: string;
  }>;
  quit(): void;
}
