import type { Count, Fault, Instant, PersonaId, Reach, SourceId } from '../model/index.ts';

/** Something became true of one persona. */
interface Of {
  readonly at: Instant;
  readonly persona: PersonaId;
}

/** What became true, as far as the history is made from it: every fact of the board fits. */
export type HistoryFact =
  | ({ readonly is: 'joined' | 'left' | 'told' } & Of)
  | ({ readonly is: 'looked'; readonly reach: Reach; readonly unread: Count; readonly urgent: Count } & Of)
  | ({ readonly is: 'counted'; readonly unread: Count; readonly urgent: Count } & Of)
  | ({ readonly is: 'failed'; readonly reach: Reach; readonly fault: Fault } & Of)
  | ({ readonly is: 'held'; readonly fault: Fault } & Of)
  | ({ readonly is: 'published'; readonly fault: Fault | null } & Of)
  | { readonly is: 'source'; readonly at: Instant; readonly source: SourceId; readonly fault: Fault | null }
  /** Nothing that history keeps. Named one by one, so that a new kind of fact asks which it is. */
  | {
      readonly is: 'recalled' | 'muted' | 'hidden' | 'quiet' | 'autostart' | 'gap' | 'surface' | 'local' | 'asked';
      readonly at: Instant;
    }
  | {
      readonly is: 'project' | 'withdrawn' | 'daemon' | 'machine';
      readonly at: Instant;
    };
