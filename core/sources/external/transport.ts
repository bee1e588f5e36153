import type { SourceFault } from './faults.ts';
import type { FaultLine, ItemLine, PersonaLine, SourceAbility } from './lines.ts';
import type { ResultPage } from './model.ts';

/** What a source calls itself. */
export interface SourceTitle {
  /** The event key `source`. */
  readonly kind: string;
  readonly label: string;
  readonly can: readonly SourceAbility[];
}

export type DataLine = PersonaLine | ItemLine | FaultLine;

/** What came of a poll that did not fail. `kept`: the source does not know, so everything stays as it was. */
export type TransportOutcome =
  /** `title`: what it calls itself, where only an answer says it. */
  ({ readonly is: 'answered'; readonly title?: SourceTitle } & ResultPage) | { readonly is: 'kept' };

/** How Hivebar reaches a source. */
export interface Transport extends AsyncDisposable {
  /**
   * Makes it ready for a poll. Does nothing when it is.
   * @param cursor of the next poll
   * @returns what it calls itself; null when only an answer says it
   * @throws Fault
   */
  start(cursor: string | null, signal: AbortSignal): Promise<SourceTitle | null>;
  /** Asks for a poll result. One is open at a time. @throws Fault */
  poll(cursor: string | null, withinMs: number, signal: AbortSignal): Promise<TransportOutcome>;
  /** Asks it to do something. Absent when it cannot. @throws Fault */
  act?(request: ActRequest, signal: AbortSignal): Promise<void>;
  /** A poll costs so little that it is tried at once when somebody asks, also after a failure. */
  readonly isCheap: boolean;
  /** What it runs now, for a person; null when nothing runs. */
  readonly pid: number | null;
}

export interface ActRequest {
  readonly act: 'markRead' | 'reply';
  readonly persona: string;
  readonly keys?: readonly string[];
  readonly text?: string;
}

/** What a transport reports unasked. */
export interface TransportListener {
  /** Something may have changed. */
  hint(): void;
  /** It failed although nobody asked. */
  trouble(fault: SourceFault): void;
  /** What a person should know, which is no failure. */
  diagnose(text: string): void;
  /** One line of its stderr. */
  stderr(line: string): void;
}
