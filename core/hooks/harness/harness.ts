import type { Fault } from '../../model/index.ts';
import type { HookTurn } from './turn.ts';

/** What an agent is to be told at a boundary. Texts are whole: frames are closed, and nothing is added to them. */
export type HookAnswer =
  /** Go on. `note` is for the person at the harness, where it can show one. */
  | { readonly is: 'allow'; readonly note: string | null }
  /** Content for the model. */
  | { readonly is: 'inject'; readonly text: string }
  /** That there is something, and how to have it. */
  | { readonly is: 'ring'; readonly text: string }
  /** Not now: the model, or at UserPromptSubmit the person, reads why. */
  | { readonly is: 'block'; readonly reason: string };

/** What a hook prints and ends with. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/** Which answers reach the model at an event; what does not is never printed, so that nothing counts as told. */
export interface Carries {
  /** `inject` and `ring`. At Stop they are told, and the turn goes on. */
  readonly text: boolean;
  readonly block: boolean;
}

export interface Harness {
  readonly name: string;
  /** @param event what the command line says; stdin goes before it */
  readTurn(stdin: string, event: string): HookTurn | Fault;
  carries(turn: HookTurn): Carries;
  /** Bytes that this harness and version accepts at this event; nothing where it could not carry the answer. */
  formatReply(turn: HookTurn, answer: HookAnswer): HookReply;
}
