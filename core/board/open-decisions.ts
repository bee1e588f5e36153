import type { Instant, PersonaId } from '../model/index.ts';

/** A question that an agent asks of a person and nobody answered yet (inbox and gates, contract 6). */
export interface OpenDecision {
  readonly id: number;
  /** Who asks. It need not be on the board: asking takes no mail. */
  readonly persona: PersonaId;
  readonly prompt: string;
  /** What one has to know to answer. */
  readonly context: string | null;
  readonly options: readonly { readonly id: string; readonly short: string; readonly label: string }[];
  /** Text alone is an answer; else it is guidance, and the question is asked once more. */
  readonly freeText: boolean;
  /** The id of the option that holds when nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: 'low' | 'normal' | 'high';
  /** The agent waits for the answer. */
  readonly blocking: boolean;
  readonly created: Instant;
  /** Nobody can answer from then on; null: never. */
  readonly expires: Instant | null;
}

/** A gate that somebody registered, or that an open decision holds, and that is not satisfied (contract 4). */
export interface OpenGate {
  readonly id: string;
  /** The event of the harness at which it stands. */
  readonly hook: string;
  /** `strict` blocks, `soft` warns. */
  readonly mode: 'strict' | 'soft';
  readonly description: string;
}

/** How many of each priority, 0 first; `MOST_COUNTED` stands for as many or more. */
export type ByPriority = readonly [number, number, number, number, number];

/** What only the hive of this machine knows of its personas. */
export interface LocalView {
  /** Unread, by priority. */
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

/** What was asked never changes, so that the ids tell; but for whether somebody waits, and as whom the board knows who asks. */
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

/** It is to be answered soon: it says so, or an agent stands still until then. */
export function isPressing({ urgency, blocking }: Pick<OpenDecision, 'urgency' | 'blocking'>): boolean {
  return urgency === 'high' || blocking;
}
