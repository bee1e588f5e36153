import type { Instant, PersonaId } from '../model/index.ts';

/** A question of an agent to a person that nobody has answered yet (inbox and gates, contract 6). */
export interface OpenDecision {
  readonly id: number;
  /** The persona that asks. It need not be on the board, because asking needs no mail. */
  readonly persona: PersonaId;
  readonly prompt: string;
  /** What a person has to know to answer. */
  readonly context: string | null;
  readonly options: readonly { readonly id: string; readonly short: string; readonly label: string }[];
  /** True: a text alone is an answer. False: a text is guidance, and the question is asked again. */
  readonly freeText: boolean;
  /** The id of the option that applies when nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: 'low' | 'normal' | 'high';
  /** The agent waits for the answer. */
  readonly blocking: boolean;
  readonly created: Instant;
  /** When the decision can no longer be answered; null: never. */
  readonly expires: Instant | null;
}

/** A gate that is not satisfied. Somebody registered it, or an open decision holds it (contract 4). */
export interface OpenGate {
  readonly id: string;
  /** The harness event that the gate belongs to. */
  readonly hook: string;
  /** `strict` blocks, `soft` warns. */
  readonly mode: 'strict' | 'soft';
  readonly description: string;
}

/** The counts per priority, 0 first. `MOST_COUNTED` stands for that many or more. */
export type ByPriority = readonly [number, number, number, number, number];

/** What only the local hive knows of its personas. */
export interface LocalView {
  /** Unread messages per priority. */
  readonly pending: ByPriority;
  readonly gates: readonly OpenGate[];
}

export function isSameLocal(a: LocalView | null, b: LocalView | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.pending.every((n, i) => n === b.pending[i]) &&
    a.gates.length === b.gates.length &&
    a.gates.every((gate, i) => {
      const other = b.gates[i];
      return (
        gate.id === other?.id &&
        gate.hook === other.hook &&
        gate.mode === other.mode &&
        gate.description === other.description
      );
    })
  );
}

/** A question never changes, so equal ids are enough. Only `blocking` and the persona it is shown under can change. */
export function areSameDecisions(a: readonly OpenDecision[], b: readonly OpenDecision[]): boolean {
  if (a === b) return true;
  return (
    a.length === b.length &&
    a.every((decision, i) => {
      const other = b[i];
      return decision.id === other?.id && decision.blocking === other.blocking && decision.persona === other.persona;
    })
  );
}

/** Returns whether a person should answer soon: the decision is urgent, or its agent is waiting. */
export function isPressing({ urgency, blocking }: Pick<OpenDecision, 'urgency' | 'blocking'>): boolean {
  return urgency === 'high' || blocking;
}
