import { formatIso, type Instant, isSameName } from '../../model/index.ts';
import type { OwnItem, Priority } from '../item.ts';

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

/** A decision as commands and routes print it. */
export function toDecisionJson(decision: Decision) {
  const { outcome } = decision;
  const isText = outcome.is === 'resolved' || outcome.is === 'cancelled';
  return {
    id: decision.id,
    persona: decision.persona,
    prompt: decision.prompt,
    context: decision.context,
    options: decision.options,
    freeText: decision.freeText,
    default: decision.fallback,
    urgency: decision.urgency,
    blocking: decision.blocking,
    iteration: decision.iteration,
    mostIterations: decision.mostIterations,
    parent: decision.parent,
    guidance: decision.guidance,
    created: formatIso(decision.created),
    expires: decision.expires === null ? null : formatIso(decision.expires),
    state: outcome.is,
    choice: outcome.is === 'resolved' ? outcome.choice : null,
    text: isText ? outcome.text : null,
    by: isText ? outcome.by : null,
    closed: outcome.is === 'open' ? null : formatIso(outcome.at),
    next: decision.next,
  };
}

/** Unless its urgency is low, an answer reaches a working agent after its next tool call. */
const PRIORITY: Readonly<Record<DecisionUrgency, Priority>> = { low: 2, normal: 1, high: 0 };

/** The source of an item that no person wrote. */
const OURSELVES = 'hivebar';

/** Creates the item that tells the asking persona how its decision was closed. It is complete, so nothing must be looked up. */
export function toOutcomeItem(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): OwnItem {
  const by = outcome.is === 'timed-out' ? null : outcome.by;
  return {
    persona: decision.persona,
    key: `decision:${decision.id}`,
    type: 'decision',
    source: by === null || isSameName(by, decision.persona) ? OURSELVES : by,
    content: formatOutcome(decision, outcome),
    priority: PRIORITY[decision.urgency],
    session: null,
    created: outcome.at,
    expires: null,
  };
}

function formatOutcome(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): string {
  const question = `You asked: ${decision.prompt}`;
  const name = `Decision ${decision.id}`;
  switch (outcome.is) {
    case 'timed-out':
      return `${name} was not answered in time, and has no default.\n${question}`;
    case 'cancelled': {
      const why = outcome.text === null ? [] : [`Reason: ${outcome.text}`];
      return [`${name} was cancelled by ${outcome.by}.`, question, ...why].join('\n');
    }
    case 'resolved': {
      const { by, choice, text } = outcome;
      if (decision.next !== null)
        return [
          `${name} is not decided: ${by} gave guidance instead of a choice.`,
          question,
          `Guidance: ${text}`,
          `It is open again as decision ${decision.next} with the same options. To propose others: hivebar decision create --refines ${decision.next} ...`,
        ].join('\n');
      const how = by === null ? 'was not answered in time, so its default applies.' : `was answered by ${by}.`;
      const chosen = choice === null ? [] : [`Chosen: ${choice} (${findOptionLabel(decision, choice)})`];
      const answerText = text === null ? [] : [`${choice === null ? 'Answer' : 'Guidance'}: ${text}`];
      return [`${name} ${how}`, question, ...chosen, ...answerText].join('\n');
    }
  }
}

export function findOptionLabel({ options }: Decision, choice: string): string {
  return options.find(({ id }) => id === choice)?.label ?? choice;
}
