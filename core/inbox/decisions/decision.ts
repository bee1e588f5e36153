import type { Instant } from '../../model/index.ts';

/**
 * A question that an agent asks of a person, with the answers it offers (inbox and gates, "Decision Migration"; contract 6).
 * What was asked never changes: a proposal that is refined is a decision of its own, which names the one before.
 */
export interface Decision {
  /** Public, rising, never used again. */
  readonly id: number;
  /** Who asked. */
  readonly persona: string;
  readonly prompt: string;
  /** What one has to know to answer. */
  readonly context: string | null;
  readonly options: readonly DecisionOption[];
  /** Text alone is an answer; else it is guidance, and the question is asked once more. */
  readonly freeText: boolean;
  /** The id of the option that holds when nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: DecisionUrgency;
  /** The persona said that it waits for the answer. */
  readonly blocking: boolean;
  /** The first is 1; each guidance starts the next one. */
  readonly iteration: number;
  readonly mostIterations: number;
  /** The decision this one goes on from. */
  readonly parent: number | null;
  /** What was said to the iteration before. */
  readonly guidance: string | null;
  readonly created: Instant;
  /** Nobody can answer from then on; null: never. */
  readonly expires: Instant | null;
  readonly outcome: Outcome;
  /** The decision that goes on from this one. */
  readonly next: number | null;
}

export interface DecisionOption {
  readonly id: string;
  /** For a button. */
  readonly short: string;
  readonly label: string;
}

/** How soon an answer is wanted, and how soon the persona is shown it. */
export const URGENCIES = ['low', 'normal', 'high'] as const;
export type DecisionUrgency = (typeof URGENCIES)[number];

/** `by` is null where nobody answered in time and the default holds. Text without a choice and with a `next` is guidance. */
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

/** A question as an agent asks it, checked; see `parseNewDecision`. */
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
  /** How long an answer is waited for, in milliseconds; null: for ever. */
  readonly forMs: number | null;
  /** An open decision of the same persona that this one takes the place of. */
  readonly refines: number | null;
}

/** What a person says to it, checked; see `parseReply`. */
export interface DecisionReply {
  readonly select: string | null;
  readonly text: string | null;
  /** Text alone closes the decision. */
  readonly acceptGuidance: boolean;
  readonly by: string;
}
