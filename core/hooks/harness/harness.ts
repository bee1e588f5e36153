import type { Fault } from '../../model/index.ts';
import type { HookTurn } from './turn.ts';

/** The answer to an agent at a turn boundary. Texts are complete: frames are closed, and nothing is added to them. */
export type HookAnswer =
  /** The agent goes on. `note` is for the person at the harness, if the harness can show a note. */
  | { readonly is: 'allow'; readonly note: string | null }
  /** Content for the model. */
  | { readonly is: 'inject'; readonly text: string }
  /** Says that something waits and how to fetch it. */
  | { readonly is: 'ring'; readonly text: string }
  /** The agent must not go on now. The model reads the reason; at UserPromptSubmit the person reads it. */
  | { readonly is: 'block'; readonly reason: string };

/** What a hook prints, and its exit code. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/** Which answers reach the model at an event. Other answers are never printed, so nothing undelivered counts as delivered. */
export interface Carries {
  /** Whether `inject` and `ring` reach the model. At Stop they do, and the turn goes on. */
  readonly text: boolean;
  readonly block: boolean;
}

export interface Harness {
  readonly name: string;
  /** @param event the event that the command line names; stdin takes precedence */
  readTurn(stdin: string, event: string): HookTurn | Fault;
  carries(turn: HookTurn): Carries;
  /**
   * Formats output that this harness and version accept at this event. The output is empty if the event cannot carry the answer.
   */
  formatReply(turn: HookTurn, answer: HookAnswer): HookReply;
}
