import type { Instant } from '../../model/index.ts';

/**
 * A question of an agent to a person, with the answers it offers (inbox and gates, "Decision Migration"; contract 6). The
 * question never changes: a refined proposal is a new decision, which names the previous one.
 */
export interface Decision {
  /** The public id: it always rises and is never used again. */
  readonly id: number;
  /** The persona that asked. */
  readonly persona: string;
  readonly prompt: string;
  /** What a person must know to answer. */
  readonly context: string | null;
  readonly options: readonly DecisionOption[];
  /** Text alone is an answer; otherwise text is guidance, and the question is asked again. */
  readonly freeText: boolean;
  /** The id of the option that applies if nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: DecisionUrgency;
  /** The persona said that it waits for the answer. */
  readonly blocking: boolean;
  /** The first iteration is 1; each guidance starts the next one. */
  readonly iteration: number;
  readonly mostIterations: number;
  /** The decision that this one continues. */
  readonly parent: number | null;
  /** The guidance given to the previous iteration. */
  readonly guidance: string | null;
  readonly created: Instant;
  /** From then on nobody can answer; null: never. */
  readonly expires: Instant | null;
  readonly outcome: Outcome;
  /** The decision that continues this one. */
  readonly next: number | null;
}

export interface DecisionOption {
  readonly id: string;
  /** The text of a button. */
  readonly short: string;
  readonly label: string;
}

/** How soon an answer is wanted, and how soon the persona is shown it. */
export const URGENCIES = ['low', 'normal', 'high'] as const;
export type DecisionUrgency = (typeof URGENCIES)[number];

/** `by` is null if nobody answered in time and the default applies. Text without a choice and with a `next` is guidance. */
export type Outcome =
  | { readonly is: 'open' }
  | {
      readonly is: 'resolved';
      readonly at: Instant;
      readonly by: string | null;
      readonly choice: string | null;
      readonly text: string | null;
    }
  | { readonly is: 'timed-out'; readonly at: Instant }
  | { readonly is: 'cancelled'; readonly at: Instant; readonly by: string; readonly text: string | null };

/** A checked question of an agent; see `parseNewDecision`. */
export interface NewDecision {
  readonly persona: string;
  readonly prompt: string;
  readonly context: string | null;
  readonly options: readonly DecisionOption[];
  readonly freeText: boolean;
  readonly fallback: string | null;
  readonly urgency: DecisionUrgency;
  readonly blocking: boolean;
  readonly mostIterations: number;
  /** How long to wait for an answer, in milliseconds; null: for ever. */
  readonly forMs: number | null;
  /** An open decision of the same persona that this one replaces. */
  readonly refines: number | null;
}

/** A checked reply of a person; see `parseReply`. */
export interface DecisionReply {
  readonly select: string | null;
  readonly text: string | null;
  /** Text alone closes the decision. */
  readonly acceptGuidance: boolean;
  readonly by: string;
}
