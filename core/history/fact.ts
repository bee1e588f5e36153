import type { Count, Fault, Health, Instant, PersonaId, SourceId } from '../model/index.ts';

/** One thing that became true of one persona. */
interface PersonaFact {
  readonly at: Instant;
  readonly persona: PersonaId;
}

/** The facts that the history is made from. Every fact of the board fits. */
export type HistoryFact =
  | ({ readonly is: 'joined' | 'left' | 'delivered' } & PersonaFact)
  | ({ readonly is: 'polled'; readonly health: Health; readonly unread: Count; readonly urgent: Count } & PersonaFact)
  | ({ readonly is: 'counted'; readonly unread: Count; readonly urgent: Count } & PersonaFact)
  | ({ readonly is: 'failed'; readonly health: Health; readonly fault: Fault } & PersonaFact)
  | ({ readonly is: 'held'; readonly fault: Fault } & PersonaFact)
  | ({ readonly is: 'published'; readonly fault: Fault | null } & PersonaFact)
  | { readonly is: 'source'; readonly at: Instant; readonly source: SourceId; readonly fault: Fault | null }
  /** Facts that the history does not store. They are named one by one, so that a new kind of fact needs a decision. */
  | {
      readonly is:
        | 'recalled'
        | 'muted'
        | 'hidden'
        | 'quiet'
        | 'autostart'
        | 'gap'
        | 'surface'
        | 'reported'
        | 'decisions';
      readonly at: Instant;
    }
  | {
      readonly is: 'project' | 'withdrawn' | 'machine';
      readonly at: Instant;
    };
